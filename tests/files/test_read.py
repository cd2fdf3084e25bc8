"""Reading scores of any format: each sample is recognised, and what is damaged or unclear is refused in one line."""

from __future__ import annotations

import contextlib
import gzip
import inspect
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import (
    ArgumentError,
    DefaultedRhoWarning,
    HiercompError,
    HiercompWarning,
    ScoreFileError,
    ScoreTableError,
)
from hiercomp.files.presets import PRESETS
from hiercomp.files.read import IMPORTERS, from_grid_search, from_score_arrays, from_wide, read_scores

SAMPLES = Path(__file__).parents[1] / "data/importers"
COLUMNS = ["dataset", "algorithm", "run", "fold", "score"]

# What the presets' samples need
PRESET_OPTIONS = {
    "caret": {"measure": "Accuracy"},
    "mlr": {"measure": "acc", "folds": 3},
    "cross_validate": {"measure": "accuracy"},
    "pycaret": {"measure": "Accuracy"},
    "pycaret_regression": {"score": "R2"},
    "nixtla": {"measure": "mae"},
}

# The sample of each format, and the options that its importer needs
FORMATS = {
    "tidy": ("tidy.csv", {}),
    "wide": ("wide.csv", {}),
    "weka": ("weka.arff", {"fraction": True}),
    "mlr3": ("mlr3.csv", {"measure": "classif.acc", "folds": 2}),
    "tidymodels": ("tidymodels.csv", {"measure": "accuracy"}),
    "mlflow": ("mlflow.csv", {}),
    "lm_eval": ("lm_eval", {"measure": "acc"}),
    "lm_eval_samples": ("lm_eval_samples", {"measure": "acc"}),
    "inspect": ("inspect", {}),
    "sklearn": ("grid_search.csv", {"dataset": "iris", "folds": 3}),
    **{name: (f"{name}.csv", PRESET_OPTIONS.get(name, {})) for name in PRESETS},
}
FOLDERS = {
    "lm_eval": "results_gpt2_1.json",
    "inspect": "arith_base.eval",
    "lm_eval_samples": "org__a/samples_arc_2026-11-22T03-35-55.119298.jsonl",
}


def read(path: Path | str, **options) -> pd.DataFrame:
    """Without the warnings of the importers, which their own tests look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        return read_scores(path, **options)


def refused(path: Path, **options) -> str:
    with pytest.raises(ScoreFileError) as caught:
        read(path, **options)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_format_has_a_sample_here():
    assert set(FORMATS) == set(IMPORTERS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_is_recognised_and_forcing_its_format_gives_the_same(name):
    file, options = FORMATS[name]
    frame = read(SAMPLES / file, **options)
    assert frame.attrs["format"] == name
    assert list(frame.columns[:5]) == COLUMNS
    assert frame["score"].dtype == float
    pd.testing.assert_frame_equal(frame, read(SAMPLES / file, format=name, **options))


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"sklearn"}))
def test_a_sample_can_be_compared_as_it_is_read(name):
    file, options = FORMATS[name]
    frame = read(SAMPLES / file, **options)
    left, right = frame["algorithm"].unique()[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame, left, right)
    expected = {"weka": 0.5, "tidymodels": 0.5, "lm_eval": 0.0, "lm_eval_samples": 0.0, "inspect": 0.0, "wandb": 0.0}
    # mlr3's two tasks: two runs of two folds, and one of three; sorted by name "001" stands before "1"
    rho = [0.5, 1 / 3] if name == "mlr3" else expected.get(name, 1 / 3)
    np.testing.assert_allclose(comparison.differences.rho, rho)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"weka", *FOLDERS}))
def test_a_format_is_told_by_content_and_not_by_the_name_of_the_file(tmp_path, name):
    file, options = FORMATS[name]
    content = (SAMPLES / file).read_bytes()
    assert read(written(tmp_path, "scores.txt.gz", gzip.compress(content)), **options).attrs["format"] == name
    marked = b"\xef\xbb\xbf" + content
    assert read(written(tmp_path, "scores", marked), **options).attrs["format"] == name


def test_weka_and_lm_eval_are_told_by_content_too(tmp_path):
    shutil.copy(SAMPLES / "weka.arff", tmp_path / "results.csv")
    assert read(tmp_path / "results.csv").attrs["format"] == "weka"
    assert read(SAMPLES / "weka_splits.csv").attrs["format"] == "weka"
    shutil.copy(SAMPLES / "lm_eval/results_gpt2_1.json", tmp_path / "results.txt")
    assert read(tmp_path / "results.txt", measure="acc").attrs["format"] == "lm_eval"


def test_separators_encodings_and_decimal_commas_are_passed_on(tmp_path):
    text = (SAMPLES / "wide.csv").read_text().replace(",", ";").replace(".", ",").replace("iris", "Käse")
    path = written(tmp_path, "wide.csv", text.encode("latin-1"))
    frame = read(path, separator=";", decimal=",", encoding="latin-1")
    assert frame.attrs["format"] == "wide"
    assert frame.loc[0, ["dataset", "score"]].tolist() == ["Käse", 0.9]
    assert frame["dataset"].tolist().count("001") == 9


def test_a_parquet_file_is_recognised_by_its_columns(tmp_path):
    pd.read_csv(SAMPLES / "wide.csv").to_parquet(tmp_path / "wide.parquet")
    assert read(tmp_path / "wide.parquet").attrs["format"] == "wide"
    pd.read_csv(SAMPLES / "mlflow.csv").to_parquet(tmp_path / "mlflow.parquet")
    assert read(tmp_path / "mlflow.parquet").attrs["format"] == "mlflow"


def test_roles_make_a_table_tidy_and_mean_the_same_in_every_format(tmp_path):
    path = written(tmp_path, "t.csv", "problem_id,who,auc,f1\n1,a,0.5,0.6\n1,b,0.6,0.7\n")
    frame = read(path, dataset="problem_id", algorithm="who", score="auc")
    assert frame.attrs["format"] == "tidy"
    assert frame["dataset"].tolist() == ["1", "1"]
    frame = read(
        SAMPLES / "mlr3.csv",
        format="mlr3",
        score="classif.acc",
        dataset="=one",
        algorithm=["learner_id"],
        folds=2,
        where={"resampling_id": "repeated_cv"},
    )
    assert frame["dataset"].unique().tolist() == ["one"]
    frame = read(
        SAMPLES / "weka.arff",
        dataset="=one",
        algorithm=["weka.classifiers.{algorithm}@Key_Scheme", "Key_Scheme_options"],
        run=["Key_Dataset", "Key_Run"],
    )
    assert frame["dataset"].unique().tolist() == ["one"]
    assert not frame["algorithm"].str.startswith("weka").any()
    frame = read(SAMPLES / "lm_eval", measure="acc", algorithm="=all", run=["algorithm", "run"])
    assert frame["algorithm"].unique().tolist() == ["all"]
    frame = read(SAMPLES / "mlflow.csv", algorithm="=all", run="params.model", where={"params.dataset": "iris"})
    assert frame["algorithm"].unique().tolist() == ["all"]


def test_a_wide_table_is_recognised_only_where_it_can_be_nothing_else(tmp_path):
    assert "the format is not clear" in refused(written(tmp_path, "one.csv", "dataset,tree\niris,0.5\n"))
    assert "the format is not clear" in refused(written(tmp_path, "none.csv", "name,tree,bayes\niris,0.5,0.6\n"))
    text = refused(written(tmp_path, "text.csv", "dataset,tree,comment\niris,0.5,good\n"))
    assert "Column 'comment' holds cells that are not plain numbers" in text


def test_a_table_that_fits_two_formats_is_refused_with_both_and_how_to_say_which(tmp_path):
    path = written(tmp_path, "both.csv", "dataset,algorithm,score,run_id,metrics.accuracy\niris,a,0.5,x,0.5\n")
    text = refused(path)
    assert "fit several formats: mlflow, tidy" in text
    assert "format=" in text
    assert "--format" in text
    assert read(path, format="tidy").attrs["format"] == "tidy"


def test_an_unknown_table_is_refused_with_its_columns_and_the_formats_tried(tmp_path):
    text = refused(written(tmp_path, "what.csv", "alpha,beta\n1,2\n"))
    assert "'alpha', 'beta'" in text
    assert all(name in text for name in IMPORTERS)


def test_an_unknown_format_or_option_names_the_near_one():
    with pytest.raises(ArgumentError, match=r"Did you mean 'weka'"):
        read(SAMPLES / "weka.arff", format="wekka")
    with pytest.raises(ArgumentError, match=r"The format weka has no option 'mesure'\. Did you mean 'measure'"):
        read(SAMPLES / "weka.arff", mesure="Area_under_ROC")
    with pytest.raises(ArgumentError, match="The format sklearn has no option 'ratio'"):
        read(SAMPLES / "grid_search.csv", dataset="iris", ratio=0.5)
    with pytest.raises(ScoreTableError, match=r"18 cells have more than one score .*pass dataset='\{stem\}'"):
        read([SAMPLES / "wide.csv", SAMPLES / "wide.csv"], format="wide")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", ""),
        ("deep.json", '{"results": ' + "[" * 200_000),
        ("deep_objects.json", '{"a":' * 200_000),
        ("digits.json", '{"results": {"a": {"acc,none": ' + "9" * 10_000 + "}}}"),
        ("large.json", '{"results": {"a": {"acc,none": 1' + "0" * 400 + "}}}"),
        ("cut.json", '{"results": {"a": '),
        ("list.json", '{"results": [1, 2]}'),
        ("other.json", '{"a": 1}'),
        ("twice.json", '{"results": {"a": {"acc": 1, "acc": 2}}}'),
        ("nul.arff", "@relation x\0\n"),
        ("excel.csv", b"PK\x03\x04rest"),
        ("latin.arff", "@relation é\n".encode("latin-1")),
        ("cut.gz", gzip.compress(b"dataset,algorithm,score\n" * 1000)[:-9]),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path, name, content):
    refused(written(tmp_path, name, content))


def test_a_file_that_is_not_there_and_a_folder_without_results_are_named(tmp_path):
    assert "no such file" in refused(tmp_path / "none.csv")
    assert "no results_*.json" in refused(tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_no_flipped_byte_raises_anything_but_an_error_of_hiercomp(tmp_path, name):
    file, options = FORMATS[name]
    source = SAMPLES / file
    source = source / FOLDERS[name] if source.is_dir() else source
    content = source.read_bytes()
    generator = np.random.default_rng(1)
    for trial in range(150):
        damaged = bytearray(content)
        for place in generator.integers(0, len(content), 3):
            damaged[place] = int(generator.integers(0, 256))
        if trial % 3 == 0:
            damaged = damaged[: int(generator.integers(0, len(content)))]
        with contextlib.suppress(HiercompError):
            read(written(tmp_path, source.name, bytes(damaged)), **options)


def test_options_of_every_importer_are_documented_under_their_names():
    for importer in IMPORTERS.values():
        for name in inspect.signature(importer).parameters:
            assert importer.__name__.startswith("_") or name in (importer.__doc__ or "")


# Wide tables and arrays


def test_a_wide_table_becomes_one_row_for_each_score():
    frame = from_wide(SAMPLES / "wide.csv")
    # The first and last rows of the file, by hand
    assert frame.iloc[0].tolist() == ["iris", "tree", 1, 1, 0.9]
    assert frame.iloc[-1].tolist() == ["001", "forest", 1, 3, 0.71]
    assert len(frame) == 18
    assert frame["algorithm"].unique().tolist() == ["tree", "bayes", "forest"]


def test_the_columns_of_a_wide_table_can_be_named():
    table = pd.DataFrame({"id": [1, 1], "part": [1, 2], "a": [0.5, 0.6], "b": [0.7, 0.8], "seconds": [9.0, 9.0]})
    frame = from_wide(table, dataset="id", fold="part", algorithms=["a", "b"])
    assert frame["dataset"].tolist() == ["1"] * 4
    assert frame["fold"].tolist() == [1, 2, 1, 2]
    assert frame["score"].tolist() == [0.5, 0.6, 0.7, 0.8]


def test_rows_without_folds_are_numbered_and_that_is_said():
    table = pd.DataFrame({"dataset": ["x", "y", "x"], "a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]})
    with pytest.warns(DefaultedRhoWarning, match="no fold column"):
        frame = from_wide(table)
    assert frame["fold"].tolist() == [1, 1, 2, 1, 1, 2]
    assert frame.attrs["notes"] == [
        "There is no fold column: the rows of a data set are taken as the folds of one run, in their order."
    ]
    many = pd.DataFrame({"dataset": "x", "a": np.arange(21.0), "b": np.arange(21.0)})
    with pytest.raises(HiercompError, match="21 rows and no column says which fold"):
        from_wide(many)


def test_what_is_no_wide_table_is_refused():
    with pytest.raises(HiercompError, match="No column is called 'dataset'"):
        from_wide(pd.DataFrame({"x": [1], "y": [2]}))
    with pytest.raises(HiercompError, match="There is no column 'c'"):
        from_wide(pd.DataFrame({"dataset": ["x"], "a": [1.0]}), algorithms=["a", "c"])
    with pytest.raises(HiercompError, match="2 cells have more than one score"):
        from_wide(pd.DataFrame({"dataset": ["x", "x"], "fold": [1, 1], "a": [1.0, 2.0], "b": [1.0, 2.0]}))
    with pytest.raises(HiercompError, match="no rows"):
        from_wide(pd.DataFrame({"dataset": [], "a": []}))


def test_arrays_with_runs_have_baycomps_rho():
    generator = np.random.default_rng(2)
    left, right = generator.uniform(0.6, 0.9, (2, 4, 10))
    frame = from_score_arrays({"a": left, "b": right}, datasets=["w", "x", "y", "z"], runs=2)
    # baycomp 1.0.3: nfolds = nscores / runs, rho = 1 / nfolds, here 1/5
    assert frame["rho"].unique().tolist() == [0.2]
    row = frame[(frame["dataset"] == "y") & (frame["algorithm"] == "b") & (frame["run"] == 2) & (frame["fold"] == 3)]
    assert row["score"].tolist() == [right[2, 7]]
    with pytest.warns(HiercompWarning):
        comparison = hc.HierarchicalComparison(frame)
    np.testing.assert_allclose(comparison.differences.mean, (right - left).mean(axis=1))


def test_arrays_may_be_ragged_between_data_sets_but_not_between_algorithms():
    frame = from_score_arrays({"a": [[0.1, 0.2], [0.1, 0.2, 0.3]], "b": [[0.1, 0.2], [0.1, 0.2, 0.3]]})
    assert frame.groupby("dataset")["rho"].first().tolist() == [1 / 2, 1 / 3]
    with pytest.raises(HiercompError, match="differ in shape"):
        from_score_arrays({"a": [[0.1, 0.2]], "b": [[0.1, 0.2, 0.3]]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": {}}, "must be a mapping"),
        ({"scores": {"a": [0.1, 0.2]}}, "two-dimensional array of numbers"),
        ({"scores": {"a": [["x", "y"]]}}, "two-dimensional array of numbers"),
        ({"scores": {"a": 3}}, "two-dimensional array of numbers"),
        ({"scores": {"a": [[0.1, 0.2, 0.3]]}, "runs": 2}, "2 runs can't share equally"),
        ({"scores": {"a": [[0.1, 0.2]]}, "runs": 0}, "runs must be at least 1"),
        ({"scores": {"a": [[0.1], [0.2]]}, "datasets": ["x", "x"]}, "2 different names"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(HiercompError, match=message):
        from_score_arrays(**arguments)


def test_attributes_of_a_frame_can_be_saved(tmp_path):
    frame = read(SAMPLES / "mlflow.csv")
    json.dumps(frame.attrs)
    frame.to_parquet(tmp_path / "scores.parquet")
    assert len(read(tmp_path / "scores.parquet")) == 12


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_read_and_saved_is_read_again_as_tidy(tmp_path, name):
    file, options = FORMATS[name]
    frame = read(SAMPLES / file, **options)
    frame.to_csv(tmp_path / "tidy.csv", index=False)
    again = read(tmp_path / "tidy.csv")
    assert again.attrs["format"] == "tidy"
    again.attrs, frame.attrs = {}, {}
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)


@pytest.mark.parametrize("value", [5, ["a", 1], {"a": 1}, True, 0.5])
@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"tidy"}))
def test_an_option_of_a_wrong_kind_is_an_error_of_hiercomp(name, value):
    file, options = FORMATS[name]
    importer = from_grid_search if name == "sklearn" else IMPORTERS[name]
    for option in set(inspect.signature(importer).parameters) - {"source", "path", "results", "layout"}:
        with contextlib.suppress(HiercompError):
            read(SAMPLES / file, format=name, **{**options, option: value})


def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    def refuse(self, *arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # a superuser may read everything
    assert "can't be read: Permission denied" in refused(tmp_path / "scores.csv")


def test_a_file_whose_name_turns_the_line_is_named_escaped_where_it_is_damaged(tmp_path):
    path = tmp_path / "scores.csv.\u202e"
    path.write_bytes(b"\x1f\x8bdataset,algorithm,score\n")
    with pytest.raises(hc.ScoreFileError, match=r"scores\.csv\.\\u202e can't be read: Unknown compression method"):
        hc.read_scores(path)


ROWS = [
    {"dataset": name, "algorithm": algorithm, "fold": fold, "score": fold * (1.5 if algorithm == "tree" else 1.0)}
    for name in ("iris", "wine")
    for algorithm in ("nb", "tree")
    for fold in (1, 2, 3)
]


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
@pytest.mark.parametrize("column", ["fold", "seed"])
@pytest.mark.parametrize("attrs", [{"higher_is_better": False}, {"higher_is_better": False, "measure": "rmse"}])
def test_what_a_frame_says_of_its_scores_stays_in_every_layout(column, attrs):
    tidy = pd.DataFrame(ROWS).rename(columns={"fold": column})
    wide = tidy.pivot(index=["dataset", column], columns="algorithm", values="score").reset_index()
    wide.columns.name = None
    for frame in (tidy, wide):
        frame.attrs = dict(attrs)
        found = read_scores(frame)
        assert found.attrs["higher_is_better"] is False
        assert found.attrs.get("measure") == attrs.get("measure")
        differences = hc.HierarchicalComparison(frame, "nb", "tree", rope=0.1, rho=0.1).differences
        assert differences.higher_is_better is False
        assert differences.mean.tolist() == [-1.0, -1.0]
    other = tidy.rename(columns={"score": "accuracy"})  # the attributes are about another column
    other.attrs = {"higher_is_better": False, "measure": "rmse"}
    found = read_scores(other)
    assert "higher_is_better" not in found.attrs
    assert found.attrs["measure"] == "accuracy"


def test_files_of_opposite_directions_are_not_joined(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.rename(columns={"score": "accuracy"}).to_csv(tmp_path / "a.csv", index=False)
    frame.assign(dataset=frame["dataset"] + "2").rename(columns={"score": "rmse"}).to_csv(
        tmp_path / "b.csv", index=False
    )
    with pytest.raises(ScoreTableError, match=r"better for '.*a.csv \(accuracy\)', lower ones for '.*b.csv \(rmse\)'"):
        read_scores(tmp_path)
    (tmp_path / "b.csv").write_text((tmp_path / "b.csv").read_text().replace("rmse", "auc"))
    with pytest.warns(HiercompWarning, match="scored by different measures: 'accuracy', 'auc'"):
        found = read_scores(tmp_path)
    assert len(found) == 2 * len(ROWS)
    assert "measure" not in found.attrs


def test_a_list_of_files_may_have_folders(tmp_path):
    frame = pd.DataFrame(ROWS)
    (tmp_path / "folder").mkdir()
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.assign(dataset=frame["dataset"] + "2").to_csv(tmp_path / "folder" / "b.csv", index=False)
    both = [tmp_path / "a.csv", tmp_path / "folder"]
    for paths in (both, both[::-1]):
        assert sorted(read_scores(paths)["dataset"].unique()) == ["iris", "iris2", "wine", "wine2"]


def test_options_of_text_are_refused_for_what_is_none(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_json(tmp_path / "a.json", orient="records")
    for source in (frame, tmp_path / "a.json"):
        with pytest.raises(ArgumentError, match="decimal is about text files"):
            read_scores(source, decimal=",")


def test_lists_of_scores_are_read_from_parquet_too(tmp_path):
    frame = pd.DataFrame({"dataset": list("aabb"), "algorithm": list("xyxy"), "score": [[0.1, 0.2, 0.3]] * 4})
    frame.to_parquet(tmp_path / "lists.parquet")
    pd.testing.assert_frame_equal(
        read_scores(tmp_path / "lists.parquet").reset_index(drop=True), read_scores(frame).reset_index(drop=True)
    )


def test_score_and_measure_can_not_name_two_measures():
    frame = pd.read_csv(SAMPLES / "tidymodels.csv")
    with pytest.raises(ArgumentError, match="were both given"):
        read_scores(frame, score="accuracy", measure="roc_auc")


def test_rows_that_only_their_order_numbers_are_as_many_for_each_algorithm(tmp_path):
    """Nine scores beside ten: which fold is absent is not known, so dropping the last would pair the wrong ones."""
    frame = pd.DataFrame({"dataset": "d", "algorithm": np.repeat(["a", "b"], [10, 9]), "score": np.linspace(0, 1, 19)})
    frame.to_csv(tmp_path / "s.csv", index=False)
    with pytest.raises(hc.HiercompError, match="'b' has 9 scores and 'a' 10, and no column says which fold"):
        read_scores(tmp_path / "s.csv", folds=10)
    lists = [{"dataset": "d", "algorithm": name, "score": [0.5] * count} for name, count in (("a", 10), ("b", 9))]
    (tmp_path / "s.json").write_text(json.dumps(lists))
    with pytest.raises(hc.HiercompError, match="'b' has 9 scores and 'a' 10"):
        read_scores(tmp_path / "s.json")


def test_files_that_say_a_loss_and_nothing_are_not_joined(tmp_path):
    frame = pd.DataFrame({"algorithm": ["a", "b"] * 2, "fold": [1, 1, 2, 2], "score": [0.1, 0.2, 0.3, 0.4]})
    frame.assign(dataset="x").rename(columns={"score": "rmse"}).to_csv(tmp_path / "one.csv", index=False)
    frame.assign(dataset="y").to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(hc.HiercompError, match=r"Lower scores are better in .* and the other files don't say"):
        read_scores(tmp_path)


def test_two_measures_of_one_data_set_in_two_files_are_refused(tmp_path):
    for name, measure in (("a", "accuracy"), ("b", "f1")):
        table = pd.DataFrame({"dataset": "x", "algorithm": name, "fold": [1, 2], measure: [0.7, 0.8]})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(hc.HiercompError, match="data set 'x' are of different measures: 'accuracy' and 'f1'"):
        read_scores(tmp_path)


def test_durations_and_counts_in_a_wide_table_are_left_out_with_a_warning(tmp_path):
    table = pd.DataFrame({"dataset": np.repeat(["x", "y"], 3), "fold": [1, 2, 3] * 2, "a": 0.5, "b": 0.6})
    table.assign(fit_time=1.5, train_size=100).to_csv(tmp_path / "w.csv", index=False)
    with pytest.warns(hc.DroppedScoresWarning, match="'fit_time', 'train_size'"):
        scores = read_scores(tmp_path / "w.csv")
    assert set(scores["algorithm"]) == {"a", "b"}
    kept = read_scores(tmp_path / "w.csv", algorithms=["a", "fit_time"])
    assert set(kept["algorithm"]) == {"a", "fit_time"}
