"""Reading score tables: columns, names and cells, and what is refused with which words."""

from __future__ import annotations

import copy
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hiercomp.errors import ArgumentError, HiercompError, ScaleWarning, ScoreTableError
from hiercomp.scores.table import find_columns, is_filled, is_name_column, tidy_scores
from hiercomp.wording import nearest_name, shown


def table(**changed) -> pd.DataFrame:
    """Two data sets, two algorithms, three folds: 12 rows."""
    columns = {
        "dataset": np.repeat(["iris", "wine"], 6),
        "algorithm": np.tile(np.repeat(["nb", "tree"], 3), 2),
        "run": np.zeros(12, dtype=int),
        "fold": np.tile([1, 2, 3], 4),
        "score": np.round(np.linspace(0.5, 0.94, 12), 2),  # 0.5, 0.54, ..., 0.94
    }
    return pd.DataFrame(columns | changed)


def with_score(row: int, value: object) -> pd.DataFrame:
    frame = table()
    cells = frame["score"].astype(str).astype(object)
    cells[row] = value
    return frame.assign(score=cells)


def test_a_plain_table_is_taken_as_it_is():
    tidy = tidy_scores(table())
    assert tidy.frame["dataset"].tolist() == ["iris"] * 6 + ["wine"] * 6
    assert tidy.frame["score"].tolist() == table()["score"].tolist()
    assert tidy.algorithms == ["nb", "tree"]
    assert tidy.notes == ()


@pytest.mark.parametrize(
    ("role", "alias"),
    [
        ("dataset", "Data Set"),
        ("dataset", "data_set"),
        ("dataset", "Task"),
        ("dataset", "Key_Dataset"),
        ("algorithm", "classifier"),
        ("algorithm", "Method"),
        ("algorithm", "Key_Scheme"),
        ("run", "repeat"),
        ("run", "repetition"),
        ("run", "Key_Run"),
        ("fold", "Folds"),
        ("fold", "cv-fold"),
        ("score", "Score"),
    ],
)
def test_common_other_names_of_a_column_are_recognised(role, alias):
    pd.testing.assert_frame_equal(tidy_scores(table().rename(columns={role: alias})).frame, tidy_scores(table()).frame)


def test_the_only_numeric_column_is_the_score_whatever_its_name():
    frame = table().rename(columns={"score": "accuracy"}).assign(comment="x")
    assert tidy_scores(frame).frame["score"].tolist() == table()["score"].tolist()


def test_a_column_of_counts_is_no_score_beside_one_of_fractions():
    frame = table().rename(columns={"score": "value"}).assign(size=np.arange(12))
    assert tidy_scores(frame).frame["score"].tolist() == frame["value"].tolist()


def test_a_column_rho_is_no_score():
    tidy = tidy_scores(table().rename(columns={"score": "value"}).assign(rho=0.1))
    assert tidy.frame["score"].tolist() == table()["score"].tolist()
    assert tidy.rho == {"iris": 0.1, "wine": 0.1}


def test_several_numeric_columns_without_a_score_are_refused_with_their_names():
    frame = table().rename(columns={"score": "accuracy"}).assign(auc=0.5)
    with pytest.raises(
        ScoreTableError, match=r"several are numeric: 'accuracy', 'auc'.*columns=\{'score': 'accuracy'\}"
    ):
        tidy_scores(frame)


def test_columns_says_which_column_is_which():
    frame = table().rename(columns={"score": "auc", "dataset": "where"}).assign(accuracy=0.1)
    tidy = tidy_scores(frame, {"score": "auc", "dataset": "where"})
    pd.testing.assert_frame_equal(tidy.frame, tidy_scores(table()).frame)


def test_columns_overrides_a_column_that_has_the_usual_name():
    frame = table().assign(problem=np.repeat(["p", "q"], 6))
    assert set(tidy_scores(frame, {"dataset": "problem"}).frame["dataset"]) == {"p", "q"}


def test_a_bad_cell_beside_an_unused_column_of_the_usual_name_is_placed_by_the_chosen_column():
    frame = with_score(3, "x").assign(problem=np.repeat(["p", "q"], 6))
    with pytest.raises(ScoreTableError, match=r"dataset 'p', algorithm 'tree', run 0, fold 1: 'x'"):
        tidy_scores(frame, {"dataset": "problem"})


def test_the_exact_name_wins_over_an_alias():
    frame = table().assign(model="same")
    assert tidy_scores(frame).algorithms == ["nb", "tree"]


def test_two_aliases_for_one_role_are_refused():
    frame = table().rename(columns={"algorithm": "model"}).assign(method="x")
    words = r"could be the algorithm: 'model' and 'method'\. Choose one with columns=\{'algorithm': 'model'\}"
    with pytest.raises(ScoreTableError, match=words):
        tidy_scores(frame)
    frame = table().rename(columns={"score": "return"}).assign(reward=0.5)
    with pytest.raises(ScoreTableError, match=r"More than one column could be the score: 'return' and 'reward'"):
        tidy_scores(frame)


@pytest.mark.parametrize(
    ("role", "typo"),
    [("dataset", "datset"), ("dataset", "Data Sett"), ("algorithm", "algoritm"), ("algorithm", "clasifier")],
)
def test_a_misspelt_column_is_refused_with_the_close_match_and_the_columns_found(role, typo):
    with pytest.raises(ScoreTableError) as caught:
        tidy_scores(table().rename(columns={role: typo}))
    message = str(caught.value)
    assert f"There is no column {role!r}. Did you mean {typo!r}?" in message
    assert f"columns={{{role!r}: {typo!r}}}" in message
    assert "The columns are:" in message
    assert repr(typo) in message.split("The columns are:")[1]


@pytest.mark.parametrize("more", [0, 1])
def test_a_message_lists_twenty_columns_and_says_whether_there_are_more(more):
    frame = table().rename(columns={"dataset": "thing"})
    names = [f"other {number}" for number in range(20 + more - frame.shape[1])]
    with pytest.raises(ScoreTableError) as caught:
        tidy_scores(frame.assign(**dict.fromkeys(names, "x")))
    listed = str(caught.value).split("The columns are: ")[1]
    assert listed.count("'") == 40
    assert listed.endswith(", ....") is bool(more)


def test_a_misspelt_score_column_of_text_is_refused_with_the_close_match():
    with pytest.raises(ScoreTableError, match=r"There is no column 'score'\. Did you mean 'scroe'\?"):
        tidy_scores(table().rename(columns={"score": "scroe"}).astype({"scroe": str}))


def test_a_missing_column_without_a_close_match_is_refused_with_the_columns_found():
    with pytest.raises(
        ScoreTableError, match=r"no column 'dataset'.*columns=.*are: 'algorithm', 'run', 'fold', 'score'"
    ):
        tidy_scores(table().drop(columns="dataset"))


def test_a_table_without_any_score_is_refused():
    with pytest.raises(ScoreTableError, match=r"There is no column 'score'"):
        tidy_scores(table().drop(columns="score"))


def test_a_semicolon_file_read_as_one_column_is_recognised():
    frame = pd.DataFrame({"dataset;algorithm;fold;score": ["iris;nb;1;0,9"]})
    with pytest.raises(ScoreTableError, match=r"semicolons.*sep=';'.*decimal=','"):
        tidy_scores(frame)


def test_columns_that_names_an_absent_column_is_refused():
    with pytest.raises(ScoreTableError, match=r"no column 'auc' for the score.*'dataset', 'algorithm'"):
        tidy_scores(table(), {"score": "auc"})


def test_columns_that_names_an_unknown_role_is_refused():
    with pytest.raises(
        ArgumentError, match=r"unknown role 'metric'; the roles are dataset, algorithm, run, fold, score"
    ):
        tidy_scores(table(), {"metric": "score"})


def test_columns_that_is_no_mapping_is_refused():
    with pytest.raises(ArgumentError, match=r"columns must be a mapping such as \{'score': 'auc'\}, got 'score'"):
        tidy_scores(table(), "score")


def test_a_column_name_that_occurs_twice_is_refused():
    frame = table()
    frame.columns = ["dataset", "algorithm", "run", "score", "score"]
    with pytest.raises(ScoreTableError, match=r"occur twice: score\. Rename or remove"):
        tidy_scores(frame)


def test_several_levels_of_column_names_are_refused():
    frame = table()
    frame.columns = pd.MultiIndex.from_product([["all"], frame.columns])
    with pytest.raises(ScoreTableError, match=r"several levels of column names.*tidy.*melt"):
        tidy_scores(frame)


def test_other_spellings_of_a_name_column_are_known():
    assert is_name_column("Key_Dataset")
    assert is_name_column("classifier")
    assert not is_name_column("accuracy")


def test_find_columns_leaves_out_runs_and_folds_that_are_not_there():
    assert find_columns(table().drop(columns=["run", "fold"])) == {
        "dataset": "dataset",
        "algorithm": "algorithm",
        "score": "score",
    }


@pytest.mark.parametrize("frame", [pd.DataFrame(), table().iloc[:0], pl.DataFrame(), pl.from_pandas(table()).head(0)])
def test_an_empty_table_is_refused_with_what_it_needs(frame):
    with pytest.raises(ScoreTableError, match=r"The table is empty: 0 rows.*columns dataset, algorithm, run, fold"):
        tidy_scores(frame)


@pytest.mark.parametrize(
    "thing", [None, [[0.1, 0.2]], np.zeros((3, 4)), "scores.csv", table()["score"], {"score": [1]}]
)
def test_what_is_not_a_frame_is_refused_with_the_ways_in(thing):
    with pytest.raises(ScoreTableError, match=rf"data frame .*got {type(thing).__name__}.*from_arrays.*read_csv"):
        tidy_scores(thing)


def test_a_lazy_polars_frame_is_refused():
    with pytest.raises(ScoreTableError, match="got LazyFrame"):
        tidy_scores(pl.from_pandas(table()).lazy())


def test_a_polars_frame_gives_the_same_as_a_pandas_frame():
    polars, pandas = tidy_scores(pl.from_pandas(table())), tidy_scores(table())
    assert polars.frame.to_dict("list") == pandas.frame.to_dict("list")
    assert polars.notes == pandas.notes


def test_any_table_that_offers_the_arrow_interface_is_read():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.Table.from_pandas(table()).__arrow_c_stream__(requested_schema)

    expected = tidy_scores(table()).frame
    for frame in (Stream(), pa.Table.from_pandas(table()), pa.Table.from_pandas(table()).to_batches()[0]):
        assert tidy_scores(frame).frame.to_dict("list") == expected.to_dict("list")


def test_a_polars_frame_with_missing_and_text_scores_gives_the_same_as_a_pandas_frame():
    frame = with_score(4, None)
    polars, pandas = tidy_scores(pl.from_pandas(frame)).frame, tidy_scores(frame).frame
    np.testing.assert_array_equal(polars["score"], pandas["score"])
    assert np.flatnonzero(polars["score"].isna()).tolist() == [4]


@pytest.mark.parametrize("levels", ["dataset", ["dataset", "algorithm"], ["dataset", "algorithm", "run", "fold"]])
def test_columns_in_the_index_are_found(levels):
    expected = tidy_scores(table()).frame
    pd.testing.assert_frame_equal(tidy_scores(table().set_index(levels)).frame, expected)


def test_an_index_level_that_repeats_a_column_does_no_harm():
    expected = tidy_scores(table()).frame
    pd.testing.assert_frame_equal(tidy_scores(table().set_index("dataset", drop=False)).frame, expected)


def test_an_index_of_row_numbers_in_disorder_does_no_harm():
    expected = tidy_scores(table()).frame
    pd.testing.assert_frame_equal(tidy_scores(table().set_axis(range(100, 88, -1))).frame, expected)
    pd.testing.assert_frame_equal(tidy_scores(table().set_axis([0] * 12)).frame, expected)


@pytest.mark.parametrize(
    "frame",
    [
        table(),
        table().set_index(["dataset", "algorithm"]),
        table(dataset=np.repeat([" iris", "wine "], 6)),
        with_score(2, " 0.5 "),
        table().rename(columns={"score": "accuracy"}),
    ],
)
def test_nothing_is_written_to_the_frame_given(frame):
    before = copy.deepcopy(frame)
    tidy_scores(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert frame.index.names == before.index.names


def test_the_checked_copy_shares_no_scores_with_the_frame_given():
    frame = table()
    tidy = tidy_scores(frame)
    tidy.frame.loc[0, "score"] = -1.0
    assert frame.loc[0, "score"] == 0.5


@pytest.mark.parametrize("names", [["NA", "null"], ["None", "nan"], ["001", "1"], ["1e5", "100000"], ["True", "true."]])
def test_names_that_look_like_something_else_stay_text(names):
    tidy = tidy_scores(table(dataset=np.repeat(names, 6)))
    assert tidy.frame["dataset"].unique().tolist() == names
    assert tidy.notes == ()


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([1, 2], ["1", "2"]),
        ([1.5, 2.5], ["1.5", "2.5"]),
        ([True, False], ["True", "False"]),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), ["2020-01-01", "2021-01-01"]),
    ],
)
def test_names_that_are_not_text_become_text(names, text):
    tidy = tidy_scores(table(dataset=np.repeat(names, 6)))
    assert tidy.frame["dataset"].unique().tolist() == text


def test_names_lose_outer_spaces_and_are_put_in_normal_form():
    tidy = tidy_scores(table(dataset=np.repeat([" cafe\u0301\t", "wine"], 6)))  # e and a combining accent
    assert tidy.frame["dataset"].unique().tolist() == ["caf\u00e9", "wine"]
    assert tidy.notes == ()


@pytest.mark.parametrize(
    ("variants", "name"), [(["caf\u00e9", "cafe\u0301"], "caf\u00e9"), (["iris", "iris "], "iris")]
)
def test_names_that_become_equal_are_noted(variants, name):
    tidy = tidy_scores(table(algorithm=np.tile(np.repeat(variants, 3), 2)))
    assert tidy.algorithms == [name]
    assert [note.category for note in tidy.notes] == [ScaleWarning]
    assert "'algorithm'" in tidy.notes[0].message
    assert f"only by outer spaces or Unicode form: {name!r}" in tidy.notes[0].message


def test_names_that_stay_as_they_are_are_not_noted():
    tidy = tidy_scores(table(dataset=np.repeat(["iris", "iris ", "wine"], 4)))
    assert tidy.notes[0].message.endswith("only by outer spaces or Unicode form: 'iris'.")


def test_names_that_differ_only_by_case_are_kept_apart_and_noted():
    tidy = tidy_scores(table(dataset=np.repeat(["Iris", "iris"], 6)))
    assert tidy.frame["dataset"].unique().tolist() == ["Iris", "iris"]
    assert [note.category for note in tidy.notes] == [ScaleWarning]
    assert "only by case count as different: 'Iris', 'iris'" in tidy.notes[0].message


@pytest.mark.parametrize("column", ["dataset", "algorithm"])
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_name_is_refused_with_its_row(column, missing):
    names = table()[column].astype(object)
    names[7] = missing
    with pytest.raises(
        ScoreTableError, match=rf"'{column}' is empty in 1 of 12 rows \(first: rows 7, .*keep_default_na"
    ):
        tidy_scores(table(**{column: names}))


def test_a_name_of_spaces_is_refused():
    with pytest.raises(ScoreTableError, match=r"'dataset' has names that are empty or only spaces"):
        tidy_scores(table(dataset=np.repeat(["iris", "  "], 6)))


def test_control_characters_and_marks_of_direction_are_shown_as_escapes():
    assert shown("a\x1b[31mb\u202ec d") == "a\\x1b[31mb\\u202ec d"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("naive_bays", " Did you mean 'Naive_Bayes'?"), ("forest", ""), ("TREE", " Did you mean 'tree'?")],
)
def test_a_close_name_is_suggested_and_no_far_one(name, hint):
    assert nearest_name(name, ["Naive_Bayes", "tree"]) == hint


@pytest.mark.parametrize(
    "folds", [[1.0, 2.0, 3.0], ["1", "2", "3"], [" 1", "2 ", "3"], [1, "2", 3.0], pd.Categorical([1, 2, 3]).tolist()]
)
def test_folds_that_are_whole_numbers_are_the_same_however_they_are_written(folds):
    tidy = tidy_scores(table(fold=pd.Series(folds * 4)))
    assert tidy.frame["fold"].tolist() == [1, 2, 3] * 4


def test_folds_may_have_names():
    assert tidy_scores(table(fold=["a", "b", "c"] * 4)).frame["fold"].tolist() == ["a", "b", "c"] * 4


def test_the_first_of_several_summaries_is_named_with_its_row():
    frame = table(dataset=["iris"] * 2 + ["std"] * 4 + ["mean"] * 6, run=np.arange(12))
    (note,) = (note for note in tidy_scores(frame).notes if note.key == "summary_rows")
    assert note.message.startswith("A data set is called 'std', 'mean' (first: row 3)")


def test_folds_with_numbers_beyond_the_digits_of_a_double_stay_apart():
    folds = ["9007199254740992.0", "9007199254740993.0", "1e20"]
    assert float(folds[0]) == float(folds[1])
    assert tidy_scores(table(fold=folds * 4)).frame["fold"].tolist() == folds * 4


@pytest.mark.parametrize("column", ["run", "fold"])
@pytest.mark.parametrize("missing", [np.nan, "", "  "])
def test_a_missing_run_or_fold_is_refused_with_its_row(column, missing):
    labels = table()[column].astype(object)
    labels[5] = missing
    with pytest.raises(ScoreTableError, match=rf"Column '{column}' is empty in 1 of 12 rows \(first: rows 5,"):
        tidy_scores(table(**{column: labels}))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("1E+2", 100.0),
        ("-.5", -0.5),
        ("+3.", 3.0),
        (" 0.25\t", 0.25),
        ("007", 7.0),
        ("1e999", np.inf),  # refused later as not finite, with its place
        (Decimal("0.125"), 0.125),
        (np.float32(0.5), 0.5),
        (1, 1.0),
    ],
)
def test_plain_decimal_numbers_are_read(text, value):
    assert tidy_scores(with_score(4, text)).frame["score"][4] == value


@pytest.mark.parametrize("text", ["", " ", "NA", "nan", "NaN", "n/a", "null", "None", "?", None, np.nan, pd.NA, pd.NaT])
def test_empty_cells_are_missing(text):
    assert np.flatnonzero(tidy_scores(with_score(4, text)).frame["score"].isna()).tolist() == [4]


@pytest.mark.parametrize(
    "text",
    [
        *("good", "0x10", "1_0", "\uff11\uff12", "\u0661", "0.5.1", "1e", "--1", "1 2", "1,000.5", "inf", "-Infinity"),
        *("1d3", "0.9 (0.1)", True, 1j, pd.Timestamp("2020-01-01")),
    ],
)
def test_scores_that_are_not_plain_decimal_numbers_are_refused_with_place_and_value(text):
    with pytest.raises(ScoreTableError) as caught:
        tidy_scores(with_score(4, text))
    message = str(caught.value)
    assert message.startswith(
        "1 of 12 cells of column 'score' are not numbers (first: dataset 'iris', algorithm 'tree'"
    )
    assert f"run 0, fold 2: {text!r}" in message


@pytest.mark.parametrize("text", ["\u22120.1", "\u00a00.9", "0.9\u202f", "\uff11"])
def test_characters_that_only_look_like_a_number_get_a_hint(text):
    with pytest.raises(ScoreTableError, match=r"Unicode minus or a no-break space: use plain ASCII"):
        tidy_scores(with_score(4, text))


def test_decimal_commas_get_a_hint():
    with pytest.raises(ScoreTableError, match=r"'0,91'.*read the file with decimal=','"):
        tidy_scores(with_score(4, "0,91"))


def test_percent_signs_get_a_hint():
    with pytest.raises(ScoreTableError, match=r"'91%'.*Remove the percent signs.*rope in percentage points"):
        tidy_scores(with_score(4, "91%"))


@pytest.mark.parametrize("cell", ["", " \t", None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), "\ud800"])
def test_a_cell_without_text_holds_no_name(cell):
    assert not is_filled(cell)


@pytest.mark.parametrize("cell", ["iris", "nan", 0, 0.5, False, pd.Timestamp("2020-01-01"), Decimal("0.1")])
def test_a_cell_that_can_be_written_holds_a_name(cell):
    assert is_filled(cell)


def test_of_several_bad_cells_the_hint_is_that_of_the_first():
    frame = with_score(4, "0,91")
    frame.loc[7, "score"] = "bad"
    with pytest.raises(ScoreTableError, match=r"2 of 12 cells .*decimal=','"):
        tidy_scores(frame)


def test_a_data_set_called_as_a_summary_is_named_with_its_first_row():
    (note,) = tidy_scores(table(dataset=np.repeat(["iris", "mean"], 6))).notes
    assert note.category is ScaleWarning
    assert note.message.startswith("A data set is called 'mean' (first: row 7)")


def test_only_the_first_five_bad_cells_are_listed():
    with pytest.raises(ScoreTableError, match=r"12 of 12 cells .*; and 7 more\)") as caught:
        tidy_scores(table(score="bad"))
    assert str(caught.value).count("algorithm") == 5


def test_a_column_of_booleans_is_no_score():
    with pytest.raises(ScoreTableError, match=r"12 of 12 cells of column 'score' are not numbers.*True"):
        tidy_scores(table(score=True))


def test_a_bad_cell_is_named_by_the_column_as_the_user_called_it():
    frame = with_score(4, "bad").rename(columns={"score": "auc", "algorithm": "model"})
    with pytest.raises(ScoreTableError, match=r"cells of column 'auc' .*algorithm 'tree', run 0, fold 2: 'bad'"):
        tidy_scores(frame, {"score": "auc"})


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "Float64", "category", "object", "str", "string[python]", "string[pyarrow]"]
)
def test_every_usual_kind_of_score_column_is_read(dtype):
    scores = table()["score"]
    read = tidy_scores(table(score=scores.astype(dtype))).frame["score"]
    assert read.dtype == np.float64
    np.testing.assert_allclose(read, scores, rtol=1e-7 if dtype == "float32" else 0)


@pytest.mark.parametrize("dtype", ["Float64", "double[pyarrow]", "string[pyarrow]"])
def test_missing_cells_of_nullable_columns_are_missing(dtype):
    scores = table()["score"].astype(dtype)
    scores[4] = pd.NA
    assert np.flatnonzero(tidy_scores(table(score=scores)).frame["score"].isna()).tolist() == [4]


@pytest.mark.parametrize("dtype", ["category", "string[pyarrow]", "string[python]", "object"])
def test_every_usual_kind_of_name_and_fold_column_is_read(dtype):
    frame = table().astype({name: dtype for name in ("dataset", "algorithm", "run", "fold")})
    assert tidy_scores(frame).frame.to_dict("list") == tidy_scores(table()).frame.to_dict("list")


def test_whole_number_scores_become_floats():
    assert tidy_scores(table(score=np.arange(12))).frame["score"].tolist() == [float(value) for value in range(12)]


def test_every_refusal_is_a_hiercomp_error_and_a_value_error():
    with pytest.raises(HiercompError) as caught:
        tidy_scores(table().iloc[:0])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("cell", [np.array([0.8]), np.array([[0.8]]), pd.Series([0.8]), np.array([0.8, 0.9]), [0.8]])
def test_a_score_that_is_an_array_is_refused_even_if_it_has_one_element(cell):
    rows = [(d, a, f, 0.5 + 0.1 * f) for d in "xy" for a in "AB" for f in (1, 2)]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])
    table["score"] = pd.Series([*table["score"][:3], cell, *table["score"][4:]], dtype=object)
    with pytest.raises(ScoreTableError, match="dataset 'x', algorithm 'B', fold 2"):
        tidy_scores(table)


@pytest.mark.parametrize("cell", [[1, 2], (1, 2), {"fold": 1}, np.array([1, 2])], ids=lambda cell: type(cell).__name__)
@pytest.mark.parametrize("column", ["dataset", "algorithm", "run", "fold"])
def test_a_name_that_is_several_values_is_refused(column, cell):
    rows = [(d, a, r, f, 0.5 + 0.1 * f) for d in "xy" for a in "AB" for r in (1, 2) for f in (1, 2)]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold", "score"]).astype({column: object})
    for row in table.index[table[column] == table[column].iloc[0]]:
        table.at[row, column] = cell
    with pytest.raises(ScoreTableError, match=f"Column '{column}' holds a {type(cell).__name__} in a cell"):
        tidy_scores(table)
