"""One answer everywhere: another BLAS kernel, another number of threads, another seed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import run_process
from tests.pages import blocks, shows

README = Path(__file__).parents[2] / "README.md"
KERNELS = ("Haswell", "Nehalem")  # of OpenBLAS; where another BLAS is at work the variable does nothing
ANSWER = """
import hashlib, json, sys
import hiercomp as hc

seed = int(sys.argv[1])
result = hc.compare(hc.load_scores("keel"), "naive_bayes", "logistic_regression", rope=0.01, seed=seed, progress=False)
content = result.summary().to_dict()
draws = {name: hashlib.sha256(result.draws(name).tobytes()).hexdigest() for name in result.posterior.parameters}
exact = [content[name] for name in ("next_dataset", "decision", "odds", "population")]
print(json.dumps({"exact": exact, "marginal": result.log_marginal_likelihood, "draws": draws}))
"""


def numbers(content: object) -> list[float]:
    """Every number of nested lists and dictionaries, in their order."""
    if isinstance(content, dict):
        return [number for part in content.values() for number in numbers(part)]
    if isinstance(content, list):
        return [number for part in content for number in numbers(part)]
    return [float(content)] if isinstance(content, (int, float)) else []


def answer(seed: int) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", ANSWER, str(seed)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_demo_prints_the_readmes_numbers_under_two_kernels_and_two_seeds(tmp_path, monkeypatch):
    promised = next(block for block in blocks(README.read_text(encoding="utf-8")) if block.language == "text")
    printed = []
    for seed, kernel in enumerate(KERNELS):
        monkeypatch.setenv("OPENBLAS_CORETYPE", kernel)
        done = run_process(tmp_path, "demo", "--seed", seed)
        assert done.returncode == 0, done.stderr
        numbers_of_the_integral, _ = done.stdout.split("\n  Computation ok: ")
        printed.append(numbers_of_the_integral)
    assert printed[0] == printed[1]
    assert shows(promised.source, printed[0])


@pytest.mark.slow
def test_the_integral_is_the_same_to_a_millionth_and_the_draws_to_the_last_bit(monkeypatch):
    answers = []
    for kernel, threads, seed in ((KERNELS[0], "1", 0), (KERNELS[1], "2", 0), (KERNELS[1], "2", 7)):
        monkeypatch.setenv("OPENBLAS_CORETYPE", kernel)
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
        answers.append(answer(seed))
    first, other_kernel, other_seed = answers
    assert len(numbers(first["exact"])) >= 40
    for other in (other_kernel, other_seed):
        assert numbers(other["exact"]) == pytest.approx(numbers(first["exact"]), rel=1e-6, abs=1e-6)
        assert other["marginal"] == pytest.approx(first["marginal"], abs=1e-6)
    assert other_kernel["draws"] == first["draws"]
    assert other_seed["draws"] != first["draws"]
