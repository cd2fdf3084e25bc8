"""What a user reads when something is refused: every message in one file; a change of wording is one diff.

`python -m tests.whole.test_messages` writes the file again. The other tests assert the class of an error and the name that
it must hold, not its words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.cli.options import refuse_shared_files
from hiercomp.outputs import output_path
from hiercomp.workers import worker_errors

MESSAGES = Path(__file__).parents[1] / "data" / "messages.txt"


def table(datasets: int = 6, folds: int = 5, algorithms: tuple[str, ...] = ("bayes", "tree")) -> pd.DataFrame:
    """Five-fold cross-validation whose scores vary from fold to fold."""
    rows = [
        (f"d{dataset}", algorithm, fold, 0.7 + 0.01 * ((7 * dataset + 3 * fold + 5 * place) % 11) + 0.02 * place)
        for dataset in range(datasets)
        for place, algorithm in enumerate(algorithms)
        for fold in range(1, folds + 1)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


def changed(row: int, column: str, value: object) -> pd.DataFrame:
    frame = table().astype({column: object})
    frame.loc[row, column] = value
    return frame


def answers(unanimous: int = 2) -> pd.DataFrame:
    """Right and wrong answers; on some data sets the algorithms answer alike."""
    frame = table()
    number, differing = frame["dataset"].str[1:].astype(int), frame["algorithm"] == "tree"
    right = (frame["fold"] + number) % 3 > 0
    return frame.assign(score=np.where(differing & (number >= unanimous) & (frame["fold"] == 1), ~right, right) * 1.0)


def in_units() -> pd.DataFrame:
    """Errors of each data set in a unit of its own."""
    return table().assign(score=lambda rows: rows["score"] * 10.0 ** rows["dataset"].str[1:].astype(int))


def in_capitals() -> pd.DataFrame:
    """The data sets of one algorithm in capitals."""
    capitals = table()["dataset"].str.upper()
    return table().assign(dataset=lambda rows: rows["dataset"].where(rows["algorithm"] == "tree", capitals))


def with_attributes() -> pd.DataFrame:
    frame = table()
    frame.attrs = {"measure": "rmse", "higher_is_better": False}
    return frame


def compared(frame: pd.DataFrame, **options: Any) -> Callable[[Path], object]:
    return lambda folder: hc.HierarchicalComparison(frame, **({"rope": 0.01} | options))


def fitted(**options: Any) -> Callable[[Path], object]:
    return lambda folder: hc.HierarchicalComparison(table(), rope=0.01).fit(progress=False, **options)


def mixed(**options: Any) -> Callable[[Path], object]:
    return lambda folder: hc.compare(table(), rope=0.01, population="mixture", **options)


def applied(tests: list[str], folds: int = 5) -> Callable[[Path], object]:
    return lambda folder: hc.apply_tests(table(folds=folds), tests=tests)


def without_scores() -> hc.ComparisonResult:
    """As if it was read from a file of an earlier version."""
    result = hc.compare(table(), rope=0.01, engine="quadrature", progress=False)
    bare = replace(result.differences, score_mean=None, score_standard_deviation=None)
    return replace(result, differences=bare)


def checked_against_others(folder: Path) -> object:
    first, second = (
        hc.compare(table(datasets=count), rope=0.01, engine="quadrature", progress=False) for count in (6, 7)
    )
    return first.check_population({"wider": second})


def existing(folder: Path) -> Path:
    (folder / "fit.nc").touch()
    return folder / "fit.nc"


def without_memory() -> None:
    with worker_errors():
        raise MemoryError


def read(content: str | bytes, name: str = "scores.csv", **options: Any) -> Callable[[Path], object]:
    def reading(folder: Path) -> object:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return hc.HierarchicalComparison(hc.read_scores(path, **options), rope=0.01)

    return reading


def covariates(**columns: Any) -> pd.DataFrame:
    """Of the six data sets, or of fewer."""
    columns = {"rows": [100.0, 150.0, 200.0, 400.0, 800.0, 900.0], **columns}
    return pd.DataFrame(columns, index=[f"d{i}" for i in range(6)])


def explained(frame: pd.DataFrame, **options: Any) -> Callable[[Path], object]:
    """Compared with covariates, and fitted if there are options of a fit."""

    def comparing(folder: Path) -> object:
        comparison = hc.HierarchicalComparison(table(), rope=0.01, covariates=frame)
        return comparison.fit(progress=False, **options) if options else comparison

    return comparing


HEADER = "dataset,algorithm,fold,score\n"
ROWS = "iris,bayes,1,0.9\niris,tree,1,0.8\n"
CASES: dict[str, Callable[[Path], object]] = {
    "a table without scores": compared(table().drop(columns="score")),
    "an empty table": compared(table().iloc[:0]),
    "one algorithm": compared(table(algorithms=("bayes",))),
    "three algorithms, none named": compared(table(algorithms=("bayes", "tree", "forest"))),
    "a misspelt algorithm": compared(table(), left="bayse", right="tree"),
    "an algorithm against itself": compared(table(), left="tree", right="tree"),
    "one data set": compared(table(datasets=1)),
    "few data sets": compared(table(datasets=3)),
    "one fold": compared(table(folds=1)),
    "two folds": compared(table(folds=2)),
    "a missing score": compared(changed(3, "score", np.nan)),
    "an infinite score": compared(changed(3, "score", np.inf)),
    "a score that is text": compared(changed(3, "score", "high")),
    "a missing fold": compared(table().drop(index=3)),
    "a fold left out": compared(table().drop(index=3), missing="drop"),
    "the same score twice": compared(pd.concat([table(), table().iloc[[3]]], ignore_index=True)),
    "no fold column": compared(table().drop(columns="fold")),
    "an empty name": compared(changed(3, "dataset", "")),
    "percentages and the default rope": compared(table().assign(score=table()["score"] * 100), rope=None),
    "percentages and a rope for fractions": compared(table().assign(score=table()["score"] * 100), rope=0.01),
    "returns and no rope": compared(table().assign(score=table()["score"] * 20), rope=None),
    "errors in different units": compared(in_units(), rope=0.01, higher_is_better=False),
    "errors in different units and no rope": compared(in_units(), rope=None, higher_is_better=False),
    "logs of scores with a zero": compared(changed(3, "score", 0.0), transform="log"),
    "a loss by its name": compared(table().rename(columns={"score": "log_loss"})),
    "a loss taken for a gain": compared(table().rename(columns={"score": "log_loss"}), higher_is_better=True),
    "attributes that are contradicted": compared(with_attributes(), higher_is_better=True),
    "names that differ by case": compared(in_capitals()),
    "differences inside the rope": compared(table(), rope=1.0),
    "a rope with a decimal comma": compared(table(), rope="0,01"),
    "identical scores": compared(table().assign(score=0.8), rope=0.0),
    "constant differences": compared(table().assign(score=np.where(table()["algorithm"] == "tree", 0.9, 0.8))),
    "answers without a difference": compared(answers(), rho=0),
    "answers without a difference, and no rope": compared(answers(), rope=0, rho=0),
    "answers without any difference but a constant one": compared(
        answers(6).assign(score=lambda x: x["score"].where(x["dataset"] != "d0", 1.0 * (x["algorithm"] == "tree"))),
        rho=0,
    ),
    "a likelihood that is none": compared(table(), likelihood="binomial"),
    "counts of scores that are no answers": compared(table(), rho=0, likelihood="trinomial"),
    "counts of answers with a correlation": compared(answers(), likelihood="trinomial"),
    "counts of answers in groups": compared(answers(), groups="fold", likelihood="trinomial"),
    "counts of answers and covariates": lambda folder: hc.compare(
        answers(), rope=0.01, rho=0, covariates=covariates(), likelihood="trinomial"
    ),
    "a negative rope": compared(table(), rope=-0.01),
    "a rope that is no number and no column": compared(table(), rope="wide"),
    "ropes without that of a data set": compared(table(), rope={"d0": 0.1, "d1": 0.2}),
    "a rope of an unknown data set": compared(table(), rope={"d11": 0.1}),
    "a rope of a data set that is 0": compared(table(), rope={f"d{place}": 0.1 * place for place in range(6)}),
    "a rope of a data set that is a pair": compared(table(), rope={f"d{place}": (-0.1, 0.2) for place in range(6)}),
    "ropes of data sets in a column that varies": compared(table().assign(margin=0.1 + table().index), rope="margin"),
    "ropes of data sets and logs": compared(
        table(), rope=dict.fromkeys(map("d{}".format, range(6)), 0.1), transform="log"
    ),
    "ropes of data sets and a column": compared(table().assign(margin=0.1), rope=0.01, columns={"rope": "margin"}),
    "ropes of data sets where the scores are not": lambda folder: hc.correlated_t_test(
        [0.1, 0.2], rho=0, rope={"1": 0.1}
    ),
    "rho of one": compared(table(), rho=1.0),
    "rho without a data set": compared(table(), rho={"d0": 0.1}),
    "a population that is none": compared(table(), population="cauchy"),
    "a mixture with priors of another population": compared(table(), population="mixture", priors="kruschke"),
    "a mixture with a prior of its centre": compared(
        table(), population="mixture", priors=hc.Priors(delta0=hc.Normal(0, 0.1))
    ),
    "a mixture by a sampler of Stan": mixed(engine="embedded"),
    "a mixture of few data sets": mixed(draws=500),
    "a prior that is none": compared(table(), priors="wide"),
    "a distribution that is none": lambda folder: hc.Priors(sigma0="half-normal"),
    "too few draws of the priors": lambda folder: compared(table())(folder).prior_predictive(draws=10),
    "two data sets, one left out": lambda folder: hc.compare(table(datasets=2), rope=0.01, engine="quadrature").loo(),
    "populations of other data": checked_against_others,
    "a distribution of the other parameter": lambda folder: hc.Priors(delta0=hc.HalfNormal(0.05)),
    "a distribution and a bound of sigma0": lambda folder: hc.Priors(sigma0=hc.HalfNormal(0.05), sigma0_upper=10),
    "a mean beyond the bound of delta0": lambda folder: hc.Priors(delta0=hc.Normal(0.3, 0.1), delta0_bound=0.2),
    "a half-t of less than a degree of freedom": lambda folder: hc.HalfStudentT(0.5, 0.05),
    "a scale of zero": lambda folder: hc.HalfNormal(0),
    "an unknown engine": fitted(engine="quadratur"),
    "no chains": fitted(engine="embedded", chains=0),
    "a seed below zero": fitted(engine="embedded", seed=-1),
    "a share of draws": fitted(engine="embedded", draws=0.5),
    "covariates without a data set": explained(covariates().drop(index="d3")),
    "covariates of a data set twice": explained(pd.concat([covariates(), covariates().iloc[:1]])),
    "covariates without names of data sets": explained(covariates().reset_index(drop=True)),
    "a missing covariate": explained(covariates(classes=[2, 2, np.nan, 3, 4, 5])),
    "a category as a covariate": explained(covariates(domain=["text", "image"] * 3)),
    "a number as text among covariates": explained(covariates(classes=[2, 2, "3", 3, 4, 5])),
    "a constant covariate": explained(covariates(classes=2)),
    "a covariate that repeats another": explained(covariates(cells=3 * covariates()["rows"])),
    "no covariates": explained(covariates()[[]]),
    "covariates that are no table": explained([[1, 2]]),  # type: ignore[arg-type]
    "many covariates": explained(covariates(classes=[2, 3, 2, 4, 2, 5]), engine="embedded"),
    "covariates and an integral": explained(covariates(), engine="quadrature"),
    "covariates and a mixture": lambda folder: hc.compare(
        table(), rope=0.01, covariates=covariates(), population="mixture"
    ),
    "effects without covariates": lambda folder: hc.compare(
        table(), rope=0.01, engine="quadrature", progress=False
    ).effects(),
    "an unknown bundled table": lambda folder: hc.load_scores("kell"),
    "a file that is not there": lambda folder: hc.read_scores(folder / "absent.csv"),
    "an empty file": read(""),
    "a header only": read(HEADER),
    "a cell that is no number": read(HEADER + ROWS + "wine,bayes,1,good\n"),
    "a decimal comma": read("dataset;algorithm;fold;score\niris;bayes;1;0,9\niris;tree;1;0,8\n"),
    "a short row": read(HEADER + ROWS + "wine,bayes,1\n"),
    "a long row": read(HEADER + ROWS + "wine,bayes,1,0.9,extra\n"),
    "a repeated column": read("dataset,algorithm,fold,score,score\niris,bayes,1,0.9,0.9\n"),
    "a percent sign": read(HEADER + "iris,bayes,1,90%\niris,tree,1,80%\n"),
    "an empty score": read(HEADER + "iris,bayes,1,\niris,tree,1,0.8\n"),
    "an open quotation mark": read(HEADER + '"iris,bayes,1,0.9\niris,tree,1,0.8\n'),
    "another encoding": read((HEADER + "caf\xe9,bayes,1,0.9\ncaf\xe9,tree,1,0.8\n").encode("latin-1")),
    "a picture renamed": read(b"\x89PNG\r\n\x1a\n\0\0"),
    "a saved result that is none": lambda folder: hc.load_result(folder / "fit.nc"),
    "a result saved in a folder that is not there": lambda folder: output_path(
        folder / "no" / "fit.nc", overwrite=False
    ),
    "a result saved as a folder": lambda folder: output_path(folder, overwrite=True),
    "a result saved over another": lambda folder: output_path(existing(folder), overwrite=False),
    "a result saved over the scores": lambda folder: refuse_shared_files(
        {"save": existing(folder)}, [existing(folder)]
    ),
    "two outputs of one name": lambda folder: refuse_shared_files(
        dict.fromkeys(("save", "json"), existing(folder)), []
    ),
    "a process that lacks memory": lambda folder: without_memory(),
    "an alternative that is none": lambda folder: hc.paired_t_test(np.arange(5.0), alternative="more"),
    "a test of one data set without rho": lambda folder: hc.correlated_t_test(np.arange(5.0)),
    "Friedman with two algorithms": lambda folder: hc.friedman_test(table()),
    "a test that is none": applied(["frieman"]),
    "tests of two and of many": applied(["sign", "friedman"]),
    "no test": applied([]),
    "a test of folds without folds": applied(["correlated-t"], folds=1),
    "a test without a rope": lambda folder: hc.apply_tests(
        table().assign(score=table()["score"] * 100), tests=["bayesian-sign"]
    ),
    "mean scores of a result without them": lambda folder: without_scores().scores_table(),
}


def said(act: Callable[[Path], object], folder: Path) -> list[str]:
    """Warnings and the error, each with its class, without the folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act(folder)
            error = []
        except hc.HiercompError as refusal:
            error = [f"{type(refusal).__name__}: {refusal}"]
    told = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return [line.replace(str(folder), "FOLDER") for line in [*told, *error]]


def written(folder: Path) -> str:
    blocks = []
    for name, act in CASES.items():
        place = folder / name.replace(" ", "_")
        place.mkdir()
        blocks.append("\n".join([name, *(f"    {line}" for line in said(act, place))]))
    return "\n\n".join(blocks) + "\n"


def test_every_message_reads_as_in_the_file(tmp_path):
    assert written(tmp_path) == MESSAGES.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_refused_or_warned_of_in_a_sentence(name, tmp_path):
    lines = said(CASES[name], tmp_path)
    assert lines
    for line in lines:
        kind, _, text = line.partition(": ")
        assert issubclass(getattr(hc, kind), hc.HiercompError | hc.HiercompWarning)
        assert text.endswith((".", "?", ")")), text


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        MESSAGES.write_text(written(Path(temporary)), encoding="utf-8")
