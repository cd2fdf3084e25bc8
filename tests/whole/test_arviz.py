"""ArviZ under the name that users know, and the page of the user's own ArviZ plots, under every generation of it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import arviz
import arviz_base
import arviz_plots
import arviz_stats
import numpy as np
import pytest
import xarray
from matplotlib import pyplot as plt
from matplotlib.text import Text

import hiercomp as hc

PAGE = (Path(__file__).parents[2] / "docs/howto/arviz.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
GENERATION = re.compile(r"# ArviZ (1|0\.23)\n")
NEW = version("arviz") >= "1"
PLOTS = {
    "1": {"trace", "rank", "forest", "pair", "energy", "autocorr", "ess", "mcse", "prior_posterior"}
    | {"ppc_dist", "loo_pit"},
    "0.23": {"trace", "rank", "forest", "pair", "energy", "autocorr", "ess", "mcse", "dist_comparison"}
    | {"ppc", "loo_pit"},
}
only_before_1 = pytest.mark.skipif(NEW, reason="ArviZ 1 has no InferenceData")


def modules_under_one_name() -> ModuleType:
    """The modules as ``arviz`` of version 1 gathers them."""
    gathered = ModuleType("arviz")
    for module in (arviz_base, arviz_stats, arviz_plots):
        gathered.__dict__.update({name: getattr(module, name) for name in dir(module) if not name.startswith("_")})
    gathered.__dict__["from_netcdf"] = xarray.open_datatree  # as there
    return gathered


def blocks_for(generation: str) -> list[str]:
    found = []
    for block in BLOCKS:
        named = GENERATION.match(block)
        if named is None or named[1] == generation:
            found.append(block)
    return found


def run_page(generation: str) -> tuple[dict[str, Any], dict[str, list[plt.Figure]]]:
    """The names that the page defines, and the figures of each block that draws."""
    names: dict[str, Any] = {}
    figures: dict[str, list[plt.Figure]] = {}
    plt.close("all")  # those of other tests
    for block in blocks_for(generation):
        exec(block, names)
        if "az.plot_" in block:
            figures[block] = [plt.figure(number) for number in plt.get_fignums()]
            plt.close("all")
    return names, figures


def texts(figure: plt.Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(Text))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("1", id="ArviZ 1" if NEW else "modules of ArviZ 1"),
        pytest.param("0.23", id="ArviZ 0.23", marks=only_before_1),
    ],
)
def page(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        if request.param == "1" and not NEW:
            patch.setitem(sys.modules, "arviz", modules_under_one_name())
        yield request.param, *run_page(request.param), Path.cwd()


def test_arviz_is_installed_under_its_name_in_the_generation_of_this_python():
    code = "import arviz; print(arviz.__version__)"
    run = subprocess.run([sys.executable, "-W", "error::FutureWarning", "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (run.stdout.strip() >= "1") == (sys.version_info >= (3, 12))
    assert arviz.__version__ == run.stdout.strip()


@pytest.mark.parametrize("generation", ["1", "0.23"])
def test_the_page_has_every_plot_for_each_generation(generation):
    code = "\n".join(blocks_for(generation))
    assert set(re.findall(r"az\.plot_(\w+)", code)) == PLOTS[generation]
    assert "az.summary(" in code


@pytest.mark.slow
def test_every_block_of_the_page_runs_and_draws(page):
    _, _, figures, folder = page
    assert figures
    for block, drawn in figures.items():
        assert len(drawn) == block.count("az.plot_"), block
        assert all(figure.axes for figure in drawn), block
    assert (folder / "trace.png").stat().st_size > 10_000
    assert (folder / "fit.nc").is_file()


@pytest.mark.slow
def test_the_numbers_of_the_page_are_those_of_the_result(page):
    _, names, _, _ = page
    result = names["result"]
    for name in names["population"]:
        assert float(names["table"].loc[name, "mean"]) == pytest.approx(result.draws(name).mean())
        assert float(names["r_hat"][name]) < 1.01
        assert float(names["bulk"][name]) > 400
        assert float(names["tail"][name]) > 400
    checks = result.diagnostics.to_frame()["value"]
    assert names["divergences"] == checks["divergences"]
    loo, exact = names["loo"], result.loo()  # ArviZ 0.23 names it elpd_loo
    assert float(loo["elpd_loo"] if "elpd_loo" in dir(loo) else loo.elpd) == pytest.approx(exact.elpd, abs=0.2)
    e_bfmi = names["e_bfmi"]  # of each chain: an array of ArviZ 0.23, a tree of ArviZ 1
    assert np.min(e_bfmi if isinstance(e_bfmi, np.ndarray) else e_bfmi["energy"]) == pytest.approx(checks["E-BFMI"])


@pytest.mark.slow
def test_a_forest_has_a_row_for_each_data_set_that_was_asked_for(page):
    _, names, figures, _ = page
    forests = [(block, texts(figures[block][0])) for block in figures if "az.plot_forest" in block]
    assert len(forests) == 3
    for block, text in forests:
        wanted = {"iris", "wine"} if "coords" in block else set(names["result"].differences.dataset_names)
        assert {name for name in names["result"].differences.dataset_names if name in text} >= wanted, block
        assert ("banana" in text) == ("coords" not in block)


@pytest.fixture(scope="module")
def scores():
    df = hc.load_scores("keel")
    return df[df["dataset"].isin(sorted(df["dataset"].unique())[:8])]


@pytest.mark.parametrize("engine", ["embedded", "quadrature"])
@only_before_1
def test_inference_data_has_the_groups_and_numbers_of_the_result(scores, engine):
    result = hc.compare(
        scores, "naive_bayes", "decision_tree", rope=0.01, engine=engine, warmup=500, draws=300, progress=False
    )
    data = result.to_inference_data()
    assert isinstance(data, arviz.InferenceData)
    sampled = {"sample_stats"} if engine == "embedded" else set()
    assert set(data.groups()) == {"posterior", "observed_data", "prior"} | sampled
    for name in ("delta0", "sigma0", "nu", "delta", "sigma"):
        assert np.array_equal(data.posterior[name].values, result.draws(name))
    assert list(data.posterior["dataset"].values) == list(result.differences.dataset_names)
    assert data.posterior.attrs["inference_library"].startswith(engine)
    assert data.observed_data["mean"].values == pytest.approx(result.differences.mean, abs=0)


@only_before_1
def test_inference_data_of_identical_scores_is_their_one_draw():
    same = np.full((5, 10), 0.8)
    result = hc.HierarchicalComparison.from_arrays(same, same, folds=10, rope=0.01).fit(progress=False)
    assert (result.to_inference_data().posterior["delta"].values == np.zeros((1, 1, 5))).all()


@pytest.mark.parametrize("installed", ["1.0.0", "1.3.0", "10.0"])
def test_a_newer_arviz_is_told_to_take_the_datatree(scores, installed, monkeypatch):
    result = hc.compare(scores, "naive_bayes", "decision_tree", rope=0.01, engine="quadrature", progress=False)
    monkeypatch.setattr("hiercomp.posterior.datatree.version", lambda name: installed)
    with pytest.raises(hc.ArgumentError, match=rf"ArviZ {installed} has no InferenceData. .*result\.datatree"):
        result.to_inference_data()
