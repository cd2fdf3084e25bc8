"""`scripts/validate.py`: its checks in small, and that they can fail."""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hiercomp.model.priors import Priors

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
validate = importlib.import_module("validate")
density = importlib.import_module("validation.density")
faults = importlib.import_module("validation.faults")
calibration = importlib.import_module("validation.calibration")
posterior_calibration = importlib.import_module("validation.posterior_calibration")
referred = importlib.import_module("validation.referred")
Settings = importlib.import_module("reproduction.exhibit").Settings

MEASURED = ["V1", "V2", "V4-problems", "V7-density", "V17", pytest.param("V25", marks=pytest.mark.slow)]
SIMULATED = ["V6-quadrature", "V6-sampler", "V6-mixture", "V6-trinomial", "V6-covariates", "V7-ranks", "V10", "V27"]


@pytest.mark.parametrize("name", [*MEASURED, *(pytest.param(name, marks=pytest.mark.slow) for name in SIMULATED)])
def test_a_check_meets_its_bar(name):
    rows = validate.CHECKS[name].run(Settings(quick=True))
    assert [row for row in rows if not row.agrees] == []
    assert len(rows) > 0


def test_a_fault_that_is_not_in_the_programs_is_an_error(monkeypatch):
    monkeypatch.setitem(density.FAULTS, "none", ("hierarchical_student_t.stan", "not there", "x"))
    with pytest.raises(ValueError, match="'not there' is 0 times"), faults.faulty("none"):
        pass


def test_without_a_fault_the_densities_agree_and_ranks_are_uniform():
    model = density.random_model(np.random.default_rng(0), 4, Priors())
    assert density.deviation(model, 4) < density.LARGEST_DEVIATION
    found = np.random.default_rng(0).integers(0, 100, size=(400, len(calibration.QUANTITIES)))
    limit = 0.01 / len(calibration.QUANTITIES)  # a right test fails here once in 100
    assert calibration.smallest_p(found.astype(float))[0] > limit


def test_ranks_that_pile_up_are_seen_and_named():
    found = np.random.default_rng(1).integers(0, 100, size=(200, len(calibration.QUANTITIES))).astype(float)
    found[:, 4] = found[:, 4] // 2
    smallest, name = calibration.smallest_p(found)
    assert smallest < 1e-6
    assert name == calibration.QUANTITIES[4]


def test_two_measurements_of_a_data_set_are_one_of_twice_the_scores():
    generator = np.random.default_rng(2)
    n, rho = 7, 0.2
    x, other = generator.normal(size=(2, 1, n))
    scores = [
        posterior_calibration.Scores(row.mean(axis=1), ((row - row.mean()) ** 2).sum(axis=1), n, rho, np.abs(row).max())
        for row in (x, other)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one data set has no spread between data sets
        model = scores[0].model_with(scores[1])
    covariance = np.full((n, n), rho) + (1 - rho) * np.eye(n)
    differences = []
    for delta, sigma in zip(generator.normal(size=9), generator.uniform(0.2, 3, 9), strict=True):
        matrix = stats.multivariate_normal(np.full(n, delta), sigma**2 * covariance)
        drawn = {"delta": [[delta / model.unit]], "sigma": [[sigma / model.unit]], "delta0": [0.0], "sigma0": [1.0]}
        ours = calibration.quantities({name: np.array(value) for name, value in drawn.items()}, model, 0.1)[6]
        differences.append(float(ours[0]) - matrix.logpdf(x[0]) - matrix.logpdf(other[0]))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-12)
    both = np.concatenate([x[0], other[0]])
    assert model.unit == pytest.approx(both.std(ddof=1), rel=1e-12)
    assert model.delta0_bound * model.unit == pytest.approx(np.abs(both).max(), rel=1e-12)
    assert (model.n, model.mean * model.unit) == (2 * n, pytest.approx(both.mean(), rel=1e-12))


@pytest.mark.slow
def test_posterior_calibration_holds_and_sees_a_wrong_correlation(uci54_file, monkeypatch):
    monkeypatch.setenv("HIERCOMP_UCI54", str(uci54_file))
    rows = validate.CHECKS["V8"].run(Settings(quick=True))
    assert (len(rows), [row for row in rows if not row.agrees]) == (3, [])
    right = posterior_calibration.replicate

    def more_correlated(truth, like, generator):
        drawn = right(truth, replace(like, rho=0.5), generator)
        return replace(drawn, rho=like.rho)

    monkeypatch.setattr(posterior_calibration, "replicate", more_correlated)
    pair = posterior_calibration.PAIRS[1]
    found = [posterior_calibration.posterior_ranks(np.random.default_rng([8, one]), pair) for one in range(20)]
    assert calibration.smallest_p(np.array(found))[0] < 1e-4


@pytest.mark.slow
def test_a_check_by_tests_counts_those_that_fail(tmp_path):
    (tmp_path / "test_two.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    assert False\n")
    one = referred.of_tests(str(tmp_path), words="one")(Settings())
    both = referred.of_tests(str(tmp_path))(Settings())
    none = referred.of_tests(str(tmp_path), words="neither")(Settings())
    assert [(row.ours, row.agrees) for row in (*one, *both, *none)] == [(0, True), (1, False), (0, False)]
    assert both[0].what.startswith("tests that fail, of 2: ")
    assert both[0].what.endswith("test_two.py::test_two")


def test_a_check_by_a_script_that_fails_shows_what_it_printed(capfd):
    (row,) = referred.of_script("fuzz.py", ["--again", "tables:odd"], [], "taken")(Settings())
    assert (row.ours, row.agrees) == (1, False)
    assert "InvalidArgument" in capfd.readouterr().err


def test_every_test_that_a_check_names_is_there():
    text = (ROOT / "scripts/validate.py").read_text(encoding="utf-8")
    named = [part for part in text.split('"') if part.startswith("tests/")]
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_an_error_that_is_stated_too_small_and_a_slow_problem_miss_their_bars():
    good = {"status": "ok", "largest_change": 1e-5, "too_small": 0.0, "seconds": 0.2}
    problems = importlib.import_module("validation.problems")

    def names(rows):
        return [row.what.split(",")[0] for row in rows if not row.agrees]

    def missed(**fields):
        return names(problems.integral_rows([good] * 200 + [good | fields]))

    assert missed() == []
    assert missed(too_small=2e-4) == ["such changes above 0.0001"]
    assert missed(largest_change=0.003) == ["largest change of a probability on a finer grid"]
    assert missed(status="warned", largest_change=0.003) == []
    assert missed(seconds=6.0) == ["longest integration"]
    few = "integration of 3 problems with 2 to 10 data sets"
    assert names(problems.time_rows([0.1, 0.2, 1.9])) == []
    assert names(problems.time_rows([0.1, 0.2, 2.1])) == [f"longest {few}"]
    assert names(problems.time_rows([0.1, 0.4, 0.5])) == [f"median {few}"]


@pytest.mark.parametrize(
    ("failures", "quick", "met"), [(5, True, True), (6, True, False), (1, False, True), (2, False, False)]
)
def test_of_fifty_fits_a_quick_run_allows_the_failures_that_chance_explains(failures, quick, met):
    """Of 50 fits that fail with a probability of 0.02, more than 5 do once in 3,000 runs, more than 4 once in 300."""
    failed = [np.repeat([1.0, 0.0], [failures, 50 - failures])]
    assert calibration.failure_row(failed, quick=quick).agrees == met
