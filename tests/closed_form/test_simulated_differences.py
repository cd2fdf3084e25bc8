"""The generative models: against scikit-learn fold by fold, plain loops, and the moments that they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from hiercomp.closed_form.simulated_differences import (
    PRUNING,
    SMALLEST_LEAF,
    equal_correlation_differences,
    naive_bayes_predictions,
    network_differences,
    random_attributes_differences,
    random_attributes_splits,
    two_features_differences,
    unequal_uncertainty_design,
    unequal_uncertainty_differences,
)
from hiercomp.errors import ArgumentError


def random_data(generator, instances, attributes, probability=0.5):
    values = (generator.random((instances, attributes)) < 0.5).astype(np.float32)
    return values, (generator.random(instances) < probability).astype(int)


def pruned_tree():
    return DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=SMALLEST_LEAF, ccp_alpha=PRUNING, random_state=0
    )


@pytest.mark.parametrize(
    ("instances", "attributes", "probability"), [(300, 10, 0.5), (60, 3, 0.2), (41, 4, 0.5), (20, 2, 0.05)]
)
def test_naive_bayes_predicts_what_scikit_learn_predicts(instances, attributes, probability):
    generator = np.random.default_rng(1)
    for _ in range(5):
        values, classes = random_data(generator, instances, attributes, probability)
        test = generator.random((12, instances)) < 0.3
        found = naive_bayes_predictions(values, classes, test)
        for split, predicted in zip(test, found, strict=True):
            bayes = BernoulliNB().fit(values[~split], classes[~split])
            close = (
                np.zeros(instances, dtype=bool)
                if len(bayes.classes_) == 1
                else np.abs(np.diff(bayes.predict_joint_log_proba(values), axis=1)[:, 0]) < 1e-12
            )
            assert close.mean() < 0.2  # ties may go either way
            assert np.array_equal(predicted[~close], bayes.predict(values)[~close])


def dealt(generator, classes, folds):
    """Folds by dealing the cases of one class after those of the other, each shuffled, one by one."""
    fold, position = {}, 0
    order = generator.permutation(len(classes))
    for wanted in (0, 1):
        for case in order:
            if classes[case] == wanted:
                fold[case] = position % folds
                position += 1
    return np.array([fold[case] for case in range(len(classes))])


@pytest.mark.parametrize("hold_out", [False, True])
def test_differences_are_accuracies_of_the_tree_minus_those_of_naive_bayes(hold_out):
    runs, folds, instances = 3, 4, 62
    found = random_attributes_differences(
        np.random.default_rng(5), runs, folds, instances=instances, attributes=4, hold_out=hold_out
    )
    generator = np.random.default_rng(5)
    values, classes = random_data(generator, instances, 4)
    if hold_out:
        splits = [dealt(generator, classes, folds) == 0 for _ in range(runs * folds)]
    else:
        splits = [
            fold == number
            for fold in (dealt(generator, classes, folds) for _ in range(runs))
            for number in range(folds)
        ]
    expected = []
    for test in splits:
        shares = [
            learner.fit(values[~test], classes[~test]).score(values[test], classes[test])
            for learner in (BernoulliNB(), pruned_tree())
        ]
        expected.append(shares[1] - shares[0])
        assert abs(classes[test].mean() - classes.mean()) <= 1 / test.sum()  # stratified
    np.testing.assert_allclose(found, np.reshape(expected, (runs, folds)), rtol=0, atol=4e-16)
    assert np.unique(found).size > 3


@pytest.mark.parametrize(("share", "size"), [(0.1, 30), (1 / 3, 100), (0.25, 75), (0.4, 120)])
def test_random_splits_have_the_share_of_test_cases_that_is_asked_for(share, size):
    _, classes, test = random_attributes_splits(np.random.default_rng(2), 6, 1, hold_out=True, test_share=share)
    assert test.shape == (6, 300)
    assert (np.abs(test.sum(axis=1) - size) <= 1).all()
    assert (np.abs((test & (classes == 1)).sum(axis=1) / size - classes.mean()) < 2 / size).all()  # stratified
    assert len({split.tobytes() for split in test}) == 6


def test_a_share_of_one_over_folds_is_the_default():
    options = {"instances": 40, "hold_out": True}
    default = random_attributes_differences(np.random.default_rng(1), 2, 5, **options)
    assert np.array_equal(
        random_attributes_differences(np.random.default_rng(1), 10, 1, test_share=0.2, **options),
        default.reshape(10, 1),
    )


@pytest.mark.parametrize("options", [{}, {"hold_out": True}])
def test_the_first_runs_do_not_depend_on_how_many_follow(options):
    few, many = (
        random_attributes_differences(np.random.default_rng(4), runs, 4, instances=50, **options) for runs in (2, 5)
    )
    assert np.array_equal(few, many[:2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test_share": 0.1}, "test_share belongs to hold_out=True"),
        ({"test_share": 1.5, "hold_out": True}, "test_share must be above 0 and below 1, got 1.5"),
        ({"test_share": 0.01, "hold_out": True, "instances": 50}, "test_share must leave 2 of 50 cases or more"),
        ({"hold_out": True, "folds": 1}, "folds must be at least 2"),
    ],
)
def test_a_share_of_test_cases_that_can_not_be_is_refused(options, words):
    with pytest.raises(ArgumentError, match=words):
        random_attributes_differences(np.random.default_rng(0), **options)


def pessimistic_leaves(tree, node=0, confidence=0.25):
    """Leaves and error estimate of a subtree after C4.5's pruning (Quinlan 1993, program C4.5, release 8: AddErrs)."""
    z = stats.norm.isf(confidence)

    def extra(n, e):
        if e < 1:
            base = n * (1 - confidence ** (1 / n))
            return base if e == 0 else base + e * (extra(n, 1) - base)
        if e + 0.5 >= n:
            return max(n - e, 0)
        f = (e + 0.5) / n
        upper = (f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))) / (1 + z**2 / n)
        return upper * n - e

    n, shares = int(tree.n_node_samples[node]), tree.value[node, 0]
    errors = round(n * (1 - shares.max() / shares.sum()))
    as_leaf = errors + extra(n, errors)
    if tree.children_left[node] < 0:
        return 1, as_leaf
    left = pessimistic_leaves(tree, tree.children_left[node])
    right = pessimistic_leaves(tree, tree.children_right[node])
    kept = left[1] + right[1]
    return (1, as_leaf) if as_leaf <= kept + 0.1 else (left[0] + right[0], kept)


@pytest.mark.slow
def test_the_tree_is_pruned_to_about_as_many_leaves_as_by_the_rule_of_c45():
    generator, ours, theirs = np.random.default_rng(2), [], []
    for _ in range(200):
        values, classes = random_data(generator, 270, 10)  # what nine of ten folds leave
        full = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=SMALLEST_LEAF, random_state=0)
        theirs.append(pessimistic_leaves(full.fit(values, classes).tree_)[0])
        ours.append(pruned_tree().fit(values, classes).tree_.n_leaves)
    # Standard errors of the means 0.5 each; a change of the cost by 0.001 makes a difference of 5 to 10 leaves
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * math.hypot(stats.sem(ours), stats.sem(theirs))


def test_the_same_generator_gives_the_same_differences_and_another_does_not():
    def draw(seed):
        return random_attributes_differences(np.random.default_rng(seed), 2, 5, instances=60)

    assert np.array_equal(draw(3), draw(3))
    assert not np.array_equal(draw(3), draw(4))


def test_a_class_that_is_nearly_absent_is_no_obstacle():
    x = random_attributes_differences(np.random.default_rng(0), 2, 5, instances=40, class_probability=0.001)
    assert x.shape == (2, 5)
    assert (np.abs(x) <= 1).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 0}, "runs must be at least 1, got 0"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"instances": 19}, "instances must be at least 20, got 19"),
        ({"attributes": 0}, "attributes must be at least 1"),
        ({"class_probability": 1.0}, "class_probability must be above 0 and below 1, got 1"),
        ({"hold_out": 1}, "hold_out must be True or False, got 1"),
        ({"runs": 1.5}, "runs must be a whole number"),
    ],
)
def test_sizes_of_a_random_data_set_are_checked(options, words):
    with pytest.raises(ArgumentError, match=words):
        random_attributes_differences(np.random.default_rng(0), **options)


def votes(test, training, alike, classes):
    """Cases predicted right by the more frequent class of the training cases alike; ties count one half."""
    right = 0.0
    for case in test:
        ones = [classes[other] for other in training if alike(case, other)]
        share = 0.5 if 2 * sum(ones) == len(ones) else float(2 * sum(ones) > len(ones))
        right += share if classes[case] else 1 - share
    return right


def plain_network(generator, cases, theta):
    """Mean difference of one run of ten folds, case by case."""
    classes = [int(generator.random() < 0.5) for _ in range(cases)]
    feature = [one if generator.random() < theta else 1 - one for one in classes]
    order, found = generator.permutation(cases), []
    for fold in range(10):
        test = [case for place, case in enumerate(order) if place * 10 // cases == fold]
        training = [case for place, case in enumerate(order) if place * 10 // cases != fold]
        network = votes(test, training, lambda one, other: feature[one] == feature[other], classes)
        found.append((network - votes(test, training, lambda one, other: True, classes)) / len(test))
    return np.mean(found)


def plain_two_features(generator, cases, theta, difference):
    """The same of two classifiers with a feature each, in stratified folds."""
    classes = [int(generator.random() < 0.5) for _ in range(cases)]
    right, left = (
        [one if generator.random() < share else 1 - one for one in classes] for share in (theta, theta - difference)
    )
    fold, found = dealt(generator, classes, 10), []
    for number in range(10):
        test, training = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        counts = [
            votes(test, training, lambda one, other, feature=feature: feature[one] == feature[other], classes)
            for feature in (right, left)
        ]
        found.append((counts[0] - counts[1]) / len(test))
    return np.mean(found)


def assert_alike(fast, plain):
    # Ties, which the fast ones break at random, count one half in the plain ones: equal means, and nearly equal spreads
    error = math.sqrt(np.var(fast) / len(fast) + np.var(plain) / len(plain))
    assert abs(np.mean(fast) - np.mean(plain)) < 4 * error
    assert np.std(fast) == pytest.approx(np.std(plain), rel=4 / math.sqrt(2 * len(plain)) + 0.05)


@pytest.mark.parametrize(("theta", "cases"), [(0.5, 25), (0.6, 25), (0.75, 50)])
def test_network_differences_are_those_of_a_plain_loop(theta, cases):
    generator = np.random.default_rng(5)
    fast = [network_differences(generator, 1, 10, instances=cases, theta=theta).mean() for _ in range(3000)]
    assert_alike(fast, [plain_network(generator, cases, theta) for _ in range(300)])


@pytest.mark.parametrize(
    ("theta", "difference", "cases"), [(0.7, 0.1, 25), (0.9, 0.05, 40), (0.8, 0.3, 43), (0.6, -0.3, 30)]
)
def test_two_features_differences_are_those_of_a_plain_loop(theta, difference, cases):
    generator = np.random.default_rng(6)
    options = {"instances": cases, "theta": theta, "difference": difference}
    fast = [two_features_differences(generator, 1, 10, **options).mean() for _ in range(3000)]
    assert_alike(fast, [plain_two_features(generator, cases, theta, difference) for _ in range(300)])


def test_two_features_have_the_difference_and_the_variance_of_independent_cases():
    generator, difference, instances, repetitions = np.random.default_rng(7), 0.02, 500, 3000
    means = [two_features_differences(generator, 1, 10, difference=difference).mean() for _ in range(repetitions)]
    # Both predict their feature, so each case adds the difference of two independent indicators
    variance = (0.9 * 0.12 + 0.1 * 0.88 - difference**2) / instances
    assert abs(np.mean(means) - difference) < 4 * math.sqrt(variance / repetitions)
    assert np.var(means) == pytest.approx(variance, rel=4 * math.sqrt(2 / repetitions))


def test_runs_of_two_features_have_equal_means_if_both_are_learnt():
    x = two_features_differences(np.random.default_rng(8), 4, 10, difference=0.05)
    assert x.shape == (4, 10)
    assert np.ptp(x.mean(axis=1)) < 1e-12
    assert len(np.unique(x[:, 0])) > 1


@pytest.mark.parametrize(
    ("simulate", "options", "words"),
    [
        (network_differences, {"theta": 1.1}, "theta must be at least 0 and at most 1, got 1.1"),
        (network_differences, {"theta": math.nan}, "theta must be a finite number"),
        (network_differences, {"runs": 0}, "runs must be at least 1, got 0"),
        (network_differences, {"folds": 1}, "folds must be at least 2, got 1"),
        (network_differences, {"instances": 19}, "instances must be at least 20, got 19"),
        (two_features_differences, {"theta": -0.1}, "theta must be at least 0 and at most 1, got -0.1"),
        (two_features_differences, {"difference": -0.2}, "theta - difference must be .*, got 0.9 - -0.2 = 1.1"),
        (two_features_differences, {"difference": 0.95}, "theta - difference must be at least 0 and at most 1"),
        (two_features_differences, {"instances": 1.5}, "instances must be a whole number"),
    ],
)
def test_arguments_of_both_pairs_of_classifiers_are_checked(simulate, options, words):
    with pytest.raises(ArgumentError, match=words):
        simulate(np.random.default_rng(0), **options)


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.7])
def test_differences_of_equal_correlation_have_the_moments_of_the_model(rho):
    datasets, n, mean, deviation = 20_000, 5, 0.3, 2.0
    x = equal_correlation_differences(
        np.random.default_rng(1), datasets, n, rho, mean=mean, standard_deviation=deviation
    )
    assert x.shape == (datasets, n)
    variance_of_mean = deviation**2 * (1 + (n - 1) * rho) / n
    assert abs(x.mean() - mean) < 4 * math.sqrt(variance_of_mean / datasets)
    # Both are scaled chi-squares, with datasets and datasets (n - 1) degrees of freedom
    of_means = np.mean((x.mean(axis=1) - mean) ** 2) / variance_of_mean
    within = x.var(axis=1, ddof=1).mean() / (deviation**2 * (1 - rho))
    assert abs(of_means - 1) < 4 * math.sqrt(2 / datasets)
    assert abs(within - 1) < 4 * math.sqrt(2 / (datasets * (n - 1)))


def test_corrected_t_of_equal_correlation_is_student():
    rho, n = 0.1, 100
    x = equal_correlation_differences(np.random.default_rng(2), 4000, n, rho)
    t = x.mean(axis=1) / np.sqrt((1 / n + rho / (1 - rho)) * x.var(axis=1, ddof=1))
    assert stats.kstest(t, stats.t(n - 1).cdf).pvalue > 6e-5  # four standard errors


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((0, 5, 0.1), {}, "datasets must be at least 1"),
        ((3, 0, 0.1), {}, "n must be at least 1"),
        ((3, 5, 1.0), {}, "rho must be at least 0 and below 1, got 1.0"),
        ((3, 5, -0.1), {}, "rho must be at least 0"),
        ((3, 5, math.nan), {}, "rho must be a finite number"),
        ((3, 5, 0.1), {"mean": math.inf}, "mean must be a finite number"),
        ((3, 5, 0.1), {"standard_deviation": -1}, "standard_deviation must be at least 0, got -1"),
    ],
)
def test_arguments_of_equal_correlation_are_checked(arguments, options, words):
    with pytest.raises(ArgumentError, match=words):
        equal_correlation_differences(np.random.default_rng(0), *arguments, **options)


@pytest.mark.parametrize(
    "simulate",
    [
        random_attributes_differences,
        network_differences,
        two_features_differences,
        lambda seed: equal_correlation_differences(seed, 1, 2, 0.1),
    ],
)
def test_a_seed_in_place_of_a_generator_is_refused(simulate):
    with pytest.raises(ArgumentError, match=r"such as np.random.default_rng\(0\), got 7"):
        simulate(7)


def test_both_cases_of_unequal_uncertainty_have_the_same_means_and_exchange_the_uncertainties():
    (means, deviations), (same, exchanged) = (unequal_uncertainty_design(case, 12) for case in (1, 2))
    assert np.array_equal(means, same)
    assert np.array_equal(means[:6], -means[6:])
    assert (means[:6] > 0).all()
    assert (deviations[:6] < deviations[6:]).all()
    assert np.array_equal(deviations, exchanged[::-1])
    # Turning the signs of case 1 gives the pairs of mean and standard deviation of case 2
    assert set(zip(-means, deviations, strict=True)) == set(zip(same, exchanged, strict=True))


def probability_of_a_majority(x, rho):
    """P(right is better on more than half of the data sets), by multiplying the generating functions."""
    n = x.shape[1]
    scale = np.sqrt((1 / n + rho / (1 - rho)) * x.var(axis=1, ddof=1))
    counts = np.ones(1)
    for p in stats.t.cdf(x.mean(axis=1) / scale, n - 1):
        counts = np.convolve(counts, [1 - p, p])
    return counts[len(x) // 2 + 1 :].sum()


def test_only_the_uncertainties_tell_the_two_cases_apart():
    experiments, generator = 400, np.random.default_rng(3)
    wilcoxon, majority = np.empty((2, 2, experiments))
    for case in (1, 2):
        for number in range(experiments):
            x = unequal_uncertainty_differences(generator, case)
            wilcoxon[case - 1, number] = stats.wilcoxon(x.mean(axis=1)).pvalue
            majority[case - 1, number] = probability_of_a_majority(x, 0.1)
    assert stats.ks_2samp(*wilcoxon).pvalue > 6e-5  # four standard errors
    # By the same symmetry P(X > q/2) of case 2 is distributed as P(X < q/2) of case 1
    assert np.quantile(majority[0], 0.05) > 0.5 > np.quantile(majority[1], 0.95)


@pytest.mark.parametrize(
    ("case", "datasets", "words"),
    [
        (3, 10, "case must be between 1 and 2, got 3"),
        (1, 7, "datasets must be an even number, .* got 7"),
        (1, 0, "datasets must be at least 2"),
    ],
)
def test_arguments_of_unequal_uncertainty_are_checked(case, datasets, words):
    with pytest.raises(ArgumentError, match=words):
        unequal_uncertainty_differences(np.random.default_rng(0), case, n_datasets=datasets)
