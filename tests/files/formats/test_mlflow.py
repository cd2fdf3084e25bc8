"""Runs of MLflow: numbers taken from the sample by hand, and which columns play which role."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import DefaultedRhoWarning, DroppedScoresWarning, HiercompError, HiercompWarning
from hiercomp.files.read import read_mlflow

pytestmark = pytest.mark.filterwarnings("ignore:The runs differ by")

SAMPLE = Path(__file__).parents[2] / "data/importers/mlflow.csv"


def runs(**columns) -> pd.DataFrame:
    cells = {
        "run_id": ["a", "b"],
        "params.dataset": "d",
        "params.model": "m",
        "params.seed": ["1", "2"],
        "metrics.auc": [0.5, 0.6],
    }
    renamed = {name.replace("__", "."): cell for name, cell in columns.items()}
    return pd.DataFrame({name: cell for name, cell in (cells | renamed).items() if cell is not None})


def test_the_sample_gives_the_frame_that_stands_in_it():
    with pytest.warns(DroppedScoresWarning) as raised:
        frame = read_mlflow(SAMPLE)
    assert [str(warning.message) for warning in raised] == frame.attrs["notes"]
    assert "1 of 14 runs, which did not finish ('FAILED')" in frame.attrs["notes"][0]
    assert "1 of 13 runs, which do not say" in frame.attrs["notes"][1]
    assert len(frame) == 12
    assert frame.loc[1].tolist() == ["iris", "svm", 1, 2, 0.88, 1 / 3]
    assert frame.loc[11].tolist() == ["007", "knn", 1, 3, 0.76, 1 / 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame, "knn", "svm")
    # 007: -0.05, -0.02, -0.05; iris: 0.05, 0.04, 0.02
    np.testing.assert_allclose(comparison.differences.mean, [-0.04, 0.11 / 3])


def test_seeds_are_independent_runs_and_other_runs_leave_rho_open():
    with pytest.warns(
        DefaultedRhoWarning, match="differ by 'params.seed': they are treated as independent repetitions"
    ):
        frame = read_mlflow(runs())
    assert frame[["run", "fold", "rho"]].to_numpy().tolist() == [[1, 1, 0], [2, 1, 0]]
    assert "independent repetitions" in frame.attrs["notes"][0]
    repeated = runs(params__seed=None, params__repeat=["1", "2"])
    assert "rho" not in read_mlflow(repeated)
    assert read_mlflow(repeated, rho=0.2)["rho"].tolist() == [0.2, 0.2]


def test_columns_can_be_named_and_params_go_before_tags():
    table = runs(tags__dataset="t", params__group=["g1", "g2"])
    assert read_mlflow(table)["dataset"].tolist() == ["d", "d"]
    assert read_mlflow(table, dataset="params.group")["dataset"].tolist() == ["g1", "g2"]
    assert read_mlflow(runs(params__dataset=None, tags__dataset="t"))["dataset"].tolist() == ["t", "t"]


def test_names_that_look_like_numbers_stay_text(tmp_path):
    runs(params__dataset=["007", "7"]).to_csv(tmp_path / "runs.csv")
    assert read_mlflow(tmp_path / "runs.csv")["dataset"].tolist() == ["007", "7"]


def test_further_metrics_may_carry_their_prefix():
    table = runs(metrics__loss=[1.0, 2.0])
    frame = read_mlflow(table, "metrics.auc", also="metrics.loss")
    assert frame[["score", "loss"]].to_numpy().tolist() == [[0.5, 1.0], [0.6, 2.0]]
    with pytest.warns(HiercompWarning, match="Lower values of 'loss'"):
        read_mlflow(table, "loss")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"params__dataset": None}, {}, "No parameter or tag is recognised as the dataset: 'params.model'"),
        ({"params__model": None}, {}, "recognised as the algorithm"),
        ({"params__seed": None}, {}, "1 cell has more than one score"),
        ({"metrics__auc": None}, {}, "No column holds scores"),
        ({"metrics__f1": 0.5}, {}, "There are 2 measures: 'auc', 'f1'"),
        ({}, {"dataset": "params.data"}, "There is no column 'params.data'"),
        ({"status": "RUNNING"}, {}, "No run is FINISHED; the first is 'RUNNING'"),
        ({"params__dataset": np.nan}, {}, "No run has all of"),
    ],
)
def test_what_is_wrong_with_runs_is_said(columns, options, message):
    with pytest.raises(HiercompError, match=message):
        read_mlflow(runs(**columns), **options)


def test_a_run_with_a_score_and_without_its_data_set_is_counted():
    with pytest.warns(DroppedScoresWarning, match="1 of 2 runs, 1 of them with a score"):
        assert len(read_mlflow(runs(params__dataset=["d", None]))) == 1


def test_frames_of_other_libraries_will_do():
    polars = pytest.importorskip("polars")
    frame = read_mlflow(polars.from_pandas(runs()))
    pd.testing.assert_frame_equal(frame, read_mlflow(runs()))
    with pytest.raises(HiercompError, match="must be a data frame"):
        read_mlflow([1, 2])


def test_folds_as_metrics_are_read_as_the_error_proposes(tmp_path):
    runs = pd.DataFrame(
        {
            "run_id": ["a", "b"],
            "status": "FINISHED",
            "params.dataset": "iris",
            "params.model": ["nb", "tree"],
            "metrics.loss": [0.5, 0.4],
            "metrics.fold_0_accuracy": [0.9, 0.91],
            "metrics.fold_1_accuracy": [0.92, 0.9],
        }
    )
    runs.to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(hc.ScoreFileError, match="folds are metrics of one run: 'fold_0_accuracy', 'fold_1") as caught:
        hc.read_scores(tmp_path / "runs.csv", format="mlflow")
    proposed = {argument.name: argument.value for argument in caught.value.arguments}
    read = hc.read_scores(tmp_path / "runs.csv", **proposed)
    assert read.set_index(["algorithm", "fold"])["score"].to_dict() == {
        ("nb", 0): 0.9, ("nb", 1): 0.92, ("tree", 0): 0.91, ("tree", 1): 0.9
    }  # fmt: skip
