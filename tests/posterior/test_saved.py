"""Saving and loading: an exact round trip, whole files or none, and clear errors for what is no saved result."""

from __future__ import annotations

import dataclasses
import os
import re
import warnings
from pathlib import Path

import arviz_base
import numpy as np
import pytest
import xarray as xr

import hiercomp as hc
from hiercomp.model.priors import Priors
from hiercomp.posterior.kinds import Exact
from hiercomp.scores.runs import RunSums
from hiercomp.scores.two_level import TwoLevel
from tests.conftest import simulated_scores


@pytest.fixture(scope="module")
def gaussian_with_notes() -> hc.ComparisonResult:
    """Four data sets, one without variation, a Gaussian population and names that are not plain."""
    generator = np.random.default_rng(0)
    left = generator.normal(0.8, 0.02, (4, 20))
    right = left + generator.normal(0.02, 0.03, (4, 1)) + generator.normal(0, 0.002, (4, 20))
    right[1] = left[1] + 0.01
    with pytest.warns(hc.HiercompWarning) as caught:
        comparison = hc.HierarchicalComparison.from_arrays(
            left, right, left="ä <b>", right='"日本"', dataset_names=["001", "a/b", "NA", "1"], priors=Priors.gaussian()
        )
    assert {warning.category for warning in caught} == {
        hc.DefaultedRhoWarning,
        hc.DegenerateScoresWarning,
        hc.FewDatasetsWarning,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.RefitWarning)  # with so few data sets a second run may be needed
        return comparison.fit("embedded", progress=False)


def assert_equal(first: hc.ComparisonResult, second: hc.ComparisonResult) -> None:
    assert first.datatree.identical(second.datatree)
    for group in first.datatree.children:
        for name, values in first.datatree[group].data_vars.items():
            other = second.datatree[group][name]
            assert values.dtype == other.dtype, name
            assert values.values.tobytes() == other.values.tobytes(), name
    for field in dataclasses.fields(hc.PairedDifferences):
        if field.name == "scores":  # not kept in the file
            continue
        mine, theirs = getattr(first.differences, field.name), getattr(second.differences, field.name)
        assert type(mine) is type(theirs), field.name
        if isinstance(mine, (RunSums, TwoLevel)):
            mine, theirs = mine.to_dict(), theirs.to_dict()
        assert np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs, field.name
    for name in ("rope", "priors", "settings", "attempts", "diagnostics", "fit_notes"):
        mine, theirs = getattr(first, name), getattr(second, name)
        assert mine == theirs, name
        assert type(mine) is type(theirs), name
    assert type(first.posterior) is type(second.posterior)
    assert first.posterior.to_dict() == second.posterior.to_dict()
    assert first.notes == second.notes
    assert str(first.summary()) == str(second.summary())
    assert first.summary().to_dict() == second.summary().to_dict()


@pytest.mark.parametrize("name", ["result", "gaussian_with_notes", "failed", "identical"])
def test_a_result_comes_back_exactly(name, request, tmp_path):
    saved = request.getfixturevalue(name)
    path = saved.save(tmp_path / "fit.nc")
    assert path == tmp_path / "fit.nc"
    loaded = hc.load_result(str(path))
    assert_equal(saved, loaded)
    assert loaded.save(tmp_path / "again.nc").read_bytes() == path.read_bytes()


def test_two_correlations_come_back(tmp_path):
    scores = simulated_scores(6, centre=0.01, spread=0.01)
    result = hc.compare(scores, "bayes", "tree", rope=0.01, rho="runs", engine="quadrature")
    assert_equal(result, hc.load_result(result.save(tmp_path / "fit.nc")))


def test_the_notes_that_came_back_have_their_classes(gaussian_with_notes, tmp_path):
    loaded = hc.load_result(gaussian_with_notes.save(tmp_path / "fit.nc"))
    assert [note.category for note in loaded.differences.notes] == [
        note.category for note in gaussian_with_notes.differences.notes
    ]
    assert loaded.notes == gaussian_with_notes.notes
    assert np.isinf(loaded.draws("nu")).all()


def test_a_loaded_result_answers_new_questions(result, tmp_path):
    loaded = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert loaded.with_rope(0.03).next_dataset == result.with_rope(0.03).next_dataset
    assert (loaded.log_likelihood() == result.log_likelihood()).all()


def test_arviz_opens_the_file(result, tmp_path):
    path = result.save(tmp_path / "fit.nc")
    with xr.open_datatree(path, engine="h5netcdf") as tree:
        assert "delta0" in arviz_base.convert_to_datatree(tree)["posterior"]


def test_saving_leaves_the_result_unchanged(result, tmp_path):
    before = dict(result.datatree.attrs)
    result.save(tmp_path / "fit.nc")
    assert dict(result.datatree.attrs) == before


def test_an_existing_file_is_not_overwritten_unless_asked(result, identical, tmp_path):
    path = tmp_path / "fit.nc"
    path.write_text("precious")
    with pytest.raises(hc.ResultFileError, match=re.escape(str(path))) as caught:
        result.save(path)
    assert "overwrite" in str(caught.value)
    assert path.read_text() == "precious"
    result.save(path, overwrite=True)
    identical.save(path, overwrite=True)
    assert isinstance(hc.load_result(path).posterior, Exact)
    assert os.listdir(tmp_path) == ["fit.nc"]


def test_the_file_has_the_permissions_that_the_user_asked_for(result, tmp_path):
    before = os.umask(0o022)
    try:
        path = result.save(tmp_path / "fit.nc")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_missing_folder_is_a_result_file_error(result, tmp_path):
    with pytest.raises(hc.ResultFileError, match="nowhere"):
        result.save(tmp_path / "nowhere" / "fit.nc")
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_behind_where_the_target_is_a_folder(result, tmp_path):
    (tmp_path / "fit.nc").mkdir()
    with pytest.raises(hc.ResultFileError, match=r"fit\.nc"):
        result.save(tmp_path / "fit.nc", overwrite=True)
    assert os.listdir(tmp_path) == ["fit.nc"]
    assert os.listdir(tmp_path / "fit.nc") == []


def test_nothing_is_left_behind_where_an_array_was_added_that_can_not_be_read(identical, tmp_path):
    tree = identical.datatree.copy()
    tree["evil"] = xr.DataTree(xr.Dataset({"x": 1}))
    changed = dataclasses.replace(identical, posterior=dataclasses.replace(identical.posterior))
    vars(changed.posterior)["datatree"] = tree
    with pytest.raises(hc.ResultFileError, match=r"^\S*fit\.nc can't be written: a group 'evil'"):
        changed.save(tmp_path / "fit.nc")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_a_result_file_error(result, tmp_path, share):
    path = result.save(tmp_path / "fit.nc")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(hc.ResultFileError, match=re.escape(str(path))):
        hc.load_result(path)


def test_text_is_a_result_file_error(tmp_path):
    path = tmp_path / "notes.nc"
    path.write_text("dataset,algorithm,score\n")
    with pytest.raises(hc.ResultFileError, match="not a saved result"):
        hc.load_result(path)


def test_another_programs_netcdf_is_a_result_file_error(tmp_path):
    path = tmp_path / "weather.nc"
    xr.Dataset({"rain": ("day", [1.0, 2.0])}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(hc.ResultFileError, match="not a saved result"):
        hc.load_result(path)


def test_another_programs_posterior_is_a_result_file_error(tmp_path):
    path = tmp_path / "other.nc"
    arviz_base.from_dict({"posterior": {"delta0": np.zeros((2, 10))}}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(hc.ResultFileError, match="not a saved result"):
        hc.load_result(path)


def test_a_missing_file_and_a_folder_are_result_file_errors(tmp_path):
    for path in (tmp_path / "none.nc", tmp_path):
        with pytest.raises(hc.ResultFileError, match=re.escape(str(path))):
            hc.load_result(path)


def test_the_sources_never_import_pickle():
    sources = list(Path(hc.__file__).parent.rglob("*.py"))
    assert len(sources) > 20
    modules = "pickle|cPickle|dill|cloudpickle|shelve|marshal"
    only_the_error = r"(?!\s+import PicklingError$)"  # which joblib raises for what can't be sent to a process
    forbidden = re.compile(rf"^\s*(import|from)\s+({modules})\b{only_the_error}", re.MULTILINE)
    for source in sources:
        text = source.read_text(encoding="utf-8")
        assert not forbidden.search(text), source
        assert "allow_pickle=True" not in text, source
        assert "read_pickle" not in text, source
