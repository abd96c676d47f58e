"""kill -9, again and again, of drivers and workers at random moments over real sweeps.

A round is one store and a handful of tiny runs. Two drivers with their workers are started, left alone for a
random while, and most of the processes are killed; then again, until all runs are done. Nothing may be lost,
nothing finished twice, the database must be intact, and every curve and every last weight must be bitwise
what a single undisturbed process makes of it.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from hardgap.core.loop import Observer, driven, under
from hardgap.core.stack import Member
from hardgap.nn.native import engine
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import build_trainer
from hardgap.runs.stackable import VARIABLE, stack_for
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")

DRIVERS = 2
DRIVER = """
import json, sys
from pathlib import Path
from hardgap.worlds import parse_run
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
runs = [parse_run(data) for data in json.loads(Path(sys.argv[2]).read_text())]
run_sweep(Store(Path(sys.argv[1])), runs, workers=int(sys.argv[3]), checkpoint_seconds=0.05)
"""
LOG = """
CREATE TABLE finished (run TEXT);
CREATE TRIGGER finishes AFTER UPDATE OF status ON runs WHEN NEW.status = 'done'
  BEGIN INSERT INTO finished VALUES (NEW.id); END;
"""


@dataclass
class Reference:
    """What undisturbed training gives."""

    runs: list[AutomatonRun]
    stacked: bool = False
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    weights: dict[str, dict[str, Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for run in self.runs:
            if self.stacked:
                with engine.using(engine.STACKED), torch.random.fork_rng(devices=[]):
                    trainer, stack = build_trainer(run, make_adam=Member), stack_for(run)
                    driven(trainer.turns(Observer()), lambda: stack.update([trainer]))  # noqa: B023
            else:
                trainer = build_trainer(run)
                trainer.run()
            self.curves[run.id] = [point.as_dict() for point in trainer.curve]
            self.weights[run.id] = trainer.weights()


class Round:
    """One store, its drivers and their workers, and someone who kills them."""

    def __init__(self, folder: Path, reference: Reference, workers: int, chance: random.Random, pause: float) -> None:
        self.reference, self.workers, self.random, self.pause = reference, workers, chance, pause
        self.store = Store(folder / "store")
        self.store.add(reference.runs)
        with closing(sqlite3.connect(self.store.path)) as db:
            db.executescript(LOG)
        self._order = folder / "runs.json"
        self._order.write_text("[" + ",".join(run.model_dump_json() for run in reference.runs) + "]")
        self._drivers: list[subprocess.Popen[bytes]] = []
        self._workers: dict[int, str] = {}  # pid and start time of every worker ever seen
        self.kills = 0

    def is_done(self) -> bool:
        progress = self.store.progress([run.id for run in self.reference.runs])
        return {status for status, _ in progress.values()} == {"done"}

    def start(self) -> None:
        self._drivers = [driver for driver in self._drivers if driver.poll() is None]
        while len(self._drivers) < DRIVERS:
            arguments = [str(self.store.folder), str(self._order), str(self.workers)]
            self._drivers.append(
                subprocess.Popen([sys.executable, "-c", DRIVER, *arguments], stderr=subprocess.DEVNULL)
            )

    def disturb(self, most: int) -> None:
        """Let everybody work for a while, then kill most of them in a random order."""
        self.start()
        wake = time.monotonic() + self.pause * self.random.uniform(0.8, 5.0)
        while time.monotonic() < wake and not self.is_done():
            time.sleep(0.05)
        victims = [*self.live_workers(), *(driver.pid for driver in self._drivers if driver.poll() is None)]
        self.random.shuffle(victims)
        for pid in victims[: max(1, round(0.8 * len(victims)))]:
            if self.kills < most:
                self._kill(pid)
                time.sleep(self.random.choice([0, 0, self.random.uniform(0, 0.1)]))

    def _kill(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills += 1
        for driver in self._drivers:
            if driver.pid == pid:
                driver.wait()

    def live_workers(self) -> list[int]:
        """The workers of our drivers, also of those that are dead by now."""
        parents = {driver.pid for driver in self._drivers}
        for path in Path("/proc").glob("[0-9]*"):
            if (seen := _stat(path)) is not None and int(seen[1]) in parents:
                self._workers[int(path.name)] = seen[19]
        alive = {pid: _stat(Path(f"/proc/{pid}")) for pid in self._workers}
        self._workers = {pid: seen[19] for pid, seen in alive.items() if seen and seen[19] == self._workers[pid]}
        return list(self._workers)

    def finish(self) -> None:
        """Undisturbed, the drivers end by themselves."""
        self.start()
        assert [driver.wait(600) for driver in self._drivers] == [0] * DRIVERS

    def end(self) -> None:
        for pid in [*self.live_workers(), *(driver.pid for driver in self._drivers if driver.poll() is None)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for driver in self._drivers:
            driver.wait()

    def check(self) -> None:
        """Nothing lost, nothing twice, nothing changed."""
        ids = sorted(run.id for run in self.reference.runs)
        assert self.store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = self.store.rows()
        assert {row.id: row.status for row in rows} == dict.fromkeys(ids, "done")
        assert {row.id: row.config for row in rows} == {run.id: run for run in self.reference.runs}
        with closing(sqlite3.connect(self.store.path)) as db:
            assert sorted(run for (run,) in db.execute("SELECT run FROM finished")) == ids
        for run_id in ids:
            assert self.store.curve(run_id) == self.reference.curves[run_id]
            found = Checkpoints(self.store.folder, run_id).latest()
            assert found is not None
            weights = under("model.", found[0])
            assert all(torch.equal(weights[n], t) for n, t in self.reference.weights[run_id].items())


def _stat(process: Path) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on; None for the dead."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields


def start_up_seconds() -> float:
    """How long a worker needs here and now before it can train: the unit of every pause."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import hardgap.runs.execute"], check=True)
    return time.monotonic() - began


def kill_until(kills: int, folder: Path, reference: Reference, *, most: int, workers: int, seed: int) -> None:
    """Rounds of at most `most` kills, each checked, until there were enough."""
    chance, pause = random.Random(seed), start_up_seconds()
    done = 0
    for number in itertools.count():
        limit = min(most, kills - done)
        (folder / str(number)).mkdir()
        turn = Round(folder / str(number), reference, workers, chance, pause)
        try:
            while turn.kills < limit and not turn.is_done():
                turn.disturb(limit)
            turn.finish()
            turn.check()
        finally:
            turn.end()
        done += turn.kills
        if done == kills:
            return


def runs_of(tiny: Tiny, seeds: int, steps: int) -> list[AutomatonRun]:
    regimes = ({"feedback": "soft", "steps": 2}, {"feedback": "hard", "steps": 2}, {"feedback": "none", "steps": 1})
    return [
        tiny(seed=seed, unrolling=regimes[seed % 3], budget={"steps": steps, "evaluate_every": 25})
        for seed in range(seeds)
    ]


def test_ten_kills(tiny: Tiny, tmp_path: Path) -> None:
    kill_until(10, tmp_path, Reference(runs_of(tiny, seeds=3, steps=100)), most=10, workers=1, seed=1)


@pytest.mark.slow
def test_two_hundred_kills(tiny: Tiny, tmp_path: Path) -> None:
    kill_until(200, tmp_path, Reference(runs_of(tiny, seeds=6, steps=600)), most=50, workers=2, seed=2)


@pytest.mark.slow
def test_kills_of_stacks(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever a run is stacked with after a kill, it ends with the bits that it has alone."""
    monkeypatch.setenv(VARIABLE, "3")
    monkeypatch.setenv(engine.VARIABLE, engine.STACKED)
    reference = Reference(runs_of(tiny, seeds=9, steps=100), stacked=True)
    kill_until(20, tmp_path, reference, most=10, workers=1, seed=3)
