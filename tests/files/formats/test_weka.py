"""WEKA's results: numbers taken from the samples by hand, its quoting, and the line of whatever is wrong."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, HiercompError, HiercompWarning, ScoreFileError
from hiercomp.files.formats.arff import read_arff, split_row
from hiercomp.files.read import read_weka

SAMPLES = Path(__file__).parents[2] / "data/importers"
HEADER = """@relation 'a b'
@attribute Key_Dataset string
@attribute Key_Run numeric
@attribute Key_Fold {1,2}
@attribute Key_Scheme string
@attribute Percent_correct real
@attribute Date_time date 'yyyy-MM-dd'
@data
"""


def written(folder: Path, content: str) -> Path:
    path = folder / "results.arff"
    path.write_text(content, encoding="utf-8")
    return path


def refused(folder: Path, content: str, **options) -> str:
    path = written(folder, content)
    with pytest.raises(ScoreFileError) as caught:
        read_weka(path, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_the_arff_sample_gives_the_frame_that_stands_in_it():
    frame = read_weka(SAMPLES / "weka.arff", also="Area_under_ROC")
    assert list(frame.columns) == ["dataset", "algorithm", "run", "fold", "score", "rho", "Area_under_ROC"]
    assert frame["algorithm"].unique().tolist() == ["ZeroR", "J48 -C 0.25 -M 2", "J48 -U -M 2"]
    assert frame["dataset"].unique().tolist() == ["iris", "breast cancer"]
    assert frame.loc[5].tolist() == ["iris", "J48 -C 0.25 -M 2", 1, 2, 93.333333, 0.5, 0.95]
    assert frame.loc[23].tolist() == ["breast cancer", "J48 -U -M 2", 2, 2, 71.328671, 0.5, 0.6]
    assert np.isnan(frame.loc[7, "Area_under_ROC"])  # the cell is ?
    mapping = frame.attrs.pop("mapping")
    assert (mapping["dataset"], mapping["score"]) == ("Key_Dataset", "Percent_correct")
    assert frame.attrs == {"format": "weka", "notes": [], "measure": "Percent_correct", "higher_is_better": True}


def test_percentages_become_fractions_only_when_asked():
    plain = read_weka(SAMPLES / "weka.arff")["score"]
    np.testing.assert_allclose(read_weka(SAMPLES / "weka.arff", fraction=True)["score"], plain / 100)
    with pytest.raises(ArgumentError, match="'Area_under_ROC' is not one"):
        read_weka(SAMPLES / "weka.arff", measure="Area_under_ROC", fraction=True)
    with pytest.raises(ArgumentError, match="fraction must be True or False"):
        read_weka(SAMPLES / "weka.arff", fraction=1)


def test_random_splits_in_a_csv_file_have_the_share_of_test_cases_as_rho():
    frame = read_weka(SAMPLES / "weka_splits.csv")
    assert frame["algorithm"].unique().tolist() == ["NaiveBayes", "IBk"]
    rho = frame.groupby("dataset")["rho"].unique()
    # 150 of 450 cases of three splits of iris were tested, and 72 + 71 + 72 of 642 of glass
    np.testing.assert_allclose(rho["iris"], [150 / 450])
    np.testing.assert_allclose(rho["glass"], [215 / 642])
    assert frame["run"].tolist() == [1, 2, 3] * 4
    assert set(frame["fold"]) == {1}
    given = read_weka(SAMPLES / "weka_splits.csv", train_percent=66)
    np.testing.assert_allclose(given["rho"], 0.34)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(given, rope=1.0)
    # glass: 69.444444 - 50, 67.605634 - 47.887324 and 70.833333 - 48.611111
    np.testing.assert_allclose(comparison.differences.mean[0], (19.444444 + 19.71831 + 22.222222) / 3)


def test_splits_whose_size_nothing_tells_need_the_percentage(tmp_path):
    content = HEADER.replace("@attribute Key_Fold {1,2}\n", "") + "d,1,a.B,90,?\n"
    assert "train_percent=66" in refused(tmp_path, content)
    assert read_weka(tmp_path / "results.arff", train_percent=75)["rho"].tolist() == [0.25]
    with pytest.raises(ArgumentError, match="this file has folds"):
        read_weka(SAMPLES / "weka.arff", train_percent=66)


def test_a_measure_of_which_less_is_better_is_noted():
    with pytest.warns(HiercompWarning, match="Lower values of 'Root_mean_squared_error'"):
        frame = read_weka(SAMPLES / "weka_splits.csv", measure="Root_mean_squared_error")
    assert frame.attrs["higher_is_better"] is False


def test_a_measure_that_is_not_there_names_the_near_one():
    with pytest.raises(ArgumentError, match="Did you mean 'Percent_correct'"):
        read_weka(SAMPLES / "weka.arff", measure="percent correct")


def test_schemes_of_one_last_name_keep_their_class_and_no_two_are_merged(tmp_path):
    schemes = ["weka.classifiers.trees.J48", "weka.classifiers.legacy.J48", "weka.classifiers.rules.OneR"]
    rows = "".join(f"d,1,1,{scheme},{90 + place},?\n" for place, scheme in enumerate(schemes))
    frame = read_weka(written(tmp_path, HEADER + rows))
    assert frame["algorithm"].tolist() == [schemes[0], schemes[1], "OneR"]


def test_versions_tell_schemes_apart_where_nothing_else_does(tmp_path):
    header = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Key_Scheme_options,Key_Scheme_version_ID,Percent_correct\n"
    path = tmp_path / "results.csv"
    path.write_text(header + "d,1,1,a.T,'-K 1',7,90\nd,1,1,a.T,'-K 1',8,91\n")
    assert read_weka(path)["algorithm"].tolist() == ["T (7)", "T (8)"]


def test_one_scheme_twice_in_a_cell_is_refused(tmp_path):
    text = refused(tmp_path, HEADER + "d,1,1,a.T,90,?\nd,1,1,a.T,90,?\n")
    assert "1 cell has more than one score" in text


def test_averaged_results_are_refused(tmp_path):
    text = refused(tmp_path, HEADER.replace("Percent_correct", "Avg_Percent_correct") + "d,1,1,a,90,?\n")
    assert "averages" in text
    assert "CrossValidationResultProducer" in text


def test_other_arff_files_are_no_results(tmp_path):
    content = "@relation iris\n@attribute width numeric\n@attribute class {a,b}\n@data\n1.5,a\n"
    assert "no column 'Key_Dataset'" in refused(tmp_path, content)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("a,b", ["a", "b"]),
        ("a, b ,?", ["a", "b", None]),
        ("'?',''", ["?", ""]),
        ("'a,b',\"c'd\"", ["a,b", "c'd"]),
        (r"'it\'s',x", ["it's", "x"]),
        (r"'a\\b\n\t\"\%'", ['a\\b\n\t"%']),
        (r"'\u001E'", ["\x1e"]),
        ("'a''b'", ["a'b"]),
        ("a,", ["a", None]),
    ],
)
def test_rows_are_split_by_wekas_rules(line, cells):
    # weka.core.Utils.quote: backslash before ' " \ % and for newline, return and tab; quoted where a cell holds these,
    # a space, a comma, braces, or is ? or empty
    assert split_row(line) == cells


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + "d,1,1,s\n", "line 9: 4 cells where there are 6 attributes"),
        (HEADER + "d,1,3,s,90,?\n", "line 9: '3' is not one of the values that attribute 'Key_Fold' declares"),
        (HEADER + "d,1,1,s,90 %,?\n", "line 9: '90 %' is not a number, which attribute 'Percent_correct' needs"),
        (HEADER + "% comment\n\n'd,1,1,s,90,?\n", "line 11: a quotation mark (') is never closed"),
        (HEADER + "'d'x,1,1,s,90,?\n", "line 9: 'x,1,1,s,90,?' follows a quoted cell"),
        (HEADER + "{0 d, 1 1}\n", "line 9: sparse rows"),
        (HEADER + "?,1,1,s,90,?\n", "line 9: Key_Dataset is missing"),
        (HEADER, "no rows follow @data"),
        (HEADER.replace("@data\n", ""), "no @data line"),
        (
            HEADER.replace("real", "relational") + "d,1,1,s,90,?\n",
            "line 6: attribute 'Percent_correct' is of type 'relational'",
        ),
        (HEADER.replace("{1,2}", "{1,2"), "line 4: the values of attribute 'Key_Fold' lack their closing brace"),
        (
            HEADER.replace("@attribute Key_Run", "@atribute Key_Run"),
            "line 3: '@atribute Key_Run numeric' is not an @relation",
        ),
        (HEADER.replace("Key_Run", "Key_Dataset"), "line 3: there are two attributes 'Key_Dataset'"),
        (HEADER.replace("@attribute Key_Run numeric", "@attribute"), "line 3: the attribute has no name"),
        ("@relation x\n@data\n1\n", "line 2: @data stands before any @attribute line"),
    ],
)
def test_what_is_wrong_with_an_arff_file_is_said_with_its_line(tmp_path, content, message):
    assert message in refused(tmp_path, content)


def test_words_and_types_of_arff_are_read_in_any_case_and_with_tabs():
    text = "% c\n@RELATION\tx\n@Attribute 'two words'\tREAL\n@attribute kind { a, 'b c' }\n@DATA\n1e-3, 'b c'\n?, a\n"
    table = read_arff(text, "f")
    assert table.names == ("two words", "kind")
    assert table.rows == {6: ("1e-3", "b c"), 7: (None, "a")}


def test_a_csv_file_with_double_quotes_and_windows_lines_is_read_too(tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes(
        b'"Key_Dataset","Key_Run","Key_Fold","Key_Scheme","Percent_correct"\r\n"d",1,1,"a.T",90\r\n"d",1,2,"a.T",?\r\n'
    )
    frame = read_weka(path)
    assert frame["algorithm"].tolist() == ["T", "T"]
    assert np.isnan(frame["score"].tolist()[1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Key_Dataset,Key_Run,Key_Scheme,Percent_correct\nd,1,s\n", "line 2: 3 cells where the header has 4"),
        ("Key_Dataset,Key_Dataset\nd,1\n", "line 1: there are two columns 'Key_Dataset'"),
        ("Key_Dataset,Key_Run,Key_Scheme,Key_Fold,Percent_correct\nd,1,s,1,0x1\n", "line 2: Percent_correct is '0x1'"),
        ("Key_Dataset,Key_Run\n", "no rows"),
        ("", "no header"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said_with_its_line(tmp_path, content, message):
    assert message in refused(tmp_path, content)


def test_latin_1_needs_its_name(tmp_path):
    path = tmp_path / "results.arff"
    path.write_bytes((HEADER + "Käse,1,1,a.T,90,?\n").encode("latin-1"))
    with pytest.raises(HiercompError, match=r"line 9, byte 206: not UTF-8 text.*name its encoding"):
        read_weka(path)
    assert read_weka(path, encoding="latin-1")["dataset"].tolist() == ["Käse"]
    with pytest.raises(ArgumentError, match="latin-x"):
        read_weka(path, encoding="latin-x")


@pytest.mark.slow
def test_the_parser_is_linear_in_the_size_of_a_file(tmp_path):
    content = HEADER + "".join(f"d{row % 100},{row // 100 + 1},1,a.T,{row % 100},?\n" for row in range(100_000))
    path = written(tmp_path, content)
    assert len(read_weka(path)) == 100_000


def test_importing_the_importers_loads_neither_pandas_nor_scikit_learn():
    code = "import sys, hiercomp.files.read; print([name for name in ('pandas', 'sklearn') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_further_measure_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ArgumentError, match=r"no measure 'f1'.*'Area_under_ROC'"):
        read_weka(SAMPLES / "weka.arff", also=["f1"])


CSV_HEADER = (
    "Key_Dataset,Key_Run,{}Key_Scheme,Number_of_training_instances,Number_of_testing_instances,{}Percent_correct"
)


def csv_of(folder: Path, header: str, rows: list[str]) -> Path:
    path = folder / "results.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_averages_without_standard_deviations_are_refused_by_the_count_of_folds(tmp_path):
    # An AveragingResultProducer drops Key_Fold and writes Num_Fold; only with standard deviations it writes Avg_
    rows = [
        "iris,1,5.0,weka.classifiers.rules.ZeroR,120,30,33.3",
        "iris,2,5.0,weka.classifiers.rules.ZeroR,120,30,33.3",
    ]
    path = csv_of(tmp_path, CSV_HEADER.format("Num_Fold,", ""), rows)
    with pytest.raises(ScoreFileError, match=r"averages \(Num_Fold\)"):
        read_weka(path)


def test_rho_of_a_stopped_experiment_is_the_share_of_test_cases(tmp_path):
    # 4 of 10 folds of 150 cases: each tests on 15, so rho is 0.1 and not 1/4
    rows = [f"iris,1,{fold},weka.classifiers.rules.ZeroR,135,15,33.3" for fold in range(1, 5)]
    path = csv_of(tmp_path, CSV_HEADER.format("Key_Fold,", ""), rows)
    with pytest.warns(HiercompWarning, match="4 folds; each tests on 0.1 of the cases"):
        frame = read_weka(path)
    assert frame["rho"].unique() == pytest.approx([0.1])


def test_measures_are_listed_before_counts_and_names_lose_their_second_escapes(tmp_path):
    header = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Number_of_training_instances,Root_mean_squared_error,Kappa"
    rows = [rf"'L\\\'étude, 50\\%',1,{fold},weka.x.ZeroR,135,0.4,0.5" for fold in (1, 2)]
    path = csv_of(tmp_path, header, rows)
    with pytest.raises(ScoreFileError, match="There are 3 measures: 'Root_mean_squared_error', 'Kappa', 'Number_of_"):
        read_weka(path)
    assert read_weka(path, measure="Kappa")["dataset"].unique().tolist() == ["L'étude, 50%"]


def test_where_keeps_the_rows_that_it_names_wherever_they_are():
    whole = read_weka(SAMPLES / "weka.arff")
    for column, value, wanted in (
        ("Key_Dataset", "breast cancer", whole["dataset"] == "breast cancer"),
        ("Key_Run", 2, whole["run"] == 2),
    ):
        kept = read_weka(SAMPLES / "weka.arff", where={column: value})
        assert 0 < len(kept) < len(whole)
        assert kept[["dataset", "algorithm", "run", "fold", "score"]].equals(
            whole.loc[wanted, ["dataset", "algorithm", "run", "fold", "score"]].reset_index(drop=True)
        )
