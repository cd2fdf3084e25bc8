"""Where the parameters of a data set go, such as sample weights: to fit, to the scorer, or to the splitter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hiercomp.errors import ArgumentError
from hiercomp.wording import error_in_words, shown


@dataclass(frozen=True)
class Route:
    """The parameters of a data set that go to each method, for one estimator.

    Attributes
    ----------
    fit, score, split : dict from str to str
        From the name that the method knows to the name among the parameters of the data set.
    """

    fit: Mapping[str, str]
    score: Mapping[str, str]
    split: Mapping[str, str]


def routes(
    dataset: str, names: Iterable[str], estimators: Mapping[str, Any], scorer: Any, splitter: Any
) -> dict[str, Route]:
    """Route parameters as scikit-learn's `cross_validate` does: all to fit, or by requests if they are enabled.

    Parameters
    ----------
    dataset : str
        For messages.
    names : iterable of str
        Of the parameters.
    estimators : mapping from str to estimator
    scorer, splitter : object

    Returns
    -------
    dict from str to Route
        By name of estimator.

    Raises
    ------
    ArgumentError
        If a parameter is requested by nobody, or an estimator that could take it does not say whether it wants it.
    """
    from sklearn import get_config
    from sklearn.exceptions import UnsetMetadataPassedError
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    names = list(names)
    if not names or not get_config()["enable_metadata_routing"]:
        return {name: Route({parameter: parameter for parameter in names}, {}, {}) for name in estimators}
    found = {}
    requested: set[str] = set()
    for name, estimator in estimators.items():
        router = MetadataRouter(owner="cross_validate_all")
        parts = {"splitter": (splitter, "split"), "estimator": (estimator, "fit"), "scorer": (scorer, "score")}
        for part, (value, method) in parts.items():
            router.add(method_mapping=MethodMapping().add(caller="fit", callee=method), **{part: value})
        taken = {}
        for parameter in names:
            try:
                process_routing(router, "fit", **{parameter: parameter})
            except UnsetMetadataPassedError as error:
                text = error_in_words(error).replace("cross_validate_all.fit", "cross_validate_all")
                raise ArgumentError(
                    f"The params of data set {shown(dataset)!r} can't be routed to estimator {shown(name)!r}: {text}."
                ) from error
            except TypeError:  # for another estimator, perhaps
                continue
            taken[parameter] = parameter
        requested |= set(taken)
        routed = process_routing(router, "fit", **taken)
        found[name] = Route(routed.estimator.fit, routed.scorer.score, routed.splitter.split)
    absent = [parameter for parameter in names if parameter not in requested]
    if absent:
        raise ArgumentError(
            f"{shown(absent[0])!r} of the params of data set {shown(dataset)!r} is requested by no estimator, scorer or "
            "splitter."
        )
    return found
