"""Imports run one way only, and importing the package is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hiercomp

PACKAGE = Path(hiercomp.__file__).parent

# A module may import those above it only; modules of one line form one layer
ORDER = [
    ["errors"],
    ["checks"],
    ["text"],
    ["rope"],
    ["cell_values"],
    ["scores"],
    ["reading.content"],
    ["reading.decoding"],
    ["reading.separators"],
    ["reading.text_tables"],
    ["reading.strict_tables"],
    ["reading.number_columns"],
    ["reading.parquet_tables"],
    ["reading.piecewise"],
    ["reading.score_files"],
    ["reading"],
    ["exports"],
    ["pairing"],
    ["fold_correlation"],
    ["differences"],
    ["scale"],
    ["importers.common"],
    ["importers.arff"],
    ["importers.weka"],
    [
        "importers.arrays",
        "importers.lm_eval",
        "importers.mlflow",
        "importers.mlr3",
        "importers.sklearn_results",
        "importers.tidymodels",
        "importers.wide",
    ],
    ["importers"],
    ["checking.facts"],
    ["checking.problems"],
    ["checking.survey"],
    ["checking.check"],
    ["checking"],
    ["priors"],
    ["stan_programs"],
    ["engines.base"],
    ["engines.progress"],
    ["engines.embedded"],
    ["engines.cmdstan"],
    ["engines.cmdstan_installation"],
    ["engines.mean_integral"],
    ["engines.nu_prior"],
    ["engines.problem"],
    ["engines.axes"],
    ["engines.posterior_grid"],
    ["engines.grid_regions"],
    ["engines.grid_draws"],
    ["engines.quadrature"],
    ["engines"],
    ["model"],
    ["inference"],
    ["integrated"],
    ["posterior_tree"],
    ["diagnostics"],
    ["fitting"],
    ["predictive"],
    ["presentation"],
    ["simulate"],
    ["baselines.inputs"],
    ["baselines.correlated"],
    ["baselines.frequentist"],
    ["baselines.mcnemar"],
    ["baselines.five_by_two"],
    ["baselines.schemes"],
    ["baselines.calibrated"],
    ["baselines.calibration"],
    ["baselines.replicability"],
    ["baselines.counts"],
    ["baselines.poisson_binomial"],
    ["baselines.bayesian_sign"],
    ["baselines.signed_rank"],
    ["baselines.friedman"],
    ["baselines.posthoc"],
    ["baselines.table"],
    ["baselines"],
    ["storage"],
    ["result", "summary", "result_files"],  # a result makes its summary and saves itself
    ["hierarchical"],
    ["sensitivity"],
    ["influence"],
    ["pairwise.groups"],
    ["pairwise.ranking"],
    ["pairwise.score_arrays"],
    ["pairwise.result"],
    ["pairwise.summary"],
    ["databases"],
    ["clusters"],
    ["pairwise.checkpoint"],
    ["pairwise.pair_fits"],
    ["pairwise.tournament"],
    ["pairwise"],
    ["design_analysis.assumption"],
    ["design_analysis.result"],
    ["design_analysis.simulated_plan"],
    ["design_analysis.planning"],
    ["design_analysis"],
    ["crossval.splits"],
    ["crossval.cells"],
    ["crossval.inputs"],
    ["crossval.described"],
    ["crossval.store"],
    ["crossval.parallel"],
    ["crossval.progress"],
    ["crossval.run"],
    ["crossval.plan_file"],
    ["crossval"],
    ["plots.style"],
    ["plots.next_dataset"],
    ["plots.population"],
    ["plots.datasets"],
    ["plots.sensitivity"],
    ["plots.pairwise"],
    ["plots.plan"],
    ["plots.baselines"],
    ["plots.arviz_page"],
    ["plots.accessor"],
    ["plots"],
    ["report.svg"],
    ["report.figures"],
    ["report.tables"],
    ["report.references"],
    ["report.provenance"],
    ["report.methods"],
    ["report.contents"],
    ["report.page"],
    ["report.pairwise_figures"],
    ["report.pairwise_methods"],
    ["report.pairwise"],
    ["report"],
    ["datasets"],
    ["cli.shared"],
    ["cli.check", "cli.compare", "cli.crossval", "cli.engines", "cli.pairs", "cli.plan"],
    ["cli", "cli.__main__"],
]
# Methods of results that hand over, when they are called, to what is built on results
HANDED_OVER = {
    "hiercomp.result": {
        "hiercomp.sensitivity",
        "hiercomp.influence",
        "hiercomp.design_analysis.planning",
        "hiercomp.plots",
        "hiercomp.report",
    },
    "hiercomp.sensitivity": {"hiercomp.plots.sensitivity"},
    "hiercomp.pairwise.result": {"hiercomp.pairwise.summary", "hiercomp.plots", "hiercomp.report"},
    "hiercomp.design_analysis.result": {"hiercomp.plots.plan"},
} | {
    f"hiercomp.baselines.{name}": {"hiercomp.plots.baselines"}
    for name in ("correlated", "poisson_binomial", "bayesian_sign", "friedman")
}
LAYER = {f"hiercomp.{name}": layer for layer, names in enumerate(ORDER) for name in names}
HEAVY = ["numpy", "pandas", "scipy", "matplotlib", "sklearn", "stanli", "cmdstanpy", "arviz_base", "xarray", "narwhals"]


def module_name(path: Path) -> str:
    parts = ["hiercomp", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"}


class Imports(ast.NodeVisitor):
    """The hiercomp modules that a module imports, at its top or inside functions, but not for type checking."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "hiercomp"}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, "imports are absolute"
        if node.module is None or node.module.split(".")[0] != "hiercomp":
            return
        for alias in node.names:  # from hiercomp import rope, or from hiercomp.rope import Rope
            inner = f"{node.module}.{alias.name}"
            self.found.add(inner if inner in MODULES else node.module)


def imports(path: Path) -> set[str]:
    visitor = Imports()
    visitor.visit(ast.parse(path.read_text(encoding="utf-8")))
    return visitor.found


def test_every_module_has_its_place_in_the_order():
    assert set(MODULES) == set(LAYER)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_stands_above_it(name):
    found = imports(MODULES[name]) - {"hiercomp", name} - HANDED_OVER.get(name, set())
    assert {other for other in found if LAYER[other] > LAYER[name]} == set()
    if name != "hiercomp.cli":
        assert "hiercomp" not in imports(MODULES[name])


def test_the_reader_of_imports_sees_lazy_imports_and_skips_those_for_types():
    source = """
from typing import TYPE_CHECKING
import hiercomp.errors
if TYPE_CHECKING:
    from hiercomp.cli import main
else:
    from hiercomp import rope
def f():
    from hiercomp.scores import tidy_scores
    from hiercomp import __version__
"""
    visitor = Imports()
    visitor.visit(ast.parse(source))
    assert visitor.found == {"hiercomp.errors", "hiercomp.rope", "hiercomp.scores", "hiercomp"}


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, hiercomp; print([name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", hiercomp.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(hiercomp, name) is not None


def test_public_names_are_sorted_and_listed_by_dir():
    assert sorted(set(hiercomp.__all__)) == sorted(hiercomp.__all__)
    assert set(hiercomp.__all__) <= set(dir(hiercomp))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'hiercomp' has no attribute 'HierarchicalComparisons'"):
        hiercomp.HierarchicalComparisons  # noqa: B018
