"""Bayesian networks of a class and ten binary attributes, in place of those of Bouckaert (2003), Table 3.

The paper says of its networks that they were randomly generated, and how accurate naive Bayes and C4.5 are on them. Ours are
random too: of some hundred thousand, the three are taken on which our two learners come closest to these accuracies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FLOATS = npt.NDArray[np.float64]
ATTRIBUTES = 10
KINDS = (np.arange(2**ATTRIBUTES)[:, None] >> np.arange(ATTRIBUTES)) & 1  # every case there can be, one a row
NETWORKS = {2: 5555, 3: 204349, 4: 183179}  # their seeds, by the number of the paper's set


def network(seed: int) -> FLOATS:
    """Probabilities of the two classes (rows) with each of the cases in `KINDS` (columns).

    Classes are equally probable. The parents of an attribute are the class and a random number of the attributes before it,
    at most 0 to 3. The odds of its conditional probabilities are those of uniform ones to a power from 0.5 to 4.
    """
    generator = np.random.default_rng(seed)
    sharpness = 0.5 + 3.5 * generator.random()
    most_parents = int(4 * generator.random())
    joint = np.full((2, 2**ATTRIBUTES), 0.5)
    for attribute in range(ATTRIBUTES):
        count = min(attribute, int((most_parents + 1) * generator.random()))
        parents = np.argsort(generator.random(attribute))[:count]
        odds = generator.random((2, 2**count))
        odds = (odds / (1 - odds)) ** sharpness
        of_parents = (KINDS[:, parents] << np.arange(count)).sum(axis=1)
        one = (odds / (1 + odds))[:, of_parents]
        joint *= np.where(KINDS[:, attribute] == 1, one, 1 - one)
    return joint


def sample(generator: np.random.Generator, joint: FLOATS, cases: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Attributes and classes of random cases."""
    ends = joint.ravel().cumsum()
    drawn = np.searchsorted(ends, ends[-1] * generator.random(cases), side="right")
    return KINDS[drawn % joint.shape[1]], drawn // joint.shape[1]
