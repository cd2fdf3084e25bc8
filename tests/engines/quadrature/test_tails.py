"""The rough look at the ends of delta0's axis, against the mass that a much longer axis has there."""

from __future__ import annotations

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.engines.quadrature.axes import ChebyshevAxis
from hiercomp.engines.quadrature.engine import searched
from hiercomp.engines.quadrature.grid import FineGrid, PosteriorGrid
from hiercomp.engines.quadrature.tails import mass_beyond
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.fit import integrand
from tests.conftest import simulated_scores


@pytest.mark.parametrize("priors", [hc.Priors(), hc.Priors.gaussian()], ids=["student_t", "gaussian"])
@pytest.mark.parametrize("spread", [0.001, 0.02])
def test_the_mass_beyond_the_ends_is_known_to_a_factor_of_three(priors, spread):
    frame = simulated_scores(20, runs=1, centre=0.01, spread=spread, seed=4)
    comparison = hc.HierarchicalComparison(frame, left="bayes", right="tree", rope=0.01, priors=priors)
    search = searched(integrand(HierarchicalModel.of(comparison.differences, priors)))
    problem, support, centring = search.problem, search.support(), search.centring
    assert centring is not None
    nu_count = 1 if priors.population == "gaussian" else 20
    grid = PosteriorGrid.computed(problem, support, 24, nu_count, ChebyshevAxis(-12.0, 12.0, 61), centring=centring)
    fine = FineGrid.of(grid)
    for reach in (4.0, 5.5):
        ends = fine.centre[:, None] + reach * fine.scale[:, None] * np.array([-1.0, 1.0])
        below, until = fine.mass_below(ends).T
        expected = (below + fine.pair_mass - until).sum() / fine.total
        assert 1e-9 < expected < 1e-2
        assert expected / 3 < mass_beyond(problem, support, centring, reach) < 3 * expected
