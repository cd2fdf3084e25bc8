"""The engines: the same draws for the same seed, agreement with each other, and errors that say what to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.engines import ENGINES, SamplerSettings, choose_engine
from hiercomp.engines.base import Draws
from hiercomp.engines.cmdstan import _last_words, _wait_for_others, executable
from hiercomp.engines.embedded import _interrupts_kept
from hiercomp.errors import ArgumentError, EngineError
from hiercomp.model.distributions import HalfNormal, HalfStudentT, Normal
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel

BOTH = ["embedded", pytest.param("cmdstan", marks=pytest.mark.cmdstan)]
QUICK = SamplerSettings(chains=2, warmup=200, draws=200, seed=11, progress=False)


def simulated(q: int = 8, n: int = 30) -> hc.HierarchicalComparison:
    generator = np.random.default_rng(5)
    left = generator.normal(0.8, 0.02, size=(q, n))
    delta = generator.normal(0.01, 0.01, size=(q, 1))
    return hc.HierarchicalComparison.from_arrays(left, left + delta + generator.normal(0, 0.02, size=(q, n)), folds=10)


@pytest.fixture(scope="module")
def model() -> HierarchicalModel:
    return HierarchicalModel.of(simulated().differences, Priors())


@pytest.mark.parametrize("name", BOTH)
def test_same_seed_gives_the_same_bytes_and_another_seed_does_not(name, model):
    def delta0(seed):
        settings = SamplerSettings(chains=2, warmup=200, draws=200, seed=seed, progress=False)
        return ENGINES[name].sample(model.program(model.centred(), 2, seed), settings).variables["delta0"]

    first = delta0(3)
    np.testing.assert_array_equal(first, delta0(3))
    assert not np.array_equal(first, delta0(4))


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("centred", [True, False], ids=["centred", "noncentred"])
def test_chains_go_on_from_their_state_without_repeating_draws(name, centred, model):
    program = model.program(np.full(len(model.mean), centred), 2, 11)
    first = ENGINES[name].sample(program, QUICK)
    both = first.followed_by(ENGINES[name].sample(program, QUICK, first.state))
    assert both.variables["delta"].shape == (2, 400, len(model.mean))
    np.testing.assert_array_equal(both.variables["delta0"][:, :200], first.variables["delta0"])
    later = both.variables["delta0"][:, 200:]
    # A rejected proposal may repeat the last value of a chain; nothing else occurs twice
    assert len(np.intersect1d(first.variables["delta0"], later)) <= 2
    # One step from the last position: the continuation starts where the chains stood, not at new random values
    moved = np.abs(both.variables["sigma"][:, 200] - both.variables["sigma"][:, 199])
    assert np.all(moved < 6 * both.variables["sigma"].std(axis=(0, 1)))


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    ("priors", "first_delta"),
    [(Priors(), 25), (Priors.juarez_steel(), 23), (Priors.gaussian(), 22), (Priors(delta0=Normal(0, 0.1)), 25)],
    ids=["hierarchical nu", "fixed prior on nu", "gaussian", "normal delta0"],
)
def test_the_warmup_starts_from_about_the_metric_that_it_finds(name, priors, first_delta):
    model = HierarchicalModel.of(simulated(q=20, n=50).differences, priors)
    centred = np.arange(20) < 12
    program = model.program(centred, 2, 0)
    found = np.mean(ENGINES[name].sample(program, replace(QUICK, warmup=1000)).state.inverse_metrics, axis=0)
    assert found.shape == program.inverse_metric.shape
    ratio = program.inverse_metric / found
    near = np.r_[0, 2:22, first_delta : first_delta + 12]  # delta0, sigma_i, delta_i of the centred
    assert np.all((ratio[near] > 1 / 4) & (ratio[near] < 4))
    assert np.all((ratio > 1 / 20) & (ratio < 20))


@pytest.mark.cmdstan
@pytest.mark.parametrize(
    "priors",
    [
        Priors(),
        Priors.juarez_steel(),
        Priors.gaussian(),
        Priors(delta0=Normal(0, 0.02), sigma0=HalfNormal(0.01)),
        Priors.kruschke(sigma0=HalfStudentT(4, 0.01)),
    ],
    ids=repr,
)
def test_the_two_engines_agree_within_monte_carlo_error(priors):
    from arviz_stats.base import array_stats

    model = HierarchicalModel.of(simulated().differences, priors)
    settings = SamplerSettings(chains=4, warmup=1000, draws=2000, seed=1, progress=False)
    program = model.program(model.centred(), 4, 1)
    embedded, cmdstan = (ENGINES[name].sample(program, settings).variables for name in ("embedded", "cmdstan"))
    for name in ("delta0", "sigma0", "delta", "sigma"):
        one, two = (draws[name].reshape(4, 2000, -1) for draws in (embedded, cmdstan))
        errors = [array_stats.mcse(draws, chain_axis=0, draw_axis=1, method="mean") for draws in (one, two)]
        # 34 means: the largest of so many standard normals stays below 4.5 with probability 0.9998
        assert np.all(np.abs(one.mean(axis=(0, 1)) - two.mean(axis=(0, 1))) < 4.5 * np.hypot(*errors)), name


@pytest.mark.parametrize("name", BOTH)
def test_no_run_reports_a_scale_of_zero(name, model, capfd):
    ENGINES[name].sample(model.program(model.centred(), 2, 0), QUICK)
    printed = capfd.readouterr()
    assert "Scale parameter is 0" not in printed.out + printed.err


@pytest.mark.parametrize("name", BOTH)
def test_sampling_prints_nothing_on_standard_output(name, model, capfd):
    ENGINES[name].sample(model.program(model.centred(), 2, 0), SamplerSettings(chains=2, warmup=200, draws=200))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("chains", 0), ("chains", 1.9), ("chains", True), ("chains", 10**9), ("chains", "4"), ("warmup", 0),
        ("warmup", -1), ("draws", 0), ("draws", 10**12), ("draws", 100.0), ("seed", -1), ("seed", 2**32),
        ("seed", 1.5), ("seed", None), ("adapt_delta", 2), ("adapt_delta", 1), ("adapt_delta", 0),
        ("adapt_delta", float("nan")), ("adapt_delta", True), ("progress", "yes"), ("monte_carlo_error", 0),
        ("monte_carlo_error", -0.1), ("monte_carlo_error", 2),
    ],
)  # fmt: skip
def test_arguments_are_refused_before_the_engine_sees_them(argument, value):
    with pytest.raises(ArgumentError, match=argument):
        simulated().fit("embedded", **{argument: value})


def test_an_unknown_engine_is_refused_with_the_close_match():
    with pytest.raises(ArgumentError, match="Did you mean 'embedded'"):
        choose_engine("embeded")


def test_draws_that_are_not_finite_are_refused():
    with pytest.raises(EngineError, match="1 values of delta0 that are not finite"):
        Draws({"delta0": np.array([[0.0, np.nan]])}, {}, "some engine", "1.0")


def test_a_missing_cmdstan_is_an_error_with_the_command_that_mends_it(tmp_path, monkeypatch):
    # A home without CmdStan, in a fresh interpreter: CmdStanPy remembers the path that it found
    code = "import hiercomp.engines as e; print(e.choose_engine('auto').sampler.name); e.choose_engine('cmdstan')"
    environment = {**os.environ, "HOME": str(tmp_path), "CMDSTAN": ""}
    environment.pop("CMDSTAN")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "embedded"
    assert "run: hiercomp install-cmdstan" in done.stderr


@pytest.mark.parametrize("setting", [{}, {"CMDSTAN": ""}])
def test_cmdstanpy_is_not_imported_where_it_would_find_no_cmdstan(tmp_path, setting):
    code = (
        "import sys, hiercomp.engines as e; e.choose_engine('auto'); print('cmdstanpy' in sys.modules)\n"
        "import cmdstanpy; cmdstanpy.cmdstan_path()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CMDSTAN"}
    environment |= {"HOME": str(tmp_path), **setting}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
    assert done.stderr.splitlines()[-1].startswith("ValueError: No CmdStan installation found")


def compile_in(cache: str) -> str:
    os.environ["XDG_CACHE_HOME"] = cache
    model = HierarchicalModel.of(simulated().differences, Priors.gaussian())
    return str(executable(model.program(model.centred(), 1, 0)))


@pytest.mark.cmdstan
@pytest.mark.slow
def test_two_processes_may_compile_at_once(tmp_path):
    with ProcessPoolExecutor(2) as pool:
        paths = list(pool.map(compile_in, [str(tmp_path)] * 2))
    assert paths[0] == paths[1]
    assert os.access(paths[0], os.X_OK)
    assert [entry.name for entry in Path(paths[0]).parent.iterdir()] == [Path(paths[0]).name]  # nothing else is left


@pytest.mark.parametrize("compiled_by_another", [True, False])
def test_a_program_that_runs_already_is_not_replaced(model, monkeypatch, tmp_path, compiled_by_another):
    def refused(compiled: str, finished: Path) -> None:  # as Windows does
        if compiled_by_another:
            finished.write_text("")
        raise PermissionError(13, "Access is denied")

    program = model.program(model.centred(), 1, 0)
    monkeypatch.setattr("hiercomp.engines.cmdstan.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("hiercomp.engines.cmdstan._version", lambda: "2.38")
    monkeypatch.setattr("cmdstanpy.cmdstan_path", lambda: "/somewhere")
    monkeypatch.setattr("cmdstanpy.compile_stan_file", lambda path: path)
    monkeypatch.setattr("hiercomp.engines.cmdstan.os.replace", refused)
    if compiled_by_another:
        assert executable(program).is_file()
    else:
        with pytest.raises(PermissionError):
            executable(program)


@pytest.mark.cmdstan
def test_a_compiled_program_is_used_again(model):
    program = model.program(model.centred(), 1, 0)
    path = executable(program)
    before = path.stat().st_mtime_ns
    assert executable(program) == path
    assert path.stat().st_mtime_ns == before


@pytest.mark.cmdstan
def test_cmdstans_own_words_are_in_the_error(model):
    program = model.program(model.centred(), 2, 0)
    broken = replace(program, data={**program.data, "q": 3})
    with pytest.raises(EngineError, match="mismatch"):
        ENGINES["cmdstan"].sample(broken, QUICK)


def test_the_interpreters_own_words_are_in_the_error(model):
    program = model.program(model.centred(), 2, 0)
    broken = replace(program, data={**program.data, "q": 3})
    with pytest.raises(EngineError, match=r"embedded engine failed: \S"):
        ENGINES["embedded"].sample(broken, QUICK)


@pytest.mark.cmdstan
@pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")
def test_ctrl_c_during_cmdstan_leaves_nothing_behind(tmp_path):
    # A terminal sends Ctrl-C to the whole process group; 200,000 draws take far longer than the wait
    code = (
        "import numpy as np, hiercomp as hc\n"
        "x = np.random.default_rng(0).normal(0.01, 0.02, (30, 50))\n"
        "print('ready', flush=True)\n"
        "hc.HierarchicalComparison.from_arrays(0.5 - x, 0.5 + x, folds=10).fit('cmdstan', draws=200_000)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline().strip() == "ready"
    deadline = time.monotonic() + 240  # the program may have to be compiled first
    # Until every chain writes its draws: CmdStanPy does not stop a chain that it has yet to start
    while len(list(tmp_path.glob("hiercomp-*/*.csv"))) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=40)
    except subprocess.TimeoutExpired:  # on a busy machine CmdStanPy now and then waits on; then one presses it again
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert list(tmp_path.glob("*")) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # no process of the group is left


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_is_not_lost_where_the_interpreter_took_it_and_did_nothing():
    taken = []
    previous = signal.signal(signal.SIGINT, lambda *_: taken.append(True))  # as stanli does while it writes out draws
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    own = signal.set_wakeup_fd(writer)
    try:
        with pytest.raises(KeyboardInterrupt), _interrupts_kept():
            signal.raise_signal(signal.SIGINT)
        assert taken
        with _interrupts_kept():
            pass
        assert signal.set_wakeup_fd(own) == writer  # an event loop's descriptor is put back, and told
        assert os.read(reader, 10) == bytes([signal.SIGINT])
    finally:
        signal.set_wakeup_fd(own)
        signal.signal(signal.SIGINT, previous)
        os.close(reader)
        os.close(writer)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_a_thread_whose_join_was_interrupted_is_still_waited_for():
    before = set(threading.enumerate())
    done = threading.Event()
    thread = threading.Thread(target=lambda: (time.sleep(1), done.set()))
    thread.start()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        thread.join()
    assert not done.is_set()
    _wait_for_others(before)
    assert done.is_set()


def test_settings_are_whole_numbers_of_python_and_repetitions_keep_to_their_limits():
    settings = SamplerSettings(draws=np.int16(20_000), warmup=np.int16(600), progress=False)
    assert (settings.draws * 100, settings.warmup * 1000) == (2_000_000, 600_000)
    longer = SamplerSettings(draws=300_000, warmup=700_000, progress=False).longer(2, 5)
    assert (longer.draws, longer.warmup, longer.adapt_delta) == (1_000_000, 1_000_000, 0.999)


def test_an_error_has_the_last_words_of_every_chain_and_the_same_words_once(tmp_path):
    assert _last_words(tmp_path) == ""
    (tmp_path / "model-1-stdout.txt").write_text("Iteration: 2000 / 2000\n\n 0.3 seconds (Total)\n")
    for chain in (2, 3):
        (tmp_path / f"model-{chain}-stdout.txt").write_text("Iteration: 1 / 2000\nException: bad_alloc\n")
    assert (
        _last_words(tmp_path) == "Iteration: 2000 / 2000 0.3 seconds (Total); Iteration: 1 / 2000 Exception: bad_alloc"
    )
