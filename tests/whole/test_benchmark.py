"""The benchmark runs at its small size and writes what it says; no time is judged."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / "scripts/benchmark.py"
FIELDS = {"name", "measured", "against", "unit", "median", "other_median", "ratio", "repetitions", "values", "others",
          "details"}  # fmt: skip


def row_names() -> list[str]:
    """The keys of ROWS, read without running the script."""
    for node in ast.parse(BENCHMARK.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "ROWS":
            assert isinstance(node.value, ast.Dict)
            return [ast.literal_eval(key) for key in node.value.keys if key is not None]
    raise AssertionError("scripts/benchmark.py has no ROWS")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARK), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def check_rows(content: dict, expected: set[str]) -> None:
    assert {row["name"] for row in content["rows"]} == expected
    for row in content["rows"]:
        assert set(row) == FIELDS
        assert len(row["values"]) == len(row["others"]) == row["repetitions"] >= 1
        assert min(row["values"] + row["others"]) > 0
        assert row["ratio"] == pytest.approx(row["other_median"] / row["median"])
        assert all(isinstance(row[field], str) and row[field] for field in ("measured", "against", "unit"))
    assert {"hiercomp", "numpy", "stanli"} <= set(content["versions"])


@pytest.mark.slow
def test_every_row_runs_at_the_small_size(tmp_path):
    done = run("--small", "--json", str(tmp_path / "benchmark.json"))
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "benchmark.json").read_text())
    assert content["small"] is True
    check_rows(content, set(row_names()) - {"baycomp", "bayes_testkit"})
    details = {row["name"]: row["details"] for row in content["rows"]}
    assert details["exponent"]["exponent of q"] < 10
    assert "extrapolated" in str(details["equal_accuracy"])
    assert details["all_pairs"]["MB at the peak, all processes"] > 0
    assert "4 of 10 pairs" in details["sampled_pairs"]["measured"]


def test_chosen_rows_are_written_as_json_and_into_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- benchmark -->\nold\n<!-- end of benchmark -->\n\nThe end.\n")
    done = run("--small", "--rows", "poisson_binomial", "--json", str(tmp_path / "b.json"), "--markdown", str(page))
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "b.json").read_text())
    check_rows(content, {"poisson_binomial"})
    text = page.read_text()
    assert text.startswith("# Title\n\n<!-- benchmark -->\nMeasured on ")
    assert text.endswith("<!-- end of benchmark -->\n\nThe end.\n")
    assert "old" not in text
    assert f"| {content['rows'][0]['ratio']:.3g} | {content['rows'][0]['repetitions']} |" in text
    assert "scipy.stats.poisson_binom.pmf" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--rows", "all,import"), "there is no 'all'"), (("--with", "pandas"), "invalid choice: 'pandas'")],
)
def test_wrong_arguments_are_refused_before_anything_is_measured(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_page_says_what_each_row_is():
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    assert [name for name in row_names() if f"`{name}`" not in page and f"--with {name}" not in page] == []


def test_every_plot_is_measured():
    source = (ROOT / "scripts/benchmarks/pictures.py").read_text(encoding="utf-8")
    import hiercomp.plots

    names = [name.removeprefix("plot_") for name in hiercomp.plots.__all__ if name.startswith("plot_")]
    alias = {"sensitivity": "sensitivity", "pairs_heatmap": "heatmap"}
    assert [name for name in names if alias.get(name, name) not in source] == []
