"""The trinomial likelihood from a table to a verdict, a file, a report and the command line; and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import hiercomp as hc
from hiercomp import plots
from hiercomp.cli import app
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, ScoreTableError
from hiercomp.model.trinomial import moments
from hiercomp.posterior.description import check_description
from hiercomp.posterior.saved import plain_values
from hiercomp.scores.differences import PairedDifferences
from tests.model.test_trinomial import outcomes

COUNTS = [[0, 30, 0], [0, 29, 1], [0, 29, 1], [0, 30, 0], [1, 29, 0], [0, 27, 3]]


def table(counts=COUNTS) -> pd.DataFrame:
    """Answers of two models to questions, as a tidy table."""
    frames = [
        pd.DataFrame({"dataset": f"b{place}", "algorithm": name, "fold": np.arange(len(row)), "score": row})
        for name, rows in zip(("base", "tuned"), outcomes(counts), strict=True)
        for place, row in enumerate(rows)
    ]
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def result() -> hc.ComparisonResult:
    comparison = hc.HierarchicalComparison(table(), "base", "tuned", rope=0.01, rho=0, likelihood="trinomial")
    return comparison.fit("quadrature", draws=500)


def test_counts_are_those_of_the_answers_and_nothing_gets_a_spread_from_the_rope(result):
    assert result.differences.counts.tolist() == COUNTS
    assert result.differences.likelihood == "trinomial"
    assert result.differences.sum_of_squares[0] == 0
    assert not any("rope" in note for note in result.notes)
    assert result.status == "ok"


def test_a_loss_counts_the_other_way():
    arguments = {"rope": 0.01, "rho": 0, "likelihood": "trinomial", "higher_is_better": False}
    comparison = hc.HierarchicalComparison(table(), "base", "tuned", **arguments)
    assert comparison.differences.counts.tolist() == [row[::-1] for row in COUNTS]


def test_data_sets_are_shrunken_towards_the_population(result):
    frame = result.datasets()
    assert (frame["lower"] < frame["upper"]).all()
    # An unanimous benchmark is as unsure as 1 / 30 of its questions, not as the half-width of the rope
    assert 0.04 < frame["upper"].iloc[0] - frame["lower"].iloc[0] < 0.12
    assert frame["posterior_mean"].iloc[0] < frame["posterior_mean"].iloc[1] < frame["posterior_mean"].iloc[5] < 0.1
    assert frame["posterior_mean"].iloc[0] == pytest.approx(frame["posterior_mean"].iloc[3], abs=0.005)
    assert result.log_likelihood().shape == result.replicated_means().shape == (4, 500, 6)


def test_the_predictive_check_draws_answers(result):
    """Of few answers that differ, a standard deviation takes few values: the roots of sums of 0 and 1."""
    spreads = plots.replicated_standard_deviations(result)
    n = result.differences.n
    means = result.replicated_means(0).reshape(spreads.shape)
    differing = spreads**2 * (n - 1) + n * means**2
    np.testing.assert_allclose(differing, np.rint(differing), atol=1e-9)


@pytest.mark.slow
def test_summary_json_and_report_name_the_likelihood(result, tmp_path):
    words = "trinomial, from 6 of 180 answers that differ"
    assert words in str(result.summary())
    assert result.to_dict()["likelihood"] == words
    json.dumps(result.to_dict())
    assert words in result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    text = result.methods().text
    assert "trinomial" in text
    assert "multivariate normal" not in text
    assert "standard deviation of each data set" not in text


def test_a_saved_result_is_the_same(result, tmp_path):
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert again.next_dataset == result.next_dataset
    assert str(again.summary()) == str(result.summary())
    assert again.differences.counts.tolist() == COUNTS
    assert again.loo().elpd == pytest.approx(result.loo().elpd)
    np.testing.assert_array_equal(again.draws("sigma"), result.draws("sigma"))


def test_a_file_with_other_counts_is_refused(result):
    plain = json.loads(json.dumps(plain_values(result)))
    check_description(plain)
    plain["differences"]["counts"][0][1] = 29
    with pytest.raises(ValueError, match="counts"):
        check_description(plain)


@pytest.mark.slow
def test_leave_one_out_is_the_fit_without_the_data_set(result):
    # p(x_i | the others) is the ratio of marginal likelihoods; the priors' bounds stay those of all
    found = result.loo()
    priors = hc.Priors(sigma0_upper=1000 * np.std([0, 1 / 30, 1 / 30, 0, -1 / 30, 0.1], ddof=1))
    for place in (0, 5):
        names = [name for name in result.differences.dataset_names if name != f"b{place}"]
        others = result.differences.subset(names)
        scale = float(np.std(others.mean, ddof=1))
        alone = hc.HierarchicalComparison.from_differences(
            others, rope=0.01, priors=replace(priors, sigma0_upper=priors.sigma0_upper / scale)
        )
        expected = result.log_marginal_likelihood - alone.fit("quadrature").log_marginal_likelihood
        spread = float(moments(np.array([COUNTS[place]]))[0][0])
        assert found.elpd_i[place] == pytest.approx(expected - spread, abs=5e-3)


@pytest.mark.slow
def test_influence_and_sensitivity_keep_the_likelihood(result):
    frame = result.influence().to_frame()
    assert frame.loc["b0", "p_left"] == pytest.approx(frame.loc["b3", "p_left"], abs=1e-3)
    names = [variant.name for variant in result.sensitivity().variants]
    assert "nu: gaussian" in names
    assert not any("rho" in name for name in names)


@pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
@pytest.mark.slow
def test_answers_that_never_differ_are_data_and_not_a_certainty():
    with pytest.raises(ScoreTableError, match="trinomial"):
        hc.HierarchicalComparison(table([[0, 30, 0]] * 4 + [[0, 0, 30]]), rope=0.01, rho=0)
    given = hc.HierarchicalComparison(table([[0, 30, 0]] * 5), rope=0.01, rho=0, likelihood="trinomial")
    seen = given.fit("quadrature").next_dataset
    assert seen.p_left == pytest.approx(seen.p_right, abs=1e-3)
    assert 0.2 < seen.p_rope < 0.9
    more = hc.HierarchicalComparison(table([[0, 300, 0]] * 5), rope=0.01, rho=0, likelihood="trinomial")
    assert more.fit("quadrature").next_dataset.p_rope > 0.95


def test_the_note_on_a_spread_from_the_rope_recommends_it():
    with pytest.warns(DegenerateScoresWarning, match="likelihood='trinomial'"):
        hc.HierarchicalComparison(table(), rope=0.01, rho=0)
    with pytest.warns(DegenerateScoresWarning) as caught:  # not for folds
        hc.HierarchicalComparison(table(), rope=0.01, rho=0.1)
    assert not any("trinomial" in str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"score": lambda rows: rows["score"] * 0.9}, {"rho": 0}, "0 or 1"),
        ({"score": lambda rows: rows["score"] * 2 - 0.5}, {"rho": 0}, "0 or 1"),
        ({"score": lambda rows: rows["score"].where(rows.index != 5, 0.5)}, {"rho": 0}, "1 of 6 data sets"),
        ({}, {"rho": 0.1}, "rho=0"),
        ({"group": lambda rows: rows["fold"] // 2}, {"groups": "group"}, "groups"),
    ],
)
def test_tables_that_it_does_not_suit_are_refused(change, arguments, words):
    with pytest.raises(ArgumentError, match=words):
        hc.HierarchicalComparison(table().assign(**change), rope=0.01, likelihood="trinomial", **arguments)


def test_means_and_errors_alone_are_refused():
    differences = PairedDifferences.from_summaries([0.1, 0, 0], [0.02] * 3, 30, score_range=(0, 1))
    with pytest.raises(ArgumentError, match="answers"):
        differences.with_likelihood("trinomial")


def test_covariates_are_refused():
    frame = pd.DataFrame({"dataset": [f"b{place}" for place in range(6)], "size": [1.0, 2, 3, 5, 8, 13]})
    given = hc.HierarchicalComparison(table(), rope=0.01, rho=0, likelihood="trinomial", covariates=frame)
    with pytest.raises(ArgumentError, match="covariates"):
        given.fit()


@pytest.mark.slow
def test_the_command_line_has_it(result, tmp_path):
    path = tmp_path / "answers.csv"
    table().to_csv(path, index=False)
    words = ["compare", str(path), "--left", "base", "--right", "tuned", "--rope", "0.01", "--rho", "0"]
    words += ["--engine", "quadrature", "--json", "-"]
    found = CliRunner().invoke(app, [*words, "--likelihood", "trinomial"])
    assert found.exit_code == 0
    written = json.loads(found.stdout)
    assert written["likelihood"].startswith("trinomial")
    assert written["next_dataset"]["p_right"] == pytest.approx(result.next_dataset.p_right)
    refused = CliRunner().invoke(app, [*words, "--likelihood", "binomial"])
    assert isinstance(refused.exception, ArgumentError)


def test_a_bound_of_sigma_i_is_refused():
    comparison = hc.HierarchicalComparison(
        table(), rho=0, rope=0.01, likelihood="trinomial", priors=hc.Priors(sigma_upper=0.3)
    )
    with pytest.raises(ArgumentError, match="no sigma_i"):
        comparison.fit("quadrature")
