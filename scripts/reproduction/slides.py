"""Inza's slides on accuracy and tests: the worked examples."""

from __future__ import annotations

import numpy as np
import pandas as pd

import hiercomp as hc

from .exhibit import Exhibit, Row, Settings

ACCURACIES = pd.DataFrame(
    {
        "nB": [100, 85.34, 90.02, 71.70, 72.67, 79.36, 70.63, 83.21, 98.22, 69.62],
        "SVM": [99.44, 81.34, 91.51, 66.16, 71.67, 77.08, 62.21, 80.63, 93.58, 99.90],
        "AdaBoost": [83.63, 46.46, 72.31, 70.28, 71.67, 74.35, 44.91, 82.54, 93.21, 72.54],
    }
)
NAIVE_BAYES, THREE_NEIGHBOURS = [72.3, 73.4, 71.4, 73.1, 72.3], [70.8, 72.0, 72.4, 71.9, 73.4]
ONLY_FIRST, ONLY_SECOND = 2, 1  # of ten cases, those that one classifier alone gets right


def friedman(settings: Settings) -> list[Row]:
    """Friedman's test and Nemenyi's, ten data sets and three classifiers."""
    test, after = hc.friedman_test(ACCURACIES), hc.nemenyi_test(ACCURACIES).adjusted_pvalue_matrix()
    pairs = (("SVM", "nB", "0.2140"), ("AdaBoost", "nB", "0.0072"), ("AdaBoost", "SVM", "0.3721"))
    return [
        Row.of("Friedman's chi-squared", "9.3846", test.statistic),
        Row.of("its p-value", "0.009166", test.pvalue),
        *(Row.of(f"Nemenyi, {one}-{other}", printed, after.loc[one, other]) for one, other, printed in pairs),
    ]


def two_samples(settings: Settings) -> list[Row]:
    """Formulas of the slides on their ten accuracies; the slides print no result, the figures are by hand.

    The slides have no formula of the corrected t-test. The figure is that of Nadeau & Bengio (2003) for five folds: m over
    the root of (1/5 + 1/4) s^2.
    """
    paired, welch = hc.paired_t_test(NAIVE_BAYES, THREE_NEIGHBOURS), hc.welch_t_test(NAIVE_BAYES, THREE_NEIGHBOURS)
    ranks = hc.mann_whitney(NAIVE_BAYES, THREE_NEIGHBOURS)
    corrected = hc.corrected_t_test(np.subtract(THREE_NEIGHBOURS, NAIVE_BAYES), rho=1 / 5)
    return [
        Row.of("paired t", "-0.6732", paired.statistic),
        Row.of("corrected resampled t", "-0.4488", corrected.statistic),
        Row.of("unpaired t, unequal variances", "-0.7315", welch.statistic),
        Row.of("its p-value", "0.4860", welch.pvalue),
        Row.of("Mann and Whitney's U", "9.5", ranks.statistic),
    ]


def mcnemar(settings: Settings) -> list[Row]:
    """(n12 - n21)^2 / (n12 + n21) of the ten cases."""
    found = hc.mcnemar([[4, ONLY_FIRST], [ONLY_SECOND, 3]], method="chi2")
    return [Row.of("chi-squared", "0.3333", found.statistic)]


SOURCE = "Inza's slides"
EXHIBITS = (
    Exhibit(
        "slides-friedman", SOURCE, "Friedman and Nemenyi", friedman,
        "The sums of ranks 13, 18 and 24 on the slide are a misprint: its columns add up to 13, 20.5 and 26.5, and only "
        "these give its chi-squared.",
    ),
    Exhibit("slides-two-samples", SOURCE, "Paired, corrected and unpaired t, Mann-Whitney", two_samples),
    Exhibit("slides-mcnemar", SOURCE, "McNemar", mcnemar),
)  # fmt: skip
