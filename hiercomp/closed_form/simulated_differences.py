"""Generative models for experiments with tests, each a pure function of a NumPy generator.

From the papers are the data without anything to learn of Bouckaert (2003), the equally correlated differences of the
correlated t-test, and two pairs of classifiers whose true difference of accuracy is known: that of Corani & Benavoli (2015)
and that of Corani et al. (2017). One more is our variation of Table 3 of Corani & Benavoli.

Differences are right minus left: positive if the right algorithm is better.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, finite_number, number_between, refuse_without, true_or_false, whole_number
from hiercomp.closed_form.pruned_trees import tree_predictions
from hiercomp.errors import ArgumentError
from hiercomp.scores.rho import checked_rho

# In bits. On training sets of 270 random cases it leaves 30.5 leaves on average; C4.5's pessimistic pruning at its default
# confidence of 0.25 leaves 29.3 of the same trees (tests/closed_form/test_simulated_differences.py compares them).
PRUNING = 0.0075
SMALLEST_LEAF = 2  # cases, C4.5's default
FEW_TREES, MANY_CASES = 50, 1000  # with which scikit-learn's trees, grown one by one, take less time

SMALLEST_MEAN, LARGEST_MEAN = 0.01, 0.03  # of `unequal_uncertainty_design`, in accuracy
SURE, UNSURE = 0.02, 0.10  # its two standard deviations


def random_attributes_differences(
    generator: np.random.Generator,
    runs: int = 10,
    folds: int = 10,
    *,
    instances: int = 300,
    attributes: int = 10,
    class_probability: float = 0.5,
    hold_out: bool = False,
    test_share: float | None = None,
) -> FloatArray:
    """Differences of accuracy, decision tree minus naive Bayes, on a data set with nothing to learn.

    Attributes are binary and independent of one another and of the class. If the classes are equally probable, both
    learners have the same expected accuracy on new cases whatever they do, and a test that rejects is wrong. (In stratified
    folds the more frequent class of the sample is more frequent in the test cases too, which favours naive Bayes by 0.004:
    a tenth of the standard deviation of the mean of 10 folds.) This is the design on which Bouckaert calibrates (his Set
    1). With other class probabilities it is that of his Table 2, but then the learner that predicts the more frequent class
    more often is better: here naive Bayes. In the paper C4.5's pruning leaves next to nothing of its tree. That an
    attribute's values are equally probable is our assumption.

    Parameters
    ----------
    generator : numpy.random.Generator
    runs, folds : int
        Runs of stratified cross-validation, at least 1, and the folds of each, at least 2 (at least 1 with ``test_share``).
    instances, attributes : int
        Size of the data set; at least two cases for each fold.
    class_probability : float
        Probability of the second class, between 0 and 1.
    hold_out : bool
        True: every cell is a separate random split (repeated hold-out), stratified too.
    test_share : float, optional
        Share of the test cases in each random split, between 0 and 1; None is 1/folds.

    Returns
    -------
    ndarray, shape (runs, folds)

    Raises
    ------
    ArgumentError
        If an argument is invalid, or scikit-learn is not installed.

    Notes
    -----
    The paper compares WEKA's naive Bayes with its C4.5. Naive Bayes here is scikit-learn's ``BernoulliNB`` with Laplace
    counts of 1, computed for all splits at once; WEKA's uses Laplace counts for the class frequencies too. The tree is
    scikit-learn's ``DecisionTreeClassifier`` with entropy and at least 2 cases in a leaf, as in C4.5; it chooses splits
    by gain instead of gain ratio, and prunes by cost and complexity instead of C4.5's pessimistic errors and subtree
    raising, to about as many leaves.

    References
    ----------
    Bouckaert, "Choosing between two learning algorithms based on calibrated tests", ICML 2003, Sect. 4.

    Examples
    --------
    >>> x = random_attributes_differences(np.random.default_rng(0), 1, 5, instances=50)
    >>> x.shape, bool(np.abs(x).max() <= 1)
    ((1, 5), True)
    """
    data = random_attributes_splits(
        generator,
        runs,
        folds,
        instances=instances,
        attributes=attributes,
        class_probability=class_probability,
        hold_out=hold_out,
        test_share=test_share,
    )
    return learner_differences(*data).reshape(runs, folds)


def random_attributes_splits(
    generator: np.random.Generator,
    runs: int = 10,
    folds: int = 10,
    *,
    instances: int = 300,
    attributes: int = 10,
    class_probability: float = 0.5,
    hold_out: bool = False,
    test_share: float | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]:
    """The data set and the splits of `random_attributes_differences`, which explains the parameters.

    The splits of the first runs are the same however many runs follow.

    Returns
    -------
    values : ndarray, shape (instances, attributes)
    classes : ndarray, shape (instances,)
    test : ndarray of bool, shape (runs * folds, instances)
        The test cases of each split.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """
    _check_generator(generator)
    true_or_false("hold_out", hold_out)
    if test_share is not None and not hold_out:
        raise ArgumentError(
            "test_share belongs to hold_out=True; the folds of a cross-validation have a share of 1/folds."
        )
    runs, folds = whole_number("runs", runs, 1), whole_number("folds", folds, 2 if test_share is None else 1)
    instances, attributes = whole_number("instances", instances, 2 * folds), whole_number("attributes", attributes, 1)
    class_probability = number_between("class_probability", class_probability, 0, 1)
    share = Fraction(1, folds)
    if test_share is not None:
        share = Fraction(number_between("test_share", test_share, 0, 1)).limit_denominator(instances)
        if not 2 <= share * instances <= instances - 2:
            raise ArgumentError(
                f"test_share must leave 2 of {instances} cases or more on each side, got {test_share:g}."
            )
    values = (generator.random((instances, attributes)) < 0.5).astype(np.float32)
    classes = (generator.random(instances) < class_probability).astype(np.int64)
    if hold_out:
        parts = (stratified_folds(generator, classes, share.denominator) for _ in range(runs * folds))
        test = np.stack([part < share.numerator for part in parts])
    else:
        numbers = np.arange(folds)[:, None]
        test = np.concatenate([stratified_folds(generator, classes, folds) == numbers for _ in range(runs)])
    return values, classes, test


def learner_differences(
    values: NDArray[Any], classes: NDArray[Any], test: NDArray[np.bool_], *, pruning: float | None = PRUNING
) -> FloatArray:
    """Differences of accuracy, decision tree minus naive Bayes, on the test cases of each split.

    Parameters
    ----------
    values, classes, test : ndarray
        As `random_attributes_splits` returns them.
    pruning : float or None
        What a leaf costs, in bits; None prunes by the pessimistic errors of C4.5.

    Returns
    -------
    ndarray, shape (splits,)
    """
    tree = _tree_predictions(values, classes, test, pruning) == classes
    bayes = naive_bayes_predictions(values, classes, test) == classes
    # One division: equal differences are equal floats
    return np.asarray(((tree & test).sum(axis=1) - (bayes & test).sum(axis=1)) / test.sum(axis=1))


def network_differences(
    generator: np.random.Generator, runs: int = 10, folds: int = 10, *, instances: int = 500, theta: float = 0.5
) -> FloatArray:
    """Differences of accuracy, the network C -> F minus the most frequent class, on one simulated data set.

    Class and feature are binary. With enough instances the network's accuracy is the larger of ``theta`` and 1 - ``theta``,
    and that of the most frequent class 1/2, so the true difference is ``abs(theta - 1 / 2)``.

    Parameters
    ----------
    generator : numpy.random.Generator
    runs, folds : int
        Runs of cross-validation, at least 1, and the folds of each, at least 2. Folds are not stratified.
    instances : int
        Size of the data set; at least two cases for each fold.
    theta : float
        Probability that the feature equals the class, from 0 to 1.

    Returns
    -------
    ndarray, shape (runs, folds)

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    Notes
    -----
    P(c0) = 1/2 and P(f0 | c0) = 1 - P(f0 | c1) = theta. With its parameters counted from the training cases the network
    predicts the class that is more frequent among those with the same feature. Ties are random.

    References
    ----------
    Corani & Benavoli, Machine Learning 100 (2015), Sect. 4.

    Examples
    --------
    >>> x = network_differences(np.random.default_rng(0), 2, 10, instances=1000, theta=0.9)
    >>> x.shape, bool(x.mean() > 0.3)
    ((2, 10), True)
    """
    runs, folds, instances = _checked_layout(generator, runs, folds, instances)
    theta = _share("theta", theta)
    classes = generator.random(instances) < 0.5
    feature = (generator.random(instances) < theta) == classes
    kinds = np.tile(2 * feature + classes, (runs, 1)).astype(np.int64)
    kinds = generator.permuted(kinds, axis=1)
    counts = _counts(kinds, np.arange(instances) * folds // instances, folds, 4).reshape(runs, folds, 2, 2)
    network = _right_predictions(generator, counts)
    of_class = counts.sum(axis=2)
    majority = _right_predictions(generator, of_class[:, :, None])
    return np.asarray((network - majority) / of_class.sum(axis=2), dtype=np.float64)


def two_features_differences(
    generator: np.random.Generator,
    runs: int = 10,
    folds: int = 10,
    *,
    instances: int = 500,
    theta: float = 0.9,
    difference: float = 0.0,
) -> FloatArray:
    """Differences of accuracy of two naive Bayes classifiers, each with a feature of its own, on one simulated data set.

    The true difference is ``difference``, as long as ``theta - difference`` is above 1/2: below, the left classifier learns
    to predict the opposite of its feature.

    Parameters
    ----------
    generator : numpy.random.Generator
    runs, folds : int
        Runs of stratified cross-validation, at least 1, and the folds of each, at least 2.
    instances : int
        Size of the data set; at least two cases for each fold.
    theta : float
        Probability that the right classifier's feature equals the class, from 0 to 1.
    difference : float
        By how much this probability is smaller for the left classifier's feature. Both must lie in [0, 1].

    Returns
    -------
    ndarray, shape (runs, folds)

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    Notes
    -----
    Class and features are binary, the classes equally probable, and the features independent given the class. Each
    classifier predicts the class that is more frequent among the training cases with the same value of its feature; ties
    are random. The mean of the differences has a variance of about 2 theta (1 - theta) / instances, and cross-validation
    makes it no smaller, because both classifiers predict the same in every fold.

    The text of the paper refers to an appendix. The design is that of the program that its authors published for Sect. 4
    (github.com/BayesianTestsML/tutorial, hierarchical/cv_nbc.R), and so are the defaults.

    References
    ----------
    Corani et al., Machine Learning 106 (2017), Sect. 4.1 to 4.4.

    Examples
    --------
    >>> x = two_features_differences(np.random.default_rng(0), 2, 10, instances=5000, difference=0.1)
    >>> x.shape, round(float(x.mean()), 2)
    ((2, 10), 0.1)
    """
    runs, folds, instances = _checked_layout(generator, runs, folds, instances)
    theta, difference = _share("theta", theta), finite_number("difference", difference)
    if not 0 <= theta - difference <= 1:
        raise ArgumentError(
            f"theta - difference must be at least 0 and at most 1, got {theta:g} - {difference:g} = {theta - difference:g}."
        )
    classes = generator.random(instances) < 0.5
    # Feature 0 is the left classifier's
    features = [(generator.random(instances) < share) == classes for share in (theta - difference, theta)]
    kinds = (4 * features[0] + 2 * features[1] + classes).astype(np.int64)
    # Dealt out in turn after sorting by class
    parts = [generator.permuted(np.tile(kinds[classes == one], (runs, 1)), axis=1) for one in (False, True)]
    counts = _counts(np.concatenate(parts, axis=1), np.arange(instances) % folds, folds, 8)
    counts = counts.reshape(runs, folds, 2, 2, 2)  # run, fold, left feature, right feature, class
    left, right = (_right_predictions(generator, counts.sum(axis=axis)) for axis in (3, 2))
    return np.asarray((right - left) / counts.sum(axis=(2, 3, 4)), dtype=np.float64)


def _counts(kinds: NDArray[np.int64], fold_of: NDArray[np.int64], folds: int, n_kinds: int) -> NDArray[np.int64]:
    """How many cases of each kind are in each fold, shape (runs, folds, kinds); the place of a case gives its fold."""
    runs = len(kinds)
    places = (np.arange(runs)[:, None] * folds + fold_of) * n_kinds + kinds
    counts = np.bincount(places.ravel(), minlength=runs * folds * n_kinds)
    return counts.reshape(runs, folds, n_kinds)


def _right_predictions(generator: np.random.Generator, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Test cases of each fold that are predicted right, by the more frequent class of the training cases alike.

    Parameters
    ----------
    generator : numpy.random.Generator
    counts : ndarray, shape (runs, folds, features, classes)
        Cases in each fold.

    Returns
    -------
    ndarray, shape (runs, folds)
    """
    training = counts.sum(axis=1, keepdims=True) - counts
    random = generator.random(training.shape[:-1]) < 0.5
    first, second = training[..., 0], training[..., 1]
    predicted = np.where(first == second, random, second > first).astype(np.int64)
    return np.asarray(np.take_along_axis(counts, predicted[..., None], axis=3)[..., 0].sum(axis=2))


def _checked_layout(generator: object, runs: int, folds: int, instances: int) -> tuple[int, int, int]:
    _check_generator(generator)
    runs, folds = whole_number("runs", runs, 1), whole_number("folds", folds, 2)
    return runs, folds, whole_number("instances", instances, 2 * folds)


def _share(name: str, value: float) -> float:
    value = finite_number(name, value)
    if not 0 <= value <= 1:
        raise ArgumentError(f"{name} must be at least 0 and at most 1, got {value:g}.")
    return value


def equal_correlation_differences(
    generator: np.random.Generator,
    n_datasets: int,
    n: int,
    rho: float,
    *,
    mean: float = 0.0,
    standard_deviation: float = 1.0,
) -> FloatArray:
    """Normal differences; any two of a data set have correlation rho, as the correlated t-test assumes.

    Parameters
    ----------
    generator : numpy.random.Generator
    n_datasets, n : int
        Number of data sets, and of differences of each.
    rho : float
        Correlation, in [0, 1).
    mean, standard_deviation : float
        Of each difference.

    Returns
    -------
    ndarray, shape (n_datasets, n)

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    Notes
    -----
    x_j = mean + standard_deviation (sqrt(rho) z_0 + sqrt(1 - rho) z_j), with independent standard normal z.

    References
    ----------
    Corani & Benavoli, Machine Learning 100 (2015), Sect. 2.3; Nadeau & Bengio, Machine Learning 52 (2003).

    Examples
    --------
    >>> equal_correlation_differences(np.random.default_rng(0), 3, 100, 0.1).shape
    (3, 100)
    """
    _check_generator(generator)
    n_datasets, n = whole_number("n_datasets", n_datasets, 1), whole_number("n", n, 1)
    rho = checked_rho(rho)
    mean, standard_deviation = finite_number("mean", mean), finite_number("standard_deviation", standard_deviation)
    if standard_deviation < 0:
        raise ArgumentError(f"standard_deviation must be at least 0, got {standard_deviation:g}.")
    shared = generator.standard_normal((n_datasets, 1))
    own = generator.standard_normal((n_datasets, n))
    return np.asarray(mean + standard_deviation * (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own))


def unequal_uncertainty_differences(
    generator: np.random.Generator, case: int, *, n_datasets: int = 20, n: int = 100, rho: float = 0.1
) -> FloatArray:
    """Differences of data sets with unequal uncertainty: two cases that only a weighted test can distinguish.

    In both cases half of the data sets have a positive and half a negative mean difference, of the same sizes. In case 1
    the positive ones have the small standard deviation and the negative ones the large one; in case 2 it is the other
    way round. The probability that the right algorithm is better on more than half of the data sets (the
    Poisson-binomial test) is therefore mostly above one half in case 1 and below in case 2.

    Parameters
    ----------
    generator : numpy.random.Generator
    case : {1, 2}
    n_datasets : int
        An even number; the first half has the positive means.
    n : int
        Differences of each data set.
    rho : float
        Correlation between two differences of a data set, in [0, 1).

    Returns
    -------
    ndarray, shape (n_datasets, n)

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    Notes
    -----
    This is the example of the paper's Table 3 with other values. There ten data sets have ten uncorrelated differences
    each, the means are 0.1 on five of them and -0.1 on the other five, and the standard deviation is 0.05 on all in
    case 1, and in case 2 0.15 if the mean is negative. Here the means are smaller and differ in size, the differences
    are correlated, and both cases have unequal uncertainty, so one mirrors the other.

    Means and standard deviations are those of `unequal_uncertainty_design`. Case 2 is case 1 with the sign of every
    difference reversed, up to the order of the data sets. The observed means of case 2 are distributed like those of
    case 1 with reversed signs; a test of the means that is two-sided and symmetrical, such as Wilcoxon's signed-rank
    test, has the same distribution of p in both cases. One-sided p-values do not.

    References
    ----------
    Corani & Benavoli, Machine Learning 100 (2015), Sect. 3.2 and Table 3.

    Examples
    --------
    >>> x = unequal_uncertainty_differences(np.random.default_rng(0), 1, n_datasets=4)
    >>> x.shape, (x.std(axis=1) < 0.05).tolist()
    ((4, 100), [True, True, False, False])
    """
    means, standard_deviations = unequal_uncertainty_design(case, n_datasets)
    noise = equal_correlation_differences(generator, n_datasets, n, rho)
    return np.asarray(means[:, None] + standard_deviations[:, None] * noise)


def unequal_uncertainty_design(case: int, n_datasets: int = 20) -> tuple[FloatArray, FloatArray]:
    """Mean differences and standard deviations of `unequal_uncertainty_differences`.

    Parameters
    ----------
    case : {1, 2}
    n_datasets : int
        An even number.

    Returns
    -------
    tuple of ndarray of shape (n_datasets,)
        Means: sizes evenly spaced from 0.01 to 0.03, first positive, then negative. Standard deviations: 0.02 (sure) and
        0.10 (unsure); with 100 differences and rho = 0.1 the standard errors of the means are 0.0066 and 0.033.

    Raises
    ------
    ArgumentError
        If the case is not 1 or 2, or the number of data sets is not even.

    Examples
    --------
    >>> means, standard_deviations = unequal_uncertainty_design(2, n_datasets=4)
    >>> means.tolist(), standard_deviations.tolist()
    ([0.01, 0.03, -0.01, -0.03], [0.1, 0.1, 0.02, 0.02])
    """
    case, n_datasets = whole_number("case", case, 1, 2), whole_number("n_datasets", n_datasets, 2)
    if n_datasets % 2:
        raise ArgumentError(f"n_datasets must be an even number, half with a positive mean each, got {n_datasets}.")
    sizes = np.linspace(SMALLEST_MEAN, LARGEST_MEAN, n_datasets // 2)
    of_positive, of_negative = (SURE, UNSURE) if case == 1 else (UNSURE, SURE)
    return np.concatenate([sizes, -sizes]), np.repeat([of_positive, of_negative], n_datasets // 2)


def naive_bayes_predictions(values: NDArray[Any], classes: NDArray[Any], test: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Predictions of Bernoulli naive Bayes for all cases, trained on the training cases of each split.

    Equal to ``sklearn.naive_bayes.BernoulliNB()`` fitted split by split, but about a hundred times faster.

    Parameters
    ----------
    values : ndarray, shape (cases, attributes)
        Zeros and ones.
    classes : ndarray, shape (cases,)
        Zeros and ones.
    test : ndarray of bool, shape (splits, cases)
        The cases on which a split does not train.

    Returns
    -------
    ndarray of int, shape (splits, cases)

    Examples
    --------
    >>> values, classes = np.array([[0], [0], [1], [1], [1]]), np.array([0, 0, 1, 1, 0])
    >>> naive_bayes_predictions(values, classes, np.array([[False, False, False, False, True]])).tolist()
    [[0, 0, 1, 1, 1]]
    """
    values = values.astype(float)
    training = (~test).astype(float)
    members = np.stack([classes == 0, classes == 1]).astype(float)
    cases = training @ members.T  # (splits, classes)
    ones = np.stack([training @ (member[:, None] * values) for member in members], axis=1)
    of_class = cases[..., None]
    log_one = np.log((ones + 1) / (of_class + 2))  # (splits, classes, attributes)
    log_zero = np.log((of_class - ones + 1) / (of_class + 2))
    with np.errstate(divide="ignore"):  # a class that is absent from training has probability 0
        prior = np.log(cases / cases.sum(axis=1, keepdims=True))
    constant = prior + log_zero.sum(axis=2)
    joint = (log_one - log_zero) @ values.T + constant[..., None]  # (splits, classes, cases)
    return np.asarray(joint[:, 1] > joint[:, 0], dtype=np.int64)


def _tree_predictions(
    values: NDArray[Any], classes: NDArray[Any], test: NDArray[np.bool_], pruning: float | None = PRUNING
) -> NDArray[np.int64]:
    """Predictions of the pruned tree, shape (splits, cases)."""
    refuse_without("sklearn", "random_attributes_differences", "scikit-learn", "crossval")
    if pruning is None or (len(test) >= FEW_TREES and len(classes) <= MANY_CASES):  # the same trees
        return tree_predictions(values, classes, test, smallest_leaf=SMALLEST_LEAF, pruning=pruning)
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=SMALLEST_LEAF, ccp_alpha=pruning, random_state=0
    )
    values = np.ascontiguousarray(values, dtype=np.float32)
    predicted = np.empty(test.shape, dtype=np.int64)
    for split, found in zip(test, predicted, strict=True):
        # Without scikit-learn's checks, which take a fifth of the time
        tree.fit(values[~split], classes[~split], check_input=False)
        found[:] = tree.classes_[tree.tree_.predict(values).argmax(axis=1)]
    return predicted


def stratified_folds(generator: np.random.Generator, classes: NDArray[Any], folds: int) -> NDArray[np.int64]:
    """The fold of each case, shape (cases,): cases are shuffled, sorted by class, and dealt out in turn."""
    order = generator.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(classes), dtype=np.int64)
    fold[order] = np.arange(len(classes)) % folds
    return fold


def _check_generator(generator: object) -> None:
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            f"generator must be a numpy Generator, such as np.random.default_rng(0), got {generator!r}."
        )
