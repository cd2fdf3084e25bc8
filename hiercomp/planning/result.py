"""The result of a plan: the probability of each verdict, with intervals, and the number of data sets needed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, number_between
from hiercomp.document import Document, Documented, Table
from hiercomp.errors import ArgumentError
from hiercomp.rope import REGIONS, Rope
from hiercomp.wording import counted, metric_words, outcome_words, probability_text, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.model.priors import Priors
    from hiercomp.posterior.correlation import EnoughRuns

By: TypeAlias = Literal["lower", "estimate"]

BY: tuple[By, By] = ("lower", "estimate")
OUTCOMES = (*REGIONS, "none", "undecided", "failed")
POWER = 0.8  # that the conclusion asks for
CONFIDENCE = 0.95  # of the intervals


@dataclass(frozen=True, eq=False, repr=False)
class PlanResult(Documented):
    """The probability of each verdict at each number of data sets and of runs.

    Attributes
    ----------
    n_datasets : tuple of int
        Numbers of data sets, ascending.
    runs : tuple of int or None
        Numbers of runs of cross-validation, ascending; None if they are those of the pilot's data sets, which differ.
    counts : ndarray of int, shape (runs, datasets, 6)
        Simulated collections with the verdict left, rope, right, none or undecided, or with a failed computation.
    simulations : int
        Simulated collections at each number of data sets and runs.
    alpha : float
        Level of the verdicts.
    rope : Rope
        The region of practical equivalence.
    algorithms : tuple of str
        The left and the right algorithm.
    assumption : str
        What is assumed, in words.
    notes : tuple of str
        What failed or looks unusual.
    priors : Priors or None
        Priors of the fits.
    rho : tuple of float
        Correlation between the folds of each kind of data set.
    engine_name, engine_version : str
        The engine of the fits, and its library with the version.
    seed : int
    measure : str or None
        The name of the pilot's measure, if it has one.
    higher_is_better : bool or None
        Whether the metric of the pilot is a gain (True) or a loss; None without a pilot.
    transform : {"log", "rope"} or None
        "log" if the pilot compared logs, "rope" if its differences are in units of each data set's rope.
    enough_runs : EnoughRuns or None
        From how many runs on further ones buy little (``runs``), the most that the pilot has or that were planned
        (``most``), and by what share those instead make the standard error of a mean difference smaller (``gained``).
        None without a pilot whose runs show it.
    """

    n_datasets: tuple[int, ...]
    runs: tuple[int | None, ...]
    counts: NDArray[np.int64]
    simulations: int
    alpha: float
    rope: Rope
    algorithms: tuple[str, str]
    assumption: str
    notes: tuple[str, ...] = ()
    priors: Priors | None = None
    rho: tuple[float, ...] = ()
    engine_name: str = ""
    engine_version: str = ""
    seed: int = 0
    measure: str | None = None
    higher_is_better: bool | None = None
    transform: str | None = None
    enough_runs: EnoughRuns | None = None

    @cached_property
    def bounds(self) -> FloatArray:
        """Wilson's 95% intervals of the probabilities, shape (runs, datasets, 6, 2)."""
        from scipy import stats

        ends = [stats.binomtest(int(k), self.simulations).proportion_ci(CONFIDENCE, "wilson") for k in self.counts.flat]
        return np.array([(end.low, end.high) for end in ends]).reshape(*self.counts.shape, 2)

    @property
    def title(self) -> str:
        """What was simulated."""
        left, right = map(shown, self.algorithms)
        return (
            f"Plan, {left} against {right}, rope {self.rope}, verdicts at {100 * (1 - self.alpha):g}%; "
            f"{self.simulations:,} simulated collections of each size from {self.assumption}"
            f"{f', {self.metric}' if self.metric else ''}"
        )

    @property
    def metric(self) -> str:
        """The metric of the pilot and its direction, in words; empty without a pilot."""
        if self.higher_is_better is None:
            return ""
        return metric_words(self.measure, self.higher_is_better, self.transform)

    @property
    def conclusion(self) -> str:
        """How many data sets are enough for the most frequent verdict, and from where on more runs buy little."""
        of_runs = [] if self.enough_runs is None else [self.enough_runs.sentence]
        return " ".join([*(self._sentence(number) for number in range(len(self.runs))), *of_runs])

    def smallest(
        self,
        region: Literal["left", "rope", "right"],
        power: float = POWER,
        *,
        runs: int | None = None,
        by: By = "lower",
    ) -> int | None:
        """The smallest number of data sets at which a verdict is reached with a probability of at least ``power``.

        Parameters
        ----------
        region : {"left", "rope", "right"}
            The verdict.
        power : float
            Between 0 and 1.
        runs : int, optional
            The number of runs; required if several were planned.
        by : {"lower", "estimate"}
            Whether the lower end of the 95% interval must reach ``power``, or only the estimate.

        Returns
        -------
        int or None
            One of ``n_datasets``; None if none is enough.

        Raises
        ------
        ArgumentError
            If an argument is invalid.
        """
        power = number_between("power", power, 0, 1)
        for name, value, allowed in (("region", region, REGIONS), ("by", by, BY)):
            if value not in allowed:
                raise ArgumentError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")
        if runs is None and len(self.runs) > 1:
            raise ArgumentError(f"runs must be one of {', '.join(map(str, self.runs))}: all of these were planned.")
        if runs is not None and runs not in self.runs:
            raise ArgumentError(f"runs must be one of {', '.join(map(str, self.runs))}, got {runs!r}.")
        option = 0 if runs is None else self.runs.index(runs)
        place = OUTCOMES.index(region)
        reached = (
            self.bounds[option, :, place, 0] if by == "lower" else self.counts[option, :, place] / self.simulations
        )
        return next((q for q, value in zip(self.n_datasets, reached, strict=True) if value >= power), None)

    def document(self) -> Document:
        """What was simulated, how many data sets are enough, and the probability of each verdict with its interval."""
        return Document(self.title, self.conclusion, (self._table(),), notes=self.notes)

    def __repr__(self) -> str:
        return f"<PlanResult: {self.title}>"

    def to_frame(self) -> pd.DataFrame:
        """One row for each number of runs and of data sets: the probabilities and the ends of their 95% intervals.

        Columns n_datasets, runs, p_left, p_rope, p_right, p_none, p_undecided, p_failed, then p_left_lower,
        p_left_upper and so on.
        """
        import pandas as pd

        rows = []
        for option, runs in enumerate(self.runs):
            for place, count in enumerate(self.n_datasets):
                row = {"n_datasets": count, "runs": np.nan if runs is None else runs}
                for outcome, hits in zip(OUTCOMES, self.counts[option, place], strict=True):
                    row[f"p_{outcome}"] = hits / self.simulations
                for outcome, (lower, upper) in zip(OUTCOMES, self.bounds[option, place], strict=True):
                    row |= {f"p_{outcome}_lower": lower, f"p_{outcome}_upper": upper}
                rows.append(row)
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; numbers that are unknown are None."""
        from hiercomp.summary.record import priors_record

        rows = self.to_frame().to_dict("records")
        return {
            "version": version("hiercomp"),
            "title": self.title,
            "conclusion": self.conclusion,
            "algorithms": list(self.algorithms),
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "transform": self.transform,
            "metric": self.metric,
            "rope": [self.rope.lower, self.rope.upper],
            "alpha": self.alpha,
            "rho": [min(self.rho), max(self.rho)] if self.rho else None,
            "priors": None if self.priors is None else priors_record(self.priors),
            "engine": {"name": self.engine_name, "version": self.engine_version},
            "seed": self.seed,
            "simulations": self.simulations,
            "assumption": self.assumption,
            "enough_runs": None if self.enough_runs is None else asdict(self.enough_runs),
            "table": [{str(name): None if value != value else value for name, value in row.items()} for row in rows],
            "notes": list(self.notes),
        }

    def outcome(self, name: str) -> str:
        """An outcome in words: "naive_bayes better", "no verdict"."""
        left, right = map(shown, self.algorithms)
        return (outcome_words(left, right) | {"none": "no verdict"}).get(name, name)

    def _sentence(self, option: int) -> str:
        place = int(np.argmax(self.counts[option, -1, :3]))
        region: Any = REGIONS[place]
        runs, verdict, last = self.runs[option], self.outcome(region), self.n_datasets[-1]
        where = f"With {counted(runs, 'run')}: " if runs is not None and len(self.runs) > 1 else ""
        sure, likely = (self.smallest(region, runs=runs, by=by) for by in BY)
        if sure is not None:
            found = self._range(option, sure, place)
            return f"{where}{sure} data sets are enough for the verdict {verdict}, reached with probability {found}."
        if likely is not None:
            found = self._range(option, likely, place)
            return (
                f"{where}{likely} data sets may be enough for the verdict {verdict}, reached with probability {found}; more "
                f"simulations would show whether it is above {POWER:g}."
            )
        start = f"{where}not even {last} data sets" if where else f"Not even {last} data sets"
        start += f" are enough to reach any one verdict with probability {POWER:g}"
        if self.counts[option, -1, place] == 0:
            return f"{start}; none of the {self.simulations:,} collections led to one."
        some = probability_text(self.counts[option, -1, :3].sum() / self.simulations, exact=True)
        return (
            f"{start}; the most likely, {verdict}, has probability {self._range(option, last, place)}. Some verdict is "
            f"reached with probability {some}."
        )

    def _range(self, option: int, datasets: int, outcome: int) -> str:
        place = self.n_datasets.index(datasets)
        value = self.counts[option, place, outcome] / self.simulations
        lower, upper = self.bounds[option, place, outcome]
        return f"{probability_text(value, exact=True)} (95% interval {lower:.3f} to {upper:.3f})"

    def _table(self) -> Table:
        """Every probability with its interval, by the names of the algorithms."""
        header = ("data sets", "runs", *(self.outcome(name) for name in OUTCOMES))
        rows = []
        for option, runs in enumerate(self.runs):
            for place, count in enumerate(self.n_datasets):
                cells = [str(count), "as the pilot" if runs is None else str(runs)]
                for hits, (lower, upper) in zip(self.counts[option, place], self.bounds[option, place], strict=True):
                    share = probability_text(hits / self.simulations, exact=True)
                    cells.append(f"{share} ({lower:.3f}-{upper:.3f})")
                rows.append(tuple(cells))
        return Table(header, tuple(rows))
