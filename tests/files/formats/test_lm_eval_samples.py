"""Answers to single questions: tasks are data sets, questions folds, and what proves the pairing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hiercomp.errors import ArgumentError, DroppedScoresWarning, HiercompError, HiercompWarning, ScoreFileError
from hiercomp.files.read import read_lm_eval_samples, read_scores

SAMPLES = Path(__file__).parents[2] / "data/importers/lm_eval_samples"


def log(folder: Path, model: str, name: str = "samples_t.jsonl", **changes) -> Path:
    """Three answers, of which the second is right."""
    path = folder / model / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"doc_id": k, "doc_hash": f"h{k}", "resps": [], "metrics": ["acc"], "filter": "none", "acc": float(k == 1)}
        | changes
        for k in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_sample_gives_the_answers_that_stand_in_it():
    frame = read_lm_eval_samples(SAMPLES, "acc")
    assert frame["dataset"].unique().tolist() == ["arc", "copa"]
    assert frame["algorithm"].unique().tolist() == ["org__a", "org__b"]
    assert frame["rho"].unique().tolist() == [0.0]
    # arc of org__a: (k + 3) % 3 > 0 for the questions k of 0 to 3
    assert frame["score"].tolist()[:4] == [0.0, 1.0, 1.0, 0.0]
    assert frame["fold"].tolist()[:4] == [0, 1, 2, 3]


def test_a_file_is_recognised_and_a_folder_of_both_kinds_is_of_results(tmp_path):
    path = log(tmp_path, "m")
    assert read_scores(path).attrs["format"] == "lm_eval_samples"
    assert read_scores(path).attrs["measure"] == "acc"
    assert read_scores(tmp_path).attrs["format"] == "lm_eval_samples"
    assert read_scores([path, log(tmp_path, "n")])["algorithm"].unique().tolist() == ["m", "n"]
    assert read_scores(path, algorithm="=best", where={"fold": [0, 1]})["algorithm"].tolist() == ["best"] * 2


def test_a_folder_of_results_points_to_its_questions(tmp_path):
    log(tmp_path, "m")
    result = {"results": {"t": {"acc,none": 0.5}}, "model_name": "m"}
    (tmp_path / "m" / "results_1.json").write_text(json.dumps(result))
    with pytest.warns(HiercompWarning, match="pass format='lm_eval_samples'"):
        assert read_scores(tmp_path).attrs["format"] == "lm_eval"
    assert len(read_scores(tmp_path, format="lm_eval_samples")) == 3


def test_several_files_of_a_model_are_runs(tmp_path):
    for seed in ("s1", "s2"):
        log(tmp_path / seed, "m")
    with pytest.warns(HiercompWarning, match=r"up to 2 answers to a question, .* Pass groups='fold' \(--groups fold\)"):
        frame = read_lm_eval_samples(tmp_path)
    assert frame["run"].tolist() == [1, 1, 1, 2, 2, 2]


def test_other_questions_of_the_same_number_are_refused(tmp_path):
    log(tmp_path, "a")
    log(tmp_path, "b", doc_hash="x")
    with pytest.raises(ScoreFileError, match="question 0 of task 't' differs from the one in"):
        read_lm_eval_samples(tmp_path)


def test_measures_and_filters_are_asked_for(tmp_path):
    log(tmp_path, "a", metrics=["acc", "acc_norm"], acc_norm=0.0)
    with pytest.raises(HiercompError, match="There are 2 measures: 'acc', 'acc_norm'"):
        read_lm_eval_samples(tmp_path)
    path = log(tmp_path, "b", name="samples_u.jsonl")
    strict, loose = (path.read_text().replace('"none"', f'"{name}"') for name in ("strict", "loose"))
    path.write_text(strict + loose)
    with pytest.raises(HiercompError, match="There are 2 measures: 'acc,strict', 'acc,loose'"):
        read_lm_eval_samples(path)
    assert len(read_lm_eval_samples(path, "acc,loose")) == 3
    with pytest.warns(DroppedScoresWarning, match="1 file without the measure"):
        assert len(read_lm_eval_samples(tmp_path, "acc_norm")) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"doc_id": 0, "doc_hash": ', "line 4: Expecting value; it is not JSON, or cut short"),
        ('{"id": 0}', "line 4: there is no doc_id"),
        ('{"doc_id": [7], "doc_hash": "h"}', "line 4: doc_id is neither a number nor a text"),
        ('{"doc_id": 7, "doc_hash": "h", "acc": 1.0, "acc": 0.0}', "line 4: the key 'acc' occurs twice"),
        (
            '{"doc_id": 7, "doc_hash": "h", "filter": "none", "acc": 1' + "0" * 400 + "}",
            "line 4: 'acc' is 10+.*no number",
        ),
        ('{"doc_id": 7, "doc_hash": "h", "filter": "none", "acc": "x"}', "line 4: 'acc' is 'x', no number"),
        ('{"doc_id": 1, "doc_hash": "h1", "filter": "none", "acc": 1.0}', "line 4: question 1 is there twice"),
    ],
)
def test_a_damaged_log_is_refused_with_its_line(tmp_path, line, message):
    path = log(tmp_path, "m")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ScoreFileError, match=message):
        read_scores(path, measure="acc")


def test_an_answer_may_hold_any_character(tmp_path):
    path = log(tmp_path, "m")
    rows = [json.loads(line) | {"resps": ["a\u2028b\u0085c"]} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    assert read_scores(path)["score"].tolist() == [0.0, 1.0, 0.0]


def test_a_folder_without_logs_is_named(tmp_path):
    with pytest.raises(ScoreFileError, match=r"no samples_\*\.jsonl"):
        read_lm_eval_samples(tmp_path)
    with pytest.raises(ArgumentError, match="at least one file"):
        read_lm_eval_samples([])
    with pytest.raises(ArgumentError, match="No task has the measure 'f1'"):
        read_lm_eval_samples(log(tmp_path, "m"), "f1")


def test_tasks_of_opposite_directions_are_refused_and_different_measures_named(tmp_path):
    log(tmp_path, "a")
    log(tmp_path, "a", name="samples_u.jsonl", metrics=["f1"], f1=0.5)
    with pytest.warns(HiercompWarning, match="scored by different measures: 'acc', 'f1'. Are they on one scale"):
        assert read_lm_eval_samples(tmp_path).attrs["measure"] == "acc, f1"
    log(tmp_path, "a", name="samples_u.jsonl", metrics=["word_perplexity"], word_perplexity=9.0)
    with pytest.raises(HiercompError, match="Higher scores are better for 'acc', lower ones for 'word_perplexity'"):
        read_lm_eval_samples(tmp_path)


def test_models_are_compared_by_one_measure(tmp_path):
    log(tmp_path, "a")
    path = log(tmp_path, "b", metrics=["f1"], f1=0.5)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "acc"}) + "\n" for row in rows))
    with pytest.raises(ScoreFileError, match=r"task 't' is scored by 'f1.*', and by 'acc.*' in"):
        read_lm_eval_samples(tmp_path)
    with pytest.raises(ArgumentError, match="no measure 'ac'"):
        read_lm_eval_samples(tmp_path / "a", also="ac")
