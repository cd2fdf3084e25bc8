"""Tables of any layout by a small mapping: the samples' numbers stand in them, those of real files in their README."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, DefaultedRhoWarning, HiercompError, HiercompWarning, ScoreTableError
from hiercomp.files.presets import AVERAGES, PRESETS, presets_as_markdown

SAMPLES = Path(__file__).parents[1] / "data/importers"
COLUMNS = ["dataset", "algorithm", "run", "fold", "score"]

# The sample of each preset holds these scores, fold by fold
SCORES = {
    ("iris", "a"): [0.9, 0.92, 0.94],
    ("iris", "b"): [0.88, 0.93, 0.91],
    ("001", "a"): [0.7, 0.72, 0.71],
    ("001", "b"): [0.75, 0.74, 0.78],
}
PRESET_OPTIONS = {
    "caret": {"measure": "Accuracy"},
    "mlr": {"measure": "acc", "folds": 3},
    "cross_validate": {"measure": "accuracy"},
    "pycaret": {"measure": "Accuracy"},
    "pycaret_regression": {"score": "R2"},
    "nixtla": {"measure": "mae"},
}


def read(source, **options) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        return hc.read_scores(source, **options)


def refused(source, **options) -> str:
    with pytest.raises(HiercompError) as caught:
        read(source, **options)
    return str(caught.value)


def cells(scores: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    ordered = scores.sort_values(["run", "fold"], kind="stable")
    return {key: rows["score"].tolist() for key, rows in ordered.groupby(["dataset", "algorithm"], sort=False)}


def table(**columns) -> pd.DataFrame:
    """Two problems, two systems, two folds; the scores are 1 to 8 tenths."""
    rows = [(task, system, fold) for task in ("p", "q") for system in ("x", "y") for fold in (0, 1)]
    frame = pd.DataFrame(rows, columns=["place", "who", "part"])
    return frame.assign(**{"acc": np.arange(1, 9) / 10, **columns})


MAPPED = {"dataset": "place", "algorithm": "who", "fold": "part", "score": "acc"}


# Presets


@pytest.mark.parametrize("name", PRESETS)
def test_the_sample_of_each_preset_gives_the_scores_that_stand_in_it(name):
    scores = read(SAMPLES / f"{name}.csv", **PRESET_OPTIONS.get(name, {}))
    assert scores.attrs["format"] == name
    assert list(scores.columns[:5]) == COLUMNS
    found = cells(scores)
    prefix = "classif." if name == "mlr" else ""
    for (dataset, algorithm), values in SCORES.items():
        times = 2 if name in ("caret", "mlr") else 1  # two runs of the same scores
        wanted = sorted(values * times) if name == "mlr" else values * times
        given = found[dataset, prefix + algorithm]
        assert (sorted(given) if name == "mlr" else given) == wanted


def test_directions_that_a_tool_states_are_kept_and_names_are_left_to_the_comparison():
    assert read(SAMPLES / "tabarena.csv").attrs["higher_is_better"] is False
    assert read(SAMPLES / "autogluon.csv").attrs["higher_is_better"] is True
    assert "higher_is_better" not in read(table(), **{**MAPPED, "score": "acc"}).attrs
    assert read(table(), **MAPPED).attrs["measure"] == "acc"


def test_what_a_table_says_of_its_scores_holds_beside_a_column_that_names_the_measure_otherwise():
    frame = read(table(), **MAPPED).assign(metric="root_mean_squared_error")
    frame.attrs = {"measure": "rmse", "higher_is_better": False}
    scores = read(frame)
    assert (scores.attrs["measure"], scores.attrs["higher_is_better"]) == ("rmse", False)


@pytest.mark.parametrize("first", ["rmse", "roc_auc"])
def test_errors_of_different_measures_have_one_direction_where_the_tool_says_so(first):
    frame = pd.read_csv(SAMPLES / "tabarena.csv")
    other = frame.assign(dataset="other " + frame["dataset"], metric="rmse" if first == "roc_auc" else "roc_auc")
    scores = read(pd.concat([frame.assign(metric=first), other]))
    assert len(scores) == 2 * len(frame)
    assert scores.attrs["higher_is_better"] is False
    assert scores.attrs["measure"] == "metric_error"


@pytest.mark.parametrize(
    ("sample", "options"), [("lm_eval", {"measure": "acc"}), ("lm_eval_samples", {"measure": "acc"}), ("inspect", {})]
)
def test_some_rows_of_a_tools_files_are_read_as_all_are(sample, options):
    everything = read(SAMPLES / sample, **options)
    one = everything["algorithm"].iloc[0]
    scores = read(SAMPLES / sample, where={"algorithm": one}, **options)
    assert 0 < len(scores) < len(everything)
    wanted = everything[everything["algorithm"] == one].reset_index(drop=True)
    assert scores[COLUMNS].to_numpy().tolist() == wanted[COLUMNS].to_numpy().tolist()
    assert scores.attrs == everything.attrs


def test_iterations_of_mlr_need_the_folds_of_a_run():
    with pytest.raises(HiercompError, match="counts 6 iterations through all runs") as caught:
        read(SAMPLES / "mlr.csv", measure="acc")
    assert [str(one) for one in caught.value.arguments] == ["folds=6", "folds=3"]
    assert "Pass folds=6 for one run, folds=3 for two, or rho" in str(caught.value)
    scores = read(SAMPLES / "mlr.csv", measure="acc", folds=3)
    # iterations 1 to 6 are two runs of three folds: rho is 1/3
    assert sorted(set(zip(scores["run"], scores["fold"], strict=True))) == [(r, f) for r in (1, 2) for f in (1, 2, 3)]
    assert scores["rho"].unique().tolist() == [1 / 3]


def test_summary_rows_of_pycaret_are_left_out_and_counted():
    scores = read(SAMPLES / "pycaret.csv", score="Accuracy")
    assert scores.attrs["notes"] == ["Left out: 8 rows whose fold is 'Mean', 'Std'."]
    assert scores["fold"].unique().tolist() == [0, 1, 2]


@pytest.mark.parametrize("columns", [columns for columns, *_ in AVERAGES])
def test_tables_of_averages_are_refused_as_such(columns):
    frame = pd.DataFrame({name.replace("*", "x"): ["a", "b"] for name in columns})
    what = next(what for one, _, what, _ in AVERAGES if one == columns)
    assert what in refused(frame, dataset="=iris")


# Roles


def test_roles_name_columns_of_any_table():
    scores = read(table(), **MAPPED)
    assert list(scores.columns) == COLUMNS
    assert scores["score"].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert scores.attrs["mapping"] == MAPPED
    assert scores["run"].unique().tolist() == [1]


def test_several_columns_are_joined():
    frame = table(size=["s", "s", "l", "l"] * 2).drop(columns="who").assign(kind="net")
    scores = read(frame, **{**MAPPED, "algorithm": ["kind", "size"]})
    assert scores["algorithm"].tolist() == ["net s", "net s", "net l", "net l"] * 2


def test_a_constant_is_the_name_in_every_row():
    frame = table()[:4].drop(columns="place")
    scores = read(frame, **{**MAPPED, "dataset": "=iris"})
    assert scores["dataset"].unique().tolist() == ["iris"]
    assert "dataset='=iris'" in refused(frame, algorithm="who", fold="part", score="acc")
    assert "dataset='=iris'" in refused(frame, **{**MAPPED, "dataset": "iris"})


def test_parts_of_cells_are_runs_and_folds():
    frame = table(part=["Fold01.Rep1", "Fold02.Rep1"] * 4)
    scores = read(frame, **{**MAPPED, "fold": "Fold{fold}.Rep{run}@part"})
    assert scores["fold"].tolist() == [1, 2] * 4
    assert scores["run"].tolist() == [1] * 8
    odd = frame.assign(part=["Fold01.Rep1", "Apparent"] * 4)
    text = refused(odd, **{**MAPPED, "fold": "Fold{fold}.Rep{run}@part"})
    assert "1 cell of column 'part' does not match 'Fold{fold}.Rep{run}': 'Apparent'" in text


def test_parts_of_the_names_of_columns_make_a_wide_table_long():
    frame = pd.DataFrame(
        {"problem": ["p", "p"], "fold": [1, 2], "x~Acc": [0.1, 0.2], "x~AUC": [9, 9], "y~Acc": [0.3, 0.4]}
    )
    scores = read(frame, algorithm="{algorithm}~Acc")
    assert cells(scores) == {("p", "x"): [0.1, 0.2], ("p", "y"): [0.3, 0.4]}
    assert scores.attrs["format"] == "wide"
    text = refused(frame, algorithm="{algorithm}~{measure}")
    assert "There are 2 measures: 'Acc', 'AUC'" in text
    assert cells(read(frame.drop(columns="x~AUC"), algorithm="{algorithm}~{measure}")) == cells(scores)
    assert "No column is called as in '{algorithm}_acc'" in refused(frame, algorithm="{algorithm}_acc")


def test_a_column_for_each_fold_is_melted():
    frame = pd.DataFrame({"dataset": ["p", "p"], "model": ["x", "y"], "fold1": [0.1, 0.2], "fold2": [0.3, 0.4]})
    scores = read(frame)
    assert cells(scores) == {("p", "x"): [0.1, 0.3], ("p", "y"): [0.2, 0.4]}


def test_one_column_whose_name_is_that_of_a_fold_holds_the_scores():
    frame = table().rename(columns={"place": "dataset", "who": "model", "part": "fold", "acc": "cv10"})
    scores = read(frame)
    assert (scores["fold"].tolist(), scores["score"].tolist()) == ([0, 1] * 4, frame["cv10"].tolist())


def test_resamples_without_numbers_are_no_folds():
    frame = table(Resample=["FoldA", "FoldB"] * 4).rename(columns={"place": "dataset", "who": "model"})
    assert "pass fold='Resample'" in refused(frame.drop(columns="part"))
    assert read(frame.drop(columns="part").assign(Resample=["Fold1", "Fold2"] * 4))["fold"].tolist() == [1, 2] * 4


def test_a_list_that_holds_something_else_is_refused_by_its_row():
    frame = pd.DataFrame({"dataset": "p", "model": ["x", "y"], "acc": ["[0.1, 0.2]", "[0.3, no]"]})
    assert "Row 2: '[0.3, no]' is not a list of scores." in refused(frame, score="acc")


def test_a_fold_too_large_for_a_number_is_refused_by_its_place(tmp_path):
    path = tmp_path / "openml.csv"
    path.write_text((SAMPLES / "openml.csv").read_text(encoding="utf-8").replace("0.93", "1e999"), encoding="utf-8")
    with pytest.raises(ScoreTableError, match="first: dataset 'iris', algorithm 'b', run 1, fold 2: inf") as caught:
        hc.HierarchicalComparison(read(path))
    check = hc.check_scores(path)
    assert [problem.message for problem in check.errors] == [caught.value.message]


def test_where_keeps_rows():
    frame = pd.concat([table(mode="aws"), table(mode="local", acc=9.0)], ignore_index=True)
    scores = read(frame, where={"mode": "aws"}, **MAPPED)
    assert scores["score"].max() == 0.8
    assert len(read(frame, where={"mode": ["aws"], "part": 0}, **MAPPED)) == 4
    assert "No row has 'asw' in column 'mode'. Did you mean 'aws'?" in refused(frame, where={"mode": "asw"}, **MAPPED)
    assert "where names column 'mod'" in refused(frame, where={"mod": "aws"}, **MAPPED)
    # without it two rows have the same place
    assert "more than one score" in refused(frame, **MAPPED)


def test_folds_split_a_column_that_counts_through_all_runs():
    frame = pd.concat([table(part=n) for n in range(1, 7)], ignore_index=True)
    frame = frame.drop_duplicates(["place", "who", "part"])
    scores = read(frame, folds=3, **MAPPED)
    assert sorted(set(zip(scores["run"], scores["fold"], strict=True))) == [(r, f) for r in (1, 2) for f in (1, 2, 3)]
    assert scores["rho"].unique().tolist() == [1 / 3]
    assert sorted(set(read(frame, folds=2, **MAPPED)["run"])) == [1, 2, 3]
    assert "do not make a whole number of runs of 4 folds" in refused(frame, folds=4, **MAPPED)


def test_names_count_through_all_runs_in_their_natural_order():
    names = ["part 10", "part 2", "part 1", "part 20"]
    frame = pd.concat([table(part=name) for name in names]).drop_duplicates(["place", "who", "part"])
    scores = read(frame, folds=2, **MAPPED).iloc[::4]  # one of each name
    assert list(zip(scores["run"], scores["fold"], strict=True)) == [(2, 1), (1, 2), (1, 1), (2, 2)]


def test_seeds_are_independent_runs_and_that_is_said():
    frame = table().rename(columns={"part": "seed", "place": "env", "who": "agent", "acc": "return"})
    with pytest.warns(DefaultedRhoWarning, match="differ by 'seed'"):
        scores = hc.read_scores(frame)
    assert scores["rho"].unique().tolist() == [0.0]
    assert scores["run"].tolist() == [0, 1] * 4
    assert scores.attrs["measure"] == "return"
    assert read(frame, rho=0.2)["rho"].unique().tolist() == [0.2]
    assert read(frame, fold="=1")["rho"].unique().tolist() == [0.0]  # the same fold everywhere tells nothing


def test_a_fold_may_have_a_name_for_all_rows():
    frame = table()[table()["part"] == 0]
    assert read(frame, **MAPPED | {"fold": "=first"})["fold"].tolist() == ["first"] * 4


def test_columns_of_folds_are_left_where_another_column_is_named_as_the_score():
    frame = table()[table()["part"] == 0].assign(fold1=0.0, fold2=0.0)
    assert read(frame, dataset="place", algorithm="who", score="acc")["score"].tolist() == [0.1, 0.3, 0.5, 0.7]


def test_seeds_beside_folds_are_runs_only_where_folds_repeat():
    frame = pd.concat([table().assign(seed=seed) for seed in (7, 8)], ignore_index=True)
    frame = frame.rename(columns={"place": "dataset", "who": "model", "part": "fold"})
    scores = read(frame)
    assert scores["run"].unique().tolist() == [7, 8]
    assert "rho" not in scores
    # AMLB's seed is another in every row: the folds tell the rows apart without it
    one = frame[:8].assign(seed=np.arange(8))
    assert read(one)["run"].unique().tolist() == [1]


def test_questions_are_folds_that_share_no_training():
    frame = table().rename(columns={"part": "question_id", "place": "benchmark", "who": "model"})
    assert read(frame)["rho"].unique().tolist() == [0.0]


@pytest.mark.parametrize(
    "other", ["iter", "Runtime", "fit_time", "", "Unnamed: 0", "train_accuracy", "std_acc", "index"]
)
def test_columns_that_are_no_scores_are_no_candidates(other):
    frame = table(**{other: np.arange(8.0)}).rename(columns={"place": "dataset", "who": "model", "part": "fold"})
    assert read(frame).attrs["mapping"]["score"] == "acc"


def test_known_measures_are_offered_first():
    frame = table(size=np.arange(8.0)).rename(columns={"place": "dataset", "who": "model", "part": "fold"})
    frame = frame[["dataset", "model", "fold", "size", "acc"]]
    assert "Choose one with score='acc'" in refused(frame)


def test_a_return_is_the_score_unless_another_measure_may_be_meant():
    frame = table(length=np.arange(8.0)).rename(
        columns={"place": "game", "who": "agent", "part": "seed", "acc": "return"}
    )
    assert read(frame)["score"].max() == 0.8
    assert "several are numeric: 'return', 'accuracy'" in refused(frame.assign(accuracy=0.5))


def test_further_columns_are_kept_on_request():
    frame = table(time=np.arange(8.0))
    assert list(read(frame, also="time", **MAPPED).columns) == [*COLUMNS, "time"]
    assert list(read(frame, also="*", **MAPPED).columns) == [*COLUMNS, "time"]
    assert (
        "There is no column 'tim', which rope (--rope), groups (--groups) or also names. Did you mean 'time'?"
        in refused(frame, also="tim", **MAPPED)
    )


def test_the_column_that_tells_rows_apart_is_named():
    frame = table().rename(columns={"place": "dataset", "who": "model", "part": "slice"})
    text = refused(frame)
    assert "Column 'slice' tells them apart: pass fold='slice'" in text
    frame["slot"] = frame["slice"]
    assert "Column 'slice' (or 'slot') tells them apart: pass fold='slice'" in refused(frame)


def test_a_column_of_measures_needs_one_of_them():
    frame = pd.concat([table(metric="acc"), table(metric="auc", acc=0.5)], ignore_index=True)
    assert "There are 2 measures: 'acc', 'auc'" in refused(frame, **MAPPED)
    assert read(frame, measure="acc", **MAPPED)["score"].max() == 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error", HiercompWarning)
        assert hc.read_scores(table(metric="acc"), **MAPPED).attrs["measure"] == "acc"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"dataset": 5}, ArgumentError),
        ({"dataset": ["place", 1]}, ArgumentError),
        ({"dataset": True}, ArgumentError),
        ({"dataset": "="}, ArgumentError),
        ({"dataset": "{dataset}{dataset}@place"}, ArgumentError),
        ({"dataset": "{stem}"}, ArgumentError),
        ({"dataset": "{dataset}@nowhere"}, ScoreTableError),
        ({"where": 5}, ArgumentError),
        ({"folds": 1}, ArgumentError),
        ({"rho": 2}, ArgumentError),
        ({"rho": "=x"}, ArgumentError),
        ({"also": 5}, ArgumentError),
        ({"measure": 5}, ArgumentError),
        ({"file": "x"}, ArgumentError),
        ({"scroe": "x"}, ArgumentError),
    ],
)
def test_what_plays_no_role_is_refused(options, error):
    with pytest.raises(error):
        read(table(), **{**MAPPED, **options})


# Several files, and the file's name


def test_files_of_one_data_set_each_are_joined_by_their_names(tmp_path):
    for name in ("iris", "wine"):
        table()[:4].drop(columns="place").to_csv(tmp_path / f"{name}.csv.gz", index=False)
    mapped = {"algorithm": "who", "fold": "part", "score": "acc"}
    scores = read([tmp_path / "iris.csv.gz", tmp_path / "wine.csv.gz"], dataset="{stem}", **mapped)
    assert scores["dataset"].unique().tolist() == ["iris", "wine"]
    assert len(scores) == 8
    assert read(tmp_path, dataset="{stem}", **mapped).equals(scores)
    assert "pass dataset='{stem}'" in refused(tmp_path, dataset="=one", **mapped)
    (tmp_path / "README.txt").write_text("no table")
    assert len(read(tmp_path, dataset="{stem}", **mapped)) == 8
    assert "take the name of the file: dataset='{stem}'" in refused(tmp_path, **mapped)
    (tmp_path / "x_iris.csv").write_text("who,part,acc\nx,1,0.5\n")
    one = read(tmp_path / "x_iris.csv", dataset="x_{dataset}@{stem}", **mapped)
    assert one["dataset"].tolist() == ["iris"]


# The front doors


def test_comparisons_take_files_and_wide_frames(tmp_path):
    generator = np.random.default_rng(4)
    tidy = pd.DataFrame(
        [(f"d{d}", a, f, generator.normal(0.8, 0.02)) for d in range(5) for a in "xy" for f in range(1, 6)],
        columns=["dataset", "algorithm", "fold", "score"],
    )
    tidy.to_csv(tmp_path / "tidy.csv", index=False)
    wide = tidy.pivot(index=["dataset", "fold"], columns="algorithm", values="score").reset_index()
    expected = hc.HierarchicalComparison(tidy, rope=0.01).differences.mean
    for source in (tmp_path / "tidy.csv", str(tmp_path / "tidy.csv"), wide, wide.set_index(["dataset", "fold"])):
        found = hc.HierarchicalComparison(source, rope=0.01).differences
        np.testing.assert_allclose(found.mean, expected, rtol=1e-14)
        np.testing.assert_allclose(found.rho, 0.2)
    assert read(wide).attrs["format"] == "wide"


def test_an_iteration_that_is_left_out_keeps_its_place_among_the_runs():
    parts = [1, 2, 4, 5, 6]
    frame = pd.DataFrame({"place": "p", "who": np.repeat(["x", "y"], 5), "part": parts * 2, "acc": np.arange(10) / 10})
    scores = read(frame, folds=3, **MAPPED)
    first = scores["run"].min(), scores["fold"].min()
    assert (scores["run"] - first[0]).tolist() == [0, 0, 1, 1, 1] * 2
    assert (scores["fold"] - first[1]).tolist() == [0, 1, 0, 1, 2] * 2


@pytest.mark.parametrize(("rows", "words"), [([3], "Row 4 repeats"), ([3, 6], "Row 4 and 1 more repeat")])
def test_rows_that_repeat_the_header_are_counted(rows, words):
    frame = table().astype(object)
    for row in rows:
        frame.loc[row] = list(frame.columns)
    assert f"{words} the header. Remove such lines." in refused(frame, **MAPPED)


def test_a_pattern_of_columns_may_have_the_name_of_the_file(tmp_path):
    frame = pd.DataFrame({"dataset": ["p", "p"], "algorithm": ["x", "y"], "auc_1": [0.1, 0.3], "auc_2": [0.2, 0.4]})
    frame.assign(time_1=9.0, time_2=8.0).to_csv(tmp_path / "auc.csv", index=False)
    scores = read(tmp_path / "auc.csv", fold="{stem}_{fold}")
    assert cells(scores) == {("p", "x"): [0.1, 0.2], ("p", "y"): [0.3, 0.4]}


def test_rows_of_a_wide_frame_are_folds_and_only_rho_is_asked_for():
    frame = pd.DataFrame({"dataset": ["p"] * 30 + ["q"] * 30, "x": np.arange(60.0) % 7, "y": np.arange(60.0) % 5})
    with pytest.raises(HiercompError, match="30 rows and no column says which fold each is") as caught:
        read(frame)
    assert [str(one) for one in caught.value.arguments] == ["folds=10"]
    assert read(frame, folds=10)["rho"].unique().tolist() == [0.1]
    scores = read(frame, rho=0.1)
    assert scores["fold"].max() == 30
    assert scores["rho"].unique().tolist() == [0.1]


def test_a_summary_row_among_folds_is_refused_in_a_frame():
    frame = table(part=["0", "1", "2", "Mean"] * 2).rename(columns={"place": "dataset", "who": "model", "part": "fold"})
    with pytest.raises(ScoreTableError, match="The fold column has 'Mean' among numbers"):
        hc.HierarchicalComparison(frame, rope=0.01)


def test_an_unknown_table_is_answered_with_the_mapping_that_its_cells_suggest(tmp_path):
    frame = table(hours=np.arange(8.0)).rename(columns={"who": "thing"})
    frame.to_csv(tmp_path / "odd.csv", index=False)
    text = refused(tmp_path / "odd.csv")
    assert "Pass dataset='place', algorithm='thing'" in text or "Pass dataset='thing', algorithm='place'" in text
    assert "score='acc'" in text


def test_a_wide_table_in_another_language_is_answered_with_what_its_columns_may_be(tmp_path):
    frame = pd.DataFrame({"Datensatz": ["a", "a", "b", "b"], "Lauf": 1, "Falte": [1, 2, 1, 2]})
    frame.assign(**{"Random Forest": [0.1, 0.2, 0.3, 0.4], "GB": [0.5, 0.6, 0.7, 0.8]}).to_csv(
        tmp_path / "w.csv", index=False
    )
    text = refused(tmp_path / "w.csv")
    assert "a column for each algorithm: 'Random Forest', 'GB'" in text
    assert "Pass format='wide', dataset='Datensatz', run='Lauf', fold='Falte'." in text
    scores = read(tmp_path / "w.csv", format="wide", dataset="Datensatz", run="Lauf", fold="Falte")
    assert cells(scores)["b", "GB"] == [0.7, 0.8]


def test_a_parquet_file_with_an_index_of_names_is_read(tmp_path):
    frame = table().rename(columns={"place": "dataset", "who": "model", "part": "fold"})
    frame.set_index(["dataset", "model", "fold"]).to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet")["score"].tolist() == read(frame)["score"].tolist()


# Files of real tools; expected numbers are those of the README beside them

REAL = Path(os.environ.get("HIERCOMP_REAL_FILES", "absent"))
real = pytest.mark.skipif(not REAL.is_dir(), reason="set HIERCOMP_REAL_FILES to the files of real tools")


@real
@pytest.mark.parametrize(
    ("file", "options", "rows", "rho"),
    [
        ("amlb/amlb_results_small.csv", {}, 800, None),
        ("by_documentation/pycaret_bound.csv", {"score": "Accuracy"}, 40, None),
        ("layouts/plain.csv", {}, 60, None),
        ("layouts/seeds_tidy.csv", {}, 50, 0.0),
        ("mlflow/search_runs.csv", {"measure": "accuracy"}, 60, 0.2),
        ("mlr/mlr_bmr_performances.csv", {"measure": "acc", "folds": 5}, 90, 0.2),
        ("mlr3/mlr3_repcv5x3.csv", {"folds": 5}, 135, 0.2),
        ("optuna/optuna_grid.csv", {}, 20, None),
        ("sklearn/cross_validate_concat.csv", {"measure": "accuracy"}, 60, None),
        ("sklearn/grid_all.csv", {"measure": "acc", "folds": 5}, 180, 0.2),
        ("sklearn/halving.csv", {"dataset": "wine"}, 10, 0.2),
        ("tabarena/tabarena_results_per_split.csv", {}, 250, None),
        ("tidymodels/tune_grid.csv", {"dataset": "iris", "measure": "accuracy"}, 20, 0.2),
        ("tidymodels/wfset_iris.csv", {"dataset": "iris", "measure": "accuracy"}, 30, 0.2),
        ("weka/w36_cv_j48.arff", {}, 90, 0.1),
        ("weka/w39_regr.arff", {"measure": "Root_mean_squared_error"}, 120, 0.1),
        ("lm_eval/s1", {"measure": "acc"}, 6, 0.0),
        ("lm_eval/s1", {"format": "lm_eval_samples", "measure": "acc"}, 80, 0.0),
    ],
)
def test_real_files_are_read_without_more_options_than_needed(file, options, rows, rho):
    scores = read(REAL / file, **options)
    assert list(scores.columns[:5]) == COLUMNS
    assert len(scores) == rows
    assert scores["rho"].unique().tolist() == pytest.approx([rho]) if rho is not None else "rho" not in scores


@real
@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("caret/caret_long.csv", {}),
        ("caret/caret_resamples_all.csv", {"measure": "Accuracy"}),
        (
            "caret/caret_resamples_all.csv",
            {"algorithm": "{algorithm}~Accuracy", "fold": "Fold{fold}.Rep{run}@Resample"},
        ),
    ],
)
def test_carets_scores_are_three_runs_of_ten_folds_with_its_own_means(file, options):
    scores = read(REAL / file, **options)
    assert (scores["run"].nunique(), scores["fold"].nunique()) == (3, 10)
    means = scores.groupby(["dataset", "algorithm"])["score"].mean().round(4)
    expected = {
        "Glass": {"CART": 0.6599, "LDA": 0.6213, "kNN": 0.6648},
        "Sonar": {"CART": 0.7329, "LDA": 0.7449, "kNN": 0.8004},
        "iris": {"CART": 0.9333, "LDA": 0.98, "kNN": 0.9578},
    }
    assert {name: means[name].to_dict() for name in expected} == expected


@real
def test_means_are_those_that_the_tools_print_themselves():
    scores = read(REAL / "mlr/mlr_bmr_performances.csv", measure="acc", folds=5)
    own = pd.read_csv(REAL / "mlr/mlr_bmr_aggr.csv").set_index(["task.id", "learner.id"])["acc.test.mean"]
    means = scores.groupby(["dataset", "algorithm"])["score"].mean()
    for place, value in own.items():
        assert means[place] == pytest.approx(value, abs=1e-12)
    scores = read(REAL / "tidymodels/wfset_iris.csv", dataset="iris", measure="accuracy")
    own = pd.read_csv(REAL / "tidymodels/wfset_iris_summarized.csv").query("`.metric` == 'accuracy'")
    means = scores.groupby("algorithm")["score"].mean()
    for workflow, value in zip(own["wflow_id"], own["mean"], strict=True):
        assert means[workflow] == pytest.approx(value, abs=1e-12)
    truth = pd.read_csv(REAL / "mlflow/truth.csv", converters={"acc": float})  # pandas 2 rounds the last digit
    scores = read(REAL / "mlflow/search_runs.csv", measure="accuracy")
    found = scores.astype({"run": int, "fold": int}).merge(
        truth, left_on=["dataset", "algorithm", "run", "fold"], right_on=["dataset", "model", "repeat", "fold"]
    )
    assert len(found) == 60
    np.testing.assert_array_equal(found["score"], found["acc"])


@real
@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("weka/w39_avg.csv", {}, "averages (Num_Fold)"),
        ("mlr3/mlr3_aggregate.csv", {}, "averages of mlr3"),
        ("mlr/mlr_bmr_aggr.csv", {}, "averages of mlr's"),
        ("tidymodels/wfset_iris_summarized.csv", {"dataset": "iris"}, "averages over the folds"),
        ("tidymodels/fit_resamples.csv", {"dataset": "iris", "measure": "accuracy"}, "does not name its algorithm"),
        ("sklearn/grid_all.csv", {}, "measure='acc'"),
        ("mlr/mlr_bmr_performances.csv", {"measure": "acc"}, "folds=5 for two"),
    ],
)
def test_real_files_that_do_not_tell_enough_are_refused_with_what_is_needed(file, options, message):
    assert message in refused(REAL / file, **options)


@real
def test_estimator_is_tidymodels_word_and_no_algorithm():
    scores = read(REAL / "tidymodels/fit_resamples.csv", dataset="=iris", algorithm="=tree", measure="accuracy")
    assert scores["algorithm"].unique().tolist() == ["tree"]
    assert len(scores) == 10
    tuned = read(REAL / "tidymodels/tune_grid.csv", dataset="iris", measure="accuracy")
    assert sorted(tuned["algorithm"].unique()) == [
        "tree_depth=1, min_n=10", "tree_depth=1, min_n=2", "tree_depth=3, min_n=10", "tree_depth=3, min_n=2"
    ]  # fmt: skip


def test_the_documentation_prints_the_table_of_presets():
    page = (Path(__file__).parents[2] / "docs/importing.md").read_text()
    assert presets_as_markdown() in page


def test_a_table_without_a_finished_run_is_refused():
    runs = pd.DataFrame({"Name": list("abcd"), "State": ["crashed", "failed"] * 2, "config.dataset": list("xxyy")})
    runs = runs.assign(**{"config.algorithm": ["nb", "tree"] * 2, "summary.accuracy": [0.5, 0.6, 0.7, 0.8]})
    with pytest.raises(hc.HiercompError, match="No row is of a finished run: State is 'crashed', 'failed'"):
        hc.read_scores(
            runs, format="wandb", dataset="config.dataset", algorithm="config.algorithm", score="summary.accuracy"
        )
