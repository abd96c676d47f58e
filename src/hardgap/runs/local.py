"""Run a sweep on this machine: as many worker processes as cores, one thread each.

Everything that matters is in the store; the driver only starts workers, replaces those that die, and
watches. Killing it loses nothing: its workers notice, save and leave.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from hardgap.errors import BadInput
from hardgap.nn.native import engine
from hardgap.runs.config import Run
from hardgap.runs.store import Store

POLL_SECONDS = 0.5
GRACE_SECONDS = 60.0
MOST_GIVEN_UP = 5
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Progress:
    """Where a sweep stands."""

    done: int
    failed: int
    running: int
    total: int
    steps_left: int  # an upper bound: solved runs may stop early
    steps_per_second: float

    @property
    def seconds_left(self) -> float | None:
        return self.steps_left / self.steps_per_second if self.steps_per_second > 0 else None


Ended = Literal["finished", "budget", "interrupted"]


def run_sweep(
    store: Store,
    runs: Sequence[Run],
    *,
    workers: int | None = None,
    seconds: float | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    checkpoint_seconds: float = 15.0,
) -> Ended:
    """Train what is missing of these runs, in this order, for at most `seconds`."""
    engine.choose(None)  # an engine that is not here is said now, not by every worker
    store.add(runs)
    ids = [run.id for run in runs]
    pool = Workers(store, ids, workers or os.cpu_count() or 1, checkpoint_seconds)
    meter = Meter(store, runs)
    deadline = time.monotonic() + seconds if seconds is not None else None
    try:
        while (progress := meter.read()).done + progress.failed < progress.total:
            on_progress(progress)
            if deadline is not None and time.monotonic() > deadline:
                return "budget"
            pool.keep_alive(progress.total - progress.done - progress.failed)
            time.sleep(POLL_SECONDS)
        on_progress(progress)
        return "finished"
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        pool.end()


class Workers:
    """The worker processes of one driver."""

    def __init__(self, store: Store, ids: list[str], size: int, checkpoint_seconds: float) -> None:
        order = {"store": str(store.folder.resolve()), "runs": ids, "checkpoint_seconds": checkpoint_seconds}
        self._order = (json.dumps(order) + "\n").encode()
        self._size = size
        self._processes: list[subprocess.Popen[bytes]] = []
        self._gave_up = 0

    def keep_alive(self, runs_left: int) -> None:
        """Start workers until there are as many as wanted, replacing those that died."""
        ended = [process for process in self._processes if process.poll() is not None]
        for process in ended:
            self._processes.remove(process)
            _hang_up(process)
            # A killed worker is replaced without limit; one that gives up by itself will do so again.
            self._gave_up = self._gave_up + 1 if process.returncode > 0 else 0
        if self._gave_up >= MOST_GIVEN_UP:
            raise BadInput("the worker processes cannot start or go on; what they said is above")
        with _signals_later():
            while len(self._processes) < min(self._size, runs_left):
                self._processes.append(self._start())

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "hardgap.runs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=os.environ | ONE_THREAD,
        )
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # It may have died already; the next look replaces it.
            process.stdin.write(self._order)
            process.stdin.flush()
        return process

    def end(self) -> None:
        """Let every worker save its state and leave; end by force only what does not."""
        for process in self._processes:
            _hang_up(process)
        give_up = time.monotonic() + GRACE_SECONDS
        for process in self._processes:
            try:
                process.wait(max(0.1, give_up - time.monotonic()))
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.kill()
                process.wait()


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()


@contextmanager
def _signals_later() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back while a worker starts; it inherits this and lets them in when it can answer."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Meter:
    """Reads a sweep's progress from the store and turns it into a rate."""

    def __init__(self, store: Store, runs: Sequence[Run]) -> None:
        self._store = store
        self._budgets = {run.id: run.budget.steps for run in runs}
        self._began = time.monotonic()
        self._before = {run_id: step for run_id, (_, step) in store.progress(self._budgets).items() if step}

    def read(self) -> Progress:
        now = self._store.progress(self._budgets)
        for run_id, (_, step) in now.items():  # where a run was first seen: it may go on from a shorter one
            if step:
                self._before.setdefault(run_id, step)
        trained = sum(step - self._before.get(run_id, 0) for run_id, (_, step) in now.items())
        open_runs = {run_id: step for run_id, (status, step) in now.items() if status in ("queued", "running")}
        elapsed = time.monotonic() - self._began
        statuses = [status for status, _ in now.values()]
        return Progress(
            done=statuses.count("done"),
            failed=statuses.count("failed"),
            running=statuses.count("running"),
            total=len(now),  # a run that was removed meanwhile is nobody's business any more
            steps_left=sum(max(0, self._budgets[run_id] - step) for run_id, step in open_runs.items()),
            steps_per_second=max(0, trained) / elapsed if elapsed > 1 else 0.0,
        )
