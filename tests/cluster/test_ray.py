"""A sweep on a real Ray cluster, a head and two nodes as processes, with everything killed that can be."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from hardgap.core.checkpoint import load_tensors
from hardgap.core.loop import under
from hardgap.core.run import Run, named
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.cluster.ray_start import _use_tokens
from hardgap.runs.execute import build_trainer
from hardgap.runs.store import Store
from hardgap.runs.train import train_here
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]
SECONDS = 900

DRIVER = """
import json, sys
from pathlib import Path
from hardgap.core.plugins import trust
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
from hardgap.worlds import parse_run
order = json.loads(Path(sys.argv[1]).read_text())
runs = [parse_run(data) for data in order["runs"]]
trust([path for run in runs for path in run.plugins()])
ended = run_sweep(Store(Path(order["store"])), runs, on=order["on"], workers=4, checkpoint_seconds=0.2)
print(ended)
"""
LOG = """
CREATE TABLE finished (run TEXT);
CREATE TRIGGER finishes AFTER UPDATE OF status ON runs WHEN NEW.status = 'done'
  BEGIN INSERT INTO finished VALUES (NEW.id); END;
"""
SWEEP = """
[base]
rule = "30"
hide = [3]
width = 7
train_rows = 16
test_rows = 16
optimiser = { batch = 6 }
budget = { steps = 20, evaluate_every = 10 }
model = { kind = "encoder", dim = 8, heads = 2, layers = 1, ffn = 16 }
[grid]
seed = [0, 1, 2]
"""
NET = """
import time, torch
from pathlib import Path

class Gated(torch.nn.Sequential):
    calls = 0

    def forward(self, cells):
        self.calls += 1
        while self.calls > 4000 and not self.gate.exists():
            time.sleep(0.02)
        return super().forward(cells)

def make(width, log, hidden=8):
    with open(log, "a") as file:
        file.write(f"{__file__}\\n")
    net = Gated(torch.nn.Linear(width, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, width))
    net.gate = Path(log).with_name("gate")
    return net
"""
"""However quick the machine, it is not trained to the end before a file is there."""


class Nodes:
    """The cluster, with its files, its token and its home in one folder."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        self.folder = folder
        head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": str(folder / "ray")}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.cluster.add_node(num_cpus=2) for _ in range(2)]
        self.address = f"ray://{self.cluster.address}"

    def workers(self) -> list[int]:
        """The pids of its actors; of no other Ray's, since its token is in their environment."""
        return [pid for pid in _pids() if _read(pid, "cmdline").startswith(b"ray::RayWorker") and self.owns(pid)]

    def owns(self, pid: int) -> bool:
        return str(self.folder).encode() in _read(pid, "environ")


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _read(pid: int, what: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{what}").read_bytes()
    return b""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    folder = Path(tempfile.mkdtemp(prefix="hg-"))  # short: the names of Ray's sockets are limited
    token = folder / "token"
    token.write_text("f" * 64)
    token.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "HOME": folder,
            "RAY_TMPDIR": folder,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": token,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "RAY_worker_niceness": "0",
        }.items():
            patch.setenv(name, str(value))
        _use_tokens()  # Ray may have been imported long before, by whoever collects tests
        found = Nodes(folder)
        yield found
        found.cluster.shutdown()
    wait_until(lambda: not any(found.owns(pid) for pid in _pids() if pid != os.getpid()), "Ray to end")
    shutil.rmtree(folder)


@pytest.fixture
def start(nodes: Nodes, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts drivers; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start_driver(store: Store, runs: list[Run], on: str = nodes.address) -> subprocess.Popen[str]:
        order = tmp_path / f"order-{len(started)}.json"
        asked = {"store": str(store.folder), "runs": [run.asked() for run in runs], "on": on}
        order.write_text(json.dumps(asked))
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(order)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=tmp_path, start_new_session=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield start_driver
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_until(true: Callable[[], object], what: str) -> None:
    give_up = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < give_up, f"waited {SECONDS} s for {what}"
        time.sleep(0.05)


def logged_store(folder: Path) -> Store:
    store = Store(folder)
    with closing(sqlite3.connect(store.path)) as db:
        db.executescript(LOG)
    return store


def finished(store: Store) -> list[str]:
    with closing(sqlite3.connect(store.path)) as db:
        return sorted(run for (run,) in db.execute("SELECT run FROM finished"))


def status(store: Store, runs: list[Run], wanted: str) -> list[str]:
    return [run_id for run_id, (now, _) in store.progress(run.id for run in runs).items() if now == wanted]


def assert_bitwise(store: Store, runs: list[Run]) -> None:
    """Curves, last weights and the steps of the snapshots are those of one undisturbed process here."""
    for run in runs:
        trainer = build_trainer(run)
        trainer.run()
        assert store.curve(run.id) == [point.as_dict() for point in trainer.curve]
        checkpoints = Checkpoints(store.folder, run.id)
        (state,) = checkpoints.folder.glob("state-*.safetensors")
        kept, weights = under("model.", load_tensors(state)[0]), trainer.weights()
        assert all(torch.equal(kept[name], weights[name]) for name in weights)
        assert {0, trainer.step} <= checkpoints.snapshots().keys()


def test_forty_runs_survive_the_death_of_a_worker_a_node_and_the_driver(
    nodes: Nodes, start: Callable[..., subprocess.Popen[str]], tmp_path: Path, tiny: Tiny
) -> None:
    store = logged_store(tmp_path / "store")
    steps = [600] * 4 + [200] * 36  # long enough for a quick machine to have some left when the driver dies
    runs: list[Run] = [tiny(seed=seed, budget={"steps": many, "evaluate_every": 20}) for seed, many in enumerate(steps)]
    driver = start(store, runs)
    wait_until(lambda: len(finished(store)) >= 3, "the first runs")

    os.kill(nodes.workers()[0], signal.SIGKILL)
    before = len(finished(store))
    wait_until(lambda: len(finished(store)) >= before + 3, "work after a worker's death")

    nodes.cluster.remove_node(nodes.nodes.pop(), allow_graceful=False)
    before = len(finished(store))
    wait_until(lambda: len(finished(store)) >= before + 3, "work after a node's death")
    assert len(finished(store)) < 30

    wait_until(lambda: status(store, runs, "running"), "a run under way")
    driver.kill()
    driver.communicate()
    # What was under way is trained here meanwhile, so that the cluster finishes it a second time.
    twice = status(store, runs, "running")
    for run in runs:
        if run.id in twice:
            train_here(store, run)
    driver = start(store, runs)
    told, said = driver.communicate(timeout=SECONDS)
    assert (driver.returncode, told) == (0, "finished\n"), said
    assert "was finished twice; the first result is kept" in said
    assert finished(store) == sorted(run.id for run in runs)
    assert {row.status for row in store.rows()} == {"done"}
    assert_bitwise(store, runs)
    wait_until(lambda: not nodes.workers(), "the workers to leave")


def test_what_was_under_way_when_the_driver_died_is_collected_and_plugins_travel(
    nodes: Nodes, start: Callable[..., subprocess.Popen[str]], tmp_path: Path, tiny: Tiny, monkeypatch: Any
) -> None:
    (code := tmp_path / "code").mkdir()
    (code / "hg_travels.py").write_text(NET)
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.setenv("PYTHONPATH", f"{code}:{os.environ.get('PYTHONPATH', '')}")  # of drivers, not of nodes
    log, store = tmp_path / "log", logged_store(tmp_path / "store")
    model = {"kind": "plugin", "factory": "hg_travels:make", "args": {"log": str(log)}}
    run = named(tiny(model=model, budget={"steps": 3000, "evaluate_every": 100}))
    driver = start(store, [run])
    wait_until(lambda: len(store.curve(run.id)) > 3, "evaluations of the run under way")
    began = log.read_text().splitlines()
    driver.kill()
    driver.communicate()
    so_far = len(store.curve(run.id))
    assert not finished(store)
    (tmp_path / "gate").touch()
    driver = start(store, [run])
    told, said = driver.communicate(timeout=SECONDS)
    assert (driver.returncode, told) == (0, "finished\n"), said
    assert finished(store) == [run.id]
    assert log.read_text().splitlines() == began  # nobody began it again
    assert "/hardgap-node-" in began[-1], began
    assert 3 < so_far < 31
    assert_bitwise(store, [run])


def test_a_ray_of_ones_own_is_safe_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """As a user types it: data on stdout, a token in no home folder, and nobody left afterwards."""
    sweep, home = tmp_path / "sweep.toml", Path(tempfile.mkdtemp(prefix="hg-"))
    sweep.write_text(SWEEP)
    arguments = ["sweep", str(sweep), "--on", "ray", "--workers", "2", "--store", str(tmp_path / "store"), "--json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    driver = subprocess.Popen(
        [sys.executable, "-m", "hardgap", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment | {"HOME": str(home), "TMPDIR": str(home)}, cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    try:
        wait_until(lambda: list(home.glob("hardgap-node-*/token")) or driver.poll() is not None, "a token")
        (token,) = home.glob("hardgap-node-*/token")
        assert (token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        told, said = driver.communicate(timeout=SECONDS)
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)
    assert driver.returncode == 0, said
    assert [row["status"] for row in json.loads(told)] == ["done"] * 3
    assert "authentication" not in said
    wait_until(lambda: not any(str(home).encode() in _read(pid, "environ") for pid in _pids()), "Ray to end")
    assert [path.name for path in home.iterdir()] == []
    shutil.rmtree(home)
    store = Store(tmp_path / "store")
    assert_bitwise(store, [row.config for row in store.rows()])
