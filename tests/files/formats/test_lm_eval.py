"""Result files of the Language Model Evaluation Harness: seeds as runs, groups left out, measures chosen."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, DroppedScoresWarning, HiercompWarning, ScoreFileError
from hiercomp.files.read import read_lm_eval

SAMPLES = Path(__file__).parents[2] / "data/importers/lm_eval"


def result(folder: Path, name: str = "results_1.json", **changes) -> Path:
    content = {
        "results": {"t": {"alias": "t", "acc,none": 0.5, "acc_stderr,none": "N/A"}},
        "model_name": "m",
        "config": {},
    }
    path = folder / name
    path.write_text(json.dumps({key: value for key, value in (content | changes).items() if value is not None}))
    return path


def read(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedScoresWarning)
        return read_lm_eval(*arguments, **options)


def test_the_samples_give_the_frame_that_stands_in_them():
    with pytest.warns(DroppedScoresWarning, match=r"1 group \(averages of their tasks\): 'mmlu'"):
        frame = read_lm_eval(SAMPLES, "acc", also="acc_norm")
    assert len(frame) == 18  # three tasks, two models, three seeds
    assert frame["dataset"].unique().tolist() == ["hellaswag", "arc_easy", "mmlu_anatomy"]
    assert frame["algorithm"].unique().tolist() == ["EleutherAI/gpt2", "EleutherAI/pythia"]
    row = frame[(frame["dataset"] == "arc_easy") & (frame["algorithm"] == "EleutherAI/pythia") & (frame["run"] == 3)]
    assert row[["fold", "score", "rho", "acc_norm"]].to_numpy().tolist() == [[1, 0.41, 0.0, 0.39]]
    assert frame.loc[frame["dataset"] == "mmlu_anatomy", "acc_norm"].isna().all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame)
    # arc_easy: -0.04, -0.01, -0.04; hellaswag: 0.04, 0.04, 0.01; mmlu_anatomy: -0.02, 0, -0.01
    np.testing.assert_allclose(comparison.differences.mean, [-0.03, 0.03, -0.01])


def test_files_can_be_given_one_by_one():
    files = [SAMPLES / "results_gpt2_1.json", SAMPLES / "results_pythia_1.json"]
    assert read(files, "acc")["run"].unique().tolist() == [1]
    assert len(read([*files, files[0]], "acc")) == 6  # the same file twice is read once


def test_runs_are_numbered_alike_for_all_models(tmp_path):
    for place, (model, seed) in enumerate([("a", 7), ("a", 9), ("b", 9)]):
        result(tmp_path, f"results_{place}.json", model_name=model, config={"random_seed": seed})
    frame = read(tmp_path)
    assert frame[["algorithm", "run"]].to_numpy().tolist() == [["a", 1], ["a", 2], ["b", 2]]


def test_the_same_seeds_twice_are_refused_with_both_files(tmp_path):
    first, second = result(tmp_path), result(tmp_path, "results_2.json")
    with pytest.raises(ScoreFileError) as caught:
        read(tmp_path)
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    assert "same seeds" in str(caught.value)


def test_several_measures_of_a_task_need_a_choice(tmp_path):
    filters = {"exact_match,strict-match": 0.1, "exact_match,flexible-extract": 0.2, "acc,none": 0.3}
    path = result(tmp_path, results={"gsm8k": filters, "t": {"acc,none": 0.5}})
    with pytest.raises(ScoreFileError, match="task 'gsm8k' has several measures: 'exact_match,strict-match'"):
        read(path)
    with pytest.raises(ScoreFileError, match="several measures"):
        read(path, "exact_match")
    assert read(path, "exact_match,strict-match")["score"].tolist() == [0.1]
    assert read(path, "acc")["score"].tolist() == [0.3, 0.5]
    with pytest.warns(HiercompWarning, match="scored by different measures"):
        frame = read(path, {"gsm8k": "exact_match,flexible-extract", "t": "acc"})
    assert frame["score"].tolist() == [0.2, 0.5]
    with pytest.raises(ArgumentError, match=r"No task has the measure 'ac'\. Did you mean 'acc'\?"):
        read(path, "ac")


def test_tasks_without_the_measure_are_left_out_and_named(tmp_path):
    path = result(tmp_path, results={"a": {"acc,none": 0.1}, "b": {"f1,none": 0.2}})
    with pytest.warns(DroppedScoresWarning, match="1 task without the measure asked for: 'b'"):
        assert read_lm_eval(path, "acc")["dataset"].tolist() == ["a"]


def test_the_file_tells_of_which_measure_less_is_better(tmp_path):
    path = result(tmp_path, results={"w": {"odd,none": 5.0}}, higher_is_better={"w": {"odd": False}})
    with pytest.warns(HiercompWarning, match="Lower values of 'odd,none'"):
        assert read_lm_eval(path).attrs["higher_is_better"] is False
    path = result(tmp_path, results={"w": {"word_perplexity,none": 5.0}})
    with pytest.warns(HiercompWarning, match="Lower values of 'word_perplexity,none'"):
        read_lm_eval(path)


@pytest.mark.parametrize("arguments", ["dtype=float,pretrained=org/gpt2", {"pretrained": "org/gpt2", "dtype": "float"}])
def test_older_files_name_the_model_in_its_arguments(tmp_path, arguments):
    path = result(tmp_path, model_name=None, config={"model_args": arguments})
    assert read(path)["algorithm"].tolist() == ["org/gpt2"]


def test_a_score_that_is_nan_stays_missing(tmp_path):
    path = result(tmp_path)
    path.write_text(path.read_text().replace("0.5", "NaN"))
    assert np.isnan(read(path)["score"].tolist()).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_name": None}, "neither model_name nor config.model_args"),
        ({"results": {}}, "no object 'results'"),
        ({"results": {"t": 0.5}}, "no object 'results' with an object for each task"),
        ({"results": {"t": {"acc,none": "high"}}}, "'acc,none' of task 't' is 'high', no number"),
        ({"results": {"t": {"acc,none": True}}}, "'acc,none' of task 't' is 'True', no number"),
        ({"results": {"t": {"acc,none": 0.5}}, "groups": {"t": {}}}, "only groups are left"),
        ({"results": {" ": {"acc,none": 0.5}}}, "empty or only spaces"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, changes, message):
    path = result(tmp_path, **changes)
    with pytest.raises(ScoreFileError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_measures_of_opposite_directions_are_refused(tmp_path):
    path = result(tmp_path, results={"arc": {"acc,none": 0.5}, "wiki": {"word_perplexity,none": 9.0}})
    measures = {"arc": "acc", "wiki": "word_perplexity"}
    with pytest.raises(
        ScoreFileError, match=r"Higher scores are better for 'acc,none', lower ones for 'word_perplexity,none'"
    ):
        read_lm_eval(path, measures)


def test_models_are_compared_by_one_measure(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    result(tmp_path / "a", results={"arc": {"acc,none": 0.5}}, model_name="a")
    result(tmp_path / "b", results={"arc": {"f1,none": 0.5}}, model_name="b")
    with pytest.raises(ScoreFileError, match="task 'arc' is scored by 'f1,none', and by 'acc,none' in"):
        read_lm_eval(tmp_path)
    with pytest.raises(ArgumentError, match="no measure 'ac'"):
        read_lm_eval(tmp_path / "a", also="ac")
