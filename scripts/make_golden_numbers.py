"""Independent values for the tests of the closed-form tests: ``tests/data/golden_numbers.json``.

Everything comes from definitions, at 50 digits: posteriors are integrated numerically with the full covariance matrix,
tails are integrals of densities, the Poisson-binomial distribution is exact rational arithmetic. No code of hiercomp is
used. Where two ways exist both are taken and must agree to 32 digits. Running it again gives the same bytes.

    python scripts/make_golden_numbers.py  (about two minutes)
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

DIGITS = 40  # written; 50 are computed with
AGREEMENT = mpf(10) ** -32
TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "golden_numbers.json"


def text(value: Any) -> str:
    """A number as decimal digits."""
    return mpmath.nstr(mpf(value), DIGITS)


def agree(one: Any, other: Any) -> None:
    """Stop where two ways to the same number differ."""
    if abs(one - other) > AGREEMENT * abs(other):
        raise ArithmeticError(f"{text(one)} and {text(other)} should be equal")


def samples() -> dict[str, list[float]]:
    """Differences of one data set, as they are in double precision."""
    generator = np.random.default_rng(2015)
    return {
        "two": [0.02, 0.05],
        "five": [0.02, 0.03, 0.01, 0.04, 0.02],
        "ten": generator.normal(-0.01, 0.03, 10).round(4).tolist(),
        "twenty, clear": generator.normal(0.2, 0.01, 20).round(4).tolist(),
        "hundred": generator.normal(0.005, 0.04, 100).round(4).tolist(),
        "per cent": generator.normal(1.3, 4.0, 12).round(2).tolist(),
    }


SAMPLES = samples()


class Likelihood:
    """The quadratic form (x - 1 mu)' M^-1 (x - 1 mu), with M written out and solved for by mpmath."""

    def __init__(self, x: list[float], rho: float) -> None:
        self.n = len(x)
        covariance = mpmath.matrix(self.n, self.n)
        for row in range(self.n):
            for column in range(self.n):
                covariance[row, column] = mpf(1) if row == column else mpf(rho)
        ones, values = mpmath.ones(self.n, 1), mpmath.matrix([mpf(value) for value in x])
        inverse = covariance**-1
        self.ones = (ones.T * inverse * ones)[0]
        self.cross = (ones.T * inverse * values)[0]
        self.values = (values.T * inverse * values)[0]

    def __call__(self, mu: Any) -> Any:
        """Its value at mu."""
        return self.ones * mu * mu - 2 * self.cross * mu + self.values


def angles(centre: Any, width: Any, ends: list[Any]) -> list[Any]:
    """Ends of the real line's pieces as angles, mu = centre + width tan(angle); infinite ends are right angles."""
    right_angle = mpmath.pi / 2
    return [-right_angle, *(mpmath.atan((mpf(end) - centre) / width) for end in ends), right_angle]


def on_pieces(density: Any, centre: Any, width: Any, ends: list[Any]) -> list[Any]:
    """Integrals of a density over the pieces of the real line between the ends, their sum scaled to 1."""

    def in_angles(angle: Any) -> Any:
        mu = centre + width * mpmath.tan(angle)
        return density(mu) * width / mpmath.cos(angle) ** 2

    bounds, middle = angles(centre, width, ends), mpf(0)
    pieces = []
    for lower, upper in pairwise(bounds):
        inner = [lower, middle, upper] if lower < middle < upper else [lower, upper]
        pieces.append(mpmath.quad(in_angles, inner) if lower < upper else mpf(0))
    total = mpmath.fsum(pieces)
    return [piece / total for piece in pieces]


def t_tail(t: Any, df: Any) -> Any:
    """P(T > t) of a Student-t for t > 0, by its incomplete beta function (Abramowitz & Stegun 26.7.1)."""
    return mpmath.betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2


def correlated_t() -> list[dict[str, Any]]:
    """Regions of the posterior under the matching prior, p(mu, tau) proportional to 1 / tau.

    The integral over tau of tau^(n/2 - 1) exp(-tau Q / 2) is proportional to Q^(-n/2); that over mu is numerical.
    """
    cases = [
        ("two", 0.0, (-0.01, 0.01)),
        ("two", 0.5, (-0.01, 0.01)),
        ("five", 0.0, (-0.01, 0.01)),
        ("five", 0.2, (-0.01, 0.01)),
        ("five", 0.2, (0.0, 0.0)),
        ("five", 0.2, (-0.03, -0.02)),  # beside zero and the mean
        ("five", 0.9, (0.02, 0.05)),
        ("ten", 0.1, (-0.01, 0.01)),
        ("ten", 0.3333333333333333, (-0.02, 0.005)),
        ("twenty, clear", 0.1, (-0.01, 0.01)),  # left and rope about 1e-22
        ("twenty, clear", 0.0, (-0.25, -0.2)),  # about 1e-33
        ("hundred", 0.1, (-0.01, 0.01)),
        ("hundred", 0.1, (0.2, 0.3)),
        ("per cent", 0.25, (-1.0, 1.0)),
    ]
    found, likelihoods = [], {}
    for name, rho, interval in cases:
        x = SAMPLES[name]
        if (name, rho) not in likelihoods:
            likelihoods[name, rho] = Likelihood(x, rho)
        form = likelihoods[name, rho]
        centre, width = mpf(x[0]), mpf(abs(max(x) - min(x)))  # of the substitution: any will do
        power = -mpf(form.n) / 2
        pieces = on_pieces(lambda mu, form=form, power=power: form(mu) ** power, centre, width, list(interval))
        mean = form.cross / form.ones
        scale = mpmath.sqrt((form.values - form.cross**2 / form.ones) / form.ones / (form.n - 1))
        low, high = ((mpf(end) - mean) / scale for end in interval)
        agree(pieces[0], t_tail(-low, form.n - 1) if low < 0 else 1 - t_tail(low, form.n - 1))
        agree(pieces[2], t_tail(high, form.n - 1) if high > 0 else 1 - t_tail(-high, form.n - 1))
        left, rope, right = map(text, pieces)
        found.append({"x": x, "rho": rho, "interval": interval, "left": left, "rope": rope, "right": right})
    return found


def normal_gamma() -> list[dict[str, Any]]:
    """Regions of the posterior under a Normal-Gamma prior, by the two-dimensional integral over mu and tau."""
    cases = [
        ("five", 0.2, (-0.01, 0.01), (0.0, 2.0, 1.5, 0.001)),
        ("ten", 0.1, (-0.01, 0.01), (0.01, 0.5, 3.0, 0.002)),
        ("two", 0.5, (-0.02, 0.01), (-0.02, 1.0, 0.75, 0.0005)),
    ]
    found = []
    for name, rho, interval, prior in cases:
        x = SAMPLES[name]
        mu0, k0, a, b = map(mpf, prior)
        form = Likelihood(x, rho)
        centre, width = mpf(x[0]), mpf(abs(max(x) - min(x)))

        def over_tau(mu: Any, form=form, mu0=mu0, k0=k0, a=a, b=b) -> Any:
            """Likelihood times prior, integrated over log tau by the trapezoidal rule, which converges geometrically.

            The powers of tau: n/2 of the likelihood, 1/2 of the Normal, a - 1 of the Gamma, 1 of d tau = tau d log tau.
            """
            rate = form(mu) / 2 + (mu - mu0) ** 2 / (2 * k0) + b
            power = mpf(form.n) / 2 + mpf(1) / 2 + a
            peak = mpmath.log(power / rate)
            step, lowest, highest = mpf(1) / 12, -mpf(110) / power, mpf(6)
            nodes = range(int(lowest / step), int(highest / step) + 1)
            return step * mpmath.fsum(
                mpmath.exp(power * (peak + step * node) - rate * mpmath.exp(peak + step * node)) for node in nodes
            )

        with mpmath.workdps(42):
            pieces = on_pieces(over_tau, centre, width, list(interval))
        # The integral over tau is a Gamma function: the same with one dimension
        power = -(mpf(form.n) / 2 + mpf(1) / 2 + a)
        single = on_pieces(
            lambda mu, form=form, mu0=mu0, k0=k0, b=b, power=power: (
                (form(mu) / 2 + (mu - mu0) ** 2 / (2 * k0) + b) ** power
            ),
            centre,
            width,
            list(interval),
        )
        for one, other in zip(pieces, single, strict=True):
            agree(one, other)
        left, rope, right = map(text, pieces)
        found.append(
            {"x": x, "rho": rho, "interval": interval, "prior": prior, "left": left, "rope": rope, "right": right}
        )
    return found


def corrected_t() -> list[dict[str, Any]]:
    """Statistic of Nadeau & Bengio, and p of each alternative as an integral of the Student density."""
    found = []
    for name, n_train, n_test in (
        ("two", 50, 50),
        ("five", 80, 20),
        ("ten", 90, 10),
        ("twenty, clear", 90, 10),
        ("hundred", 900, 100),
        ("per cent", 2, 1),
    ):
        x = [mpf(value) for value in SAMPLES[name]]
        n = len(x)
        mean = mpmath.fsum(x) / n
        variance = mpmath.fsum((value - mean) ** 2 for value in x) / (n - 1)
        statistic = mean / mpmath.sqrt((mpf(1) / n + mpf(n_test) / n_train) * variance)
        power = -mpf(n) / 2

        def density(t: Any, n: int = n, power: Any = power) -> Any:
            return (1 + t * t / (n - 1)) ** power

        size = abs(statistic)
        below, between, above = on_pieces(density, mpf(0), mpf(1), [-size, size])
        agree(above, t_tail(size, n - 1))
        agree(below, above)
        beyond, rest = (above, below + between)
        greater, less = (beyond, rest) if statistic > 0 else (rest, beyond)
        found.append(
            {
                "x": SAMPLES[name],
                "n_train": n_train,
                "n_test": n_test,
                "statistic": text(statistic),
                "two_sided": text(below + above),
                "greater": text(greater),
                "less": text(less),
            }
        )
    return found


def of_rational(value: Fraction) -> str:
    """A rational number as decimal digits."""
    return text(mpf(value.numerator) / mpf(value.denominator))


def distribution(p: list[float]) -> list[Fraction]:
    """P(X = k), k = 0, ..., q, exactly: doubles are rational, and whole numbers over one denominator multiply fast."""
    weights, denominator = [1], 1
    for value in map(Fraction, p):
        success, failure = value.numerator, value.denominator - value.numerator
        grown = [0] * (len(weights) + 1)
        for k, weight in enumerate(weights):
            grown[k] += weight * failure
            grown[k + 1] += weight * success
        weights, denominator = grown, denominator * value.denominator
    assert sum(weights) == denominator
    return [Fraction(weight, denominator) for weight in weights]


def poisson_binomial() -> list[dict[str, Any]]:
    """P(X > q/2), P(X < q/2), P(X = q/2) and some tails."""
    generator = np.random.default_rng(2015)

    def random(q: int, a: float, b: float) -> list[float]:
        return generator.beta(a, b, q).tolist()

    def of_runs(runs: list[tuple[float, int]]) -> dict[str, Any]:
        return {
            "runs": [{"value": value, "count": count} for value, count in runs],
            "p": [value for value, count in runs for _ in range(count)],
        }

    cases: list[dict[str, Any]] = [
        {"p": [0.7]},
        {"p": [0.0]},
        {"p": [1.0]},
        {"p": [1e-12]},
        {"p": [1 - 1e-12]},
        {"p": [0.2, 0.9]},
        {"p": [0.0, 1.0]},
        {"p": [0.9, 0.8, 0.3, 0.6]},
        {"p": [1e-12, 1 - 1e-12, 0.5, 0.0, 1.0]},
        {"p": random(9, 1, 1), "tails": [9, 0]},
        {"p": random(17, 0.5, 0.5), "tails": [17, 0]},
        {"p": random(30, 5, 5), "tails": [25, 30, 4, 0]},
        {"p": random(43, 0.2, 0.2), "tails": [40, 43, 0]},
        {"p": random(60, 1, 3), "tails": [45, 60, 1, 0]},
        of_runs([(0.5, 60)]) | {"tails": [60, 59, 0, 1]},
        of_runs([(0.1, 54)]) | {"tails": [54, 40, 0]},
        of_runs([(1e-12, 20)]) | {"tails": [1, 2, 20]},
        of_runs([(1 - 1e-12, 21)]) | {"tails": [20, 0]},
        of_runs([(1e-12, 12), (1 - 1e-12, 12), (0.0, 3), (1.0, 3), (0.5, 4)]) | {"tails": [34, 30, 22, 3, 4]},
        # Far tails of many data sets: the outermost are between 1e-300 and 1e-200
        of_runs([(0.1, 100), (0.2, 100), (0.25, 100), (0.3, 100)]) | {"tails": [200, 300, 370, 390, 400, 60, 20, 0]},
    ]
    found = []
    for case in cases:
        masses = distribution(case["p"])
        q = len(case["p"])
        entry: dict[str, Any] = {"p": case.get("runs", case["p"])}
        entry["greater"] = of_rational(sum((mass for k, mass in enumerate(masses) if 2 * k > q), Fraction(0)))
        entry["less"] = of_rational(sum((mass for k, mass in enumerate(masses) if 2 * k < q), Fraction(0)))
        entry["equal"] = of_rational(sum((mass for k, mass in enumerate(masses) if 2 * k == q), Fraction(0)))
        entry["tails"] = []
        mean = sum(case["p"])
        for k in case.get("tails", []):
            upper = k > mean
            tail = sum(masses[k:] if upper else masses[: k + 1], Fraction(0))
            entry["tails"].append({"k": k, "at_least" if upper else "at_most": of_rational(tail)})
        found.append(entry)
    return found


def studentized_range() -> list[dict[str, Any]]:
    """P(range of k standard normal values > q), the two-dimensional integral of the density of the range."""

    def normal(z: Any) -> Any:
        return mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)

    def between(low: Any, high: Any) -> Any:
        """Phi(high) - Phi(low) without cancellation."""
        if low > 0:
            low, high = -high, -low
        root = mpmath.sqrt(2)
        if high <= 0:
            return (mpmath.erfc(-high / root) - mpmath.erfc(-low / root)) / 2
        return (mpmath.erf(high / root) - mpmath.erf(low / root)) / 2

    found = []
    for k in (3, 5):
        for q in (0.5, 1.5, 3.0, 5.0, 8.0):
            width = mpf(q)

            def over_centres(width: Any, k: int = k) -> Any:
                """Density of the range: that of the outermost two values, over their centre, by the trapezoidal rule.

                In the centre the integrand is entire, even and below exp(-centre^2), and its Fourier transform falls like
                exp(-omega^2 / (2 k)): a step of 1/6 leaves less than 1e-50, and so does leaving out centres above 11.
                """
                step = mpf(1) / 6
                values = [
                    normal(step * node - width / 2)
                    * normal(step * node + width / 2)
                    * between(step * node - width / 2, step * node + width / 2) ** (k - 2)
                    for node in range(67)
                ]
                return k * (k - 1) * step * (2 * mpmath.fsum(values) - values[0])

            # Above q + 22 there is less than 1e-50
            tail = mpmath.quad(over_centres, [width, width + 5, width + 22], method="gauss-legendre")
            # Once more with one dimension: P(range <= q) = k int phi(z) (Phi(z + q) - Phi(z))^(k - 1) dz
            inside = mpmath.quad(
                lambda z, k=k, width=width: k * normal(z) * between(z, z + width) ** (k - 1),
                [-mpmath.inf, -width, 0, mpmath.inf],
            )
            agree(tail, 1 - inside)
            found.append({"k": k, "q": q, "greater": text(tail)})
    return found


def main() -> None:
    """Compute everything and write the file."""
    mpmath.mp.dps = 50
    sections = {
        "correlated_t": correlated_t(),
        "normal_gamma": normal_gamma(),
        "corrected_t": corrected_t(),
        "poisson_binomial": poisson_binomial(),
        "studentized_range": studentized_range(),
    }
    body = ",\n".join(
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]"
        for name, entries in sections.items()
    )
    TARGET.write_text("{\n" + body + "\n}\n", encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
