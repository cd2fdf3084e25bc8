"""Probabilities of regions: the table of tails, and the expected probabilities where sigma0 is small."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.engines.quadrature.grid import LIKELIHOOD_ERROR, FineGrid
from hiercomp.engines.quadrature.regions import TABLE_SPACING, TailTable, region_masses
from hiercomp.model.scaled import HierarchicalModel


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


@pytest.mark.parametrize(("datasets", "rope"), [(10, 0.05), (20, 0.1)])
def test_expected_probabilities_hold_where_sigma0_is_less_than_the_steps_of_delta0(datasets, rope):
    """P(x < end) is the mean of P(delta0 < end - sigma0 t) over t too, and the mass below a delta0 has no steps."""
    generator = np.random.default_rng(5)
    differences = [generator.normal(0, 1, 3 if place % 2 else 1000) for place in range(datasets)]
    comparison = hc.HierarchicalComparison.from_arrays(
        [np.zeros_like(row) for row in differences], differences,
        rho=0.1, rope=rope, higher_is_better=True, priors=hc.Priors(nu_lower=0),
    )  # fmt: skip
    grid = comparison.fit("quadrature").posterior.integration.grid
    scaled = comparison.rope.scaled(1 / HierarchicalModel.of(comparison.differences, comparison.priors).unit)
    fine = FineGrid.of(grid)
    assert np.average(fine.sigma0 < np.diff(fine.delta0).min(axis=1), weights=fine.pair_mass) > 0.01
    degrees = grid.problem.nu(fine.nu_places)[fine.kept // fine.shape[1]]
    t = stats.t.ppf((np.arange(1000) + 0.5) / 1000, degrees[:, None])
    below, not_above = (
        fine.mass_below(end - fine.sigma0[:, None] * t).mean(axis=1).sum() / fine.total
        for end in (scaled.lower, scaled.upper)
    )
    found = region_masses(grid, scaled).expected
    # Part of the stated error; the plain trapezoidal rule is off by 2.7e-5 and 3.2e-5
    np.testing.assert_allclose(found, [below, not_above - below, 1 - not_above], rtol=0, atol=LIKELIHOOD_ERROR)
