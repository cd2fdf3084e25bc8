"""Every front door takes a path, a wide frame and a tidy frame, and says the same of what it can't read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc

SIDES = {"left": "bayes", "right": "tree"}


def numbers(result: Any) -> np.ndarray:
    return result.to_frame().select_dtypes("number").to_numpy()


def comparisons(table: Any) -> hc.TournamentResult:
    return hc.compare_all(table, rope=0.01, priors="gaussian", baseline="tree", n_jobs=1, progress=False)


DOORS: dict[str, Callable[[Any], Any]] = {
    "HierarchicalComparison": lambda table: hc.HierarchicalComparison(table, **SIDES, rope=0.01).differences.mean,
    "compare_all": lambda table: comparisons(table).pairs[0].differences.mean,
    "check_scores": lambda table: hc.check_scores(table).n_places.sum(),
    "read_scores": lambda table: hc.read_scores(table).groupby(["algorithm", "dataset"])["score"].mean().to_numpy(),
    "correlated_t_test": lambda table: numbers(hc.correlated_t_test(table, **SIDES, rope=0.01)),
    "signed_rank_test": lambda table: hc.signed_rank_test(table, **SIDES).pvalue,
    "bayesian_signed_rank_test": lambda table: numbers(hc.bayesian_signed_rank_test(table, **SIDES, rope=0.01)),
    "poisson_binomial_test": lambda table: numbers(hc.poisson_binomial_test(table, **SIDES, rope=0.01)),
    "friedman_test": lambda table: hc.friedman_test(table).statistic,
    "posthoc_test": lambda table: numbers(hc.posthoc_test(table)),
}


@pytest.fixture(scope="module")
def tidy() -> pd.DataFrame:
    generator = np.random.default_rng(4)
    places = pd.MultiIndex.from_product(
        [[f"d{number}" for number in range(6)], ["bayes", "forest", "tree"], [1, 2], [1, 2, 3]],
        names=["dataset", "algorithm", "run", "fold"],
    )
    frame = places.to_frame(index=False)
    better = frame["algorithm"].map({"bayes": 0.0, "forest": 0.01, "tree": 0.02})
    return frame.assign(score=generator.normal(0.8, 0.02, len(frame)) + better)


def wide_of(tidy: pd.DataFrame) -> pd.DataFrame:
    wide = tidy.pivot(index=["dataset", "run", "fold"], columns="algorithm", values="score").reset_index()
    wide.columns.name = None
    return wide


@pytest.mark.parametrize("door", DOORS)
def test_a_path_a_wide_frame_and_a_tidy_one_give_the_same(door, tidy, tmp_path):
    tidy.to_csv(tmp_path / "tidy.csv", index=False)
    wide_of(tidy).to_csv(tmp_path / "wide.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        expected = DOORS[door](tidy)
        for table in (wide_of(tidy), tmp_path / "tidy.csv", str(tmp_path / "wide.csv")):
            np.testing.assert_allclose(DOORS[door](table), expected, rtol=1e-12)


FORMS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "tidy": lambda tidy: tidy,
    "of seeds": lambda tidy: tidy.assign(seed=3 * tidy["run"] + tidy["fold"]).drop(columns=["run", "fold"]),
    "wide": wide_of,
    "read": hc.read_scores,
    "read twice": lambda tidy: hc.read_scores(hc.read_scores(tidy)),
    "of other names": lambda tidy: hc.read_scores(tidy.rename(columns={"score": "Güte"}), score="Güte"),
    "joined": lambda tidy: hc.read_scores([part for _, part in tidy.groupby("dataset")]),
    "wide and read": lambda tidy: hc.read_scores(of_losses(wide_of(tidy))),
}


def of_losses(frame: pd.DataFrame) -> pd.DataFrame:
    frame.attrs["higher_is_better"] = False
    return frame


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("door", DOORS)
def test_a_stated_direction_is_followed_in_every_form(door, form, tidy):
    losses = FORMS[form](of_losses(tidy.copy()))
    if form in ("of seeds", "wide"):  # what pandas makes of the table, and not all of it keeps attributes
        losses = of_losses(losses)
    assert losses.attrs["higher_is_better"] is False
    gains = FORMS["of seeds" if form == "of seeds" else "tidy"](tidy.assign(score=-tidy["score"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        expected = -DOORS[door](gains) if door == "read_scores" else DOORS[door](gains)
        np.testing.assert_allclose(DOORS[door](losses), expected, rtol=1e-12)


def test_columns_name_what_a_frame_or_file_calls_otherwise(tidy, tmp_path):
    names = {"dataset": "Daten", "algorithm": "Verfahren", "run": "Lauf", "fold": "Falte", "score": "Güte"}
    odd = tidy.rename(columns=names)
    wide = wide_of(tidy).rename(columns=names)
    odd.to_csv(tmp_path / "odd.csv", index=False)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    rows = {role: names[role] for role in ("dataset", "run", "fold")}
    expected = hc.HierarchicalComparison(tidy, **SIDES).differences
    for table, columns in ((odd, names), (wide, rows), (tmp_path / "odd.csv", names), (tmp_path / "wide.csv", rows)):
        found = hc.HierarchicalComparison(table, **SIDES, columns=columns).differences
        assert found.dataset_names == expected.dataset_names
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
        assert found.rho.tolist() == expected.rho.tolist()


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_rows_without_a_fold_are_folds_when_rho_is_given(tidy):
    wide = wide_of(tidy).drop(columns=["run", "fold"])
    found = hc.HierarchicalComparison(wide, **SIDES, rho=0.25).differences
    expected = hc.HierarchicalComparison(tidy, **SIDES, rho=0.25).differences
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    assert found.n.tolist() == [6] * 6
    many = pd.concat([wide.assign(bayes=wide["bayes"] + shift) for shift in np.arange(6) / 1000])
    with pytest.raises(hc.ScoreTableError, match="folds=10"):
        hc.HierarchicalComparison(many, **SIDES)
    assert hc.HierarchicalComparison(many, **SIDES, rho=0.25).differences.n.tolist() == [36] * 6


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_a_proposal_is_an_argument_of_the_caller(tidy):
    wide = wide_of(tidy).drop(columns=["run", "fold"]).rename(columns={"dataset": "Daten"})
    with pytest.raises(hc.ScoreTableError, match=r"Pass columns=\{'dataset': 'Daten'\}\.$"):
        hc.HierarchicalComparison(wide, **SIDES, rho=0.1)
    assert hc.HierarchicalComparison(wide, **SIDES, rho=0.1, columns={"dataset": "Daten"}).differences.n.sum() == 36
    with pytest.raises(hc.ScoreTableError, match=r"hc\.read_scores\(\.\.\., format='wide', dataset='Daten'\)"):
        hc.signed_rank_test(wide, **SIDES)


def table_of(measures: dict[str, str], **columns: Any) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    rows = [
        (dataset, algorithm, fold, measure, generator.normal(0.7, 0.02))
        for dataset, measure in measures.items()
        for algorithm in "ab"
        for fold in range(10)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "metric", "score"]).assign(**columns)


def test_a_column_of_metrics_says_the_direction_of_a_frame_as_of_its_file(tmp_path):
    frame = table_of({f"d{i}": "rmse" for i in range(4)})
    frame.to_csv(tmp_path / "m.csv", index=False)
    for scores in (frame, tmp_path / "m.csv"):
        with pytest.raises(hc.ScoreTableError, match="The scores are called 'rmse', the name of a loss"):
            hc.compare(scores, rope=0.01, engine="quadrature")
    with pytest.raises(hc.ScoreTableError, match="Higher scores are better for 'accuracy', lower ones for 'rmse'"):
        hc.compare(table_of({"d0": "rmse", "d1": "accuracy"}), rope=0.01, engine="quadrature")
    with pytest.warns(hc.HiercompWarning, match="2 measures"), pytest.raises(hc.ScoreTableError, match="'rmse'"):
        hc.compare(table_of({"d0": "rmse", "d1": "mae"}), rope=0.01, engine="quadrature")


def test_a_measure_with_a_cell_that_is_no_number_is_not_exchanged_for_another_column(tmp_path):
    frame = table_of({"d0": "x", "d1": "x", "d2": "x"}).drop(columns="metric")
    frame = frame.rename(columns={"score": "accuracy"}).assign(f1=frame["score"] / 2)
    frame["accuracy"] = frame["accuracy"].map("{:.3f}".format)
    frame.loc[3, "accuracy"] = "failed"
    frame.to_csv(tmp_path / "f.csv", index=False)
    for scores in (frame, tmp_path / "f.csv"):
        with pytest.raises(hc.HiercompError, match="several are numeric: 'accuracy', 'f1'"):
            hc.compare(scores, rope=0.01, engine="quadrature")
    mixed = frame.assign(accuracy=[cell if cell == "failed" else float(cell) for cell in frame["accuracy"]])
    with pytest.raises(hc.ScoreTableError, match="several are numeric: 'accuracy', 'f1'"):
        hc.compare(mixed, rope=0.01, engine="quadrature")
    with pytest.raises(hc.ScoreTableError, match="1 of 60 cells of column 'accuracy' are not numbers"):
        hc.compare(frame.drop(columns="f1"), rope=0.01, engine="quadrature")


def test_training_and_test_scores_are_no_folds():
    frame = table_of({"d0": "x", "d1": "x"}).drop(columns="metric").rename(columns={"fold": "seed"})
    both = pd.concat([frame.assign(split=part) for part in ("train", "test")])
    with pytest.raises(hc.ScoreTableError, match="names parts of the data, and no folds: 'train', 'test'"):
        hc.compare(both, rope=0.01, engine="quadrature")
    kept = hc.read_scores(both, where={"split": "test"})
    assert len(kept) == len(frame)
