"""Whether higher scores are better: as the caller says, as the table says, or as the name of the measure says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiercomp.errors import Argument, HiercompWarning, Note, ScaleWarning, ScoreTableError
from hiercomp.scores.problems import TableProblem, notes_or_error
from hiercomp.wording import shown, shown_value

# Words in the name of a measure. Words of the first kind turn a loss into a gain: the Brier skill score, the gain in entropy
TURNING_WORDS = frozenset("gain skill reduction improvement speedup d2".split())
LOSS_WORDS = frozenset(
    "ber bbrier bpb bpd brier ce cer cost costs crps deviance dfr duration ece eer entropy err error errors false fdr fn "
    "fnr fomr fp fpr graf incorrect intlogloss latency logloss loss mae mape mase maxae mbrier mdae medae medse "
    "misclassification mmce mse msle nll nmae nmse nrmse perplexity pinball rae regret rmse rmsle rmspe rmsse rrse rse "
    "runtime sae schmid smape sse ter time wape wer wmape".split()
)
GAIN_WORDS = frozenset(
    "acc accuracy auc auprc auroc bacc bleu ccc correct exact f1 fbeta fmeasure fscore jaccard kap kappa ktau mcc ndcg npv "
    "ppv prauc precision r2 recall return returns reward rewards roc rouge rsq rsquared sensitivity specificity srho tnr "
    "tpr".split()
)
LOWER, HIGHER = Argument("higher_is_better", False), Argument("higher_is_better", True)
BOTH_SPELLINGS = f"Pass {LOWER} (--lower-is-better) if lower is better, or {HIGHER} (--higher-is-better) if not."


def named_direction(measure: object) -> bool | None:
    """Whether higher is better by the name of a measure: False for a loss, an error or a duration, None if it is unknown.

    Examples
    --------
    >>> named_direction("log_loss"), named_direction("roc_auc"), named_direction("neg_log_loss"), named_direction("score")
    (False, True, True, None)
    """
    plain = str(measure).split(",")[0]
    if re.match(r"(neg_|neg-|negative[ _])", plain):  # scikit-learn reverses the sign of losses
        return True
    words = set(re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain).casefold()))
    if words & TURNING_WORDS:
        return True
    if words & LOSS_WORDS:
        return False
    return True if words & GAIN_WORDS else None


def lower_is_better(measure: object) -> bool:
    """Whether the name of a measure is that of a loss, an error or a duration."""
    return named_direction(measure) is False


@dataclass(frozen=True)
class Direction:
    """Whether higher scores are better, and who says so.

    Attributes
    ----------
    given : bool or None
        What the caller says.
    stated : bool or None
        What the table's attributes say.
    measure : str or None
        The name of the measure, if the table has one.
    """

    given: bool | None = None
    stated: bool | None = None
    measure: str | None = None

    @property
    def named(self) -> bool | None:
        """What the name of the measure says."""
        return None if self.measure is None else named_direction(self.measure)

    @property
    def higher_is_better(self) -> bool:
        """By the caller, else the attributes, else the name; True if nothing says so."""
        said = (answer for answer in (self.given, self.stated, self.named) if answer is not None)
        return next(said, True)

    @property
    def told(self) -> bool:
        """Whether the caller or the table's attributes say so."""
        return self.given is not None or self.stated is not None

    @property
    def known(self) -> bool:
        """Whether the caller, the attributes or the name says so; it is otherwise only assumed."""
        return self.told or self.named is not None

    def problems(self) -> Iterator[TableProblem]:
        """A loss by its name alone, which is refused, and contradictions, which are warned of."""
        places = () if self.measure is None else (self.measure,)
        if not self.told and self.named is False:
            yield TableProblem(
                ScoreTableError,
                f"The scores are called {shown(self.measure)!r}, the name of a loss, an error or a duration, and nothing "
                "says whether lower is better.",
                BOTH_SPELLINGS,
                places,
                "named_loss",
                arguments=(LOWER, HIGHER),
            )
            return
        says_otherwise = [
            source
            for source, answer in ((self._of_table, self.stated), (self._of_name, self.named))
            if answer is not None and answer is not self.higher_is_better
        ]
        if says_otherwise:
            taken = "higher" if self.higher_is_better else "lower"
            by = "the table's attributes say" if self.given is None else "the comparison was told"
            yield TableProblem(
                ScaleWarning,
                f"Scores are compared with {taken} as better, as {by}, but {says_otherwise[0]}.",
                "Check the direction: with the wrong one, every verdict is reversed.",
                places,
                "contradicted_direction",
            )

    def notes(self) -> list[Note]:
        """Contradictions, and that lower is taken as better if only the table's attributes say so.

        Raises
        ------
        ScoreTableError
            If only the name of the measure says that it is a loss.
        """
        notes = notes_or_error(self.problems())
        if self.given is None and self.stated is False:
            text = f"Lower scores are taken as better: {self._of_table}."
            notes.append(Note(HiercompWarning, text, key="stated_direction", quiet=True))
        return notes

    @property
    def _of_table(self) -> str:
        measure = "" if self.measure is None else f" of the measure {shown(self.measure)!r}"
        return f"the table's attributes say that {'higher' if self.stated else 'lower'} values{measure} are better"

    @property
    def _of_name(self) -> str:
        kind = "measure whose higher values are better" if self.named else "loss, an error or a duration"
        return f"{shown(self.measure)!r} is the name of a {kind}"


def attributes_of(table: Any) -> Mapping[str, Any]:
    """The attributes of a pandas frame; none of any other table."""
    found = getattr(table, "attrs", None)
    return found if isinstance(found, Mapping) else {}


def stated_direction(table: Any) -> tuple[bool | None, str | None]:
    """What a table's attributes ``higher_is_better`` and ``measure`` say.

    Raises
    ------
    ScoreTableError
        If ``higher_is_better`` is there and neither True, False nor None.
    """
    attributes = attributes_of(table)
    stated, measure = attributes.get("higher_is_better"), attributes.get("measure")
    if stated is not None and not isinstance(stated, (bool, np.bool_)):
        raise ScoreTableError(
            f"The table's attribute 'higher_is_better' must be True or False, got {shown_value(stated)}.",
            remedy="Correct it: df.attrs['higher_is_better'] = False for losses and errors.",
            key="direction_of_table",
        )
    named = measure if isinstance(measure, str) and measure.strip() else None
    return None if stated is None else bool(stated), named
