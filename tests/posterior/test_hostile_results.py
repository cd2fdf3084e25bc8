"""Saved results that were changed or made to do harm: refused by ResultFileError, with nothing run and nothing else read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray

import hiercomp as hc
from hiercomp.posterior.netcdf import read_description, sealed

SECRET = b"root:x:0:0:of another file, which nobody asked to be read, and is long enough for any array " * 40


@pytest.fixture(scope="module")
def few(scores) -> hc.ComparisonResult:
    """Both computations of one posterior, with few draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)  # of the few draws
        return hc.HierarchicalComparison(scores, rho=0.1).fit("auto", draws=100, warmup=200, progress=False)


@pytest.fixture(scope="module")
def integrated(scores) -> hc.ComparisonResult:
    return hc.HierarchicalComparison(scores, rho=0.1).fit("quadrature", draws=100, progress=False)


written: dict[int, bytes] = {}


def saved_in(path: Path, result: hc.ComparisonResult) -> Path:
    """The file of a result, which is made once."""
    if id(result) not in written:
        written[id(result)] = result.save(path, overwrite=True).read_bytes()
    path.write_bytes(written[id(result)])
    return path


def answer(found: hc.ComparisonResult) -> str:
    """Everything that a reader of a result can see of it."""
    draws = [found.draws(name).tobytes().hex() for name in found.posterior.parameters]
    return json.dumps([found.to_dict(), found.datasets().to_dict(), str(found.summary()), draws], default=str)


@pytest.mark.parametrize("name", ["few", "integrated"])
def test_what_is_not_harmful_comes_back_to_the_byte(name, request, tmp_path):
    saved = request.getfixturevalue(name)
    path = saved_in(tmp_path / "fit.nc", saved)
    loaded = hc.load_result(path)
    assert loaded.next_dataset == saved.next_dataset
    assert loaded.to_dict()["settings"] == saved.to_dict()["settings"]
    assert loaded.save(tmp_path / "again.nc").read_bytes() == path.read_bytes()


@contextmanager
def changed(path: Path) -> Iterator[h5py.File]:
    """The open file, which gets a true checksum at the end."""
    with h5py.File(path, "r+") as file:
        yield file
    path.write_bytes(sealed(memoryview(path.read_bytes())))


@pytest.mark.parametrize("name", ["few", "integrated"])
def test_every_changed_byte_is_refused(name, request, tmp_path):
    path = saved_in(tmp_path / "fit.nc", request.getfixturevalue(name))
    content, generator = path.read_bytes(), np.random.default_rng(1)
    seal = np.arange(len(content) - 120, len(content))
    for place in [*generator.choice(len(content), 200, replace=False).tolist(), *seal.tolist()]:
        damaged = bytearray(content)
        damaged[place] ^= int(generator.integers(1, 256))
        path.write_bytes(damaged)
        with pytest.raises(hc.ResultFileError, match=r"its checksum (differs|is missing)|another version"):
            hc.load_result(path)


@pytest.mark.parametrize("kept", [0, 1, 100, 5000, -1])
def test_a_file_that_is_cut_short_is_refused(few, tmp_path, kept):
    path = saved_in(tmp_path / "fit.nc", few)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(hc.ResultFileError, match="its checksum is missing"):
        hc.load_result(path)


def test_the_checksum_is_that_of_the_netcdf_content_before_it(few, tmp_path):
    content = saved_in(tmp_path / "fit.nc", few).read_bytes()
    netcdf, line, _ = content.rsplit(b"\n", 2)
    assert line == f"hiercomp result, format 4, SHA-256 {hashlib.sha256(netcdf).hexdigest()}".encode()


def test_what_another_program_saved_again_is_refused(few, tmp_path):
    with xarray.open_datatree(saved_in(tmp_path / "fit.nc", few), engine="h5netcdf") as tree:
        tree.to_netcdf(tmp_path / "again.nc", engine="h5netcdf")
    with pytest.raises(hc.ResultFileError, match="its checksum is missing"):
        hc.load_result(tmp_path / "again.nc")


def changed_bytes(path: Path, before: bytes, after: bytes) -> None:
    content = path.read_bytes()
    assert content.count(before) >= 1
    path.write_bytes(content.replace(before, after, 1))


def test_a_changed_digit_of_the_rope_is_refused(few, tmp_path):
    path = saved_in(tmp_path / "fit.nc", few)
    changed_bytes(path, b'"lower": -0.01', b'"lower": -0.09')
    with pytest.raises(hc.ResultFileError, match="checksum differs"):
        hc.load_result(path)


@pytest.mark.parametrize(
    ("group", "name"), [("posterior", "delta0"), ("sample_stats", "energy"), ("observed_data", "rho"), ("prior", "nu")]
)
def test_a_changed_bit_of_an_array_is_refused(few, tmp_path, group, name):
    path = saved_in(tmp_path / "fit.nc", few)
    with h5py.File(path) as file:
        place = file[group][name].id.get_offset()
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(hc.ResultFileError, match="checksum differs"):
        hc.load_result(path)


def test_other_names_of_data_sets_are_refused(few, tmp_path):
    path = saved_in(tmp_path / "fit.nc", few)
    with changed(path) as file:
        file["posterior/dataset"][0] = "another"
    with pytest.raises(hc.ResultFileError, match="other names"):
        hc.load_result(path)


def test_a_file_of_another_format_is_refused_by_its_number(few, tmp_path):
    path = saved_in(tmp_path / "fit.nc", few)
    changed_bytes(path, b"format 4", b"format 5")
    with pytest.raises(hc.ResultFileError, match=r"another version of hiercomp \(format 5.*Fit and save it again"):
        hc.load_result(path)


# Structures that hiercomp does not write. Each function changes the open file, in a folder with another file in it


def external_link(file, folder):
    file["prior"].move("nu", "old")
    del file["prior/old"]
    file["prior/nu"] = h5py.ExternalLink("other.nc", "/prior/nu")


def soft_link(file, folder):
    del file["prior/nu"]
    file["prior/nu"] = h5py.SoftLink("/posterior/nu")


def soft_link_in_a_circle(file, folder):
    del file["prior"]
    file["prior"] = h5py.SoftLink("/prior")


def cycle(file, folder):
    file["posterior/up"] = file["posterior"]


def root_as_a_group(file, folder):
    del file["prior"]
    file["prior"] = file["/"]


def deep_groups(file, folder):
    file.create_group("posterior" + "/posterior" * 2000)


def further_group(file, folder):
    file.create_group("log_likelihood")


def further_array(file, folder):
    file["posterior/evil"] = np.zeros((4, 100))


def many_attributes(file, folder):
    for number in range(50):
        file["posterior"].attrs[f"a{number}"] = "x"


def scaled(file, folder):
    file["posterior/delta0"].attrs["add_offset"] = 1.0


def dated(file, folder):
    file["posterior/delta0"].attrs["units"] = "days since 1970-01-01"


def masked(file, folder):
    file["posterior/delta0"].attrs["_FillValue"] = 0.5


def replaced(name: str, **options) -> Callable[[h5py.File, Path], None]:
    def replace(file: h5py.File, folder: Path) -> None:
        shape = file[name].shape
        del file[name]
        given = {key: [(str(folder / "secret"), 0, 4096)] if key == "external" else it for key, it in options.items()}
        file.create_dataset(name, **({"shape": shape, "dtype": "<f8"} | given))

    return replace


def virtual(file, folder):
    shape = file["prior/nu"].shape
    del file["prior/nu"]
    layout = h5py.VirtualLayout(shape=shape, dtype="<f8")
    layout[:] = h5py.VirtualSource(str(folder / "other.nc"), "prior/nu", shape=shape)
    file.create_virtual_dataset("prior/nu", layout)


def text_in_place_of_numbers(file, folder):
    del file["prior/nu"]
    file["prior/nu"] = np.array([["x"] * 2] * 2, dtype=h5py.string_dtype())


def names_as_numbers(file, folder):
    count = len(file["posterior/dataset"])
    del file["posterior/dataset"]
    file["posterior/dataset"] = np.arange(count)


def no_draws(file, folder):
    del file["posterior/delta0"]


def no_degrees_of_freedom(file, folder):
    del file["posterior/nu"]


def negative_scale(file, folder):
    file["posterior/sigma0"][0, 3] = -0.01


def no_posterior(file, folder):
    del file["posterior"]


def shorter(file, folder):
    values = file["posterior/delta0"][:, :50]
    del file["posterior/delta0"]
    file["posterior/delta0"] = values


def description_of_numbers(file, folder):
    file.attrs["hiercomp"] = np.arange(10)


def description_of_another_file(file, folder):
    file.attrs["hiercomp"] = '{"rope": {}}'


def nested_description(file, folder):
    file.attrs["hiercomp"] = "[" * 200_000


STORAGE = "not stored in the file"
STRUCTURES = [
    (external_link, "link"),
    (soft_link, "link"),
    (soft_link_in_a_circle, "link"),
    (cycle, "more than|where the other belongs"),
    (root_as_a_group, "attributes|more than"),
    (deep_groups, "more than|where the other belongs"),
    (further_group, "more than|a group that"),
    (further_array, "more than|an array posterior/evil"),
    (many_attributes, "attributes"),
    (scaled, "attributes"),
    (dated, "attributes"),
    (masked, "fill value"),
    (replaced("posterior/sigma0", external=True), STORAGE),
    (virtual, STORAGE),
    (replaced("posterior/sigma0", chunks=(1, 10)), STORAGE),
    (replaced("posterior/sigma0", compression="gzip"), STORAGE),
    (replaced("posterior/sigma0", shape=(40_000, 10_000)), STORAGE),
    (replaced("posterior/sigma0", shape=(10**9, 10**9)), STORAGE),
    (replaced("posterior/sigma0", dtype=bool), "another type"),
    (replaced("posterior/sigma0", dtype="<c16"), "another type"),
    (replaced("posterior/sigma0", dtype=h5py.ref_dtype), "another type"),
    (replaced("posterior/sigma0", dtype=np.dtype([("a", "<f8")])), "another type"),
    (text_in_place_of_numbers, "another type"),
    (names_as_numbers, "another type"),
    (no_draws, "missing"),
    (no_degrees_of_freedom, "draws of nu are missing"),
    (negative_scale, "draws of sigma0 that are not positive"),
    (no_posterior, "no draws"),
    (shorter, "lengths"),
    (description_of_numbers, "no text"),
    (description_of_another_file, "other keys"),
    (nested_description, "RecursionError"),
]


@pytest.mark.parametrize(("change", "message"), STRUCTURES)
def test_what_hiercomp_does_not_write_is_refused_and_no_other_file_read(few, tmp_path, change, message):
    saved_in(tmp_path / "other.nc", few)
    (tmp_path / "secret").write_bytes(SECRET)
    path = saved_in(tmp_path / "fit.nc", few)
    with changed(path) as file:
        change(file, tmp_path)
    with pytest.raises(hc.ResultFileError, match=message) as caught:
        hc.load_result(path)
    assert len(str(caught.value)) < 500
    assert "root:x" not in str(caught.value)


# Descriptions with a true checksum: made on purpose, not by accident


def crafted(saved: hc.ComparisonResult, path: Path, place: tuple, value: object) -> Path:
    """A file whose description has another value at a place, with a true checksum."""
    saved_in(path, saved)
    with changed(path) as file:
        plain = read_description(file)
        holder = plain
        for key in place[:-1]:
            holder = holder[key]
        if value is ...:
            del holder[place[-1]]
        else:
            holder[place[-1]] = value
        file.attrs["hiercomp"] = json.dumps(plain)
    return path


INTEGRATION = ("posterior", "integrated", "integration")
SAMPLED = ("posterior", "sampled")
CRAFTED = [
    (("rope",), ...),
    (("rope", "lower"), "x"),
    (("rope", "upper"), -1.0),
    (("evil",), 1),
    (("differences", "left"), 5),
    (("differences", "left"), "a\0b"),
    (("differences", "left"), "\ud800"),
    (("differences", "right"), "bayes"),
    (("differences", "dataset_names"), ["a"]),
    (("differences", "dataset_names"), []),
    (("differences", "dataset_names", 0), ["a"]),
    (("differences", "mean", 0), "nan"),
    (("differences", "mean", 0), float("nan")),
    (("differences", "mean", 0), 10**400),
    (("differences", "n", 0), -5),
    (("differences", "n", 0), 10**30),
    (("differences", "rho", 0), 2.0),
    (("differences", "sum_of_squares", 0), -1.0),
    (("differences", "constant"), 1),
    (("differences", "transform"), "exp"),
    (("differences", "notes"), [{"category": "sys", "message": "x"}]),
    (("differences", "score_mean"), [[1.0]]),
    (("priors", "alpha"), "x"),
    (("priors", "population"), "os.system"),
    (("priors", "delta0"), {"distribution": "normal", "mean": 0.0}),
    (("fit_notes",), 5),
    (("posterior",), []),
    (("posterior", "kind"), "sampled"),
    (("posterior", "verification"), ...),
    ((*INTEGRATION, "known", "most_probable"), [0.99, 0.0]),
    ((*INTEGRATION, "known", "errors"), {}),
    ((*INTEGRATION, "axes", 0, "count"), 10**9),
    ((*INTEGRATION, "delta0_axis", "count"), 10**9),
    ((*INTEGRATION, "log_likelihood"), [[[1.0]]]),
    ((*INTEGRATION, "problem", "mean"), [0.0]),
    ((*INTEGRATION, "known", "errors", "p_left"), float("nan")),
    ((*INTEGRATION, "fineness"), [1e9, "x", 1.0]),
    ((*INTEGRATION, "fineness"), [8.0, 8.0, 8.0]),
    (("posterior", "integrated", "unit"), 0.0),
    (("posterior", "integrated", "engine_name"), "\x1b[2Jevil"),
    ((*SAMPLED, "engine_version"), "\x1b]0;evil\x07"),
    ((*SAMPLED, "diagnostics"), {}),
    ((*SAMPLED, "diagnostics", "worst", "r_hat"), "\x1b[31m"),
    ((*SAMPLED, "attempts"), []),
    ((*SAMPLED, "attempts", 0, "failures"), ["\x1b[31m"]),
    ((*SAMPLED, "settings", "draws"), 10**12),
]


@pytest.mark.parametrize(
    ("place", "value"), CRAFTED, ids=lambda part: str(part)[:60].encode("ascii", "replace").decode()
)
def test_a_crafted_description_with_a_true_checksum_is_refused(few, tmp_path, place, value):
    path = crafted(few, tmp_path / "fit.nc", place, value)
    with pytest.raises(hc.ResultFileError) as caught:
        hc.load_result(path)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_the_helper_of_these_tests_makes_files_that_load(few, tmp_path):
    path = crafted(few, tmp_path / "fit.nc", ("differences", "measure"), "<script>\x1b[2J")
    assert hc.load_result(path).differences.measure == "<script>\x1b[2J"
    assert "\x1b" not in str(hc.load_result(path).summary())


LIMITED = """
import resource, sys
import hiercomp as hc
from hiercomp.comparison import load_result
import h5py, xarray, arviz_base, hiercomp.posterior.saved
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 600_000_000, used + 600_000_000))
try:
    load_result(sys.argv[1])
except hc.ResultFileError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="measures memory as Linux does")
def test_an_array_of_3_gigabytes_that_is_not_there_takes_no_memory(few, tmp_path):
    path = saved_in(tmp_path / "fit.nc", few)
    with changed(path) as file:
        replaced("posterior/sigma0", shape=(40_000, 10_000))(file, tmp_path)
    assert path.stat().st_size < 5e6
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, path], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout.startswith("refused:"), ran.stderr[-500:]
    assert "not stored in the file" in ran.stdout
