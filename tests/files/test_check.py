"""What a table holds and every problem of it at once; each expected number is counted from a table made for it."""

from __future__ import annotations

import io
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, HiercompError
from hiercomp.files.check import check_scores
from tests.conftest import simulated_scores

SAMPLES = Path(__file__).parents[1] / "data/importers"


def table(**changes) -> pd.DataFrame:
    """Six data sets, three algorithms, two runs of five folds."""
    generator = np.random.default_rng(3)
    places = pd.MultiIndex.from_product(
        [[f"d{number}" for number in range(6)], ["a", "b", "c"], [1, 2], [1, 2, 3, 4, 5]],
        names=["dataset", "algorithm", "run", "fold"],
    )
    frame = pd.DataFrame({"score": generator.uniform(0.6, 0.9, len(places))}, index=places).reset_index()
    return frame.assign(**changes)


def cell(frame: pd.DataFrame, dataset: str, algorithm: str, run: int = 1, fold: int = 1) -> int:
    """The row of a cell."""
    rows = frame.query("dataset == @dataset and algorithm == @algorithm and run == @run and fold == @fold")
    return int(rows.index[0])


def messages(frame, **options) -> list[str]:
    return [str(problem) for problem in check_scores(frame, **options).problems]


def test_a_sound_table_has_no_problems_and_its_facts_are_told():
    check = check_scores(table())
    assert (check.exit_code, check.problems, check.conclusion) == (0, (), "No problems found.")
    assert check.dataset_names == ("d0", "d1", "d2", "d3", "d4", "d5")
    assert check.algorithms == ("a", "b", "c")
    assert check.to_frame()[["n_runs", "n_folds", "n_places", "rho"]].to_numpy().tolist() == [[2, 5, 10, 0.2]] * 6
    assert check.n_missing.sum() == 0
    assert check.scale == "fractions"
    assert not check.loss
    assert check.lowest_score.min() == table()["score"].min()


def test_the_table_given_is_not_changed():
    frame = table()
    frame.loc[3, "score"] = np.nan
    before = frame.copy(deep=True)
    check_scores(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_many_problems_are_found_at_once():
    frame = table().astype({"score": object})
    frame.loc[cell(frame, "d0", "a"), "score"] = "91%"
    frame.loc[cell(frame, "d0", "b", fold=2), "score"] = np.inf
    frame.loc[cell(frame, "d1", "a"), "dataset"] = " "
    frame.loc[cell(frame, "d2", "c"), "run"] = np.nan
    frame = pd.concat([frame, frame.iloc[[cell(frame, "d3", "a")]]], ignore_index=True)
    check = check_scores(frame)
    found = "\n".join(map(str, check.errors))
    for text in (
        "Column 'dataset' has names that are empty",
        "Column 'run' is empty in 1 of 181 rows",
        "1 of 179 cells of column 'score' are not numbers",
        "1 cell has more than one score (first: dataset 'd3', algorithm 'a'",
        "scores are missing or not finite",
    ):
        assert text in found
    assert "absent" not in found  # the two rows without a name and a run are said
    assert check.exit_code == 2
    assert len(check.errors) == 5
    # One cell with a percent sign, one infinite, and those of the two rows without a place
    assert check.n_missing.sum(axis=0).tolist() == [2, 1, 1]


def test_missing_cells_are_counted_by_data_set_and_algorithm():
    frame = table()
    lacking = [cell(frame, "d1", "b", fold=3), cell(frame, "d1", "b", fold=4), cell(frame, "d4", "c")]
    check = check_scores(frame.drop(index=lacking))
    assert check.n_missing[check.dataset_names.index("d1"), check.algorithms.index("b")] == 2
    assert check.n_missing[check.dataset_names.index("d4"), check.algorithms.index("c")] == 1
    assert check.n_missing.sum() == 3
    assert check.to_dict()["n_missing"] == {"d1": {"b": 2}, "d4": {"c": 1}}
    with pytest.raises(HiercompError):  # what the check calls an error a comparison refuses
        hc.HierarchicalComparison(frame.drop(index=lacking), "a", "b")


def test_a_data_set_that_an_algorithm_lacks_is_a_warning():
    frame = table()
    frame = frame[~((frame["dataset"] == "d5") & (frame["algorithm"] != "a"))]
    check = check_scores(frame)
    assert check.exit_code == 1
    (problem,) = check.problems
    assert "Scores of 2 of 3 algorithms are missing on some data sets (1 of 6 in all)" in problem.message
    assert (problem.category, problem.key, problem.places) == (hc.DroppedScoresWarning, "absent_datasets", ("d5",))
    with pytest.warns(hc.DroppedScoresWarning, match="d5"):
        hc.HierarchicalComparison(frame, "a", "b")


def test_degenerate_data_sets_and_identical_algorithms_are_named():
    frame = table()
    sides = {name: frame["algorithm"] == name for name in "abc"}
    frame.loc[sides["b"], "score"] = frame.loc[sides["a"], "score"].to_numpy()
    frame.loc[sides["c"] & (frame["dataset"] == "d2"), "score"] = (
        frame.loc[sides["a"] & (frame["dataset"] == "d2"), "score"].to_numpy() + 0.05
    )
    check = check_scores(frame)
    assert check.n_constant_pairs.tolist() == [1, 1, 3, 1, 1, 1]
    found = [problem.message for problem in check.warnings]
    assert "1 pair of algorithms with identical scores everywhere: 'a and b'." in found
    assert any("constant across folds in 6 of 6 data sets" in text for text in found)
    assert check.exit_code == 1


def test_algorithms_whose_differences_never_vary_are_an_error():
    frame = table()
    shift = np.where(frame["algorithm"] == "b", 0.05, 0.0)
    frame["score"] = np.tile(np.linspace(0.5, 0.6, 10), 18) + shift + 0.01 * (frame["algorithm"] == "c") * frame["fold"]
    check = check_scores(frame)
    with pytest.raises(HiercompError, match="between a and b are constant across folds in every data set") as caught:
        hc.HierarchicalComparison(frame, "a", "b")
    assert str(caught.value) in [f"{problem.message} {problem.remedy}" for problem in check.errors]


@pytest.mark.parametrize(
    ("changes", "severity", "text"),
    [
        ({"algorithm": "a", "fold": np.arange(180)}, "error", "The table has only one algorithm ('a')"),
        (
            {"dataset": "d", "fold": np.arange(180) // 3},
            "error",
            "Only one data set ('d') has scores of both algorithms",
        ),
        ({"rho": 1.0}, "error", "rho of data set 'd0' must be at least 0 and below 1"),
        ({"rho": np.arange(180) / 200}, "error", "Column 'rho' must have one number for each data set"),
        ({"fold": "x", "run": np.arange(180) % 10}, "error", "The number of folds is unknown for 6 of 6 data sets"),
    ],
)
def test_what_a_comparison_would_refuse_is_an_error(changes, severity, text):
    frame = table(**changes)
    found = [problem for problem in check_scores(frame).problems if text in problem.message]
    assert [problem.severity for problem in found] == [severity]
    assert found[0].remedy
    left, right = ["a", "b"] if frame["algorithm"].nunique() > 1 else [None, None]
    with pytest.raises(HiercompError):
        hc.HierarchicalComparison(frame, left, right)


def test_few_data_sets_and_few_scores_are_told():
    frame = table()
    assert any("With only 4 data sets" in text for text in messages(frame[frame["dataset"] < "d4"]))
    two = frame[(frame["dataset"] != "d3") | ((frame["run"] == 1) & (frame["fold"] < 3))]
    assert any(text.startswith("error: 1 data set has fewer than 3 paired scores: 'd3' (2)") for text in messages(two))
    one = frame[(frame["run"] == 1) & (frame["fold"] == 1)]
    assert any("There are no fold-level scores" in text for text in messages(one))


def test_many_folds_without_runs_are_told():
    frame = simulated_scores(6, centre=0.0, spread=0.01)
    frame["fold"] = 10 * frame.pop("run") + frame["fold"]
    check = check_scores(frame)
    assert "has 30 folds and there is no run column" in check.warnings[0].message
    np.testing.assert_allclose(check.rho, 1 / 30)


def test_rho_of_the_table_goes_before_the_folds():
    frame = table(rho=0.3)
    assert check_scores(frame).rho.tolist() == [0.3] * 6


def test_percentages_mixed_scales_and_losses_are_told():
    frame = table()
    percentages = check_scores(frame.assign(score=100 * frame["score"]))
    assert percentages.scale == "percentages"
    assert "look like percentages" in percentages.warnings[0].message
    mixed = check_scores(frame.assign(score=np.where(frame["dataset"] == "d1", 100, 1) * frame["score"]))
    assert "fractions and percentages look mixed" in mixed.warnings[0].message
    loss = check_scores(frame.assign(score=-frame["score"]))
    assert loss.scale == "other"
    assert "higher_is_better=False" in loss.warnings[0].remedy
    named = check_scores(frame.rename(columns={"score": "log_loss"}))
    assert named.loss
    assert "The scores are called 'log_loss', the name of a loss" in named.errors[0].message
    assert check_scores(frame.rename(columns={"score": "log_loss"}), higher_is_better=False).problems == ()


def test_a_data_set_that_varies_far_more_than_the_others_is_named():
    frame = table()
    quiet = frame["dataset"] != "d2"
    frame.loc[quiet, "score"] = 0.7 + (frame.loc[quiet, "score"] - 0.7) / 1000
    assert any("The scores of data set 'd2' vary" in text for text in messages(frame))


@pytest.mark.parametrize("algorithms", [["a", "b"], ["a", "b", "c"]])
def test_algorithms_without_a_common_data_set_are_an_error_that_names_the_case(algorithms):
    frame = table()
    frame = frame[frame["algorithm"].isin(algorithms)]
    spelt = {"a": str.lower, "b": str.upper, "c": lambda name: f"other {name}"}
    names = [spelt[algorithm](name) for algorithm, name in zip(frame["algorithm"], frame["dataset"], strict=True)]
    check = check_scores(frame.assign(dataset=names))
    assert check.exit_code == 2
    (problem,) = [problem for problem in check.errors if problem.key == "no_common_dataset"]
    assert "differ only by case: 'D0' and 'd0'" in problem.remedy
    with pytest.raises(HiercompError, match="No data set has scores of"):
        hc.HierarchicalComparison(frame.assign(dataset=names), "a", "b")


def test_the_rope_that_fits_is_told():
    frame = table()
    assert "Rope: 0.01 by default" in str(check_scores(frame))
    # A hundredth of about 75, of about 1,500, and of data sets that have no common unit
    assert "in the unit of the scores; for example 1\n" in str(check_scores(frame.assign(score=100 * frame["score"])))
    assert "in the unit of the scores; for example 20\n" in str(check_scores(frame.assign(score=2000 * frame["score"])))
    units = frame["dataset"].str[1:].astype(int)
    apart = check_scores(frame.assign(score=frame["score"] * 10.0**units), higher_is_better=False)
    assert [problem.key for problem in apart.problems] == ["different_units"]
    assert "Rope: must be given, in the unit of the scores\n" in str(apart)
    content = check_scores(frame.rename(columns={"score": "accuracy"})).to_dict()
    assert (content["measure"], content["direction"], content["suggested_rope"]) == ("accuracy", "name", 0.01)


def test_names_that_differ_by_case_are_a_warning():
    frame = table()
    frame.loc[frame["dataset"] == "d1", "dataset"] = "D0"
    assert any("differ only by case count as different: 'D0', 'd0'" in text for text in messages(frame))


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (pd.DataFrame(), "The table is empty"),
        (pd.DataFrame({"dataset": ["x"], "score": [1.0]}), "There is no column 'algorithm'"),
        (pd.DataFrame({"dataset": [""], "algorithm": ["a"], "score": [1.0]}), "names that are empty"),
        ([1, 2], "Scores must be a data frame"),
    ],
)
def test_a_table_that_can_not_be_made_out_has_its_error_and_no_facts(frame, text):
    check = check_scores(frame)
    assert check.exit_code == 2
    assert text in check.problems[0].message
    assert check.dataset_names == ()
    assert json.loads(json.dumps(check.to_dict()))["datasets"] == []
    assert text in str(check)


def test_wrong_options_are_raised():
    with pytest.raises(ArgumentError, match="higher_is_better"):
        check_scores(table(), higher_is_better="no")
    with pytest.raises(ArgumentError, match=r"has no option 'columns'\. Name the columns by their roles"):
        check_scores(table(), columns={"score": "x"})
    with pytest.raises(ArgumentError, match="has no option 'socre'"):
        check_scores(table(), socre="x")
    with pytest.raises(ArgumentError, match="has no option 'mesure'"):
        check_scores(SAMPLES / "weka.arff", mesure="x")


def test_a_file_of_another_tool_is_checked_with_what_its_importer_left_out():
    check = check_scores(SAMPLES / "mlflow.csv")
    assert check.format == "mlflow"
    assert any("did not finish" in problem.message for problem in check.warnings)
    assert check.n_rows == 12
    check = check_scores(SAMPLES / "mlr3.csv")
    assert "There are 2 measures" in check.errors[0].message
    assert "measure='classif.ce'" in str(check.errors[0])


def test_columns_name_the_columns_of_a_file(tmp_path):
    renamed = table().rename(columns={"score": "auc", "dataset": "problem_id"})
    renamed.to_csv(tmp_path / "scores.csv", index=False)
    check = check_scores(tmp_path / "scores.csv", score="auc", dataset="problem_id")
    assert check.problems == ()
    assert len(check.dataset_names) == 6


def test_text_and_dictionary_hold_the_same():
    frame = table().drop(index=[5, 50])
    check = check_scores(frame)
    content = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert content["algorithms"] == ["a", "b", "c"]
    assert content["datasets"][0]["dataset"] == "d0"
    assert content["conclusion"] == "1 error, 0 warnings: fix the errors before comparing."
    for problem in content["problems"]:
        assert problem["message"] in str(check)
        assert problem["remedy"] in str(check)
    assert "  d0  1  -" in str(check)


def test_differing_runs_and_folds_are_told_shortly():
    frame = table()
    text = str(check_scores(frame[(frame["dataset"] != "d3") | (frame["run"] == 1)]))
    assert "Runs: 2 in 5 data sets; 1 in d3" in text
    assert "Folds: 5\n" in text


def test_a_large_table_stays_readable_and_quick():
    generator = np.random.default_rng(4)
    places = pd.MultiIndex.from_product(
        [
            [f"data set {number:03d}" for number in range(200)],
            [f"algorithm {k}" for k in range(20)],
            range(10),
            range(10),
        ],
        names=["dataset", "algorithm", "run", "fold"],
    )
    frame = pd.DataFrame({"score": generator.uniform(0.5, 0.9, len(places))}, index=places).reset_index()
    frame = frame.drop(index=generator.choice(len(frame), 3000, replace=False))
    started = time.process_time()
    check = check_scores(frame)
    assert time.process_time() - started < 5
    lines = str(check).splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) < 600
    assert "190 more data sets and 14 more algorithms" in str(check)


def test_names_with_control_characters_are_shown_as_escapes():
    frame = table()
    frame.loc[frame["algorithm"] == "a", "algorithm"] = "\x1b[31mred"
    text = str(check_scores(frame.drop(index=0)))
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text


def test_rich_text_holds_every_problem():
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    check = check_scores(table().drop(index=[5, 50]).rename(columns={"score": "error"}))
    console.print(check)
    text = console.export_text()
    for problem in check.problems:
        assert problem.message[:60] in text
    assert check.conclusion in text


def damaged(generator: np.random.Generator) -> pd.DataFrame:
    """A table with a few defects, each of which may or may not be there."""
    frame = table().astype({"score": object, "run": object})
    rows = generator.permutation(len(frame))
    for defect in generator.choice(7, int(generator.integers(0, 3)), replace=False):
        if defect == 0:
            frame = frame.drop(index=[row for row in rows[:3] if row in frame.index])
        elif defect == 1:
            frame.loc[rows[4], "score"] = generator.choice(np.array(["91%", None, np.inf, "", "0.5"], dtype=object))
        elif defect == 2:
            frame = pd.concat([frame, frame.iloc[[5]]])
        elif defect == 3:
            frame = frame[~((frame["dataset"] == "d1") & (frame["algorithm"] == generator.choice(["a", "b"])))]
        elif defect == 4:
            frame.loc[frame["dataset"] == "d2", "score"] = 0.5
        elif defect == 5:
            frame = frame[
                (frame["dataset"] != "d4") | (frame["run"].eq(1) & frame["fold"].le(generator.integers(1, 5)))
            ]
        else:
            frame.loc[rows[6], generator.choice(["dataset", "algorithm", "run"])] = generator.choice(["", " x "])
    return frame


@pytest.mark.parametrize("seed", range(40))
def test_errors_are_found_exactly_where_some_comparison_is_refused(seed):
    frame = damaged(np.random.default_rng(seed))
    refused = False
    for left, right in (("a", "b"), ("a", "c"), ("b", "c")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hc.HiercompWarning)
            try:
                hc.HierarchicalComparison(frame, left, right)
            except HiercompError:
                refused = True
    assert bool(check_scores(frame).errors) == refused, check_scores(frame)


@pytest.mark.parametrize("seed", range(40))
def test_a_comparison_raises_the_first_error_of_the_check_in_its_words(seed):
    frame = damaged(np.random.default_rng(seed))
    frame = frame[frame["algorithm"].isin(["a", "b", ""])]
    check = check_scores(frame)
    if check.errors:
        first = check.errors[0]
        with pytest.raises(first.category) as caught:
            hc.HierarchicalComparison(frame, "a", "b")
        assert str(caught.value) == f"{first.message} {first.remedy}".rstrip()
        assert (caught.value.key, caught.value.places) == (first.key, first.places)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison(frame, "a", "b")
    said = {note.key: note.text for note in comparison.differences.notes if note.key != "constant_datasets"}
    listed = {problem.key: f"{problem.message} {problem.remedy}".rstrip() for problem in check.warnings}
    assert said.items() <= listed.items()


def test_a_rho_that_will_be_given_needs_no_folds(tmp_path):
    holdout = table(run=np.tile(np.arange(10), 18)).drop(columns="fold")
    assert check_scores(holdout).exit_code == 2
    check = check_scores(holdout, rho=0.25)
    assert check.problems == ()
    assert check.rho.tolist() == [0.25] * 6
    with pytest.raises(ArgumentError, match="rho must be at least 0 and below 1"):
        check_scores(holdout, rho=1.5)
    splits = pd.DataFrame(
        {"task_id": holdout["dataset"], "learner_id": holdout["algorithm"], "resampling_id": "bootstrap",
         "iteration": holdout["run"] + 1, "classif.acc": holdout["score"]}
    )  # fmt: skip
    splits.to_csv(tmp_path / "mlr3.csv", index=False)
    assert "Pass rho" in str(check_scores(tmp_path / "mlr3.csv").errors[0])
    assert check_scores(tmp_path / "mlr3.csv", rho=0.37).problems == ()


# One cause is named once, with its line


def written(folder: Path, rows: list[str], header: str = "dataset,algorithm,fold,score") -> Path:
    path = folder / "scores.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def plain_rows(first: dict[str, int] | None = None) -> list[str]:
    """Five data sets, two algorithms and five folds; ``first`` is the number of the first fold of an algorithm."""
    start = first or {"A": 1, "B": 1}
    return [
        f"{name},{algorithm},{start[algorithm] + fold},{0.7 + 0.01 * ((7 * i + 3 * fold + 5 * j) % 11):.3f}"
        for i, name in enumerate(("iris", "wine", "glass", "sonar", "zoo"))
        for j, algorithm in enumerate("AB")
        for fold in range(5)
    ]


def messages_of_errors(path: Path, **options) -> list[str]:
    return [problem.message for problem in check_scores(path, **options).errors]


def test_folds_from_0_for_one_algorithm_are_one_error(tmp_path):
    path = written(tmp_path, plain_rows({"A": 1, "B": 0}))
    assert messages_of_errors(path) == ["The folds of 'B' are numbered from 0, those of 'A' from 1."]


def test_a_repeated_header_is_one_error_with_its_line(tmp_path):
    rows = plain_rows()
    rows.insert(20, "dataset,algorithm,fold,score")  # the header is line 1, so this is line 22
    (message,) = messages_of_errors(written(tmp_path, rows))
    assert message.endswith("Line 22 repeats the header.")


def test_a_title_above_the_header_is_said(tmp_path):
    path = written(tmp_path, ["dataset,algorithm,fold,score", *plain_rows()], header="My results")
    check = check_scores(path)
    assert len(check.errors) == 1
    assert check.errors[0].remedy == "Line 2 looks like the header: remove what stands above it."


def test_cells_are_named_by_their_lines_and_what_follows_from_them_is_not_counted(tmp_path):
    rows = plain_rows()
    rows[5] = rows[5].rsplit(",", 1)[0] + ",abc"  # line 7
    rows[20] = "glass,A,,0.7"  # line 22: no fold
    found = messages_of_errors(written(tmp_path, rows))
    assert len(found) == 2
    assert "Column 'fold' is empty in 1 of 50 rows (first: line 22)" in found[0]
    assert "1 of 49 cells of column 'score' are not numbers (first: line 7: dataset 'iris', algorithm 'B'" in found[1]


def test_data_sets_that_differ_by_case_are_the_one_error(tmp_path):
    rows = [row.upper() if row.split(",")[1] == "B" else row for row in plain_rows()]
    check = check_scores(written(tmp_path, rows))
    assert check.exit_code == 2
    assert [problem.key for problem in check.problems] == ["no_common_dataset"]
    assert "differ only by case: 'GLASS' and 'glass'" in check.problems[0].remedy


def test_an_average_row_is_warned_of_alone(tmp_path):
    check = check_scores(written(tmp_path, [*plain_rows(), "Average,A,1,0.7", "Average,B,1,0.8"]))
    assert [problem.message for problem in check.problems] == [
        "A data set is called 'Average' (first: row 51), as a summary of the others would be."
    ]


def test_decimal_commas_and_latin_1_are_counted(tmp_path):
    rows = [row[::-1].replace(".", ",", 1)[::-1].replace(",", ";", 3) for row in plain_rows()]
    (message,) = messages_of_errors(written(tmp_path, rows, header="dataset;algorithm;fold;score"))
    assert "line 2, column 'score': '0,700' is not a plain number, nor are 49 other cells of the column" in message
    path = tmp_path / "latin.csv"
    path.write_bytes(
        "\n".join(["dataset,algorithm,fold,score", *plain_rows()]).replace("iris", "Käse").encode("latin-1")
    )
    assert "not UTF-8 text, nor are 9 more of its lines" in messages_of_errors(path)[0]


def test_decimal_commas_of_a_wide_table_are_one_error(tmp_path):
    rows = ["iris;1;0,75;0,8", "iris;2;0,7;0,81", "wine;1;0,6;0,7", "wine;2;0,61;0,72"]
    (message,) = messages_of_errors(written(tmp_path, rows, header="dataset;fold;A;B"))
    assert "column 'A': '0,75' is not a plain number, nor are 3 other cells of the column" in message


def test_an_unknown_table_is_one_error_that_proposes_the_mapping(tmp_path):
    path = written(tmp_path, [f"{row},2.5" for row in plain_rows()], header="set,thing,slice,acc,hours")
    check = check_scores(path)
    assert check.errors[0].remedy == "Pass dataset='set', algorithm='thing', fold='slice', score='acc'."
    assert check_scores(path, dataset="set", algorithm="thing", fold="slice", score="acc").problems == ()


def test_what_a_fold_column_is_missing_for_is_one_error(tmp_path):
    check = check_scores(written(tmp_path, plain_rows(), header="dataset,algorithm,slice,score"))
    assert len(check.problems) == 1
    assert "pass fold='slice'" in check.problems[0].remedy


def test_frames_of_other_layouts_are_checked_as_they_are_read(tmp_path):
    frame = pd.read_csv(written(tmp_path, plain_rows()))
    wide = frame.pivot(index=["dataset", "fold"], columns="algorithm", values="score").reset_index()
    check = check_scores(wide)
    assert (check.format, check.problems, check.n_rows) == ("wide", (), 50)
