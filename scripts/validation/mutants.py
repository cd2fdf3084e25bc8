"""Mutation testing: one small change in a module, and whether its tests see it (V30)."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any
from zlib import crc32

from agreement import run
from reproduction.exhibit import MissingDataError, Row, Settings

ROOT = Path(__file__).parents[2]
KILLED, LONGEST = 0.9, 1800  # share, and seconds after which tests that hang count as failed
QUADRATURE = "engines/quadrature"
ONE, ACROSS = "closed_form/one_dataset", "closed_form/across_datasets"
FROZEN = "tests/whole/test_frozen.py"  # for every module
# Modules of the numerics and of reading and pairing tables, and the tests that are to see a change, the module's own first
MODULES: Mapping[str, tuple[str, ...]] = {
    "rope.py": ("tests/test_rope.py", "tests/posterior/test_next_dataset.py"),
    f"{ONE}/correlated_t.py": (f"tests/{ONE}/test_correlated_t.py", "tests/closed_form"),
    f"{ONE}/calibrated.py": (
        f"tests/{ONE}",
        "tests/closed_form",
        "tests/whole/test_calibration_script.py",
    ),
    f"{ACROSS}/poisson_binomial.py": (f"tests/{ACROSS}", "tests/closed_form"),
    f"{QUADRATURE}/likelihood.py": (f"tests/{QUADRATURE}/test_likelihood.py", f"tests/{QUADRATURE}"),
    f"{QUADRATURE}/nu_prior.py": (f"tests/{QUADRATURE}/test_nu_prior.py", f"tests/{QUADRATURE}"),
    f"{QUADRATURE}/splines.py": (f"tests/{QUADRATURE}/test_splines.py", f"tests/{QUADRATURE}"),
    "posterior/next_dataset.py": ("tests/posterior/test_next_dataset.py", "tests/posterior", "tests/summary"),
    "scores/arrays.py": ("tests/scores", "tests/pairs"),
    "scores/differences.py": ("tests/scores", "tests/posterior"),
    "scores/table.py": ("tests/scores", "tests/files"),
    "files/mapping.py": ("tests/files/test_mapping.py", "tests/files"),
}
NODES = "only chooses nodes; the integral is accurate enough either way"
BLOCKS = "blocks of another size, the same numbers"
UNUSED = "a placeholder, where another branch gives the value"
# Why no test need see a change, by the module and the line as changed
REASONS: Mapping[tuple[str, str], str] = {
    ("rope.py", "scale = np.where(point, 2.0, sigma0)"): UNUSED,
    ("rope.py", "nu = np.where(gaussian, 2.0, nu)"): UNUSED,
    ("rope.py", "central = special.betainc(0.5, nu / 2, np.where(near, rest, 1.0)) / 2"): UNUSED,
    (
        "rope.py",
        "left = np.where(lower < 0, tail_lower, 0.5 + central_lower)",
    ): "at 0 both are 1/2",
    (
        f"{ONE}/correlated_t.py",
        "probability = probability_text(table[0, -1])",
    ): "there is one data set, so the last column is the first",
    (
        f"{ONE}/correlated_t.py",
        "if abs(table[0, -1] - table[2, 0]) <= TIE and table[largest, 0] - table[0, 0] <= TIE:",
    ): "there is one data set, so the last column is the first",
    (
        f"{ONE}/correlated_t.py",
        "mean: FloatArray, scale: FloatArray, df: FloatArray, rope: Rope, size: FloatArray | float = -1.0",
    ): "the other term of the maximum is never negative",
    (f"{ACROSS}/poisson_binomial.py", "batch = max( 2, SAMPLED_AT_ONCE // q)"): BLOCKS,
    (
        f"{ACROSS}/poisson_binomial.py",
        "while leaves[0].shape[1] <= LEAF // 3 + 1:",
    ): "leaves of 32 trials, whose digits still do for what is promised",
    (
        f"{ACROSS}/poisson_binomial.py",
        "SMALLEST = 3.0 ** (SCALE - 1100)  # what is below 2^-1100 of a probability of 1 can't matter to a tail above "
        "1e-300",
    ): "keeps terms that are smaller still",
    (
        f"{ACROSS}/poisson_binomial.py",
        "SCALE = 499  # powers of two between a stored vector and its probabilities, which keep tails from underflowing",
    ): "another power of two: the same digits",
    (
        f"{ACROSS}/poisson_binomial.py",
        "joint[: done + 1, : done + 0] *= rope",
    ): "the column that is left out holds zeros",
    (
        f"{ACROSS}/poisson_binomial.py",
        "joint[: done + 1, : done + 2] *= rope",
    ): "the column that is added holds zeros",
    (f"{QUADRATURE}/likelihood.py", "a, k1 = likelihood.width[chosen], 1 * likelihood.df[chosen]"): NODES,
    (
        f"{QUADRATURE}/likelihood.py",
        "exponent = np.minimum(-2 * safe / (1 + safe) * np.where(gaussian, -1.0, drop), LARGEST_EXPONENT)",
    ): UNUSED,
    (f"{QUADRATURE}/likelihood.py", "safe = np.where(gaussian, 2.0, k)"): UNUSED,
    (
        f"{QUADRATURE}/likelihood.py",
        "return np.asarray(np.exp((LOG_NEGLIGIBLE + special.gammaln(half + 2)) / half))",
    ): "leaves out a factor that differs from 1 by about 1e-9",
    (
        f"{QUADRATURE}/likelihood.py",
        "bounded = np.maximum(right + distance, distance - left) > harmless",
    ): "computes a factor of 1 more often",
    (f"{QUADRATURE}/likelihood.py", "count = log_size * log_rho"): NODES,
    (f"{QUADRATURE}/likelihood.py", "rows = max( 2, PAIRS_AT_ONCE // count)"): BLOCKS,
    (
        f"{QUADRATURE}/likelihood.py",
        "values[rows] = self.log_kernels(chosen, self.mean[i] - offset, sigma0[some], nu[some], step, work)",
    ): "the likelihood is the same on both sides of the mean",
    (f"{QUADRATURE}/likelihood.py", "@dataclass(frozen=True, eq=True)"): "nothing compares likelihoods or their nodes",
    (
        f"{QUADRATURE}/likelihood.py",
        "few = MORE_DEGREES * degrees[:, 0] / 3 <= first << doublings",
    ): "only chooses between two ways to the same values",
    (
        f"{QUADRATURE}/likelihood.py",
        "taken = np.log(generator.random(len(left))) < power * (np.log1p(excess / low) - excess / low)",
    ): "differs where two continuous numbers are equal",
    (
        f"{QUADRATURE}/likelihood.py",
        "found[rows] = delta0[rows, None] + (offset / integrals.side).reshape(level[rows].shape)",
    ): "division by 1 or -1 is multiplication",
    (
        f"{QUADRATURE}/likelihood.py",
        "degrees = _degrees_needed(np.arcsinh(1j * reach * width) / farthest, df, SHARE_OF_LINE * error)",
    ): "only chooses between two ways to the same values",
    (f"{QUADRATURE}/likelihood.py", "PAIRS_AT_ONCE = 7999  # of a data set and a population"): BLOCKS,
    (
        f"{QUADRATURE}/likelihood.py",
        "APART = 4.0  # how fast two peaks cease to count as one with the squared distance of their centres, in the smaller "
        "width",
    ): NODES,
    (
        f"{QUADRATURE}/likelihood.py",
        "spread * kernel_reach(( 2 + k) * np.minimum(by_population, 0), k),",
    ): "an end further out; the mass between is negligible",
    (
        f"{QUADRATURE}/likelihood.py",
        "fraction = x + 2 * TERMS + 1 + a",
    ): "the continued fraction has converged long before its last term",
    (
        f"{QUADRATURE}/nu_prior.py",
        "below = np.where(cell > 0, np.take_along_axis(mass, np.maximum(cell - 1, -1)[:, None], 1)[:, 0], 0.0)",
    ): UNUSED,
    (
        f"{QUADRATURE}/nu_prior.py",
        "mass = np.cumsum((density[:, 1:] + density[:, :-1]) * 2, axis=1)",
    ): "only ratios of the masses are used",
    (
        f"{QUADRATURE}/nu_prior.py",
        "inside = np.take_along_axis(mass, cell[:, None], 1)[:, -1] - below",
    ): "there is one column",
    (f"{QUADRATURE}/splines.py", "values = np.zeros((len(points), degree + 2))"): "a column that nothing reads",
    (
        f"{QUADRATURE}/splines.py",
        "IN_CACHE = 1025  # rows at a time: all of them at once take several times as long",
    ): BLOCKS,
    **{
        (
            "posterior/next_dataset.py",
            f'return f"{{self.value:,.0f}}" if self.value {limit} else f"{{self.value:.3g}}"',
        ): "both formats print the same from 100 to 101"
        for limit in ("> 100", ">= 101")
    },
    **{
        (
            f"{QUADRATURE}/nu_prior.py",
            f"upper = slow > shape + {term}",
        ): "both formulas hold on either side, and both keep their digits near the switch"
        for term in (0, 2)
    },
    (
        f"{QUADRATURE}/nu_prior.py",
        "if not isinstance(self.priors.alpha, tuple) and not isinstance(self.priors.beta, tuple):",
    ): "either both are intervals or neither",
    (
        f"{QUADRATURE}/splines.py",
        "n, inner = len(nodes), nodes[(degree + 1) // 2 : -(degree + 0) // 2]",
    ): "the same for the odd degrees that are used",
    (
        f"{QUADRATURE}/splines.py",
        "knots = np.concatenate([np.repeat(nodes[ 1], degree + 1), inner, np.repeat(nodes[-1], degree + 1)])",
    ): "the same splines: no knot lies between the first two nodes",
    (
        f"{QUADRATURE}/splines.py",
        "knots = np.concatenate([np.repeat(nodes[0], degree + 1), inner, np.repeat(nodes[- 2], degree + 1)])",
    ): "the same splines: no knot lies between the last two nodes",
    (
        "scores/arrays.py",
        "if size > LARGEST_NUMBER // max(len(labels), 0):  # without the gaps they fit",
    ): "tables without rows are refused before",
    ("scores/table.py", 'if len(names) == 1 and ";" in str(names[ -1]):'): "there is one name",
    ("scores/table.py", "chosen[role] = (exact or matches)[ -1]"): "several were refused before",
    (
        "scores/table.py",
        "numbers = np.array([place[value] for value in normal], dtype=np.min_scalar_type(len(unique)))",
    ): "pandas takes unsigned codes, too",
    (
        "scores/arrays.py",
        "first_places = np.flatnonzero(np.diff(codes, prepend=- 2))",
    ): "the first code is not negative, so both mark its place",
    (
        "scores/arrays.py",
        "def cells_in_words(self, cells: NDArray[np.bool_], /, values: bool = False) -> str:",
    ): "callers pass the argument before it by position and the other by name",
    (
        "scores/arrays.py",
        "if size <= LARGEST_NUMBER // max(len(labels), 1):  # without the gaps they fit",
    ): "closes the gaps while the numbers are small, so they stay small",
    (
        "scores/differences.py",
        "return np.asarray(inside & (np.abs(squares - mean) < BINARY).all(axis=1))",
    ): "differs for one double only, at the edge of a tolerance",
    (
        "scores/differences.py",
        "return {} if self.ropes is None else dict(zip(self.dataset_names, self.ropes.tolist(), strict=False))",
    ): "the lengths are equal",
    (
        "scores/differences.py",
        "if self.score_mean is None and self.score_standard_deviation is None:",
    ): "either both are known or neither",
    (
        "scores/differences.py",
        'mean=arrays["mean"] / unit / (1 if direction.higher_is_better else -1),',
    ): "division by 1 or -1 is multiplication",
    (
        "scores/differences.py",
        "size = np.maximum(size, 2.0)  # the log of a score has at least the relative error of the score",
    ): "a bound on rounding errors, twice as wide",
    **{
        (
            "files/mapping.py",
            f"LARGE = {rows}  # rows above which only the comparison looks for repeated cells: it costs memory",
        ): "a row more or less of two million"
        for rows in (1999999, 2000001)
    },
    (
        "files/mapping.py",
        "doubtful_rho(names, default_rho(count, otherwise= -1.0), np.asarray(count, dtype=np.int64), has_run=False)",
    ): "only whether rho is known matters there",
    (
        "files/mapping.py",
        "position = pd.Series(np.zeros(len(place[ -1]))).groupby(place, sort=False).cumcount().to_numpy()",
    ): "both have as many rows",
    (
        "files/mapping.py",
        "position = pd.Series(np.zeros(len(place[0]))).groupby(place, sort=True).cumcount().to_numpy()",
    ): "each count is within its group, whatever the order of the groups",
    (
        "files/mapping.py",
        "by_place = counts.groupby(level=list(keys)[:-1], sort=True)",
    ): "what transform gives has the order of the rows",
    ("files/mapping.py", "for name in frame.columns[: 201]:"): "a column more of two hundred, in a message",
    **{
        ("files/mapping.py", line): "callers pass the arguments before it by position and the others by name"
        for line in ("/,", "def _ordered_folds(cells: Mapping[str, Any], /, known: bool) -> np.ndarray:")
    },
}
OPERATORS = (
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_Pow_Mul",
    "ReplaceComparisonOperator_Lt_Gt",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_LtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "NumberReplacer",
)


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes
    ----------
    module : str
    text : str
    before, after : str
        The line that is changed; both empty where the module is as it was.
    """

    module: str
    text: str
    before: str = ""
    after: str = ""

    @property
    def change(self) -> str:
        """The change in words, as a table of Markdown has it."""
        return f"`{self.before}` becomes `{self.after}`".replace("|", "\\|")

    @property
    def reason(self) -> str:
        """Why no test need see the change; empty if none is known."""
        return REASONS.get((self.module, self.after), "")


def mutation_rows(settings: Settings) -> list[Row]:
    """The share of a random sample of mutants that the tests kill, and the survivors; unchanged modules must pass."""
    many = 1 if settings.quick else 20
    modules = list(MODULES)[:2] if settings.quick else list(MODULES)
    unchanged = [Mutant(module, source_of(module)) for module in modules]
    mutants = [mutant for module in modules for mutant in sampled(module, many, settings.seed)]
    tried = [*unchanged, *mutants]
    rows = run(partial(verdict, tried), list(range(len(tried))), settings.jobs, _kept(settings, tried))
    killed = {row["number"]: row["killed"] for row in rows}
    failing = [module for number, module in enumerate(modules) if killed[number]]
    survivors = [mutant for number, mutant in enumerate(mutants, len(modules)) if not killed[number]]
    unexplained = sum(1 for mutant in survivors if not mutant.reason)
    named = f": {', '.join(failing)}" if failing else ""
    return [
        Row(f"unchanged modules whose tests fail{named}", "0", float(len(failing)), 0.0, not failing),
        Row.at_least(
            f"share killed of {len(mutants)} mutants of {len(modules)} modules",
            KILLED,
            1 - len(survivors) / len(mutants),
        ),
        Row("survivors without a reason", "0", float(unexplained), 0.0, not unexplained),
        *(
            Row(
                f"survives: `{one.module}`, {one.change}: {one.reason}",
                "a reason",
                float(bool(one.reason)),
                0.0,
                bool(one.reason),
            )
            for one in survivors
        ),
    ]


def _kept(settings: Settings, tried: list[Mutant]) -> Path | None:
    """The file of verdicts on exactly these mutants."""
    if settings.keep is None:
        return None
    settings.keep.mkdir(parents=True, exist_ok=True)
    return settings.keep / f"mutants-{crc32(''.join(one.text for one in tried).encode()):08x}.jsonl"


def verdict(mutants: list[Mutant], number: int) -> dict[str, Any]:
    """What is kept of one mutant."""
    mutant = mutants[number]
    return {"number": number, "module": mutant.module, "change": mutant.change, "killed": is_killed(mutant)}


def source_of(module: str) -> str:
    """The text of a module."""
    return (ROOT / "hiercomp" / module).read_text(encoding="utf-8")


def sampled(module: str, many: int, seed: int) -> list[Mutant]:
    """Some of all mutants of a module, at random.

    The order comes from a hash of the line and the place in it, so a mutant stays in the sample while other lines change.
    """
    try:
        from cosmic_ray.ast import ast_nodes, get_ast
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator
    except ImportError as error:
        raise MissingDataError("install cosmic-ray: python -m pip install cosmic-ray") from error
    source = source_of(module)
    lines = source.splitlines()
    nodes = list(ast_nodes(get_ast(source)))
    times: Counter[tuple[str, str, int]] = Counter()
    ranked: list[tuple[bytes, Any, int]] = []
    for name in OPERATORS:
        operator: Any = get_operator(f"core/{name}")()
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for number, ((row, column), _) in enumerate(positions):
            place = (name, lines[row - 1], column)
            times[place] += 1
            ranked.append((sha256(repr((seed, module, *place, times[place])).encode()).digest(), operator, number))
    found: list[Mutant] = []
    for _, operator, number in sorted(ranked, key=itemgetter(0)):
        if len(found) == many:
            break
        text = mutate_code(source, operator, number)
        if text != source:
            found.append(Mutant(module, text, *changed_line(source, text)))
    return found


def changed_line(before: str, after: str) -> tuple[str, str]:
    """The first line that differs, before and after."""
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[:2] in ("- ", "+ ")]
    old, new = (next((line[2:].strip() for line in lines if line[0] == sign), "") for sign in "-+")
    return old, new


def is_killed(mutant: Mutant) -> bool:
    """Whether the tests fail, or do not end, in a copy of the project with the mutant."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("hiercomp", "tests", "stan", "scripts", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        for name in ("pyproject.toml", "conftest.py", "README.md", "CHANGELOG.md", "CITATION.cff"):
            shutil.copy(ROOT / name, copy / name)
        (copy / "hiercomp" / mutant.module).write_text(mutant.text, encoding="utf-8")
        tests = (*MODULES[mutant.module], FROZEN)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ended = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return True
        return ended.returncode != 0
