"""Probabilities of regions: the table of tails against SciPy's distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hiercomp.engines.quadrature.regions import TABLE_SPACING, TailTable


@pytest.mark.parametrize("largest", [3.0, 1e6])
def test_tails_of_a_table_are_those_of_the_distributions(largest):
    nu = np.array([0.05, 1.0, 3.3, 40.0, np.inf])
    generator = np.random.default_rng(1)
    t = np.concatenate([[0.0, largest], largest * 10 ** generator.uniform(-8, 0, 500)])
    table = TailTable.of(nu, largest)
    # Fourth derivatives by asinh(t), of mpmath: largest at 0 for heavy tails, and for a normal distribution
    fourth = [18.9, 0.49, 1.06, 3.34, 3.88]
    for which, degrees in enumerate(nu):
        expected = stats.norm.sf(t) if np.isinf(degrees) else stats.t.sf(t, degrees)
        atol = fourth[which] * TABLE_SPACING**4 / 384
        np.testing.assert_allclose(table.tails(t, np.full(len(t), which)), expected, rtol=0, atol=atol)
