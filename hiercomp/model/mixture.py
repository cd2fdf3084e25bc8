"""The dictionary of a mixture population: normal components on which its weights live (D1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiercomp.arguments import FloatArray

CENTRES, SCALES = 81, 10  # of the dictionary
CENTRE_SPREAD, CENTRE_DF = 1.5, 3.0  # centres: t_3 with 1.5 times the standard deviation of the data sets' means
NARROWEST, WIDEST = 0.05, 1.5  # scales: half-normal between these, in the same unit


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Normal components, and the distribution G0 on them from which a population draws its own.

    Attributes
    ----------
    centre, scale : ndarray, shape (atoms,)
        m_g and s_g.
    weight : ndarray, shape (atoms,)
        Of G0; they sum to 1.
    """

    centre: FloatArray
    scale: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, middle: float, spread: float, *, centres: int = CENTRES, scales: int = SCALES) -> Dictionary:
        """Centres at equal steps of the probability of a Student-t, and scales in geometric steps, weighted.

        Parameters
        ----------
        middle, spread : float
            Mean and standard deviation of the data sets' mean differences.
        centres, scales : int
            How many.
        """
        from scipy import special

        level = (np.arange(centres) + 0.5) / centres
        half = special.stdtrit(CENTRE_DF, level[level > 0.5])  # mirrored, so that mirrored data have mirrored centres
        steps = np.concatenate([-half[::-1], np.zeros(centres % 2), half])
        centre = middle + CENTRE_SPREAD * spread * steps
        scale = np.geomspace(NARROWEST, WIDEST, scales)
        mass = scale * np.exp(-(scale**2) / 2)  # the density times the geometric step
        weight = np.repeat((mass / mass.sum())[None, :] / centres, centres, axis=0)
        return cls(np.repeat(centre, scales), np.tile(spread * scale, centres), weight.ravel())

    def in_unit(self, unit: float) -> Dictionary:
        """The same dictionary, its components times ``unit``."""
        return Dictionary(self.centre * unit, self.scale * unit, self.weight)
