"""Every pair of many algorithms: each is what a single comparison gives, and the tables say the same in both directions."""

from __future__ import annotations

import io
import json
import pickle
import re
import sqlite3
import warnings
from dataclasses import replace
from itertools import combinations

import joblib
import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.pairs.fits import FailedPair
from hiercomp.pairs.ranking import standings_of
from hiercomp.posterior.saved import plain_values
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.runs import RunSums
from hiercomp.scores.table import tidy_scores
from hiercomp.tournament import TournamentResult, compare_all, pair_seed

# Better by this much than the first; two pairs are clear, one is equivalent within a rope of 0.01
FAST = {"rope": 0.01, "priors": hc.Priors.gaussian(), "n_jobs": 1, "progress": False}  # without nu a fit is much faster
CENTRES = {"plain": 0.0, "same": 0.001, "good": 0.05, "best_of_all": 0.1}


def simulated(centres: dict[str, float] = CENTRES, datasets: int = 8, runs: int = 2, seed: int = 0) -> pd.DataFrame:
    """Ten-fold cross-validation of several algorithms; the folds share their noise."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(datasets):
        level = generator.normal(0.7, 0.05)
        own = {name: centre + generator.normal(0, 0.003) for name, centre in centres.items()}
        for run in range(runs):
            for fold in range(10):
                common = generator.normal(level, 0.02)
                rows += [
                    (f"d{number}", name, run, fold, common + own[name] + generator.normal(0, 0.01)) for name in centres
                ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold", "score"])


def compared(df: pd.DataFrame, **options) -> TournamentResult:
    """With warnings ignored; the tests of warnings look at them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return compare_all(df, **FAST | options)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulated()


@pytest.fixture(scope="module")
def tournament(table) -> TournamentResult:
    return compared(table)


def without(df: pd.DataFrame, **cells: str) -> pd.DataFrame:
    rows = np.logical_and.reduce([df[column] == value for column, value in cells.items()])
    return df[~rows].reset_index(drop=True)


def assert_same_differences(ours: PairedDifferences, single: PairedDifferences) -> None:
    for name, expected in vars(single).items():
        found = getattr(ours, name)
        if isinstance(expected, np.ndarray):
            assert found.dtype == expected.dtype, name
            np.testing.assert_array_equal(found, expected, err_msg=name)
        elif isinstance(expected, RunSums):
            assert found.to_dict() == expected.to_dict()
        elif name != "scores":
            assert found == expected, name


def gaps(df: pd.DataFrame) -> pd.DataFrame:
    """Folds and whole data sets missing, NaN and infinite scores, rows in any order."""
    generator = np.random.default_rng(1)
    names, datasets = df["algorithm"].unique(), df["dataset"].unique()
    df = df[generator.random(len(df)) > 0.01].reset_index(drop=True)
    df.loc[generator.random(len(df)) < 0.01, "score"] = np.nan
    df.loc[5, "score"] = np.inf
    df = without(df, dataset=datasets[0], algorithm=names[0])
    df = without(df, dataset=datasets[2], algorithm=names[1])
    df.loc[(df["dataset"] == datasets[1]) & (df["algorithm"] == names[0]), "score"] = np.nan
    return df.sample(frac=1, random_state=2)


TABLES = {
    "keel": lambda: hc.load_scores("keel"),
    "keel with gaps": lambda: gaps(hc.load_scores("keel")),
    "simulated with gaps": lambda: gaps(simulated()),
    "no run": lambda: gaps(simulated(runs=1)).drop(columns="run"),
    "fifty folds without a run": lambda: simulated(runs=5).assign(fold=lambda df: 10 * df["run"] + df["fold"])
    .drop(columns="run"),
    "text as folds": lambda: gaps(simulated()).assign(fold=lambda df: "fold " + df["fold"].astype(str)),
    "two algorithms in five folds": lambda: simulated()[
        lambda df: df["algorithm"].isin(["plain", "best_of_all"]) | (df["dataset"] != "d4") | (df["fold"] < 5)
    ],
    "constant data sets": lambda: simulated().assign(
        score=lambda df: np.where(df["dataset"] == "d3", 0.7 + 0.1 * (df["algorithm"] == "good"), df["score"])
    ),
    "names that differ by case": lambda: simulated({"Tree": 0.0, "tree": 0.01, "svm": 0.0}),
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"higher_is_better": False, "rho": 0.3}], ids=["gain", "loss"])
@pytest.mark.parametrize("name", TABLES)
def test_the_differences_of_each_pair_are_those_of_a_table_of_two(name, options):
    df = TABLES[name]()
    arrays = ScoreArrays.of(tidy_scores(df), **options)
    for left, right in combinations(arrays.algorithms[:4], 2):
        single = PairedDifferences.from_table(df, left, right, missing="drop", **options)
        assert_same_differences(PairedDifferences.of(arrays.pair(left, right, drop=True)), single)
        assert_same_differences(
            PairedDifferences.of(arrays.pair(right, left, drop=True)),
            PairedDifferences.from_table(df, right, left, missing="drop", **options),
        )


def test_scores_without_folds_are_paired_by_data_set():
    df = simulated().groupby(["dataset", "algorithm"], as_index=False)["score"].mean()
    arrays = ScoreArrays.of(tidy_scores(df))
    assert_same_differences(
        PairedDifferences.of(arrays.pair("good", "plain")), PairedDifferences.from_table(df, "good", "plain")
    )
    assert standings_of(arrays).dataset_names == ()
    with pytest.raises(hc.ScoreTableError, match=r"No pair can be compared.*no fold-level scores"):
        compared(df)


def test_the_means_and_the_standings_are_those_of_pandas():
    df = gaps(simulated())
    arrays = ScoreArrays.of(tidy_scores(df), higher_is_better=False)
    finite = df[np.isfinite(df["score"])]
    means = finite.pivot_table("score", "algorithm", "dataset").loc[list(arrays.algorithms), list(arrays.dataset_names)]
    np.testing.assert_allclose(arrays.means, means.to_numpy(), rtol=1e-12)
    wide = finite.pivot_table("score", ["dataset", "run", "fold"], "algorithm").dropna()[list(arrays.algorithms)]
    standings = standings_of(arrays)
    assert standings.dataset_names == tuple(wide.index.get_level_values("dataset").unique())
    assert (
        standings.left_out
        == tuple(sorted(set(arrays.dataset_names) - set(standings.dataset_names)))
        == ("d0", "d1", "d2")
    )
    for i, dataset in enumerate(standings.dataset_names):
        rows = wide.loc[dataset].to_numpy()
        np.testing.assert_allclose(standings.means[i], -rows.mean(axis=0), rtol=1e-12)
        products = standings.residuals[i].T @ standings.residuals[i]
        np.testing.assert_allclose(products, np.cov(rows, rowvar=False) * (len(rows) - 1), rtol=1e-9, atol=1e-15)
        assert (standings.n[i], standings.rho[i]) == (len(rows), 0.1)


def single_fit(df: pd.DataFrame, left: str, right: str, **options) -> hc.ComparisonResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison(df, left, right, **{"rope": 0.01, "priors": FAST["priors"]} | options)
        return comparison.fit("quadrature", seed=pair_seed(0, left, right), progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("priors", [FAST["priors"], hc.Priors()], ids=["gaussian", "default"])
def test_each_pair_is_the_single_comparison(priors):
    df = simulated({"plain": 0.0, "same": 0.001, "good": 0.05}, datasets=13)
    found = compared(df, priors=priors, baseline="plain")
    for left, right in (("plain", "same"), ("plain", "good")):
        single, pair = single_fit(df, left, right, priors=priors), found.pair(left, right)
        assert pair.next_dataset == single.next_dataset
        assert list(map(str, pair.odds())) == list(map(str, single.odds()))
        assert pair.decision(0.1) == single.decision(0.1)
        assert pair.expected_difference == single.expected_difference
        assert pair.notes == single.notes
        assert_same_differences(pair.differences, single.differences)
        pd.testing.assert_frame_equal(pair.datasets(), single.datasets())
        np.testing.assert_array_equal(pair.draws("delta0"), single.draws("delta0"))


def test_all_pairs_are_there_in_the_order_of_the_table(tournament):
    assert tournament.algorithms == tuple(CENTRES)
    assert [(pair.left, pair.right) for pair in tournament.pairs] == list(combinations(CENTRES, 2))


def test_the_frames_see_the_row_against_the_column(tournament):
    pair = tournament.pair("plain", "good")
    seen = pair.next_dataset
    assert tournament.better().loc["plain", "good"] == seen.p_left
    assert tournament.better().loc["good", "plain"] == seen.p_right
    assert tournament.equivalent().loc["plain", "good"] == tournament.equivalent().loc["good", "plain"] == seen.p_rope
    assert tournament.expected_difference().loc["good", "plain"] == pair.expected_difference > 0.04
    together = (tournament.better() + tournament.better().T + tournament.equivalent()).to_numpy()
    np.testing.assert_allclose(together[~np.eye(4, dtype=bool)], 1, atol=1e-12)
    for frame in (tournament.better(), tournament.equivalent(), tournament.expected_difference(), tournament.odds()):
        assert frame.index.tolist() == frame.columns.tolist() == list(CENTRES)
        assert np.isnan(np.diag(frame)).all()
    difference = tournament.expected_difference().to_numpy()
    np.testing.assert_array_equal(difference, -difference.T)
    np.testing.assert_allclose((tournament.odds() * tournament.odds().T).to_numpy()[np.triu_indices(4, 1)], 1)
    odds = {frozenset((odds.favoured, odds.against)): odds for odds in pair.odds()}[frozenset(("left", "right"))]
    assert odds.favoured == "right"
    assert tournament.odds().loc["good", "plain"] == odds.value


def test_the_verdicts_find_what_was_simulated(tournament):
    assert tournament.order() == ("best_of_all", "good", *tournament.order()[2:])
    for better, worse in combinations(("best_of_all", "good", "plain"), 2):
        assert tournament.verdict(better, worse) == "better"
        assert tournament.verdict(worse, better) == "worse"
    assert tournament.verdict("plain", "same") == tournament.verdict("same", "plain") == "equivalent"
    assert tournament.verdicts().loc["good", "plain"] == "better"
    assert tournament.cliques() == tournament.equivalent_groups() == [tournament.order()[2:]]
    matrix = tournament.verdict_signs()
    assert matrix.index.tolist() == list(tournament.order())
    assert matrix.iloc[0].tolist() == ["", "+", "+", "+"]
    assert matrix.iloc[3].tolist() == ["\N{MINUS SIGN}", "\N{MINUS SIGN}", "=", ""]
    assert matrix.attrs["legend"]["+"] == "row better"
    frame = tournament.to_frame()
    assert frame["verdict"].tolist() == [
        "practically equivalent", "good better", "best_of_all better", "good better", "best_of_all better",
        "best_of_all better",
    ]  # fmt: skip
    total = frame[["p_left", "p_rope", "p_right"]].sum(axis=1)
    np.testing.assert_allclose(total, 1, atol=1e-12)
    assert (frame["n_datasets"] == 8).all()


def test_a_loss_turns_every_verdict(table, tournament):
    losses = compared(table.assign(score=1 - table["score"]), higher_is_better=False)
    assert losses.order() == tournament.order()
    pd.testing.assert_frame_equal(losses.better(), tournament.better(), rtol=1e-9, atol=1e-9)
    assert losses.verdicts().equals(tournament.verdicts())


@pytest.mark.slow
def test_more_algorithms_and_more_processes_change_nothing(table, tournament):
    three = compared(table[table["algorithm"] != "same"], n_jobs=2)
    for left, right in combinations([name for name in CENTRES if name != "same"], 2):
        ours, theirs = three.pair(left, right), tournament.pair(left, right)
        assert ours.next_dataset == theirs.next_dataset
        assert ours.settings.seed == theirs.settings.seed
        np.testing.assert_array_equal(ours.draws("sigma0"), theirs.draws("sigma0"))
    assert tournament.pair("plain", "good").settings.seed != tournament.pair("plain", "same").settings.seed
    assert compared(table, seed=1).pair("plain", "good").settings.seed != tournament.pair("plain", "good").settings.seed


def test_a_backend_that_is_active_is_used(table, tournament):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        threads = compared(table, n_jobs=None)
    assert threads.better().equals(tournament.better())
    assert compared(table, n_jobs=None).better().equals(tournament.better())


def test_the_order_of_a_pair_is_asked_for_as_it_is_kept(tournament):
    assert tournament.pair("plain", "good") is tournament.pairs[1]
    with pytest.raises(
        hc.ArgumentError, match=re.escape("kept as result.pair('plain', 'good'), with plain on the left")
    ):
        tournament.pair("good", "plain")
    with pytest.raises(hc.ArgumentError, match=r"'god' is not an algorithm of this result. Did you mean 'good'"):
        tournament.pair("plain", "god")
    with pytest.raises(hc.ArgumentError, match=r"can't be compared with itself"):
        tournament.verdict("good", "good")


def test_a_baseline_is_the_left_algorithm_of_every_pair(table, tournament):
    one = compared(table, baseline="good")
    assert [(pair.left, pair.right) for pair in one.pairs] == [
        ("good", other) for other in ("plain", "same", "best_of_all")
    ]
    assert one.baseline == "good"
    assert one.verdict("plain", "same") == "not compared"
    assert one.verdict_signs().to_numpy().tolist().count("\N{MIDDLE DOT}") == 0
    assert np.isnan(one.better().loc["plain", "same"])
    assert one.better().loc["good", "best_of_all"] == tournament.better().loc["good", "best_of_all"]
    assert one.better().loc["good", "plain"] == pytest.approx(tournament.better().loc["good", "plain"], abs=1e-6)
    assert one.cliques() == []  # it is better or worse than all three, and the others were not compared
    with pytest.raises(hc.ArgumentError, match=r"'plain' was not compared with 'same': only pairs with the baseline"):
        one.pair("plain", "same")
    assert "each against good (3 pairs)" in str(one.summary())
    assert "not compared" in str(one.summary())


def test_the_best_baseline_has_the_best_mean_and_a_note(table):
    for better, expected in ((True, "best_of_all"), (False, "plain")):
        with pytest.warns(hc.HiercompWarning, match=f"The baseline '{expected}' was chosen because its mean over 8"):
            found = compare_all(table, **FAST, baseline="best", higher_is_better=better)
        assert found.baseline == expected
        assert "chosen" in found.notes[0]
    named = compared(simulated({"plain": 0.05, "best": 0.0, "other": 0.02}), baseline="best")
    assert named.baseline == "best"
    assert named.notes == ()


def test_an_asymmetric_rope_needs_a_baseline(table):
    with pytest.raises(hc.ArgumentError, match=r"not symmetric about zero.*baseline"):
        compared(table, rope=(-0.01, 0.02))
    one = compared(table, rope=(-0.2, 0.01), baseline="plain")
    single = single_fit(table, "plain", "good", rope=(-0.2, 0.01))
    assert one.pair("plain", "good").next_dataset == single.next_dataset


def test_each_pair_uses_the_data_sets_that_both_have(table):
    df = without(without(table, dataset="d0", algorithm="good"), dataset="d5", algorithm="same")
    with pytest.warns(hc.DroppedScoresWarning) as caught:
        found = compare_all(df, **FAST)
    assert len(found.pair("plain", "best_of_all").differences.dataset_names) == 8
    assert found.pair("plain", "good").differences.dataset_names == tuple(f"d{i}" for i in range(1, 8))
    assert found.pair("same", "good").differences.dataset_names == ("d1", "d2", "d3", "d4", "d6", "d7")
    counts = found.to_frame().set_index(["left", "right"])["n_datasets"]
    assert [counts[pair] for pair in (("plain", "same"), ("plain", "best_of_all"), ("same", "good"))] == [7, 8, 6]
    messages = [str(warning.message) for warning in caught]
    assert messages == list(found.notes)
    assert len(messages) == 2
    assert (
        "Scores of 2 of 4 algorithms are missing on some data sets (2 of 8 in all): 'same' lacks 'd5'; 'good' lacks 'd0'."
        in (messages[0])
    )
    assert "The ranking uses the 6 data sets of 8" in messages[1]
    assert all(message in str(found.summary()) for message in messages)
    alone = compared(df[df["algorithm"].isin(["plain", "good"])])
    assert alone.pair("plain", "good").next_dataset == found.pair("plain", "good").next_dataset


def test_missing_folds_follow_the_argument(table):
    df = table.drop(index=table.index[(table["algorithm"] == "good") & (table["fold"] == 3)][:1])
    with pytest.raises(hc.ScoreTableError, match=r"1 score is absent in 1 data set.*missing='drop'"):
        compared(df)
    with pytest.warns(
        hc.DroppedScoresWarning,
        match=r"3 pairs of 6 \(first: plain against good\): .* no score there: 1 fold of 1 data set",
    ):
        found = compare_all(df, **FAST, missing="drop")
    assert found.pair("plain", "good").differences.n.tolist() == [19] + [20] * 7
    assert found.pair("plain", "same").differences.n.tolist() == [20] * 8


def test_a_pair_that_cannot_be_compared_does_not_stop_the_others(table):
    df = table[~((table["algorithm"] == "good") & (table["dataset"] != "d0"))]
    lone = table[(table["algorithm"] == "good") & (table["dataset"] == "d1")]
    df = pd.concat([df, lone.assign(algorithm="lone", dataset="elsewhere")])
    with pytest.warns(hc.HiercompWarning) as caught:
        found = compare_all(df, **FAST)
    assert tuple(str(warning.message) for warning in caught) == found.notes
    assert any("7 pairs of 10 can't be compared: plain against good: Only one data set" in note for note in found.notes)
    assert any("plain against lone: No data set has scores of both algorithms" in note for note in found.notes)
    assert found.status == "failed"
    failed = [pair for pair in found.pairs if isinstance(pair, FailedPair)]
    assert len(failed) == 7
    assert found.verdict("plain", "good") == found.verdict("lone", "same") == "failed"
    assert found.verdict("plain", "best_of_all") == "worse"
    assert np.isnan(found.better().loc["plain", "good"])
    row = found.to_frame().set_index(["left", "right"]).loc[("plain", "good")]
    assert (row["verdict"], row["status"], row["n_datasets"]) == ("failed", "failed", 0)
    assert np.isnan(row["p_left"])
    with pytest.raises(hc.ArgumentError, match=r"has no result: Only one data set"):
        found.pair("plain", "good")
    assert "7 without a result" in str(found.summary())
    json.dumps(found.summary().to_dict(), allow_nan=False)
    assert "No data set has scores of every algorithm: there is no ranking." in found.notes
    assert found.order()[0] == "best_of_all"
    with pytest.raises(hc.ArgumentError, match=r"No data set has scores of all 5 algorithms"):
        found.ranking()


def test_if_no_pair_can_be_compared_it_is_an_error(table):
    with pytest.raises(
        hc.ScoreTableError,
        match=r"No pair can be compared. The first, plain against same: Only one data set",
    ):
        compared(table[table["dataset"] == "d0"])


def test_identical_algorithms_are_equivalent(table):
    copy = table[table["algorithm"] == "good"].assign(algorithm="copy")
    found = compared(pd.concat([table, copy]))
    assert found.verdict("good", "copy") == "equivalent"
    assert found.equivalent().loc["good", "copy"] == 1
    assert found.expected_difference().loc["good", "copy"] == 0
    assert np.isnan(found.odds().loc["good", "copy"])
    ranks = found.ranking().loc[["good", "copy"]]
    assert ranks["expected_rank"].nunique() == ranks["p_best"].nunique() == 1
    assert ("good", "copy") in found.equivalent_groups() or ("copy", "good") in found.equivalent_groups()


def test_warnings_of_one_kind_are_given_once(table):
    df = table.assign(score=np.where(table["dataset"] == "d2", 0.7, table["score"]))
    with pytest.warns(hc.HiercompWarning) as caught:
        found = compare_all(df, **FAST | {"n_jobs": 2})
    assert [warning.category for warning in caught] == [hc.DegenerateScoresWarning]
    assert caught[0].filename == __file__
    assert found.notes == (str(caught[0].message),)
    few = compared(table[table["dataset"].isin(["d0", "d1", "d2"])])
    assert few.notes == ("With only 3 data sets, the verdict depends strongly on the priors for sigma0 and nu.",)


def test_results_are_light(table):
    found = compared(table[table["algorithm"].isin(["plain", "good", "same"])])
    str(found.summary())
    assert all(pair.differences.scores is None for pair in found.pairs)
    assert len(pickle.dumps(found)) < 3 * 30_000  # the draws of one pair alone are 4,000 x 18 x 8 bytes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rope": -0.01}, "negative"),
        ({"baseline": "god"}, "baseline='god' is not an algorithm of the table. Did you mean 'good'.*Or pass 'best'"),
        ({"baseline": 3}, "baseline must be the name"),
        ({"engine": "quadratur"}, "Did you mean 'quadrature'"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"seed": -1}, "seed"),
        ({"progress": "yes"}, "progress"),
        ({"priors": "flat"}, "priors must be one of"),
        ({"missing": "ignore"}, "missing must be"),
        ({"rho": 1.0}, "rho must be at least 0"),
        ({"rho": {"nowhere": 0.1}}, "rho names 'nowhere'"),
        ({"columns": {"score": "auc"}}, "no|none"),
        ({"higher_is_better": "no"}, "higher_is_better"),
        ({"drawss": 100}, "'drawss' is not an option of a fit.*Did you mean 'draws'"),
        ({"dask": 8786}, "dask must be a scheduler's address"),
    ],
)
def test_wrong_arguments_are_refused(table, options, message):
    with pytest.raises(hc.HiercompError, match=message):
        compared(table, **options)


def test_a_table_of_one_algorithm_or_with_duplicates_is_refused(table):
    with pytest.raises(hc.ScoreTableError, match=r"only one algorithm"):
        compared(table[table["algorithm"] == "good"])
    with pytest.raises(hc.ScoreTableError, match=r"more than one score.*'good'"):
        compared(pd.concat([table, table[table["algorithm"] == "good"][:1]]))


def test_rho_may_be_given_for_data_sets_that_some_pairs_lack(table):
    df = without(without(table, dataset="d0", algorithm="good"), dataset="d0", algorithm="plain")
    found = compared(df, rho={f"d{i}": i / 10 for i in range(8)})
    np.testing.assert_allclose(found.pair("plain", "good").differences.rho, np.arange(1, 8) / 10)


def test_the_summary_says_what_matters(tournament):
    summary = tournament.summary()
    text = str(summary)
    assert "4 algorithms, all pairs (6 pairs), 8 data sets, rope [-0.01, 0.01]" in text
    assert "Of 6 pairs at the 95% level: 5 with a better algorithm, 1 practically equivalent." in text
    assert "best_of_all has the best expected rank, 1.00 of 4" in text
    assert "Practically equivalent, every pair of a group: {" in text
    assert "largest error of a probability" in text
    assert "Bayesian bootstrap" in text
    frame = summary.to_frame()
    assert frame.index.tolist() == list(tournament.order())
    assert frame.loc["good", ["better_than", "worse_than", "equivalent_to"]].tolist() == [2, 1, 0]
    content = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert content["verdicts"]["good"] == {
        "best_of_all": "worse", "plain": "better", "same": "better"
    }  # fmt: skip
    assert [row["algorithm"] for row in content["ranking"]] == list(tournament.order())
    assert content["pairs"][1]["verdict"] == "good better"
    with pytest.raises(hc.ArgumentError, match=r"alpha"):
        tournament.summary(0.7)


NASTY = {"<script>alert(1)</script>": 0.0, "a_b & 50% $x": 0.05, "c|d\u202e": 0.1}


def test_names_are_made_harmless_in_html_markdown_and_latex():
    found = compared(simulated(NASTY, datasets=5))
    summary = found.summary()
    page = summary._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert found._repr_html_() == page
    source = summary.to_latex()
    for line in source.splitlines():
        if not line.startswith("%"):
            assert not re.search(r"(?<!\\)[_%$#]", re.sub(r"(?<!\\)\$[^$]*\$", "", line)), line
    assert r"a\_b \& 50\% \$x" in source
    assert source.count(r"\begin{tabular}") == source.count(r"\bottomrule") == 2
    lines = summary.to_markdown().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8, 5}
    assert "\u202e" not in str(summary) + page + source + "\n".join(lines)


def test_the_summary_of_many_algorithms_stays_readable(monkeypatch, tournament):
    monkeypatch.setattr("hiercomp.summary.tournament.MOST_COLUMNS", 3)
    assert "The table of verdicts of 4 algorithms is in .verdict_signs()" in str(tournament.summary())


def test_a_terminal_gets_the_same_words(tournament):
    from rich.console import Console

    shown = io.StringIO()
    Console(width=300, file=shown).print(tournament.summary())
    text = shown.getvalue()
    assert tournament.summary().conclusion in text
    assert "best_of_all" in text


def same_pairs(one: TournamentResult, other: TournamentResult) -> None:
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    assert one.notes == other.notes
    for ours, theirs in zip(one.pairs, other.pairs, strict=True):
        assert ours.next_dataset == theirs.next_dataset
        assert plain_values(ours) == plain_values(theirs)
        pd.testing.assert_frame_equal(ours.datasets(), theirs.datasets(), check_exact=True)


def test_a_checkpoint_gives_equal_results_without_a_fit(tmp_path, table, tournament, monkeypatch):
    path = tmp_path / "pairs.sqlite"
    first = compared(table, checkpoint=path)
    same_pairs(first, tournament)
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.sqlite"]

    def refuse(*_: object) -> None:
        raise AssertionError("fitted again")

    monkeypatch.setattr("hiercomp.pairs.fits.PairFits.fit", refuse)
    same_pairs(compared(table, checkpoint=path), tournament)
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.sqlite"]


def test_verified_pairs_are_the_single_comparisons_and_survive_a_checkpoint(tmp_path, table, tournament):
    three = table[table["algorithm"] != "same"]
    options = {"engine": "auto", "checkpoint": tmp_path / "pairs.sqlite", "draws": 1000, "baseline": "plain"}
    first, again = compared(three, **options), compared(three, **options)
    assert first.engine_name == "auto"
    for one, other in zip(first.pairs, again.pairs, strict=True):
        assert one.next_dataset == other.next_dataset == tournament.pair(one.left, one.right).next_dataset
        assert one.verification == other.verification
        np.testing.assert_array_equal(one.draws("delta0"), other.draws("delta0"))
    text = str(first.summary())
    assert "SciPy" in text
    assert "stanli" in text or "CmdStan" in text


def fitted_pairs(monkeypatch, df: pd.DataFrame, **options) -> int:
    """How many pairs a call fits."""
    from hiercomp.pairs.fits import PairFits

    counted = []
    fit = PairFits.fit

    def counting(self, tasks):
        counted.extend(tasks)
        return fit(self, tasks)

    with monkeypatch.context() as patch:
        patch.setattr(PairFits, "fit", counting)
        compared(df, **options)
    return len(counted)


def test_only_what_is_new_is_fitted_again(tmp_path, table, monkeypatch):
    path = tmp_path / "pairs.sqlite"
    three = table[table["algorithm"] != "same"]
    assert fitted_pairs(monkeypatch, three, checkpoint=path) == 3
    assert fitted_pairs(monkeypatch, table, checkpoint=path) == 3
    assert fitted_pairs(monkeypatch, table, checkpoint=path) == 0
    changed = table.copy()
    changed.loc[changed.index[changed["algorithm"] == "good"][0], "score"] += 1e-9
    assert fitted_pairs(monkeypatch, changed, checkpoint=path) == 3
    for other in (
        {"rope": 0.02},
        {"priors": replace(hc.Priors.gaussian(), sigma0_upper=100.0)},
        {"seed": 1},
        {"rho": 0.2},
    ):
        assert fitted_pairs(monkeypatch, three, checkpoint=path, **other) == 3
    assert fitted_pairs(monkeypatch, table, checkpoint=path) == 0


@pytest.mark.parametrize("rope", [0.01, 0.5])
def test_pairs_whose_fits_add_notes_to_their_data_are_not_fitted_again(tmp_path, table, monkeypatch, rope):
    """Few data sets, a wide rope, and a data set without variation, whose spread comes from the rope."""
    few = table[table["dataset"].isin(table["dataset"].unique()[:3])].copy()
    first = few["dataset"] == few["dataset"].iloc[0]
    few.loc[first, "score"] = few["algorithm"].map(
        {name: 0.7 + place / 50 for place, name in enumerate(sorted(set(few["algorithm"])))}
    )
    path = tmp_path / "pairs.sqlite"
    assert fitted_pairs(monkeypatch, few, checkpoint=path, rope=rope) == 6
    assert fitted_pairs(monkeypatch, few, checkpoint=path, rope=rope) == 0


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, table, tournament, monkeypatch):
    from hiercomp.pairs.fits import PairFits

    path = tmp_path / "pairs.sqlite"
    fit, calls = PairFits.fit, []

    def interrupted(self, tasks):
        calls.append(tasks)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, tasks)

    with monkeypatch.context() as patch:
        patch.setattr(PairFits, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compared(table, checkpoint=path)
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.sqlite"]
    with sqlite3.connect(path) as connection:
        finished = connection.execute("SELECT count(*) FROM pairs").fetchone()[0]
    connection.close()
    assert 0 < finished < 6
    assert fitted_pairs(monkeypatch, table, checkpoint=path) == 6 - finished
    same_pairs(compared(table, checkpoint=path), tournament)


def damaged(path, how: str) -> None:
    if how == "text":
        path.write_text("not a database, and long enough to be no empty file\n" * 100)
    elif how == "another program":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE other (a)")
        connection.close()
    else:
        compared(simulated(datasets=4), checkpoint=path)
        if how == "cut":
            path.write_bytes(path.read_bytes()[:5000])
        else:
            with sqlite3.connect(path) as connection:
                connection.execute("PRAGMA user_version = 99")
            connection.close()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("text", "is not a checkpoint of hiercomp or is damaged.*Remove it"),
        ("another program", "is an SQLite file that hiercomp did not create. Choose another name"),
        ("cut", "is damaged.*Remove it"),
        ("later format", "another version of hiercomp .format 99"),
    ],
)
def test_a_foreign_or_damaged_checkpoint_is_refused_and_kept(tmp_path, how, message):
    path = tmp_path / "pairs.sqlite"
    damaged(path, how)
    before = path.read_bytes()
    with pytest.raises(hc.ResultFileError, match=message):
        compared(simulated(datasets=4), checkpoint=path)
    assert path.read_bytes() == before


def test_a_checkpoint_that_cannot_be_written_is_refused(tmp_path, table):
    for path, message in ((tmp_path, "it is a folder"), (tmp_path / "no" / "x", "there is no folder")):
        with pytest.raises(hc.ResultFileError, match=message):
            compared(table, checkpoint=path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
def test_a_sampling_engine_gives_the_same_verdicts(tmp_path, table, tournament):
    path = tmp_path / "pairs.sqlite"
    options = {"engine": "embedded", "n_jobs": 2, "checkpoint": path}
    sampled = compared(table, **options)
    with pytest.raises(hc.ArgumentError, match="There are no draws of 'delta'"):
        sampled.pair("plain", "good").datasets()
    assert sampled.verdicts().equals(tournament.verdicts())
    error = sampled.to_frame()["error"].max() + tournament.to_frame()["error"].max()
    assert np.nanmax(np.abs(sampled.better() - tournament.better())) < 4 * error
    again = compared(table, **options)
    for ours, theirs in zip(again.pairs, sampled.pairs, strict=True):
        assert ours.next_dataset == theirs.next_dataset


def test_bounds_that_cut_off_a_posterior_are_among_the_notes(table):
    found = hc.compare_all(table, rope=0.01, priors=hc.Priors(delta0_bound=0.02), n_jobs=1, engine="quadrature")
    of_pairs = [note for pair in found.pairs for note in pair.bound_notes if note.key == "delta0_at_bound"]
    assert of_pairs
    assert any(of_pairs[0].text in note for note in found.notes)
    assert not any("A wider bound" in note for note in hc.compare_all(table, rope=0.01, n_jobs=1).notes)
