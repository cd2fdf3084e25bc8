"""Pruned decision trees of binary attributes and two classes, grown for many training sets at once.

Every tree is the one that scikit-learn's ``DecisionTreeClassifier`` grows with ``criterion="entropy"`` and
``random_state=0`` and prunes by cost and complexity: equally good attributes are tried in the same random order, and the
entropies have the same rounding errors. It may be pruned by the pessimistic errors of C4.5 instead. Sets of cases are the
bits of whole numbers, so one instruction counts 64 cases, and each step splits one node of every tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray

WORD = 64  # bits
MOST_TREES, MOST_WORDS = 1000, 2**23  # that grow together: memory, and what fits the processor's cache
FIRST_NUMBERS = 1024  # random ones; more are drawn when a tree needs them
LARGEST = 2**31 - 1  # number of scikit-learn's generator
CONFIDENCE, Z, MARGIN = 0.25, 0.6744897501960817, 0.1  # of C4.5: level, its normal quantile, what a subtree must save
EPSILON = np.finfo(np.float64).eps
WHOLE = NDArray[np.int64]
FLAGS = NDArray[np.bool_]
SETS = NDArray[np.uint64]  # words first, trees last


@dataclass(frozen=True)
class _Data:
    """What the trees of a data set share, and the training cases of each."""

    attributes: SETS  # (words, attributes, 1)
    second: SETS  # (words, 1)
    training: SETS  # (words, trees)
    sizes: FloatArray  # (trees,)
    smallest_leaf: int
    pruning: float | None


@dataclass(frozen=True)
class _Nodes:
    """The nodes that were tried to split, shape (step, tree) or (step, words, tree) or (step, side, tree).

    A side without a child is a leaf.
    """

    cases: SETS
    attribute: WHOLE
    is_split: FLAGS
    size: WHOLE
    of_second: WHOLE
    child: WHOLE  # the step of its own split; 0 is none
    side_size: WHOLE
    side_second: WHOLE
    steps: int


def tree_predictions(
    values: NDArray[Any], classes: NDArray[Any], test: FLAGS, *, smallest_leaf: int, pruning: float | None
) -> WHOLE:
    """Predictions of a pruned tree for all cases, trained on the training cases of each split.

    Parameters
    ----------
    values : ndarray, shape (cases, attributes)
        Zeros and ones.
    classes : ndarray, shape (cases,)
        Zeros and ones.
    test : ndarray of bool, shape (splits, cases)
        The cases on which a split does not train.
    smallest_leaf : int
        Training cases in a leaf, at least.
    pruning : float or None
        What a leaf costs, in bits: ``ccp_alpha``. None prunes by the pessimistic errors of C4.5 (Quinlan 1993), release 8,
        with a confidence of 0.25, but raises no subtree.

    Returns
    -------
    ndarray of int, shape (splits, cases)

    Examples
    --------
    >>> values, classes = np.array([[0], [0], [1], [1], [1]]), np.array([0, 0, 1, 1, 0])
    >>> test = np.array([[False, False, False, False, True]])
    >>> tree_predictions(values, classes, test, smallest_leaf=2, pruning=0.01).tolist()
    [[0, 0, 1, 1, 1]]
    """
    cases, attributes = values.shape
    of_attributes, second = _sets(values.T == 1)[..., None], _sets(classes[None] == 1)
    most_nodes = min(cases, 2 ** (attributes + 1))
    together = max(1, min(MOST_TREES, MOST_WORDS // (most_nodes * len(second))))
    found = []
    for first in range(0, len(test), together):
        training = ~test[first : first + together]
        data = _Data(of_attributes, second, _sets(training), training.sum(axis=1).astype(float), smallest_leaf, pruning)
        found.append(_members(_pruned(data, _grown(data, most_nodes)), cases))
    return np.concatenate(found).astype(np.int64)


def _grown(data: _Data, most_nodes: int) -> _Nodes:
    """Split every node that can be split, left sides first."""
    words, attributes, _ = data.attributes.shape
    total = data.training.shape[1]
    entropy, weighted = _entropies(int(data.sizes.max()) + 1)
    width = len(entropy)
    entropy, weighted = entropy.ravel(), weighted.ravel()
    nodes = _empty_nodes(most_nodes, words, total)
    trees = np.arange(total)
    training, sizes = data.training, data.sizes
    order = _Order.of(attributes, total)
    # Nodes that wait, of each tree: cases, the step and side of the parent, and the attributes known to be constant
    pending = np.empty((attributes + 2, words, total), dtype=np.uint64)
    parent, side, constants = np.full((3, attributes + 2, total), -1, dtype=np.int64)
    pending[0], side[0], constants[0] = ~np.uint64(0), 0, 0
    waiting = _can_split(*_counts(data, training), data.smallest_leaf).astype(np.int64)
    step = 0
    while waiting.any():
        alive = waiting > 0
        if alive.mean() < 0.9:
            trees, waiting, training, sizes = trees[alive], waiting[alive], training[:, alive], sizes[alive]
            pending, parent = pending[..., alive], parent[:, alive]
            side, constants, order = side[:, alive], constants[:, alive], order.of_trees(alive)
            alive = np.ones(len(trees), dtype=bool)
        here = np.arange(len(trees))
        top = np.maximum(waiting - 1, 0)
        cases = pending[top, :, here].T
        known = constants[top, here]
        nodes.child[np.where(alive, parent[top, here], -1), side[top, here], trees] = step  # the last row is nobody's
        among = cases & training
        size, of_second = _counts(data, among)
        right = np.bitwise_count(among[:, None] & data.attributes).sum(axis=0, dtype=np.int64)
        right_second = np.bitwise_count((among & data.second)[:, None] & data.attributes).sum(axis=0, dtype=np.int64)
        left, left_second = size - right, of_second - right_second
        gain = -weighted[right * width + right_second] - weighted[left * width + left_second]
        gain[np.minimum(left, right) < data.smallest_leaf] = -np.inf
        constant = (left == 0) | (right == 0)
        attribute, best, known = order.best(gain, constant, known)
        right, right_second = right[attribute, here], right_second[attribute, here]
        left, left_second = left[attribute, here], left_second[attribute, here]
        whole = size.clip(1).astype(float)
        improvement = (whole / sizes) * (
            entropy[size * width + of_second]
            - right / whole * entropy[right * width + right_second]
            - left / whole * entropy[left * width + left_second]
        )
        is_split = alive & np.isfinite(best) & (improvement + EPSILON >= 0)
        nodes.cases[step][:, trees] = cases
        nodes.attribute[step, trees], nodes.is_split[step, trees] = attribute, is_split
        nodes.size[step, trees], nodes.of_second[step, trees] = size, of_second
        nodes.side_size[step][:, trees] = left, right
        nodes.side_second[step][:, trees] = left_second, right_second
        waiting = top
        chosen = data.attributes[:, attribute, 0]
        for number, part, n, k in ((1, cases & chosen, right, right_second), (0, cases & ~chosen, left, left_second)):
            more = np.flatnonzero(is_split & _can_split(n, k, data.smallest_leaf))
            place = waiting[more]
            pending[place, :, more] = part[:, more].T
            parent[place, more], side[place, more], constants[place, more] = step, number, known[more]
            waiting[more] += 1
        step += 1
    return replace(nodes, steps=step)


def _pruned(data: _Data, nodes: _Nodes) -> SETS:
    """The cases that each pruned tree predicts to be of the second class.

    A subtree is kept only where it costs less than a leaf.
    """
    largest = int(data.sizes.max()) + 1
    weighted, pessimistic = _entropies(largest)[1], _pessimistic_errors(largest)
    margin = 0.0 if data.pruning is not None else MARGIN

    def cost(size: WHOLE, of_second: WHOLE) -> FloatArray:
        if data.pruning is None:
            return np.asarray(pessimistic[size, of_second])
        return np.asarray(weighted[size, of_second] / data.sizes + data.pruning)

    words, total = data.training.shape
    trees = np.arange(total)
    costs = np.empty((nodes.steps + 1, total))
    predicted = np.empty((nodes.steps + 1, words, total), dtype=np.uint64)
    for step in range(nodes.steps - 1, -1, -1):
        cases, chosen = nodes.cases[step], data.attributes[:, nodes.attribute[step], 0]
        below, among = np.zeros(total), np.zeros((words, total), dtype=np.uint64)
        for number, part in ((0, cases & ~chosen), (1, cases & chosen)):
            child, size = nodes.child[step, number], nodes.side_size[step, number]
            of_second, leaf = nodes.side_second[step, number], child == 0
            below += np.where(leaf, cost(size, of_second), costs[child, trees])
            as_leaf = np.where(2 * of_second > size, part, np.uint64(0))
            among |= np.where(leaf, as_leaf, predicted[child, :, trees].T)
        size, of_second = nodes.size[step], nodes.of_second[step]
        as_leaf_costs = cost(size, of_second)
        kept = nodes.is_split[step] & (below + margin < as_leaf_costs)
        costs[step] = np.where(kept, below, as_leaf_costs)
        predicted[step] = np.where(kept, among, np.where(2 * of_second > size, cases, np.uint64(0)))
    size, of_second = _counts(data, data.training)
    as_leaf = np.where(2 * of_second > size, ~np.uint64(0), np.uint64(0))
    if nodes.steps == 0:
        return np.broadcast_to(as_leaf, (words, total))
    return np.where(_can_split(size, of_second, data.smallest_leaf), predicted[0], as_leaf)


@dataclass
class _Order:
    """In which order attributes are tried: scikit-learn's shuffle, which goes on from node to node of a tree.

    Attributes known to be constant stand first; ``known`` keeps their order.
    """

    attributes: WHOLE  # (attributes, trees)
    known: WHOLE
    drawn: WHOLE  # random numbers used
    numbers: WHOLE

    @classmethod
    def of(cls, attributes: int, trees: int) -> _Order:
        """Before the first node."""
        start = np.tile(np.arange(attributes)[:, None], trees)
        return cls(start, np.zeros_like(start), np.zeros(trees, dtype=np.int64), _random_numbers(FIRST_NUMBERS))

    def of_trees(self, chosen: FLAGS) -> _Order:
        """Of some trees."""
        return _Order(self.attributes[:, chosen], self.known[:, chosen], self.drawn[chosen], self.numbers)

    def best(self, gain: FloatArray, constant: FLAGS, known: WHOLE) -> tuple[WHOLE, FloatArray, WHOLE]:
        """The first attribute of the largest gain, that gain, and how many attributes are now known to be constant."""
        attributes, trees = gain.shape
        here = np.arange(trees)
        order, gain, constant = self.attributes.flatten(), gain.ravel(), constant.ravel()
        end, drawn_constants, found = np.full(trees, attributes), np.zeros(trees, np.int64), np.zeros(trees, np.int64)
        best, attribute = np.full(trees, -np.inf), np.zeros(trees, dtype=np.int64)
        if self.drawn.max() + attributes >= len(self.numbers):
            self.numbers = _random_numbers(2 * len(self.numbers))
        for _ in range(attributes):
            first = known + found
            active = end > first
            span = np.maximum(end - found - drawn_constants, 1)
            place = drawn_constants + self.numbers[self.drawn] % span
            self.drawn += active
            is_new = place >= known
            place += found * is_new
            source = place * trees + here
            one = order[source]
            flat = one * trees + here
            is_constant = constant[flat]
            is_found = active & is_new & is_constant
            is_tried = active & is_new & ~is_constant
            end -= is_tried
            target = np.where(is_new, np.where(is_constant, first, end), drawn_constants)
            target = np.where(active, target, place) * trees + here
            order[source], order[target] = order[target], one
            drawn_constants += active & ~is_new
            found += is_found
            value = gain[flat]
            better = is_tried & (value > best)
            best, attribute = np.where(better, value, best), np.where(better, one, attribute)
        places = np.arange(attributes)[:, None]
        self.attributes = np.where(places < known, self.known, order.reshape(attributes, trees))
        self.known = np.where((places >= known) & (places < known + found), self.attributes, self.known)
        return attribute, best, known + found


@lru_cache(maxsize=8)
def _random_numbers(count: int) -> WHOLE:
    """What scikit-learn's generator draws for ``random_state=0``: Marsaglia's xorshift of 32 bits."""
    state, numbers = int(np.random.RandomState(0).randint(0, LARGEST)), []
    for _ in range(count):
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        numbers.append(state % (LARGEST + 1))
    return np.array(numbers)


@lru_cache(maxsize=8)
def _entropies(sizes: int) -> tuple[FloatArray, FloatArray]:
    """In bits, of a node of each size with each number of the second class; and the same times the size."""
    entropy = np.zeros((sizes, sizes))
    for size in range(1, sizes):
        for of_second in range(1, size):
            for count in (size - of_second, of_second):
                share = count / size
                entropy[size, of_second] -= share * (log(share) / log(2.0))
    return entropy, np.arange(sizes)[:, None] * entropy


@lru_cache(maxsize=8)
def _pessimistic_errors(sizes: int) -> FloatArray:
    """Errors that C4.5 expects of a leaf of each size with each number of the second class, on other cases."""
    size = np.arange(sizes, dtype=float)[:, None].clip(1)
    errors = np.minimum(np.arange(sizes), size - np.arange(sizes)).clip(0)
    without = size * (1 - CONFIDENCE ** (1 / size))  # of a leaf without errors
    share = (errors + 0.5) / size
    root = np.sqrt((share / size - share**2 / size + Z**2 / (4 * size**2)).clip(0))
    upper = (share + Z**2 / (2 * size) + Z * root) / (1 + Z**2 / size)
    return np.where(errors == 0, without, np.where(errors + 0.5 >= size, size, upper * size))


def _empty_nodes(steps: int, words: int, trees: int) -> _Nodes:
    def whole(*shape: int) -> WHOLE:
        return np.zeros(shape, dtype=np.int64)

    return _Nodes(
        cases=np.zeros((steps, words, trees), dtype=np.uint64),
        attribute=whole(steps, trees),
        is_split=np.zeros((steps, trees), dtype=bool),
        size=whole(steps, trees),
        of_second=whole(steps, trees),
        child=whole(steps + 1, 2, trees),
        side_size=whole(steps, 2, trees),
        side_second=whole(steps, 2, trees),
        steps=0,
    )


def _counts(data: _Data, cases: SETS) -> tuple[WHOLE, WHOLE]:
    """The size of each set, and its cases of the second class."""
    of_second = cases & data.second
    return (
        np.bitwise_count(cases).sum(axis=0, dtype=np.int64),
        np.bitwise_count(of_second).sum(axis=0, dtype=np.int64),
    )


def _can_split(size: WHOLE, of_second: WHOLE, smallest_leaf: int) -> FLAGS:
    """Whether a node has cases of both classes, and enough for two leaves."""
    return np.asarray((size >= max(2, 2 * smallest_leaf)) & (of_second > 0) & (of_second < size))


def _sets(members: FLAGS) -> SETS:
    """Sets from flags: of shape (sets, cases), to (words, sets)."""
    sets, cases = members.shape
    padded = np.zeros((sets, -(-cases // WORD) * WORD), dtype=bool)
    padded[:, :cases] = members
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little").view(np.uint64).T)


def _members(sets: SETS, cases: int) -> FLAGS:
    """The flags of sets, the reverse of `_sets`."""
    flags = np.unpackbits(np.ascontiguousarray(sets.T).view(np.uint8), axis=1, bitorder="little")
    return np.asarray(flags[:, :cases], dtype=bool)
