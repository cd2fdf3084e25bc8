"""Groups of algorithms in which every two are alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hiercomp.errors import ArgumentError

MOST_GROUPS = 10_000


def maximal_groups(alike: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """The largest groups in which every two are alike: the maximal cliques of a graph, of at least two members.

    Parameters
    ----------
    alike : ndarray of bool, shape (k, k)
        Symmetric; the diagonal does not count.

    Returns
    -------
    list of tuple of int
        Members ascending, groups in the order of their members.

    Raises
    ------
    ArgumentError
        If there are more than 10,000 groups; their number can grow as 3^(k/3).

    References
    ----------
    Bron & Kerbosch, "Algorithm 457: finding all cliques of an undirected graph", Communications of the ACM 16 (1973), with
    the pivot of Tomita, Tanaka & Takahashi (2006).

    Examples
    --------
    >>> maximal_groups(np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], dtype=bool))
    [(0, 1, 2), (2, 3)]
    """
    neighbours = [set(np.flatnonzero(row).tolist()) - {node} for node, row in enumerate(alike)]
    found: list[tuple[int, ...]] = []

    def extend(group: list[int], candidates: set[int], excluded: set[int]) -> None:
        if not candidates and not excluded and len(group) > 1:
            found.append(tuple(sorted(group)))
            if len(found) > MOST_GROUPS:
                raise ArgumentError(
                    f"There are more than {MOST_GROUPS:,} groups of indistinguishable algorithms. Use the table of "
                    "verdicts, or compare fewer algorithms."
                )
        if candidates:
            pivot = max(candidates | excluded, key=lambda node: len(neighbours[node] & candidates))
            for node in sorted(candidates - neighbours[pivot]):
                extend([*group, node], candidates & neighbours[node], excluded & neighbours[node])
                candidates, excluded = candidates - {node}, excluded | {node}

    extend([], set(range(len(alike))), set())
    return sorted(found)
