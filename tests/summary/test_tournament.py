"""The headline of a tournament."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from hiercomp.summary.tournament import _conclusion


@pytest.mark.parametrize(
    ("p_best", "text"),
    [
        ((0.6, 0.3, 0.1), "boosting has the best expected rank, 1.50 of 3, and is the best on the next data set with "),
        (
            (0.32, 0.371, 0.309),
            "boosting has the best expected rank, 1.50 of 3; light is more often the best on the next data set, with "
            "probability 0.371 against 0.320.",
        ),
    ],
)
def test_the_likeliest_best_is_named_where_it_is_not_the_first(p_best, text):
    ranks = pd.DataFrame({"expected_rank": [1.5, 1.9, 2.6], "p_best": p_best}, index=["boosting", "light", "nb"])
    ranks.attrs["n_datasets"] = 2
    counts = {"better": 2, "equivalent": 0, "none": 1, "undecided": 0, "failed": 0}
    result = SimpleNamespace(pairs=(1, 2, 3), dataset_names=("one", "two"))
    assert text in _conclusion(result, ranks, counts, 0.05)
    result.dataset_names += ("three",)
    assert "expected rank, 1.50 of 3 (on 2 data sets)" in _conclusion(result, ranks, counts, 0.05)
