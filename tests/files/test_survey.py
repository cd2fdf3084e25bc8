"""``check`` goes on behind the first error of a file; each file has errors put in by hand, which are all to be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiercomp.files.check import MOST_ERRORS, TableCheck, check_scores
from tests.command_line import run as hiercomp

SAMPLES = Path(__file__).parents[1] / "data/importers"
PARTNERS = "Add them, or pass missing='drop'"  # what the rows left out would have been paired with
HEADER = "dataset,algorithm,run,fold,score\n"


def sound(score: str = "0.{}") -> list[str]:
    """Five data sets, two algorithms, four folds: forty rows, the first in line 2 of a file."""
    return [
        f"d{d},{a},1,{f},{score.format(8 * d + (30 + f * f % 5 if a == 'a' else 20 + 3 * f % 7))}"
        for d in range(5)
        for a in "ab"
        for f in range(1, 5)
    ]


def checked(folder: Path, lines: list[str], *, header: str = HEADER, encoding: str = "utf-8", **options) -> TableCheck:
    path = folder / "scores.csv"
    path.write_bytes((header + "\n".join(lines) + "\n").encode(encoding))
    return check_scores(path, **options)


def errors(check: TableCheck) -> list[str]:
    return [str(problem).removeprefix("error: ") for problem in check.errors]


def assert_each(found: list[str], *parts: str) -> None:
    """One text for each part, in their order."""
    assert len(found) == len(parts), found
    for text, part in zip(found, parts, strict=True):
        assert part in text


def test_the_sound_file_has_no_errors(tmp_path):
    assert checked(tmp_path, sound()).errors == ()


def test_uneven_rows_wrong_cells_and_wrong_tables_are_found_at_once(tmp_path):
    lines = sound()
    lines[3] = lines[3] + ",7"  # line 5: six cells
    lines[9] = "d1,a"  # line 11
    lines[12] = lines[12].replace("0.", "0,").replace("d1,b,1,1,", 'd1,b,1,1,"') + '"'  # line 14: a decimal comma
    lines[20] = " ,a,1,1,0.5"  # line 22: no data set
    lines[30] = lines[29]  # the same cell twice, so that fold 3 is missing
    check = checked(tmp_path, lines)
    assert_each(
        errors(check),
        "2 rows of another length than the header's 5 cells (line 5 has 6, line 11 has 2)",
        "line 14, column 'score': '0,31' is not a plain number",
        "Column 'dataset' has names that are empty",
        "1 cell has more than one score (first: dataset 'd3', algorithm 'b', run 1, fold 2",
        PARTNERS,
    )
    assert "without the rows and cells that can't be read" in check.warnings[0].message
    assert check.dataset_names == ("d0", "d1", "d2", "d3", "d4")
    assert check.n_missing.sum() == 1 + 1 + 1 + 1  # two uneven rows, the empty name, and the cell that became another
    assert check.n_rows == 38
    assert check.exit_code == 2


def test_the_numbers_of_a_column_in_another_notation_are_looked_at_as_such(tmp_path):
    lines = [line.replace("0.", '"0,') + '"' for line in sound()]
    lines[0] = "d0,a,1,1,0.5"
    check = checked(tmp_path, lines)
    assert_each(errors(check), "line 3, column 'score'")
    assert (check.scale, check.lowest_score.min(), check.highest_score.max()) == ("fractions", 0.22, 0.66)


def test_text_that_is_not_utf8_is_found_beside_other_errors(tmp_path):
    lines = [line.replace("d3", "d\u00e9") for line in sound()]
    lines[2] = "d0"
    check = checked(tmp_path, lines, encoding="latin-1")
    assert_each(errors(check), "byte", "1 row of another length than the header's 5 cells (line 4 has 1)")
    assert "--encoding latin-1" in errors(check)[0]
    assert "d\u00e9" in check.dataset_names


def test_nul_characters_quotation_marks_and_repeated_columns_are_found_together(tmp_path):
    lines = [line + ",x,y" for line in sound()]
    lines[4] = "d0,b,1,1,0.1\x005,x,y"
    lines[6] = 'd0,b,1,3,0.15,"x"x,y'
    lines[8] = 'd1,a,1,1,0.15,"' + "x" * 140_000 + '",y'
    check = checked(tmp_path, lines, header=HEADER.strip() + ",note,note\n")
    assert_each(
        errors(check),
        "line 6: holds a NUL character",
        "line 1: column names occur twice: 'note'",
        "line 8: a quotation mark closes in the middle of a cell",
        "line 10: a cell of more than 131,072 characters",
        PARTNERS,
    )


def test_a_quotation_mark_that_is_never_closed_hides_what_follows_and_no_more(tmp_path):
    lines = sound()
    lines[1] = "d0,a"
    lines[30] = 'd3,b,1,3,"0.5'
    check = checked(tmp_path, lines)
    assert_each(
        errors(check),
        "line 32: a quotation mark is never closed",
        "1 row of another length than the header's 5 cells (line 3 has 2)",
        PARTNERS,
    )
    assert check.dataset_names == ("d0", "d1", "d2", "d3")


def test_a_limit_keeps_the_list_of_errors_short(tmp_path):
    lines = [f'd{d},a,1,1,"0.5"x' for d in range(MOST_ERRORS + 30)]
    found = errors(checked(tmp_path, [*sound(), *lines]))
    assert len(found) == MOST_ERRORS + 1
    assert found[-1] == "30 more errors are not listed. Correct those that are and check the file again."


def test_what_is_no_table_has_one_error(tmp_path):
    for content in (b"", b"%PDF-1.7", b"dataset,algorithm,score\n"):
        path = tmp_path / "scores.csv"
        path.write_bytes(content)
        check = check_scores(path)
        assert len(check.problems) == 1
        assert check.exit_code == 2


def test_results_of_weka_are_surveyed_row_by_row(tmp_path):
    path = tmp_path / "weka.arff"
    text = (SAMPLES / "weka.arff").read_text()
    first = text.splitlines().index("@data") + 2  # the number of the first row's line
    lines = text.splitlines()
    lines[first - 1] = lines[first - 1].replace("33.333333", "many")
    lines[first] = lines[first].replace("iris", "rose")
    lines[first + 1] = "iris,1"
    path.write_text("\n".join(lines))
    check = check_scores(path, fraction=True)
    listed = errors(check)
    assert f"line {first}: 'many' is not a number" in listed[0]
    assert f"line {first + 1}: 'rose' is not one of the values" in listed[1]
    assert f"line {first + 2}: 2 cells where there are 12 attributes" in listed[2]
    assert check.format == "weka"
    assert check.algorithms[0].startswith("ZeroR")
    assert len(check.dataset_names) == 2


def test_weka_files_separated_by_commas_too(tmp_path):
    path = tmp_path / "weka.csv"
    rows = [f"{d},{r},1,weka.classifiers.rules.{s},{50 + r * r}" for d in "ab" for r in range(1, 4) for s in ("A", "B")]
    rows[0] = "a,1,1,weka.classifiers.rules.A,?x"
    rows[1] = ",1,1,weka.classifiers.rules.B,51"
    rows[2] = "a,2"
    path.write_text("\n".join(["Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Percent_correct", *rows]))
    listed = errors(check_scores(path))
    assert_each(
        listed[:3],
        "line 4: 2 cells where the header has 5",
        "line 2: Percent_correct is '?x', which is not a number",
        "line 3: Key_Dataset is missing",
    )


def test_every_damaged_file_of_a_folder_is_named(tmp_path):
    for number, file in enumerate(sorted((SAMPLES / "lm_eval").rglob("results_*.json"))):
        (tmp_path / f"results_{number}.json").write_bytes(file.read_bytes())
    sound = check_scores(tmp_path, measure="acc")
    assert sound.dataset_names
    (tmp_path / "results_a.json").write_text('{"results": ')
    (tmp_path / "results_b.json").write_text('{"results": {}}')
    check = check_scores(tmp_path, measure="acc")
    listed = errors(check)
    assert "results_a.json, line 1" in listed[0]
    assert "results_b.json: it is not a result file of lm-eval" in listed[1]
    assert listed[2:] == errors(sound)
    assert check.dataset_names == sound.dataset_names


def test_what_an_importer_made_out_and_refused_is_examined(tmp_path):
    lines = ["task_id,learner_id,resampling_id,iteration,classif.acc"]
    lines += [
        f"t{t},{name},cv,{i},0.{40 + 7 * t + i * i}" for t in range(3) for name in ("a", "b") for i in range(1, 4)
    ]
    lines += ["t0,a,cv,1,0.5", "t1,b,cv"]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    check = check_scores(path)
    assert check.format == "mlr3"
    listed = errors(check)
    assert "1 row of another length than the header's 5 cells (line 21 has 3)" in listed[0]
    assert any("more than one score" in text for text in listed)
    assert check.dataset_names == ("t0", "t1", "t2")


@pytest.mark.parametrize("line", ["d0,0.5,0.4,0.3", "d0,x,0.4"])
def test_a_wide_table_is_surveyed(tmp_path, line):
    rows = [f"d{d},0.{50 + d * d + f},0.{60 + f * f}" for d in range(5) for f in range(3)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["dataset,tree,bayes", *rows, line, "d1"]))
    check = check_scores(path, format="wide")
    assert "2 rows" in errors(check)[0] if line.count(",") == 3 else "1 row of" in errors(check)[0]
    if "x" in line:
        assert "'tree' holds cells that are not plain numbers" in errors(check)[1]
    else:
        assert check.algorithms == ("bayes", "tree") or check.algorithms == ("tree", "bayes")


def test_the_command_lists_all_of_them(tmp_path):
    lines = sound()
    lines[3], lines[7] = "d0,a", "d0,b,1,4,x"
    (tmp_path / "scores.csv").write_text(HEADER + "\n".join(lines))
    done = hiercomp(tmp_path, "check", "scores.csv")
    assert done.returncode == 2
    assert "1 row of another length than the header's 5 cells (line 5 has 2)" in done.stdout
    assert "1 of 39 cells of column 'score' are not numbers" in done.stdout
