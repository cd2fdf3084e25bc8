"""Tables of covariates: what is taken, and what is refused in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.scores.covariates import Covariates

NAMES = ("a", "b", "c", "d")


def frame(**columns):
    return pd.DataFrame({"rows": [1.0, 2.0, 3.0, 6.0], **columns}, index=list(NAMES))


def test_rows_are_found_by_name_and_those_of_other_data_sets_are_not_used():
    shuffled = pd.concat([frame().iloc[::-1], pd.DataFrame({"rows": [9.0]}, index=["z"])])
    found = hc.Covariates.of(shuffled, NAMES)
    np.testing.assert_array_equal(found.values[:, 0], [1, 2, 3, 6])


def test_a_column_of_names_serves_as_the_index_does():
    for column in ("dataset", "Data set", "task"):
        table = frame().rename_axis(column).reset_index()
        np.testing.assert_array_equal(hc.Covariates.of(table, NAMES).values[:, 0], [1, 2, 3, 6])


def test_frames_of_other_libraries_are_taken():
    table = pytest.importorskip("pyarrow").Table.from_pandas(frame().rename_axis("dataset").reset_index())
    np.testing.assert_array_equal(hc.Covariates.of(table, NAMES).values[:, 0], [1, 2, 3, 6])


def test_covariates_are_standardised_over_the_data_sets():
    found = hc.Covariates.of(frame(), NAMES)
    # mean 3, variance (4 + 1 + 0 + 9) / 3
    np.testing.assert_allclose(found.standardised[:, 0], np.array([-2, -1, 0, 3]) / np.sqrt(14 / 3))


def test_true_and_false_are_one_and_zero():
    assert hc.Covariates.of(frame(text=[True, False, True, True]), NAMES).values[:, 1].tolist() == [1, 0, 1, 1]


def test_a_point_is_standardised_and_what_is_left_out_is_at_its_mean():
    found = hc.Covariates.of(frame(classes=[2, 3, 5, 2]), NAMES)
    np.testing.assert_allclose(found.at({"rows": 6}), [3 / np.sqrt(14 / 3), 0])
    np.testing.assert_array_equal(found.at({}), [0, 0])


def test_plain_values_give_equal_covariates():
    found = hc.Covariates.of(frame(), NAMES)
    again = hc.Covariates.from_dict(found.to_dict())
    assert again.names == found.names
    np.testing.assert_array_equal(again.values, found.values)


@pytest.mark.parametrize(
    ("table", "key", "places"),
    [
        (frame().drop(index="c"), "missing_covariates", ("c",)),
        (pd.concat([frame(), frame().iloc[[1]]]), "repeated_covariates", ("b",)),
        (frame(size=[1.0, np.nan, 2.0, np.inf]), "missing_covariates", ("b", "d")),
        (frame(size=[1, None, 2, 3]), "missing_covariates", ("b",)),
        (frame(domain=["text", "image", "text", "text"]), "covariate_without_numbers", NAMES),
        (frame(size=[1, 2, "3", 4]), "covariate_without_numbers", ("c",)),
        (frame(size=[7, 7, 7, 7]), "constant_covariate", ("size",)),
        (frame(size=[0.1 + 0.2, 0.3, 0.3, 0.3]), "constant_covariate", ("size",)),
        (frame(cells=[-10, -20, -30, -60]), "repeated_covariate", ("rows", "cells")),
        (frame().reset_index(drop=True), "covariates_without_datasets", ()),
    ],
)
def test_a_table_that_does_not_serve_is_refused_by_name(table, key, places):
    with pytest.raises(hc.ArgumentError) as refused:
        hc.Covariates.of(table, NAMES)
    assert refused.value.key == key
    assert refused.value.places == places
    assert refused.value.remedy


@pytest.mark.parametrize("table", [[[1, 2]], np.ones((4, 2)), {"a": 1}, 7, frame()[[]]])
def test_what_is_no_table_of_covariates_is_refused(table):
    with pytest.raises(hc.ArgumentError):
        hc.Covariates.of(table, NAMES)


def test_categories_are_refused_with_the_number_of_levels():
    with pytest.raises(hc.ArgumentError, match=r"2 levels.*get_dummies"):
        hc.Covariates.of(frame(domain=["text", "image", "text", "text"]), NAMES)


def test_a_misspelt_covariate_is_named_with_its_neighbour():
    with pytest.raises(hc.ArgumentError, match="Did you mean 'rows'"):
        hc.Covariates.of(frame(), NAMES).at({"row": 3})


@pytest.mark.parametrize("value", [np.nan, np.inf, "3", None, True])
def test_a_point_takes_finite_numbers(value):
    with pytest.raises(hc.ArgumentError, match="rows"):
        hc.Covariates.of(frame(), NAMES).at({"rows": value})


def test_a_subset_is_standardised_anew():
    differences = hc.PairedDifferences.from_arrays(
        np.zeros((4, 3)), np.arange(12.0).reshape(4, 3) ** 2, rho=0, dataset_names=NAMES
    ).with_covariates(frame())
    kept = differences.subset(["d", "a", "b"]).covariates
    np.testing.assert_array_equal(kept.values[:, 0], [6, 1, 2])
    assert kept.standardised[:, 0].mean() == pytest.approx(0)


def test_the_bundled_covariates_are_those_of_the_bundled_scores():
    meta, scores = hc.load_covariates("keel"), hc.load_scores("keel")
    assert set(meta.index) == set(scores["dataset"])
    # UCI's own pages: iris has 150 rows of 4 features in 3 equal classes; letter 16 features and 26 classes, here 2,000 rows
    assert meta.loc["iris"].tolist() == [150, 4, 3, pytest.approx(1 / 3, abs=1e-4)]
    assert meta.loc["letter", ["rows", "features", "classes"]].tolist() == [2000, 16, 26]
    assert ((meta["majority"] >= 1 / meta["classes"] - 1e-4) & (meta["majority"] < 1)).all()


def test_a_column_of_names_counts_whatever_the_index_is():
    frame = pd.DataFrame({"dataset": ["a", "b", "c"], "rows": [30.0, 10.0, 20.0]})
    expected = Covariates.of(frame, ["a", "b", "c"]).values
    for other in (frame.sort_values("rows"), frame.set_index(pd.Index([5, 7, 9])), frame.set_index("dataset")):
        np.testing.assert_array_equal(Covariates.of(other, ["a", "b", "c"]).values, expected)


@pytest.mark.parametrize("size", [1e200, 1e-200, 10**400])
def test_values_that_can_not_be_computed_with_are_refused(size):
    kind = object if isinstance(size, int) else float  # pandas 2 makes no column of such integers by itself
    frame = pd.DataFrame({"rows": [size, 2 * size, 4 * size]}, index=["a", "b", "c"], dtype=kind)
    with pytest.raises(hc.ArgumentError, match="'rows'"):
        Covariates.of(frame, ["a", "b", "c"])


def test_the_index_that_filtering_leaves_names_no_data_sets():
    """Data sets are called 3, 6, 11; row 11 of the frame is another data set's."""
    frame = pd.DataFrame({"task_id": [3, 5, 6, 11], "rows": [1.0, 2.0, 3.0, 4.0]}, index=[3, 6, 11, 12])
    found = Covariates.of(frame[frame["task_id"] != 5], ("3", "6", "11"))
    assert found.names == ("rows",)
    assert found.values[:, 0].tolist() == [1, 3, 4]
    by_index = Covariates.of(pd.DataFrame({"rows": [1.0, 3.0, 4.0]}, index=[3, 6, 11]), ("3", "6", "11"))
    assert by_index.values[:, 0].tolist() == [1, 3, 4]
