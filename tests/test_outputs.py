"""Names of files that say what the files hold."""

from __future__ import annotations

import pytest

import hiercomp as hc


@pytest.mark.parametrize("name", ["fit.csv", "fit", "fit.nc.gz"])
def test_a_result_is_not_saved_under_another_ending(tmp_path, identical, name):
    with pytest.raises(hc.ResultFileError, match=r"netCDF.*ends in \.nc"):
        identical.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.pdf", "out", "out.html.txt"])
def test_a_report_is_not_written_under_another_ending(tmp_path, identical, name):
    with pytest.raises(hc.ResultFileError, match=r"HTML.*ends in \.html"):
        identical.report(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.NC", "a.nc4", "a.netcdf"])
def test_other_endings_of_netcdf_are_taken(tmp_path, identical, name):
    assert hc.load_result(identical.save(tmp_path / name)).status == identical.status
