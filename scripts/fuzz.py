"""Thousands of odd tables, damaged score and experiment files: each is taken or refused by hiercomp's own errors, in time.

python scripts/fuzz.py --tables 10000 --files 10000 --experiments 1000 --seed 0
python scripts/fuzz.py --again files:AXicY2BgYGQAAAAFAAI=    # one failure again, as it was printed

Hypothesis draws the cases (fuzz_tables.py, fuzz_files.py, fuzz_experiments.py) and brings failures to their smallest form.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
from fuzz_experiments import EXPERIMENTS, ExperimentCase
from fuzz_files import FileCase, files
from fuzz_tables import TABLES, TableCase
from hypothesis import HealthCheck, Phase
from rich.console import Console

from hiercomp.comparison import HierarchicalComparison
from hiercomp.crossval.experiment_file import read_experiment
from hiercomp.errors import ArgumentError, HiercompError, HiercompWarning, ScoreFileError, ScoreTableError
from hiercomp.files.check import TableCheck, check_scores
from hiercomp.files.read import IMPORTERS, read_scores
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import normal_name

SECONDS = 10.0  # a case that takes longer hangs


class HangError(BaseException):
    """A case took too long; no Exception, so nothing on the way takes it for its own."""


@dataclass
class Tally:
    """What became of the cases."""

    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def executed(self) -> int:
        """Cases that came to an end of either kind."""
        return self.accepted + self.refused.total()

    def add(self, error: HiercompError | None) -> None:
        """Count a case that was accepted, or refused with an error."""
        self.accepted += error is None
        self.refused.update([type(error).__name__] if error is not None else [])

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} {count:,}" for name, count in self.refused.most_common())
        refused = f"{self.refused.total():,} refused" + (f" ({kinds})" if kinds else "")
        return f"{self.accepted:,} accepted, {refused}, {len(self.failures)} failed"


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Warnings of others are errors, and what takes too long is stopped."""

    def hang(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(6 * SECONDS, exit=True, file=sys.__stderr__)  # where no signal is heard
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", HiercompWarning)
            yield
    except HangError as error:
        raise TimeoutError(f"stopped after {time.perf_counter() - start:.0f} s") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def outcome(action: Callable[[], Any]) -> tuple[Any, HiercompError | None]:
    """What an action returns, or the error of hiercomp's own with which it refuses; all others go through."""
    try:
        return action(), None
    except HiercompError as error:
        if not is_line(str(error)):
            raise AssertionError(f"the message is not one line of printable text: {str(error)[:300]!r}") from error
        return None, error


def is_line(text: str) -> bool:
    """Whether a message is one line of printable text, and not empty."""
    return bool(text.strip()) and text.isprintable()


def try_table(case: TableCase, folder: Path) -> HiercompError | None:
    """Compare the algorithms of one odd table, up to the fit, and check it."""
    table = case.table()
    comparison, error = outcome(lambda: HierarchicalComparison(table, **case.options))
    if comparison is not None:
        judge_comparison(comparison, table, case.options)
    taken = {name: value for name, value in case.options.items() if name in ("columns", "rho", "higher_is_better")}
    check, _ = checked(lambda: check_scores(table, **taken))
    plain = set(case.options) <= {"left", "right", "columns", "higher_is_better"}
    if check is not None and error is None and plain and len(check.algorithms) == 2:
        assert check.dataset_names != (), "the check can't read what the comparison takes"
    if check is not None and error is not None and not case.options and len(check.algorithms) == 2:
        _, refusal = outcome(lambda: PairedDifferences.from_table(table))  # without the rope, which no check knows
        assert refusal is None or check.exit_code == 2, f"the check finds no error, the comparison: {refusal}"
    return error


def judge_comparison(comparison: HierarchicalComparison, table: Any, options: dict[str, Any]) -> None:
    """The sufficient statistics are whole and, where the table is plain enough to say, the right ones."""
    found = comparison.differences
    names, q = found.dataset_names, len(found.dataset_names)
    assert len(set(names) - {""}) == q >= 2, f"data sets {names!r}"
    assert found.left != found.right, f"both algorithms are {found.left!r}"
    for field_name in ("mean", "sum_of_squares", "n", "rho"):
        values = getattr(found, field_name)
        assert values.shape == (q,), f"{field_name} is {values}"
        assert np.isfinite(values).all(), f"{field_name} is {values}"
    assert bool((found.n >= 1).all() and (found.sum_of_squares >= 0).all()), f"n {found.n}, {found.sum_of_squares}"
    assert bool(((found.rho >= 0) & (found.rho < 1)).all()), f"rho is {found.rho}"
    assert all(is_line(remark.message) for remark in found.notes), "a note is not one line of printable text"
    if not isinstance(table, pd.DataFrame) or options.get("missing") == "drop" or options.get("columns"):
        return
    if options.get("transform"):
        return
    if not {"dataset", "algorithm", "score"} <= set(table.columns):
        return
    # Nothing was dropped but data sets of one algorithm: the mean difference is the difference of the means
    scores: dict[tuple[str, str], list[float]] = {}
    text = (table["dataset"].astype(str), table["algorithm"].astype(str), table["score"].tolist())
    for dataset, algorithm, score in zip(*text, strict=True):
        scores.setdefault((normal_name(dataset), normal_name(algorithm)), []).append(float(score))
    sign = 1 if options.get("higher_is_better", True) is not False else -1
    for name, mean, n in zip(names, found.mean, found.n, strict=True):
        left, right = scores[name, found.left], scores[name, found.right]
        assert len(left) == len(right) == n, f"data set {name!r} has {len(left)} and {len(right)} scores, n is {n}"
        expected = sign * (np.mean(right) - np.mean(left))
        size = np.abs([*left, *right]).max()
        assert abs(mean - expected) <= 1e-12 * size, f"the mean of {name!r} is {mean}, expected {expected}"


def checked(action: Callable[[], TableCheck]) -> tuple[TableCheck | None, HiercompError | None]:
    """A check that can be shown in every form; it refuses nothing but arguments."""
    check, error = outcome(action)
    if check is None:
        assert isinstance(error, ArgumentError), f"the check raised {type(error).__name__}: {error}"
        return None, error
    for problem in check.problems:
        assert is_line(problem.message), f"a problem is not one line of printable text: {problem.message!r}"
        assert not problem.remedy or is_line(problem.remedy), (
            f"a remedy is no line of printable text: {problem.remedy!r}"
        )
    assert all(line.isprintable() for line in str(check).split("\n")), f"not printable: {str(check)!r}"
    Console(file=io.StringIO()).print(check)
    json.dumps(check.to_dict(), allow_nan=False)
    q, k = len(check.dataset_names), len(check.algorithms)
    assert (len(check.to_frame()), *check.n_missing.shape) == (q, q, k), "the frame or the counts have other shapes"
    assert (check.exit_code == 2) == bool(check.errors), f"exit code {check.exit_code}"
    assert q > 0 or bool(check.errors), "nothing was read, and no error says why"
    return check, None


def try_file(case: FileCase, folder: Path) -> HiercompError | None:
    """Read one damaged file, compare and check what it holds."""
    content, path = case.content(), folder / case.name
    path.write_bytes(content)
    frame, error = outcome(lambda: read_scores(path, **case.options))
    if frame is not None:
        judge_frame(frame, case.options)
        outcome(lambda: HierarchicalComparison(frame, missing="drop"))
    taken = {name: value for name, value in case.options.items() if name != "rho"}
    check, argument_error = checked(lambda: check_scores(path, **taken))
    if "rho" not in case.options:
        assert argument_error is None or error is not None, f"refused: {argument_error}"
        unread = isinstance(error, ScoreFileError | ScoreTableError)
        assert check is None or not unread or check.errors, f"the check finds no error, the reader: {error}"
        assert check is None or unread or check.format, "the check can't read what the reader takes"
    path.unlink()
    return error


def judge_frame(frame: pd.DataFrame, options: dict[str, Any]) -> None:
    """What was read is a table of scores."""
    kind = frame.attrs["format"]
    assert kind in IMPORTERS, f"format {kind!r}"
    assert len(frame) > 0, "there are no rows"
    assert frame.columns.is_unique, f"columns {list(frame.columns)!r}"
    assert all(is_line(text) for text in frame.attrs["notes"]), f"notes are no lines: {frame.attrs['notes']!r}"
    if kind == "tidy":  # read as it is; which columns are which, and their cells, is the comparison's to judge
        return
    assert {"dataset", "algorithm", "run", "fold", "score"} <= set(frame.columns), f"columns {list(frame.columns)!r}"
    for role in ("dataset", "algorithm"):
        texts = frame[role].tolist()
        wrong = [text for text in texts if not isinstance(text, str) or normal_name(text) != text or not text]
        assert not wrong, f"{role} has names such as {wrong[:1]!r}"
    assert frame["score"].dtype == float, f"scores are {frame['score'].dtype}"
    if np.isinf(frame["score"]).any():  # a number too large for a double, which the comparison refuses by its place
        comparison, _ = outcome(lambda: HierarchicalComparison(frame))
        assert comparison is None, "an infinite score is compared"
    assert not frame[["run", "fold"]].isna().any(axis=None), "a run or fold is empty"
    assert not frame.duplicated(["dataset", "algorithm", "run", "fold"]).any(), "a cell has two scores"


def try_experiment(case: ExperimentCase, folder: Path) -> HiercompError | None:
    """Read one damaged experiment file, and the data that it names; nothing is fitted."""
    path = case.written(folder)
    experiment, error = outcome(lambda: read_experiment(path, **case.options))
    if experiment is None:
        return error
    assert experiment.estimators, "no estimators"
    assert experiment.data, "no data"
    assert all(hasattr(estimator, "fit") for estimator in experiment.estimators.values()), (
        f"estimators {experiment.estimators!r}"
    )
    assert experiment.cv is None or hasattr(experiment.cv, "split"), f"cv is {experiment.cv!r}"
    for source in experiment.data.values():
        parts, refusal = outcome(source)
        error = error or refusal
        if parts is not None:
            features, target = parts[:2]
            assert features.shape[1] > 0, "no features"
            assert {len(part) for part in parts} == {len(features)}, "parts of other lengths"
            assert len(features) > 0, "no rows"
            assert not pd.isna(target).any(), f"the target {target!r} has gaps"
    return error


KINDS = {"tables": (TABLES, try_table), "files": (files(), try_file), "experiments": (EXPERIMENTS, try_experiment)}


def run(kind: str, examples: int, seed: int, again: str | None = None) -> Tally:
    """Try cases of one kind, or one of them again.

    Parameters
    ----------
    kind : {"tables", "files", "experiments"}
    examples : int
        Cases to try.
    seed : int
        The same seed and version of hypothesis give the same cases.
    again : str, optional
        The mark of a failure, as it was printed.
    """
    tally = Tally()
    strategy, judge = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,  # the alarm of watched() is ours
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            report_multiple_bugs=True,
        )
        @hypothesis.given(case=strategy)
        def attempt(case: Any) -> None:
            try:
                with watched():
                    error = judge(case, Path(folder))
            except Exception as failure:
                failure.add_note(case.shown())
                raise
            tally.add(error)

        if again is not None:
            attempt = hypothesis.reproduce_failure(hypothesis.__version__, again.encode())(attempt)
        try:
            attempt()
        except Exception as error:
            found = error.exceptions if isinstance(error, ExceptionGroup) else [error]
            tally.failures += [_told(kind, one) for one in found]
    return tally


def _told(kind: str, error: BaseException) -> str:
    """A failure: its place in hiercomp, the smallest case, and how to have it again."""
    notes = "\n".join(getattr(error, "__notes__", []))
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "hiercomp" in Path(frame.filename).parts[:-1]] or frames[-1:]
    place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(ours[-3:]))
    mark = re.search(r"reproduce_failure\('[^']*', b'([^']*)'\)", notes)
    short = "\n".join(line if len(line) <= 500 else f"{line[:500]}..." for line in notes.split("\n"))
    text = f"{kind}: {place}: {type(error).__name__}: {str(error)[:500]}\n{short}"
    return text + (f"\nAgain: python scripts/fuzz.py --again {kind}:{mark[1]}" if mark else "")


def main() -> int:
    """Run the cases asked for, print what became of them, and fail if any did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--experiments", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", help="one failure, such as files:AXicY2BgYGQAAAAFAAI=")
    arguments = parser.parse_args()
    if arguments.again:
        kind, _, mark = arguments.again.partition(":")
        tallies = {kind: run(kind, 1, arguments.seed, mark)}
    else:
        wanted = {kind: getattr(arguments, kind) for kind in KINDS if getattr(arguments, kind) > 0}
        tallies = {}
        for kind, count in wanted.items():
            tallies[kind] = run(kind, count, arguments.seed)
            print(f"{tallies[kind].executed:,} {kind}: {tallies[kind]}", flush=True)
            if tallies[kind].executed < count and not tallies[kind].failures:
                tallies[kind].failures.append(
                    f"{kind}: {tallies[kind].executed} cases were run, {count} were asked for"
                )
    failures = [text for tally in tallies.values() for text in tally.failures]
    for text in failures:
        print("\n" + text.encode("ascii", "backslashreplace").decode())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
