"""Checkpoints of tournaments that were changed or made to do harm: computed again or refused, with nothing run."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.pairs.checkpoint import Checkpoint, _checksum, pair_key
from hiercomp.posterior.fit import Fit
from hiercomp.posterior.saved import plain_values
from tests.tournaments import four_algorithms

OPTIONS = {"engine": "any", "seed": 1}


def fits(engine: str) -> dict[str, Fit]:
    """Three pairs by their keys."""
    table, found = four_algorithms(datasets=5), {}
    for left, right in (("boosting", "forest"), ("boosting", "bayes"), ("forest", "bayes")):
        comparison = hc.HierarchicalComparison(table, left, right, rho=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hc.HiercompWarning)  # of the few draws
            fitted = comparison.fit(engine, draws=100, warmup=200, progress=False)
        fit = replace(fitted, differences=replace(fitted.differences, scores=None))
        found[pair_key(fit.differences, fit.rope, fit.priors, OPTIONS)] = fit
    return found


@pytest.fixture(scope="module", params=["quadrature", "embedded"])
def fitted(request) -> dict[str, Fit]:
    return fits(request.param)


@pytest.fixture(scope="module")
def integrated() -> dict[str, Fit]:
    return fits("quadrature")


def filled(path: Path, fits: dict[str, Fit]) -> Path:
    path.unlink(missing_ok=True)
    Checkpoint(path).add(list(fits.items()))
    return path


def same(one: Fit, other: Fit) -> bool:
    if plain_values(one) != plain_values(other):
        return False
    if one.posterior.remakes_draws:  # from those values
        return True
    return all((one.draws(name) == other.draws(name)).all() for name in one.posterior.parameters)


def run(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def test_what_was_added_comes_back(fitted, tmp_path):
    kept = Checkpoint(filled(tmp_path / "c.sqlite", fitted))
    for key, fit in fitted.items():
        assert same(kept.read(key, OPTIONS), fit)
    assert kept.read("another", OPTIONS) is False


def silent_changes(fits: dict[str, Fit], path: Path, number: int, seed: int) -> tuple[int, list[int]]:
    """How many changed bytes are noticed, and the places of those after which another fit is restored."""
    content = filled(path, fits).read_bytes()
    generator, noticed, silent = np.random.default_rng(seed), 0, []
    for place in generator.choice(len(content), number, replace=False).tolist():
        changed = bytearray(content)
        changed[place] ^= int(generator.integers(1, 256))
        path.write_bytes(changed)
        try:
            kept = Checkpoint(path)
            found = {key: kept.read(key, OPTIONS) for key in fits}
        except hc.ResultFileError:
            noticed += 1
            continue
        noticed += any(isinstance(one, bool) for one in found.values())
        silent += (
            [place] if any(isinstance(one, Fit) and not same(one, fits[key]) for key, one in found.items()) else []
        )
    return noticed, silent


@pytest.mark.slow
def test_no_changed_byte_restores_another_fit(fitted, tmp_path):
    noticed, silent = silent_changes(fitted, tmp_path / "c.sqlite", 60, seed=1)
    assert silent == []
    assert noticed > 40  # most bytes are the content of rows


@pytest.mark.slow
def test_none_of_200_changed_bytes_restores_another_fit(fitted, tmp_path):
    assert silent_changes(fitted, tmp_path / "c.sqlite", 200, seed=2)[1] == []


def test_exchanged_rows_are_noticed_with_and_without_true_checksums(integrated, tmp_path):
    path = filled(tmp_path / "c.sqlite", integrated)
    one, other, third = integrated
    kept = Checkpoint(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = {row[0]: row[1:] for row in connection.execute("SELECT key, left, right, result, checksum FROM pairs")}
        for key, source in ((one, other), (other, one)):
            connection.execute(
                "UPDATE pairs SET left = ?, right = ?, result = ?, checksum = ? WHERE key = ?", (*rows[source], key)
            )
    assert kept.read(one, OPTIONS) is kept.read(other, OPTIONS) is True
    assert same(kept.read(third, OPTIONS), integrated[third])
    # the fit of another pair under a checksum of its own: the key does not follow from what is restored
    for key, source in ((one, other), (other, one)):
        left, right, content, _ = rows[source]
        run(path, "UPDATE pairs SET checksum = ? WHERE key = ?", _checksum(key, left, right, content), key)
    assert kept.read(one, OPTIONS) is kept.read(other, OPTIONS) is True


@pytest.mark.slow
def test_a_damaged_pair_is_fitted_again_with_a_warning_and_the_others_are_not(tmp_path, monkeypatch):
    from hiercomp.pairs.fits import PairFits

    table, path = four_algorithms(datasets=5), tmp_path / "c.sqlite"
    options = {"rho": 0.1, "n_jobs": 1, "progress": False, "checkpoint": path}
    first = hc.compare_all(table, **options)
    with closing(sqlite3.connect(path)) as connection, connection:
        (content,) = connection.execute(
            "SELECT result FROM pairs WHERE left = 'boosting' AND right = 'bayes'"
        ).fetchone()
        changed = bytearray(content)
        changed[len(changed) // 2] ^= 1
        statement = "UPDATE pairs SET result = ? WHERE left = 'boosting' AND right = 'bayes'"
        connection.execute(statement, (bytes(changed),))
    fitted_again, fit = [], PairFits.fit

    def counting(self, tasks):
        fitted_again.extend((task.differences.left, task.differences.right) for task in tasks)
        return fit(self, tasks)

    monkeypatch.setattr(PairFits, "fit", counting)
    with pytest.warns(hc.HiercompWarning, match=r"1 pair was damaged in the checkpoint and fitted again\."):
        again = hc.compare_all(table, **options)
    assert fitted_again == [("boosting", "bayes")]
    assert any("damaged in the checkpoint" in note for note in again.notes)
    assert again.to_frame().equals(first.to_frame())
    assert not any("damaged" in note for note in hc.compare_all(table, **options).notes)  # it was written anew


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"


@pytest.mark.parametrize(
    "statements",
    [
        [f"CREATE TRIGGER t AFTER INSERT ON pairs BEGIN {ENDLESS} count(*) FROM n; END"],
        ["CREATE TRIGGER t AFTER INSERT ON pairs BEGIN DELETE FROM pairs; END"],
        ["ALTER TABLE pairs RENAME TO p", f"CREATE VIEW pairs AS {ENDLESS} x AS key, x, x, x, x FROM n"],
        ["CREATE VIEW v AS SELECT load_extension('evil')"],
        ["CREATE TABLE more (a)"],
        ["CREATE INDEX i ON pairs (left)"],
        ["ALTER TABLE pairs ADD COLUMN evil GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL"],
        ["DROP TABLE pairs", "CREATE TABLE pairs (key TEXT PRIMARY KEY, left TEXT, right TEXT, result BLOB)"],
        ["DROP TABLE pairs", "CREATE VIRTUAL TABLE pairs USING fts5(key, left, right, result, checksum)"],
    ],
)
def test_another_schema_is_refused_before_it_can_run(integrated, tmp_path, statements):
    path = filled(tmp_path / "c.sqlite", integrated)
    for statement in statements:
        try:
            run(path, statement)
        except sqlite3.OperationalError as error:  # SQLite without fts5
            pytest.skip(str(error))
    before = path.read_bytes()
    with pytest.raises(hc.ResultFileError, match=r"its tables are not those of a checkpoint.*Remove it"):
        Checkpoint(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "value", [None, 5, "text", b"", b"x", zlib.compress(b"[" * 100_000), zlib.compress(b"5"), zlib.compress(b"{}")[:-3]]
)
def test_rows_with_other_content_and_a_true_checksum_are_damaged_rows(integrated, tmp_path, value):
    path = filled(tmp_path / "c.sqlite", integrated)
    key, fit = next(iter(integrated.items()))
    total = _checksum(key, fit.left, fit.right, value) if isinstance(value, bytes) else "x"
    try:
        run(path, "UPDATE pairs SET result = ?, checksum = ? WHERE key = ?", value, total, key)
    except sqlite3.IntegrityError:  # NOT NULL
        return
    assert Checkpoint(path).read(key, OPTIONS) is True


def test_text_that_is_not_utf_8_is_a_result_file_error(integrated, tmp_path):
    path = filled(tmp_path / "c.sqlite", integrated)
    key = next(iter(integrated))
    run(path, "UPDATE pairs SET left = CAST(x'1b5b324aff' AS TEXT) WHERE key = ?", key)
    with pytest.raises(hc.ResultFileError, match=r"is damaged.*not UTF-8") as caught:
        Checkpoint(path).read(key, OPTIONS)
    assert "\x1b" not in str(caught.value)


def test_a_name_of_sqlite_s_own_is_a_file_and_one_with_nul_is_refused(integrated, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Checkpoint(":memory:").add(list(integrated.items()))
    assert (tmp_path / ":memory:").stat().st_size > 1000
    with pytest.raises(hc.ResultFileError, match=r"a\\x00b can't be written: its name holds a NUL"):
        Checkpoint("a\0b")


def journal_that_names(path: Path, named: Path) -> None:
    """A journal beside a database that says that another file belongs to it, as SQLite writes for several databases."""
    magic, page, name = bytes.fromhex("d9d505f920a163d7"), 4096, str(named).encode()
    numbers = (0, 1, path.stat().st_size // page, 512, page)  # records, nonce, pages, sector, page
    header = magic + b"".join(number.to_bytes(4, "big") for number in numbers)
    ending = (2**30 // page + 1, name, len(name), sum(name), magic)
    parts = (part if isinstance(part, bytes) else part.to_bytes(4, "big") for part in ending)
    path.with_name(f"{path.name}-journal").write_bytes(header.ljust(512, b"\0") + b"".join(parts))


def test_a_journal_that_names_another_file_is_refused_and_that_file_stays(integrated, tmp_path):
    path, precious = filled(tmp_path / "c.sqlite", integrated), tmp_path / "precious"
    precious.write_text("precious")
    journal_that_names(path, precious)
    (tmp_path / "link.sqlite").symlink_to(path)
    for name in (path, tmp_path / "link.sqlite"):
        with pytest.raises(hc.ResultFileError, match="its journal names another file"):
            Checkpoint(name)
    assert precious.read_text() == "precious"
    run(path, "SELECT count(*) FROM sqlite_master")  # the attack works: SQLite itself deletes the file
    assert not precious.exists()


LIMITED = """
import resource, sys
import h5py, arviz_base
import hiercomp.posterior.saved as saved
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
content = open(sys.argv[1], "rb").read()
resource.setrlimit(resource.RLIMIT_AS, (used + 400_000_000, used + 400_000_000))
try:
    saved.fit_from_bytes(content)
except saved.ResultFileError as error:
    print("refused:", error, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="measures memory as Linux does")
def test_a_megabyte_that_unpacks_to_a_gigabyte_takes_little_memory(tmp_path):
    packing, bomb = zlib.compressobj(9), b""
    for _ in range(1024):
        bomb += packing.compress(b" " * (1 << 20))
    (tmp_path / "bomb").write_bytes(bomb + packing.flush())
    assert (tmp_path / "bomb").stat().st_size < 1.1e6
    arguments = [sys.executable, "-c", LIMITED, tmp_path / "bomb"]
    ran = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.startswith("refused: A stored fit is damaged (ValueError)"), ran.stdout + ran.stderr[-500:]
