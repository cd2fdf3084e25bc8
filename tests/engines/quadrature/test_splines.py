"""The matrix of spline interpolation, against SciPy's splines and against what splines must reproduce."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate

from hiercomp.engines.quadrature.splines import spline_matrix


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("count", [6, 7, 11, 40, 75])
def test_it_is_the_matrix_of_scipys_spline(degree, count):
    generator = np.random.default_rng(count)
    for _ in range(20):
        nodes = np.linspace(*np.sort(generator.normal(0, 30, 2)), count)
        points = np.concatenate([generator.uniform(nodes[0], nodes[-1], 50), nodes])
        expected = interpolate.make_interp_spline(nodes, np.eye(count), k=degree)(points)
        assert spline_matrix(nodes, points, degree) == pytest.approx(expected, rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("degree", [3, 5])
def test_polynomials_of_its_degree_are_exact_and_values_at_nodes_are_kept(degree):
    nodes, points = np.linspace(-1, 2, 13), np.linspace(-1, 2, 200)
    polynomial = np.polynomial.Polynomial([0.3, -1, 0.5, 2, *([-0.7, 0.2] if degree == 5 else [])])
    assert spline_matrix(nodes, points, degree) @ polynomial(nodes) == pytest.approx(polynomial(points), abs=1e-12)
    assert spline_matrix(nodes, nodes, degree) == pytest.approx(np.eye(13), abs=1e-13)


def test_points_beyond_the_nodes_have_the_values_of_the_ends():
    nodes = np.linspace(0, 1, 9)
    found = spline_matrix(nodes, np.array([-5.0, 0.0, 1.0, 7.0]), 5)
    assert (found[0] == found[1]).all()
    assert (found[3] == found[2]).all()
    assert found[[0, 3]][:, [0, -1]] == pytest.approx(np.eye(2), abs=1e-13)
