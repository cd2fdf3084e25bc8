"""Tables of mlr3 and tidymodels: numbers taken from the samples by hand, and what the tables do not tell."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import HiercompError, HiercompWarning, ScoreFileError
from hiercomp.files.read import read_mlr3, read_tidymodels

SAMPLES = Path(__file__).parents[2] / "data/importers"
MLR3, TIDYMODELS = SAMPLES / "mlr3.csv", SAMPLES / "tidymodels.csv"


def mlr3_table(**columns) -> pd.DataFrame:
    cells = {"task_id": "t", "learner_id": "l", "resampling_id": "cv", "iteration": [1, 2], "classif.acc": [0.5, 0.6]}
    return pd.DataFrame(cells | columns)


def metrics(**columns) -> pd.DataFrame:
    cells = {"dataset": "d", "wflow_id": "w", "id": ["Fold1", "Fold2"], ".metric": "accuracy", ".estimate": [0.5, 0.6]}
    table = pd.DataFrame({name: cell for name, cell in (cells | columns).items() if cell is not None})
    return table


def test_the_mlr3_sample_gives_the_frame_that_stands_in_it():
    frame = read_mlr3(MLR3, "classif.acc", folds=2, also="classif.ce")
    assert list(frame.columns) == ["dataset", "algorithm", "run", "fold", "score", "rho", "classif.ce"]
    # Iterations 1 to 4 of two runs of two folds, in mlr3's order: (i - 1) %/% 2 + 1 and (i - 1) %% 2 + 1
    assert frame.loc[3].tolist() == ["001", "classif.rpart", 2, 2, 0.95, 0.5, 0.05]
    assert frame.loc[6].tolist() == ["001", "classif.featureless", 2, 1, 0.35, 0.5, 0.65]
    assert frame.loc[13].tolist() == ["1", "classif.featureless", 1, 3, 0.6, 1 / 3, 0.4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame, "classif.featureless", "classif.rpart")
    # task 001: 0.9 - 0.4, 0.8 - 0.3, 0.85 - 0.35, 0.95 - 0.5; task 1: 0.7 - 0.55, 0.75 - 0.5, 0.65 - 0.6
    np.testing.assert_allclose(comparison.differences.mean, [0.4875, 0.15])


def test_a_loss_of_mlr3_is_recognised_and_said():
    with pytest.warns(HiercompWarning, match="Lower values of 'classif.ce'"):
        frame = read_mlr3(MLR3, "classif.ce", folds=2)
    assert frame.attrs["higher_is_better"] is False
    assert frame["score"].tolist()[:2] == [0.1, 0.2]


def test_repeated_cross_validation_needs_the_folds_of_a_run():
    with pytest.raises(ScoreFileError, match=r"mlr3\.csv: The resampling is 'repeated_cv' with 4 iterations"):
        read_mlr3(MLR3, "classif.acc")
    with pytest.raises(ScoreFileError, match="4 iterations do not make a whole number of runs of 3 folds"):
        read_mlr3(MLR3, "classif.acc", folds=3)


def test_subsampling_needs_its_ratio():
    table = mlr3_table(resampling_id="subsampling")
    with pytest.raises(HiercompError, match="Pass ratio"):
        read_mlr3(table)
    frame = read_mlr3(table, ratio=0.8)
    assert frame["run"].tolist() == [1, 2]
    assert frame["fold"].tolist() == [1, 1]
    np.testing.assert_allclose(frame["rho"], 0.2)


def test_other_resamplings_need_rho():
    table = mlr3_table(resampling_id="bootstrap")
    with pytest.raises(HiercompError, match="the table does not tell how iterations correlate"):
        read_mlr3(table)
    assert read_mlr3(table, rho=0)["rho"].tolist() == [0.0, 0.0]
    assert "rho" not in read_mlr3(mlr3_table(resampling_id="holdout", iteration=1)[:1])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"iteration": [1, 1.5]}, {}, "Row 2: iteration is '1.5', not a whole number from 1"),
        ({"iteration": [1, 1]}, {}, "1 cell has more than one score"),
        ({"classif.acc": ["a", "0.5"]}, {}, "1 of 2 cells of column 'classif.acc' are not numbers"),
        ({"regr.rsq": 0.5}, {}, "There are 2 measures: 'classif.acc', 'regr.rsq'"),
        ({}, {"measure": "classif.auc"}, "There is no measure 'classif.auc'. Did you mean 'classif.acc'"),
        ({}, {"rho": 1.5}, "rho must be at least 0 and below 1"),
        ({}, {"delimiter": ";"}, "There is no option 'delimiter'"),
    ],
)
def test_what_is_wrong_with_a_table_of_mlr3_is_said(columns, options, message):
    with pytest.raises(HiercompError, match=message):
        read_mlr3(mlr3_table(**columns), **options)


def test_a_table_without_mlr3s_columns_is_refused():
    with pytest.raises(HiercompError, match="no column 'resampling_id'"):
        read_mlr3(mlr3_table().drop(columns="resampling_id"))


def test_the_tidymodels_sample_gives_the_frame_that_stands_in_it():
    frame = read_tidymodels(TIDYMODELS, "accuracy")
    assert list(frame.columns) == ["dataset", "algorithm", "run", "fold", "score", "rho"]
    assert frame.loc[2].tolist() == ["cells", "rec_tree", 2, 1, 0.8, 0.5]
    assert frame.loc[15].tolist() == ["two_class_dat", "rec_logit", 2, 2, 0.79, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame, "rec_tree", "rec_logit")
    # cells: -0.05, -0.02, -0.06, -0.03; two_class_dat: 0.09, 0.13, 0.11, 0.07
    np.testing.assert_allclose(comparison.differences.mean, [-0.04, 0.1])


def test_further_metrics_of_tidymodels_are_matched_by_fold():
    frame = read_tidymodels(TIDYMODELS, "accuracy", also="roc_auc")
    assert frame["roc_auc"].tolist()[:8] == [0.88, 0.86, 0.87, 0.85, 0.9, 0.89, 0.88, 0.87]
    assert frame["roc_auc"][8:].isna().all()  # the second data set has none


def test_data_set_and_algorithm_of_tidymodels_may_be_a_name_or_a_column():
    bare = metrics(dataset=None, wflow_id=None)
    frame = read_tidymodels(bare, dataset="iris", algorithm="tree")
    assert frame[["dataset", "algorithm"]].to_numpy().tolist() == [["iris", "tree"]] * 2
    with pytest.raises(HiercompError, match="The table names no data set"):
        read_tidymodels(bare, algorithm="tree")
    with pytest.raises(HiercompError, match="does not name its algorithm"):
        read_tidymodels(bare, dataset="iris")
    with pytest.raises(HiercompError, match="There is no column 'datset'"):
        read_tidymodels(metrics(), dataset="datset")
    frame = read_tidymodels(metrics(place="p", engine="e"), dataset="place", algorithm="engine")
    assert frame[["dataset", "algorithm"]].to_numpy().tolist() == [["p", "e"]] * 2
    assert read_tidymodels(metrics(wflow_id=None, model="svm"))["algorithm"].tolist() == ["svm", "svm"]


def test_tuned_workflows_are_told_apart_by_their_configuration():
    table = metrics(id="Fold1", **{".config": ["pre0_mod1", "pre0_mod2"]})
    assert read_tidymodels(table)["algorithm"].tolist() == ["w pre0_mod1", "w pre0_mod2"]
    bare = table.drop(columns="wflow_id")
    assert read_tidymodels(bare)["algorithm"].tolist() == ["pre0_mod1", "pre0_mod2"]


def test_random_splits_of_rsample_need_rho():
    table = metrics(id=["Resample1", "Resample2"])
    with pytest.raises(HiercompError, match="random splits"):
        read_tidymodels(table)
    frame = read_tidymodels(table, rho=0.25)
    assert frame[["run", "fold", "rho"]].to_numpy().tolist() == [[1, 1, 0.25], [2, 1, 0.25]]


def test_ten_folds_are_numbered_with_leading_zeros():
    table = metrics(id=[f"Fold{fold:02d}" for fold in range(1, 11)], **{".estimate": np.arange(10) / 10})
    frame = read_tidymodels(table)
    assert frame["fold"].tolist() == list(range(1, 11))
    assert frame["rho"].unique().tolist() == [0.1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["Slice1", "Slice2"]}, "Resamples are called 'Slice1', 'Slice2'"),
        ({".estimate": None, "mean": 0.5, "std_err": 0.1}, "averages over the folds"),
        ({"id": None}, "no column 'id'"),
        ({".metric": ["accuracy", "roc_auc"]}, "There are 2 measures: 'accuracy', 'roc_auc'"),
        ({"id": "Fold1"}, "1 cell has more than one score"),
    ],
)
def test_what_is_wrong_with_a_table_of_tidymodels_is_said(columns, message):
    with pytest.raises(HiercompError, match=message):
        read_tidymodels(metrics(**columns))


def test_estimator_is_no_algorithm_and_models_that_were_bound_are():
    table = metrics(wflow_id=None, **{".estimator": "multiclass"})
    with pytest.raises(HiercompError, match="does not name its algorithm"):
        read_tidymodels(table)
    for name in ("model", "method", "algorithm"):
        bound = metrics(wflow_id=None, **{".estimator": "multiclass", name: "svm"})
        assert read_tidymodels(bound)["algorithm"].unique().tolist() == ["svm"]


def test_candidates_are_called_by_what_was_tuned():
    table = metrics(
        wflow_id=None, id="Fold1", tree_depth=[1, 3], min_n=2,
        **{".config": ["pre0_mod1", "pre0_mod2"], ".estimator": "binary"},
    )  # fmt: skip
    assert read_tidymodels(table)["algorithm"].tolist() == ["tree_depth=1", "tree_depth=3"]


def test_resamples_of_groups_are_folds_on_request_and_any_resample_is_a_split_with_rho():
    groups = metrics(id=["Resample1", "Resample2"])
    with pytest.raises(HiercompError, match="or folds=2 for group_vfold_cv"):
        read_tidymodels(groups)
    assert read_tidymodels(groups, folds=2)[["run", "fold", "rho"]].to_numpy().tolist() == [[1, 1, 0.5], [1, 2, 0.5]]
    slices = metrics(id=["Slice1", "Slice2"])
    assert read_tidymodels(slices, rho=0.1)[["run", "fold", "rho"]].to_numpy().tolist() == [[1, 1, 0.1], [2, 1, 0.1]]
