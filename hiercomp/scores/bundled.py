"""The score tables that come with hiercomp, and the covariates of their data sets."""

from __future__ import annotations

import difflib
from importlib import resources
from typing import TYPE_CHECKING

from hiercomp.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("keel",)


def load_scores(name: str = "keel") -> pd.DataFrame:
    """A bundled score table.

    Parameters
    ----------
    name : {"keel"}
        "keel": accuracy of six classifiers on 43 data sets, 10 runs of 10-fold cross-validation;
        the package's ``scores/keel.md`` describes its source.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score; ``attrs`` have the measure and its direction.

    Raises
    ------
    ArgumentError
        If there is no table of that name.

    Examples
    --------
    >>> load_scores("keel").shape
    (25800, 5)
    """
    import pandas as pd

    with resources.files(__package__).joinpath(f"{_known(name)}.csv.gz").open("rb") as stream:
        frame = pd.read_csv(stream, compression="gzip", dtype={"dataset": str, "algorithm": str}, keep_default_na=False)
    frame.attrs = {"measure": "accuracy", "higher_is_better": True}
    return frame


def load_covariates(name: str = "keel") -> pd.DataFrame:
    """The covariates of the data sets of a bundled score table.

    Parameters
    ----------
    name : {"keel"}
        "keel": number of rows, features and classes of the 43 data sets as they were cross-validated, and the share of
        the majority class.

    Returns
    -------
    DataFrame
        Indexed by dataset: rows, features, classes, majority.

    Raises
    ------
    ArgumentError
        If there is no table of that name.

    Examples
    --------
    >>> load_covariates("keel").loc["iris"].to_dict()
    {'rows': 150.0, 'features': 4.0, 'classes': 3.0, 'majority': 0.3333}
    """
    import pandas as pd

    with resources.files(__package__).joinpath(f"{_known(name)}_covariates.csv").open("rb") as stream:
        return pd.read_csv(stream, dtype={"dataset": str}, keep_default_na=False).set_index("dataset")


def _known(name: str) -> str:
    if name not in TABLES:
        close = difflib.get_close_matches(str(name), TABLES, n=1)
        raise ArgumentError(
            f"There is no score table {name!r}.{f' Did you mean {close[0]!r}?' if close else ''} "
            f"The tables are: {', '.join(TABLES)}."
        )
    return name
