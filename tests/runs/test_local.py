"""Real sweeps in real processes: shared by two drivers, stopped by signals, and bitwise right in the end."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.plugins import trust
from hardgap.runs import driver, local
from hardgap.runs.driver import Meter, SweepProgress, run_sweep
from hardgap.runs.execute import build_trainer
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.runs.worker import execute_safely, work
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")

LOG = """
CREATE TABLE log (what TEXT, run TEXT);
CREATE TRIGGER claims AFTER UPDATE OF owner ON runs WHEN NEW.status = 'running'
  BEGIN INSERT INTO log VALUES ('claim', NEW.id); END;
CREATE TRIGGER finishes AFTER UPDATE OF status ON runs WHEN NEW.status = 'done'
  BEGIN INSERT INTO log VALUES ('finish', NEW.id); END;
"""
SWEEP = """
[base]
rule = "30"
hide = [3]
width = 7
train_rows = 16
test_rows = 16
optimiser = { batch = 6 }
budget = { steps = STEPS, evaluate_every = 50 }
model = { kind = "encoder", dim = 8, heads = 2, layers = 1, ffn = 16 }
[grid]
seed = SEEDS
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that notes every claim and every finish."""
    store = Store(tmp_path / "store")
    with closing(sqlite3.connect(store.path)) as db:
        db.executescript(LOG)
    return store


def logged(store: Store, what: str) -> list[str]:
    with closing(sqlite3.connect(store.path)) as db:
        return sorted(run for (run,) in db.execute("SELECT run FROM log WHERE what = ?", [what]))


def curve_of(run: AutomatonRun) -> list[dict[str, Any]]:
    trainer = build_trainer(run)
    trainer.run()
    return [point.as_dict() for point in trainer.curve]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `hardgap sweep` as a user would, each in a process group of its own; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start_sweep(store: Store, steps: int, seeds: list[int], workers: int) -> subprocess.Popen[str]:
        path = tmp_path / f"sweep-{steps}.toml"
        path.write_text(SWEEP.replace("STEPS", str(steps)).replace("SEEDS", str(seeds)))
        arguments = ["sweep", str(path), "--store", str(store.folder), "--workers", str(workers)]
        process = subprocess.Popen(
            [sys.executable, "-c", "from hardgap.cli import main; main()", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start_sweep
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def children(pid: int) -> list[int]:
    """The processes whose parent this is."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def wait_until(true: Callable[[], bool], what: str, seconds: float = 600) -> None:
    give_up = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < give_up, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def test_a_sweep_trains_everything_and_a_failing_run_spoils_nothing(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [tiny(seed=seed) for seed in range(4)]
    trust(["no_such_module:net"])
    broken = tiny(model={"kind": "plugin", "factory": "no_such_module:net"})
    seen: list[SweepProgress] = []
    assert run_sweep(store, [runs[0], broken, *runs[1:]], workers=2, on_progress=seen.append) == "finished"
    assert (seen[-1].done, seen[-1].failed, seen[-1].total, seen[-1].steps_left) == (4, 1, 5, 0)
    assert [store.curve(run.id) for run in runs] == [curve_of(run) for run in runs]
    assert "no_such_module:net cannot be imported" in str(store.get(broken.id).error)
    versions = store.get(runs[0].id).versions
    assert versions["threads"] == 1
    assert logged(store, "finish") == sorted(run.id for run in runs)
    # All is done: asked again, it answers without starting anybody.
    monkeypatch.setattr(local.Workers, "_start", lambda workers: pytest.fail("a worker was started"))
    assert run_sweep(store, runs, workers=2) == "finished"
    assert logged(store, "claim") == sorted([broken.id, *(run.id for run in runs)])


def test_a_worker_is_started_once_for_all_runs_of_a_sweep(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading torch takes seconds, and a run at this size a fraction of one."""
    started, start = [], local.Workers._start

    def noted(workers: local.Workers) -> subprocess.Popen[bytes]:
        started.append(process := start(workers))
        return process

    monkeypatch.setattr(local.Workers, "_start", noted)
    runs = [tiny(seed=seed) for seed in range(3)]
    assert run_sweep(store, runs, workers=1) == "finished"
    assert logged(store, "finish") == sorted(run.id for run in runs)
    assert len(started) == 1


def test_a_plugin_that_nobody_named_is_refused_before_anything_is_queued(store: Store, tiny: Tiny) -> None:
    strange = tiny(model={"kind": "plugin", "factory": "pydoc:pipepager", "args": {"cmd": "true"}})
    with pytest.raises(BadInput, match="pydoc:pipepager is named by a stored run, not by you"):
        run_sweep(store, [tiny(), strange])
    assert not store.rows()


def test_a_worker_imports_only_what_its_driver_was_told(store: Store, tiny: Tiny) -> None:
    strange = tiny(model={"kind": "plugin", "factory": "pydoc:pipepager", "args": {"cmd": "true"}})
    store.add([strange])
    store.claim([strange.id], me())
    execute_safely(store, strange.id, me(), threading.Event(), 15.0)
    assert "pydoc:pipepager is named by a stored run, not by you" in str(store.get(strange.id).error)


def test_two_drivers_share_one_store_without_doing_anything_twice(
    store: Store, start: Callable[..., subprocess.Popen[str]], tiny: Tiny
) -> None:
    seeds = list(range(4))
    drivers = [start(store, 100, seeds, workers=1) for _ in range(2)]
    outputs = [driver.communicate(timeout=600) for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], outputs
    rows = store.rows()
    assert sorted(row.config.seed for row in rows) == seeds
    assert {row.status for row in rows} == {"done"}
    ids = sorted(row.id for row in rows)
    assert logged(store, "claim") == logged(store, "finish") == ids
    assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    run = rows[0].config
    assert isinstance(run, AutomatonRun)
    assert store.curve(run.id) == curve_of(run)


def test_ctrl_c_and_sigterm_end_cleanly_and_the_sweep_goes_on(
    store: Store, start: Callable[..., subprocess.Popen[str]]
) -> None:
    def interrupt(sent: Callable[[int], None], least: int) -> int:
        driver = start(store, 1_000_000, [0], workers=1)
        wait_until(lambda: any(row.step >= least for row in store.rows()), "progress")
        workers = children(driver.pid)
        assert workers
        sent(driver.pid)
        _, said = driver.communicate(timeout=600)
        assert driver.returncode == 130
        assert "stopped; 1 of 1 run left, and the same command goes on from there" in said
        assert "Traceback" not in said
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
        assert [row.status for row in store.rows()] == ["queued"]
        (state,) = (store.folder / "checkpoints").glob("*/state-*.safetensors")
        return int(state.stem.removeprefix("state-"))

    first = interrupt(lambda pid: os.killpg(pid, signal.SIGINT), least=1)  # as a terminal sends it, to all
    second = interrupt(lambda pid: os.kill(pid, signal.SIGTERM), least=first + 1)
    assert 0 < first < second
    curve = store.curve(store.rows()[0].id)
    assert [point["step"] for point in curve] == list(range(0, 50 * len(curve), 50))


def test_ctrl_c_while_workers_are_still_starting_ends_without_a_traceback(
    store: Store, start: Callable[..., subprocess.Popen[str]]
) -> None:
    driver = start(store, 1_000_000, [0], workers=2)
    wait_until(lambda: len(children(driver.pid)) >= 1, "a worker")
    time.sleep(0.1)
    os.killpg(driver.pid, signal.SIGINT)
    _, said = driver.communicate(timeout=600)
    assert driver.returncode == 130
    assert "Traceback" not in said
    assert {row.status for row in store.rows()} == {"queued"}


def test_a_worker_without_an_order_leaves(tmp_path: Path) -> None:
    for text in ("", '{"store": "half an ord'):
        worker = subprocess.run(
            [sys.executable, "-m", "hardgap.runs.worker"], input=text, text=True, capture_output=True
        )
        assert (worker.returncode, worker.stderr) == (0, "")


def test_the_time_budget_ends_a_sweep_before_it_begins(store: Store, tiny: Tiny) -> None:
    assert run_sweep(store, [tiny()], workers=1, seconds=-1) == "budget"
    assert store.get(tiny().id).status == "queued"


def test_a_run_removed_meanwhile_is_not_waited_for(store: Store, tiny: Tiny) -> None:
    runs = [tiny(seed=seed) for seed in range(3)]

    def remove(progress: SweepProgress) -> None:
        for run in runs:
            Store(store.folder).remove(run.id)

    assert run_sweep(store, runs, workers=1, on_progress=remove) == "finished"


def test_progress_counts_steps_and_promises_no_more_than_it_knows(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [tiny(seed=seed, budget={"steps": 100}) for seed in range(3)]
    store.add(runs)
    clock = [1000.0]
    monkeypatch.setattr(driver, "COUNTING_COSTS", 0)
    monkeypatch.setattr(driver, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with store.wanted((run.id, run.budget.steps) for run in runs) as wanted:
        meter = Meter(wanted)
        now = meter.read()
        assert (now.done, now.running, now.total, now.steps_left, now.seconds_left) == (0, 0, 3, 300, None)
        store.claim([runs[0].id], me())
        store.heartbeat(runs[0].id, me(), 40)  # it may have begun there: nothing is known about the speed yet
        now = meter.read()
        assert (now.running, now.steps_left, now.seconds_left) == (1, 260, None)
        store.heartbeat(runs[0].id, me(), 80)
        clock[0] += 10
        now = meter.read()
    assert now.steps_per_second == 4.0
    assert now.seconds_left == 55


def test_workers_that_cannot_even_start_are_not_replaced_for_ever(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr(local, "POLL_SECONDS", 0.05)
    with pytest.raises(BadInput, match="the worker processes cannot start or go on"):
        run_sweep(store, [tiny()], workers=1)
    assert store.get(tiny().id).status == "queued"


def test_a_worker_waits_for_a_run_that_another_still_holds(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the other one dies, the run is taken up at once."""
    from hardgap.runs import worker

    run, waits = tiny(), []
    store.add([run])
    store.claim([run.id], "another-host:1:1")

    def other_dies(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            store.release(run.id, "another-host:1:1")

    monkeypatch.setattr(worker, "time", SimpleNamespace(sleep=other_dies))  # of this module: other threads sleep, too
    work(store, [run.id], threading.Event(), 15.0)
    assert len(waits) == 3
    assert store.curve(run.id) == curve_of(run)
