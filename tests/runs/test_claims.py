"""Claims between processes that cannot see one another, and a process that wakes after its claim was lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hardgap.core.loop import Observer
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution, build_trainer
from hardgap.runs.owner import me
from hardgap.runs.store import LEASE, Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")
ELSEWHERE = "another-host:1:1"
CLAIM = """
import sys, time
from pathlib import Path
from hardgap.runs.owner import me
from hardgap.runs.store import Store
print(Store(Path(sys.argv[1])).claim([sys.argv[2]], me()), flush=True)
time.sleep(600)
"""
WORKER = """
import sys, time
from pathlib import Path
from hardgap.runs import execute, worker
execute.HEARTBEAT_SECONDS = 1e9
on_step = execute.Execution._on_step

def no_further(self, step):
    while step == 300 and not Path(sys.argv[1]).exists():
        time.sleep(0.01)
    on_step(self, step)

execute.Execution._on_step = no_further
sys.exit(worker.main())
"""
"""Between two saves it never asks whether it still holds its claim, as if it had just asked. However quick, it is not
done before it may be: that is when a file is there."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def contents(store: Store, run: AutomatonRun) -> tuple[Any, ...]:
    """Everything that is kept of a run."""
    files = sorted(Checkpoints(store.folder, run.id).folder.iterdir())
    return {path.name: path.read_bytes() for path in files}, store.curve(run.id), store.get(run.id)


def take_over(store: Store, run: AutomatonRun, owner: str) -> None:
    """Another process has the claim from now on, and trains the run to its end."""
    with closing(sqlite3.connect(store.path, timeout=1)) as db, db:
        db.execute("UPDATE runs SET owner = ?", [owner])
    Execution(Store(store.folder), run, owner, Observer(), checkpoint_seconds=1e9)()


# Another PID namespace


@pytest.fixture
def in_a_container(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts Python in a PID namespace of its own, under this host's name."""
    command = ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), "--pid", "--fork", "--kill-child"]
    command.append("--mount-proc")
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("this machine gives no PID namespaces")
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        started.append(subprocess.Popen([*command, sys.executable, *arguments], stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_claim_from_another_container_is_not_stolen(
    store: Store, tiny: Tiny, in_a_container: Callable[..., subprocess.Popen[str]]
) -> None:
    run = tiny()
    store.add([run])
    process = in_a_container("-c", CLAIM, str(store.folder), run.id)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{run.id}\n"
    assert store.claim([run.id], me()) is None
    with closing(sqlite3.connect(store.path)) as db, db:  # It has been silent for too long.
        db.execute("UPDATE runs SET heartbeat = ?", [time.time() - LEASE - 1])
    assert store.claim([run.id], me()) == run.id


# Waking up too late


@pytest.mark.parametrize("step", range(1, 7))
def test_who_lost_its_claim_changes_nothing_of_the_finished_run(store: Store, tiny: Tiny, step: int) -> None:
    """Wherever it stood: before a checkpoint, before an evaluation, before the end."""
    run, left = tiny(), []

    def stopped_for_long(done: int) -> None:
        if done == step:
            take_over(store, run, ELSEWHERE)
            left.append(contents(store, run))

    store.add([run])
    store.claim([run.id], me())
    assert Execution(store, run, me(), Observer(on_step=stopped_for_long), checkpoint_seconds=0.0)() is None
    assert left == [contents(store, run)]
    assert store.curve(run.id) == curve_of(run)


def curve_of(run: AutomatonRun) -> list[dict[str, Any]]:
    trainer = build_trainer(run)
    trainer.run()
    return [point.as_dict() for point in trainer.curve]


@pytest.mark.slow
def test_a_worker_that_was_stopped_wakes_and_changes_nothing(store: Store, tiny: Tiny) -> None:
    run = tiny(budget={"steps": 400, "evaluate_every": 100}, train_rows=6)
    store.add([run])
    may_end = store.folder / "may-end"
    command = [sys.executable, "-c", WORKER, str(may_end)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert worker.stdin is not None
    order = {"store": str(store.folder), "runs": [run.id], "checkpoint_seconds": 0.05, "grace_seconds": 60}
    worker.stdin.write(json.dumps(order) + "\n")
    worker.stdin.flush()
    while not list(store.folder.glob("checkpoints/*/state-*.sha256")):
        assert worker.poll() is None
        time.sleep(0.01)
    stop_outside_of_a_transaction(worker, store)
    assert store.get(run.id).status == "running"
    take_over(store, run, ELSEWHERE)
    finished = contents(store, run)
    may_end.touch()
    worker.send_signal(signal.SIGCONT)
    assert worker.communicate(timeout=600)[1] == ""
    assert worker.returncode == 0
    now = contents(store, run)
    assert now[1:] == finished[1:]
    assert finished[0].items() <= now[0].items()  # It may have been stopped while it wrote a state, and left that.
    found = Checkpoints(store.folder, run.id).latest(run.budget)
    assert found is not None
    assert found[1]["step"] == 400
    assert store.curve(run.id) == curve_of(run)


def stop_outside_of_a_transaction(worker: subprocess.Popen[str], store: Store) -> None:
    while True:
        worker.send_signal(signal.SIGSTOP)
        while Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.001)  # the signal has been sent, not yet obeyed
        with closing(sqlite3.connect(store.path, timeout=0.5, isolation_level=None)) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError:
                worker.send_signal(signal.SIGCONT)
                time.sleep(0.01)
