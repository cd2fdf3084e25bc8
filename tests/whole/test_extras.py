"""What an extra brings is needed by its corner only, and a message there names the extra."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.crossval.experiment_file import read_experiment
from hiercomp.versions import versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"test", "docs"}
# As they are imported
OPTIONAL = ["sklearn", "statsmodels", "scikit_posthocs", "openpyxl", "odf", "dask"]
BLOCKED = f"import sys\nsys.modules.update(dict.fromkeys({OPTIONAL}))\n"

MAIN_JOB = """
import hiercomp as hc
df = hc.load_scores("keel")
names = sorted(df["dataset"].unique())[:6]
df = df[df["dataset"].isin(names)]
pair = {"left": "naive_bayes", "right": "decision_tree", "rope": 0.01}
result = hc.HierarchicalComparison(df, **pair).fit(warmup=200, draws=200, progress=False)
print(result.summary())
result.datasets(), result.with_rope(0.02), result.datatree
result.sensitivity(), result.influence(), result.closed_form_tests()
result.plot(), result.plot.diagnostics()
result.report("report.html")
hc.load_result(result.save("fit.nc"))
hc.friedman_test(df)
tournament = hc.compare_all(df, rope=0.01, progress=False)
tournament.summary(), tournament.plot.ranking(), tournament.report("pairs.html")
"""


@pytest.mark.slow
def test_the_main_job_needs_no_extra(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", f"import matplotlib\nmatplotlib.use('agg')\n{BLOCKED}{MAIN_JOB}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert "On the next data set" in run.stdout


@pytest.mark.parametrize(
    "act",
    [
        lambda: hc.cross_validate_all({"a": object()}, {"iris": object()}),
        lambda: read_experiment("experiment.toml"),
        lambda: hc.random_attributes_differences(np.random.default_rng(0)),
    ],
    ids=["cross_validate_all", "read_experiment", "random_attributes_differences"],
)
def test_without_scikit_learn_the_message_says_how_to_install_it(act, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(hc.ArgumentError, match=r"needs the package scikit-learn: pip install 'hiercomp\[crossval\]'\."):
        act()


def test_the_command_says_so_too(tmp_path):
    code = f"{BLOCKED}from hiercomp.cli import main\nsys.argv = ['hiercomp', 'crossval', 'experiment.toml']\nmain()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert "pip install 'hiercomp[crossval]'" in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_every_extra_that_a_page_names_exists():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    named = set(re.findall(r"(?:hiercomp|\.)\[(\w+)\]", text))
    assert {"crossval", "posthocs", "dask"} <= named <= set(EXTRAS)


def test_the_page_of_installation_lists_every_extra():
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == sorted(EXTRAS, key=lambda name: name in FOR_DEVELOPERS)


def test_the_page_of_installation_names_every_package_that_is_required():
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    required = {re.split(r"[^\w.-]", line)[0] for line in PROJECT["dependencies"]}
    assert required == set(re.findall(r"`([\w-]+)`", page[page.index("## What is installed") : page.index("## ArviZ")]))


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - FOR_DEVELOPERS))
def test_the_test_extra_brings_every_other_one(extra):
    assert set(EXTRAS[extra]) <= set(EXTRAS["test"])


def test_no_package_is_both_required_and_optional():
    names = {re.split(r"[^\w.-]", line)[0] for line in PROJECT["dependencies"]}
    optional = {re.split(r"[^\w.-]", line)[0] for name in set(EXTRAS) - FOR_DEVELOPERS for line in EXTRAS[name]}
    assert not names & optional


def test_the_versions_for_a_bug_report_have_what_an_extra_brought_and_no_tools():
    found = versions()
    assert found["scikit-learn"] == version("scikit-learn")
    assert found["statsmodels"] == version("statsmodels")
    assert found["numpy"] == version("numpy")
    assert not {"pytest", "ruff", "sphinx"} & set(found)
