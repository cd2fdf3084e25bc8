"""Logs of Inspect, as inspect_ai 0.3.285 writes them: JSON, and zip files of which the parts are packed with Zstandard."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, HiercompError, HiercompWarning, ScoreFileError
from hiercomp.files.read import read_inspect, read_scores

GRADES = {"base": "CIIC", "tuned": "CCIP"}


def log(model: str = "base", task: str = "arith", epochs: int = 1, **changes) -> dict:
    """Four samples with one scorer."""
    samples = [
        {"id": f"q{i}", "epoch": epoch, "input": f"{task} {i}?", "scores": {"match": {"value": grade, "answer": "no"}}}
        for epoch in range(1, epochs + 1)
        for i, grade in enumerate(GRADES[model])
    ]
    about = {"task": task, "model": f"mock/{model}"}
    return {"version": 2, "status": "success", "eval": about, "samples": samples} | changes


def written(content: dict, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2))
    return path


def packed(content: dict, path: Path, method: int) -> Path:
    """The parts that the reader needs; Zstandard, 93, is written by hand, as Python's zipfile can't before 3.14."""
    parts = {
        "header.json": json.dumps({name: value for name, value in content.items() if name != "samples"}).encode(),
        "summaries.json": json.dumps(content["samples"]).encode(),
    }
    if method != 93:
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        return path
    local, central = b"", b""
    for name, data in parts.items():
        squeezed = pa.Codec("zstd").compress(data, asbytes=True)
        sizes = struct.pack("<HHHIIIHH", 93, 0, 33, zlib.crc32(data), len(squeezed), len(data), len(name), 0)
        central += (
            b"PK\x01\x02" + struct.pack("<HHH", 63, 63, 0) + sizes + struct.pack("<HHHII", 0, 0, 0, 0, len(local))
        )
        central += name.encode()
        local += b"PK\x03\x04" + struct.pack("<HH", 63, 0) + sizes + name.encode() + squeezed
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path


@pytest.mark.parametrize("kind", ["json", zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_grades_count_as_in_inspect(tmp_path, kind):
    if kind == "json":
        path = written(log("tuned"), tmp_path / "log.json")
    else:
        path = packed(log("tuned"), tmp_path / "log.eval", kind)
    frame = read_scores(path)
    assert frame.attrs["format"] == "inspect"
    assert frame.attrs["measure"] == "match"
    assert frame["score"].tolist() == [1.0, 1.0, 0.0, 0.5]
    assert frame["fold"].tolist() == ["q0", "q1", "q2", "q3"]
    assert set(frame["dataset"]) == {"arith"}
    assert set(frame["algorithm"]) == {"mock/tuned"}
    assert set(frame["rho"]) == {0.0}


def test_a_folder_of_logs_is_compared_with_samples_as_groups(tmp_path):
    for task in ("arith", "logic", "facts", "code", "law"):
        for model in GRADES:
            packed(log(model, task, epochs=2), tmp_path / f"{task}_{model}.eval", 93)
    with pytest.warns(
        HiercompWarning, match=r"up to 2 answers to a sample, which are not independent\. Pass groups='fold'"
    ):
        scores = read_scores(tmp_path)
    assert len(scores) == 5 * 2 * 4 * 2
    comparison = hc.HierarchicalComparison(scores, "mock/base", "mock/tuned", rope=0.01, groups="fold")
    np.testing.assert_array_equal(comparison.differences.n, 4)
    np.testing.assert_array_equal(comparison.differences.paired_scores, 8)
    np.testing.assert_allclose(comparison.differences.mean, (0 + 1 + 0 - 0.5) / 4)


def test_files_of_json_in_a_folder_and_later_logs_are_further_runs(tmp_path):
    for number in (1, 2):
        written(log(), tmp_path / f"{number}.json")
    with pytest.warns(HiercompWarning, match="2 answers"):
        frame = read_scores(tmp_path)
    assert frame["run"].tolist() == [1] * 4 + [2] * 4


def test_a_scorer_with_several_values_and_several_scorers_are_measures(tmp_path):
    content = log()
    for sample in content["samples"]:
        sample["scores"] = {"judge": {"value": {"style": 3, "truth": True}}, "length": {"value": "12.5"}}
    path = written(content, tmp_path / "log.json")
    with pytest.raises(HiercompError, match=r"There are 3 measures: 'judge\.style', 'judge\.truth', 'length'"):
        read_inspect(path)
    frame = read_inspect(path, "judge.style", also="length")
    assert frame["score"].tolist() == [3.0] * 4
    assert frame["length"].tolist() == [12.5] * 4
    assert read_inspect(path, "judge.truth")["score"].tolist() == [1.0] * 4
    with pytest.raises(ArgumentError, match="There is no measure 'f1'"):
        read_inspect(path, "f1")


def test_a_sample_without_a_score_is_missing_and_an_unfinished_evaluation_is_noted(tmp_path):
    content = log(status="error")
    content["samples"][2]["scores"] = None
    with pytest.warns(HiercompWarning, match=r"1 log is of an evaluation that did not succeed \(first: .*\(error\)\)"):
        frame = read_scores(written(content, tmp_path / "log.json"))
    assert np.isnan(frame["score"].tolist()).tolist() == [False, False, True, False]


def changed(content: dict, **sample) -> dict:
    content["samples"][1] |= sample
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (log(samples=[]), "it has no samples, or damaged ones"),
        (log(samples=[{"id": ["q"]}]), "it has no samples, or damaged ones"),
        (changed(log(), epoch="x"), "it has no samples, or damaged ones"),
        (
            changed(log(), scores={"match": {"value": [1]}}),
            r"the score of sample 'q1' is \[1\], no number and no grade",
        ),
        (
            changed(log(), scores={"match": {"value": 10**400}}),
            r"the score of sample 'q1' is 10+, no number and no grade",
        ),
        (log(samples=[{"id": 1, "scores": {}}]), "no sample has a score"),
        (log(eval={"task": "t"}), "KeyError; it is not an Inspect log, or it is cut short"),
    ],
)
def test_a_damaged_log_is_refused(tmp_path, content, message):
    with pytest.raises(ScoreFileError, match=message):
        read_scores(written(content, tmp_path / "log.json"))


def test_other_questions_under_the_same_name_are_refused(tmp_path):
    written(log("base"), tmp_path / "a.json")
    written(changed(log("tuned"), input="another"), tmp_path / "b.json")
    with pytest.raises(ScoreFileError, match=r"b.json: sample 'q1' of task 'arith' differs from the one in .*a.json"):
        read_scores(tmp_path)


def test_damaged_archives_are_refused(tmp_path):
    path = packed(log(), tmp_path / "log.eval", 93)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        try:
            assert read_inspect(path)["score"].tolist() == [1.0, 0.0, 0.0, 1.0]
        except ScoreFileError:
            pass
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(ScoreFileError, match="was not finished"):
        read_scores(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ScoreFileError, match=r"log.eval can't be read: File is not a zip file"):
        read_scores(path)


def test_a_part_that_says_it_is_too_large_is_not_unpacked(tmp_path):
    path = packed(log(), tmp_path / "log.eval", 93)
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\x01\x02") + 24
    content[place : place + 4] = struct.pack("<I", 2**31)
    path.write_bytes(content)
    with pytest.raises(ScoreFileError, match="above the limit of 268,435,456 bytes"):
        read_scores(path)


def test_a_folder_without_logs_is_named(tmp_path):
    with pytest.raises(ArgumentError, match="at least one file"):
        read_inspect([])
    with pytest.raises(ScoreFileError, match="there is no log of Inspect in this folder"):
        read_inspect(tmp_path)


def test_models_are_compared_by_one_scorer(tmp_path):
    for model, scorer in (("base", "match"), ("tuned", "model_graded")):
        content = log(model)
        for sample in content["samples"]:
            sample["scores"] = {scorer: sample["scores"]["match"]}
        (tmp_path / f"{model}.json").write_text(json.dumps(content))
    with pytest.raises(ScoreFileError, match="task 'arith' is scored by 'model_graded', and by 'match' in"):
        read_inspect(tmp_path)
    (tmp_path / "tuned.json").unlink()
    with pytest.raises(ArgumentError, match=r"no measure 'mach'.* Did you mean 'match'"):
        read_inspect(tmp_path, also="mach")


def test_a_key_that_occurs_twice_is_refused(tmp_path):
    path = written(log(), tmp_path / "log.json")
    path.write_text(path.read_text().rstrip().removesuffix("}") + ', "samples": []}')
    with pytest.raises(ScoreFileError, match="the key 'samples' occurs twice"):
        read_inspect(path)
