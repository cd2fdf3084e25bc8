"""Pairing by data set, run and fold: which algorithms, which scores, and what has no partner."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiercomp.errors import DroppedScoresWarning, ScoreTableError
from hiercomp.scores.arrays import ScoreArrays, unpaired_scores
from hiercomp.scores.table import choose_algorithms, tidy_scores


def table(q: int = 3, runs: int = 2, folds: int = 4, algorithms=("nb", "tree")) -> pd.DataFrame:
    """Scores 0.001 times the row number, so that each tells where it comes from."""
    keys = [(f"d{i}", a, r, f) for i in range(q) for a in algorithms for r in range(runs) for f in range(folds)]
    return pd.DataFrame(keys, columns=["dataset", "algorithm", "run", "fold"]).assign(score=np.arange(len(keys)) / 1000)


def pairs(frame, *, drop=False):
    return ScoreArrays.of(tidy_scores(frame), ("nb", "tree"), rho=0.1).pair("nb", "tree", drop=drop)


def paired_by_pandas(frame: pd.DataFrame) -> pd.DataFrame:
    """Both finite scores of each place, by a merge; sorted by data set, run and fold."""
    place = ["dataset", *(role for role in ("run", "fold") if role in frame)]
    finite = frame[np.isfinite(frame["score"])]
    sides = [
        finite.loc[finite["algorithm"] == name, [*place, "score"]].rename(columns={"score": side})
        for name, side in (("nb", "left"), ("tree", "right"))
    ]
    return sides[0].merge(sides[1], on=place, how="inner").sort_values(place).reset_index(drop=True)


def test_a_table_that_is_only_read_says_no_direction():
    arrays, _ = ScoreArrays.read(tidy_scores(table()))
    assert not arrays.direction_known


def test_paired_scores_are_compared_by_identity():
    one, other = pairs(table()), pairs(table())
    assert len({one, other, one}) == 2


@pytest.mark.slow
@given(
    st.integers(1, 4),
    st.sampled_from([["dataset", "run", "fold"], ["dataset", "fold"], ["dataset", "run"], ["dataset"]]),
    st.sampled_from([("nb", "tree"), ("tree", "nb"), ("b", "tree", "nb")]),
    st.sampled_from(["int", "text", "category"]),
    st.integers(0, 99),
    st.lists(st.sampled_from(["nan", "row left out", "run left out", "data set left out"]), max_size=2),
)
@settings(max_examples=300)
def test_the_pairs_are_those_of_a_merge(q, place, algorithms, kind, seed, oddities):
    generator = np.random.default_rng(seed)
    frame = table(q, 2 if "run" in place else 1, int(generator.integers(1, 12)) if "fold" in place else 1, algorithms)
    frame["score"] = generator.normal(size=len(frame))
    frame = frame[[*place, "algorithm", "score"]]
    if "run" in place and "run left out" in oddities:
        frame = frame[(frame["dataset"] != "d0") | (frame["run"] == 0)]  # of both algorithms: it is complete still
    if "data set left out" in oddities:
        frame = frame[(frame["dataset"] != "d1") | (frame["algorithm"] != "nb")]
    if "nan" in oddities:
        frame.loc[0, "score"] = np.nan
    frame = frame.drop(index=[0] if "row left out" in oddities and len(frame) > 6 else [])
    frame = frame.iloc[generator.permutation(len(frame))]
    expected = paired_by_pandas(frame)
    if kind == "category":
        frame = frame.astype({"dataset": "category", "algorithm": "category"})
    elif kind == "text":
        frame = frame.astype(dict.fromkeys(place, str))
    if len(expected) == 0:
        with pytest.raises(ScoreTableError):
            pairs(frame, drop=True)
        return
    arrays = ScoreArrays.of(tidy_scores(frame), ("nb", "tree"), rho=0.1)
    found = arrays.pair("nb", "tree", drop=True)
    paired = found.to_frame()
    assert paired.columns.tolist() == expected.columns.tolist()
    for role in place:
        assert paired[role].astype(str).tolist() == expected[role].astype(str).tolist()
    assert paired[["left", "right"]].to_numpy().tolist() == expected[["left", "right"]].to_numpy().tolist()
    assert dict(zip(found.dataset_names, found.n.tolist(), strict=True)) == expected.groupby("dataset").size().to_dict()
    lost = len(frame[frame["algorithm"].isin(["nb", "tree"])]) > 2 * len(expected)
    assert bool(found.notes) == lost
    if lost and any("one algorithm" not in note.message for note in found.notes):
        with pytest.raises(ScoreTableError):
            arrays.pair("nb", "tree")


def test_places_beyond_the_largest_number_are_numbered_without_gaps():
    frame = table(q=3, runs=1, folds=1)
    arrays = ScoreArrays.of(tidy_scores(frame), rho=0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hiercomp.scores.arrays.LARGEST_NUMBER", 2)
        small = ScoreArrays.of(tidy_scores(frame), rho=0.1)
    assert small.scores.tolist() == arrays.scores.tolist()
    assert small.dataset_names == arrays.dataset_names == ("d0", "d1", "d2")


def folds(frame):
    arrays = ScoreArrays.of(tidy_scores(frame), ("nb", "tree"))
    return dict(zip(arrays.dataset_names, arrays.n_folds.tolist(), strict=True))


def cell(frame, dataset, algorithm, run, fold):
    keys = {"dataset": dataset, "algorithm": algorithm, "run": run, "fold": fold}
    return np.logical_and.reduce([frame[name] == value for name, value in keys.items()])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (None, None, ("nb", "tree")),
        ("tree", None, ("tree", "nb")),
        (None, "nb", ("tree", "nb")),
        ("tree", "nb", ("tree", "nb")),
        (" nb ", None, ("nb", "tree")),  # names are compared in the form in which the table keeps them
    ],
)
def test_two_algorithms_need_not_be_named(left, right, expected):
    assert choose_algorithms(tidy_scores(table()), left, right) == expected


def test_algorithms_numbered_in_the_table_may_be_given_as_numbers():
    frame = table(algorithms=(1, 2, 3))
    assert choose_algorithms(tidy_scores(frame), 3, 1) == ("3", "1")


def test_a_name_in_another_unicode_form_is_found():
    frame = table(algorithms=("cafe\u0301", "tree"))
    assert choose_algorithms(tidy_scores(frame), "cafe\u0301", None) == ("caf\u00e9", "tree")
    assert choose_algorithms(tidy_scores(frame), "caf\u00e9", None) == ("caf\u00e9", "tree")


def test_one_algorithm_alone_is_refused():
    with pytest.raises(ScoreTableError, match=r"only one algorithm \('nb'\); a comparison needs two"):
        choose_algorithms(tidy_scores(table(algorithms=("nb",))), None, None)


@pytest.mark.parametrize(("left", "right"), [(None, None), ("nb", None), (None, "nb")])
def test_more_than_two_algorithms_must_be_named(left, right):
    tidy = tidy_scores(table(algorithms=("nb", "tree", "knn")))
    with pytest.raises(
        ScoreTableError, match=r"3 algorithms \('nb', 'tree', 'knn'\)\. Name the two.*left='nb', right='tree'\."
    ):
        choose_algorithms(tidy, left, right)


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_unknown_algorithm_is_refused_with_the_close_match(side):
    tidy = tidy_scores(table(algorithms=("naive_bayes", "tree", "knn")))
    names = {"left": "knn", "right": "tree"} | {side: "naive_bays"}
    with pytest.raises(ScoreTableError) as caught:
        choose_algorithms(tidy, **names)
    assert f"{side}='naive_bays' is not an algorithm of the table. Did you mean 'naive_bayes'?" in str(caught.value)
    assert "They are: 'naive_bayes', 'tree', 'knn'" in str(caught.value)


@pytest.mark.parametrize(("many", "rest"), [(20, ""), (21, ", ...")])
def test_the_first_twenty_algorithms_are_listed(many, rest):
    names = [f"a{number:02}" for number in range(many)]
    with pytest.raises(ScoreTableError) as caught:
        choose_algorithms(tidy_scores(table(1, 1, 2, names)), "a00", "none")
    listed = ", ".join(repr(name) for name in names[:20])
    assert f"They are: {listed}{rest}." in str(caught.value)


def test_scores_that_are_too_large_in_units_of_their_rope_are_refused():
    frame = table(q=4)  # 0 to 0.063
    ropes = {"d0": 0.01, "d1": 0.01, "d2": 1e-200, "d3": 0.01}
    with pytest.raises(ScoreTableError, match=r"Data set 'd2' has a score of 4\.7e\+198, and scores beyond"):
        ScoreArrays.of(tidy_scores(frame), ("nb", "tree"), rho=0.1, rope=ropes)


def test_an_algorithm_is_not_compared_with_itself():
    with pytest.raises(ScoreTableError, match=r"both 'nb'; an algorithm can't be compared with itself"):
        choose_algorithms(tidy_scores(table()), "nb", "nb")


def test_scores_are_paired_by_data_set_run_and_fold():
    # 8 scores of nb, then 8 of tree in each data set: every pair differs by 0.008
    paired = pairs(table()).to_frame()
    assert paired["dataset"].tolist() == ["d0"] * 8 + ["d1"] * 8 + ["d2"] * 8
    np.testing.assert_allclose(paired["right"] - paired["left"], 0.008, atol=1e-15)
    assert sorted(paired["left"]) == table().loc[lambda frame: frame["algorithm"] == "nb", "score"].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(seed):
    shuffled = table().sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(pairs(shuffled).to_frame(), pairs(table()).to_frame())


def test_a_third_algorithm_does_not_matter_however_broken():
    frame = table(algorithms=("nb", "tree", "knn"))
    frame.loc[frame["algorithm"] == "knn", "score"] = np.nan
    expected = frame[frame["algorithm"] != "knn"]
    pd.testing.assert_frame_equal(pairs(frame).to_frame(), pairs(expected).to_frame())


def test_folds_are_counted_per_run_and_data_set():
    frame = pd.concat([table(q=1, runs=3, folds=5), table(q=2, runs=1, folds=10).query("dataset == 'd1'")])
    assert folds(frame) == {"d0": 5, "d1": 10}


def test_the_number_of_folds_is_that_before_any_were_dropped():
    frame = table(q=2, runs=1, folds=5)
    frame = frame[~cell(frame, "d0", "tree", 0, 4)]
    assert folds(frame) == {"d0": 5, "d1": 5}
    kept = ScoreArrays.of(tidy_scores(frame), ("nb", "tree")).pair("nb", "tree", drop=True)
    assert kept.rho.tolist() == [1 / 5, 1 / 5]


def test_hold_out_repetitions_have_no_number_of_folds():
    assert folds(table(runs=6, folds=1).drop(columns="fold")) == {"d0": 0, "d1": 0, "d2": 0}
    for frame in (table(runs=6, folds=1).drop(columns="fold"), table(runs=6, folds=1)):
        with pytest.raises(ScoreTableError, match="number of folds is unknown for 3 of 3") as caught:
            ScoreArrays.of(tidy_scores(frame)).pair("nb", "tree")
        assert caught.value.key == "unknown_rho"


def test_a_cell_with_two_scores_is_refused_even_if_they_are_equal():
    frame = table()
    with pytest.raises(ScoreTableError) as caught:
        pairs(pd.concat([frame, frame[cell(frame, "d1", "tree", 1, 2)]]))
    message = str(caught.value)
    assert message.startswith("1 cell has more than one score (first: dataset 'd1', algorithm 'tree', run 1, fold 2: ")
    assert "Keep one score for each data set, algorithm, run and fold" in message


def test_the_first_five_duplicates_are_listed():
    with pytest.raises(ScoreTableError, match=r"48 cells have more than one score .*; and 91 more\)"):
        pairs(pd.concat([table(), table()]))  # 96 rows, 5 of them listed


def test_several_runs_without_a_run_column_are_refused_with_a_hint():
    with pytest.raises(ScoreTableError, match=r"more than one score.*If there were several runs, add a run column"):
        pairs(table().drop(columns="run"))


def test_several_scores_without_run_and_fold_columns_can_not_be_paired():
    with pytest.raises(ScoreTableError, match=r"6 data set-algorithm combinations.*no run or fold column.*from_arrays"):
        pairs(table().drop(columns=["run", "fold"]))


def test_a_fold_that_one_algorithm_lacks_is_refused_with_its_place():
    frame = table()
    with pytest.raises(ScoreTableError) as caught:
        pairs(frame[~cell(frame, "d1", "tree", 1, 2)])
    message = str(caught.value)
    assert message.startswith("1 score is absent in 1 data set although another algorithm has one")
    assert "(first: dataset 'd1', algorithm 'tree', run 1, fold 2)" in message
    assert "missing='drop'" in message
    assert (caught.value.key, caught.value.places) == ("unpaired_scores", ("d1",))


def test_dropping_a_fold_without_partner_is_noted_with_the_count():
    frame = table()
    lacking = cell(frame, "d1", "tree", 1, 2) | cell(frame, "d1", "nb", 0, 0) | cell(frame, "d2", "nb", 0, 3)
    dropped = pairs(frame[~lacking], drop=True)
    assert dropped.to_frame()["dataset"].value_counts().to_dict() == {"d0": 8, "d1": 6, "d2": 7}
    assert [note.category for note in dropped.notes] == [DroppedScoresWarning]
    assert dropped.notes[0].message.startswith(
        "Dropped because one algorithm has no score there: 3 folds of 2 data sets ("
    )
    assert "dataset 'd1', algorithm 'tree', run 0, fold 0" in dropped.notes[0].message


def test_means_are_those_of_the_finite_scores_of_a_group():
    frame = table(q=4, algorithms=("nb", "tree", "knn"))
    frame["score"] = np.random.default_rng(1).normal(size=len(frame))
    frame.loc[cell(frame, "d1", "tree", 1, 2), "score"] = np.nan
    frame.loc[(frame["dataset"] == "d2") & (frame["algorithm"] == "knn"), "score"] = np.nan
    means = ScoreArrays.of(tidy_scores(frame), ("nb", "tree", "knn"), rho=0.1).means
    expected = frame.pivot_table(index="algorithm", columns="dataset", values="score", dropna=False)
    np.testing.assert_allclose(means, expected.loc[["nb", "tree", "knn"]], rtol=1e-14)
    assert np.isnan(means[2, 2])


def test_constant_differences_are_counted_by_pair_and_by_data_set():
    frame = table(q=4, algorithms=("nb", "tree", "knn")).set_index(["dataset", "algorithm"]).sort_index(kind="stable")
    frame["score"] = np.random.default_rng(1).normal(size=len(frame))
    frame.loc[("d0", "tree"), "score"] = frame.loc[("d0", "nb"), "score"].to_numpy() + 0.1  # up to rounding
    for name in ("nb", "tree", "knn"):
        frame.loc[("d1", name), "score"] = 0.5
    frame.loc[("d2", "knn"), "score"] = [0.3, *[np.nan] * 7]  # one score of its pairs: nothing can vary
    frame.loc[("d3", "knn"), "score"] = frame.loc[("d3", "nb"), "score"].to_numpy()
    variation = ScoreArrays.of(tidy_scores(frame.reset_index()), ("nb", "tree", "knn"), rho=0.1).variation
    assert variation.by_dataset.tolist() == [1, 3, 0, 1]
    assert variation.compared.tolist() == [[0, 4, 3], [0, 0, 3], [0, 0, 0]]
    assert variation.constant.tolist() == [[0, 2, 2], [0, 0, 1], [0, 0, 0]]
    assert variation.different.tolist() == [[False, True, True], [False, False, True], [False] * 3]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_refused_with_its_place_and_value(value):
    frame = table()
    frame.loc[cell(frame, "d1", "tree", 1, 2), "score"] = value
    arrays = ScoreArrays.of(tidy_scores(frame), ("nb", "tree"), rho=0.1)
    with pytest.raises(ScoreTableError) as caught:
        arrays.pair("nb", "tree")
    message = str(caught.value)
    assert message.startswith(
        "1 of 48 scores are missing or not finite (first: dataset 'd1', algorithm 'tree', run 1, "
    )
    assert f"fold 2: {value!r})" in message
    assert "missing='drop'" in message


def test_text_beyond_the_largest_number_is_refused_as_infinite():
    frame = table().astype({"score": str})
    frame.loc[cell(frame, "d0", "nb", 0, 1), "score"] = "1e999"
    with pytest.raises(
        ScoreTableError, match=r"not finite \(first: dataset 'd0', algorithm 'nb', run 0, fold 1: inf\)"
    ):
        pairs(frame)


def test_dropping_missing_scores_drops_the_partner_too_and_notes_both_counts():
    frame = table()
    frame.loc[cell(frame, "d1", "tree", 1, 2), "score"] = np.nan
    frame.loc[cell(frame, "d2", "tree", 1, 2) | cell(frame, "d2", "nb", 1, 2), "score"] = np.inf
    dropped = pairs(frame, drop=True)
    assert dropped.to_frame()["dataset"].value_counts().to_dict() == {"d0": 8, "d1": 7, "d2": 7}
    assert [note.category for note in dropped.notes] == [DroppedScoresWarning] * 2
    assert dropped.notes[0].message.startswith("Dropped as missing or not finite: 3 scores (")
    assert dropped.notes[1].message.startswith(
        "Dropped because one algorithm has no score there: 1 fold of 1 data set ("
    )


@pytest.mark.parametrize("algorithms", [["nb"], ["nb", "tree"]])
def test_a_data_set_that_loses_every_pair_is_named(algorithms):
    frame = table()
    frame.loc[(frame["dataset"] == "d1") & frame["algorithm"].isin(algorithms), "score"] = np.nan
    dropped = pairs(frame, drop=True)
    assert set(dropped.to_frame()["dataset"]) == {"d0", "d2"}
    assert dropped.notes[-1].category is DroppedScoresWarning
    assert dropped.notes[-1].message == "Left out, without a paired score: 1 data set: 'd1'."


@pytest.mark.parametrize("drop", [False, True])
def test_a_data_set_with_one_algorithm_only_is_left_out_and_named(drop):
    frame = table()
    found = pairs(frame[~((frame["dataset"] == "d1") & (frame["algorithm"] == "tree"))], drop=drop)
    assert set(found.to_frame()["dataset"]) == {"d0", "d2"}
    assert [note.category for note in found.notes] == [DroppedScoresWarning]
    assert found.notes[0].message == "Left out, with scores of only one algorithm: 1 data set: 'd1'."


def test_at_most_five_excluded_data_sets_are_listed():
    frame = table(q=8)
    found = pairs(frame[(frame["dataset"] == "d0") | (frame["algorithm"] == "nb")])
    assert "7 data sets" in found.notes[0].message
    assert found.notes[0].message.endswith("'d1', 'd2', 'd3', 'd4', 'd5' and 2 more.")


def test_no_data_set_in_common_is_refused():
    frame = table(q=2)
    frame = frame[(frame["dataset"] == "d0") == (frame["algorithm"] == "nb")]
    with pytest.raises(ScoreTableError, match=r"No data set has scores of both algorithms \(data sets: 'd0', 'd1'\)"):
        pairs(frame)


def test_no_fold_in_common_is_refused_even_when_dropping():
    frame = table(q=2)
    frame = frame[(frame["fold"] % 2 == 0) == (frame["algorithm"] == "nb")]
    with pytest.raises(ScoreTableError, match=r"No fold has a score of both 'nb' and 'tree'"):
        pairs(frame, drop=True)


@pytest.mark.parametrize(("alike", "ending"), [(5, "'D4' and 'd4'"), (6, "'D4' and 'd4' and 1 more")])
def test_data_sets_that_differ_by_case_are_listed_with_how_many_more_there_are(alike, ending):
    frame = table(alike)
    frame["dataset"] = frame["dataset"].where(frame["algorithm"] == "tree", frame["dataset"].str.upper())
    with pytest.raises(ScoreTableError, match=f"Names that differ only by case: .*{ending}\\. Write them alike"):
        pairs(frame)


def test_the_spread_is_the_median_over_algorithms_of_the_standard_deviation_in_a_data_set():
    frame = table(3, 1, 6, ("nb", "svm", "tree")).assign(score=np.random.default_rng(2).normal(size=54))
    frame = frame.drop(index=range(1, 6))  # nb has one score on d0
    deviations = frame.groupby(["dataset", "algorithm"])["score"].std(ddof=1)
    arrays, _ = ScoreArrays.read(tidy_scores(frame))
    np.testing.assert_allclose(arrays.spread, deviations.groupby("dataset").median(), rtol=1e-12)
    arrays, _ = ScoreArrays.read(tidy_scores(frame[frame["fold"] == 0]))
    assert arrays.spread.tolist() == [0, 0, 0]


def test_algorithms_without_a_common_fold_are_named_in_twos():
    frame = table(2, 1, 6, ("nb", "svm", "tree"))
    frame = frame[frame["fold"] % 3 == frame["algorithm"].map({"nb": 0, "svm": 1, "tree": 2})]
    arrays, _ = ScoreArrays.read(tidy_scores(frame))
    messages = [problem.message for problem in unpaired_scores(arrays, drop=False)]
    assert "No fold has a score of both 'nb' and 'svm'." in messages
