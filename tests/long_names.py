"""Names of any length, for what has to be drawn and laid out with them."""

from __future__ import annotations

from dataclasses import replace

import hiercomp as hc


def long(name: str, letters: int) -> str:
    """A name of so many letters, in words that can be broken, different for different names."""
    return name[:letters] if letters < 10 else f"{name}_gradient_boosted_decision_forests_with_words"[:letters]


def named(result: hc.ComparisonResult, letters: int) -> hc.ComparisonResult:
    """The same result under names of so many letters."""
    given = result.differences
    names = tuple(long(f"d{place:03}", letters) for place in range(len(given.dataset_names)))
    left, right = long("baye", letters), long("tree", letters)
    given = replace(given, left=left, right=right, dataset_names=names, scores=None)
    return replace(result, differences=given, posterior=replace(result.posterior, differences=given))
