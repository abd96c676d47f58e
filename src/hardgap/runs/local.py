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

from hardgap.core.errors import BadInput
from hardgap.core.plugins import handed_on
from hardgap.core.run import Run, check_plugins
from hardgap.nn.native import engine
from hardgap.runs.signals import STOPPING
from hardgap.runs.store import Store
from hardgap.runs.wanted import Wanted

POLL_SECONDS = 0.5
COUNTING_COSTS = 50
"""The runs of a sweep are counted at most a fiftieth of the time."""
GRACE_SECONDS = 60.0
"""How long a worker may take to leave, whether its driver asked it to or is gone."""
MOST_GIVEN_UP = 5
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class SweepProgress:
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
    on_progress: Callable[[SweepProgress], None] = lambda progress: None,
    checkpoint_seconds: float = 15.0,
) -> Ended:
    """Train what is missing of these runs, in this order, for at most `seconds`."""
    if workers is not None and workers < 1:
        raise BadInput(f"workers {workers}: at least one is needed")
    check_plugins(runs)
    engine.choose(None)  # an engine that is not here is said now, not by every worker
    store.add(runs)
    pool = Workers(store, [run.id for run in runs], workers or os.cpu_count() or 1, checkpoint_seconds)
    deadline = time.monotonic() + seconds if seconds is not None else None
    try:
        with store.wanted((run.id, run.budget.steps) for run in runs) as wanted:
            meter = Meter(wanted)
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
        order = {
            "store": str(store.folder.resolve()),
            "runs": ids,
            "checkpoint_seconds": checkpoint_seconds,
            "grace_seconds": GRACE_SECONDS,
            **handed_on(),
        }
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
            [sys.executable, "-P", "-m", "hardgap.runs.worker"],  # -P: no file of this folder shadows a library
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
        """Let every worker save its state and leave; end by force what does not, or all of them at another Ctrl-C."""
        give_up = time.monotonic() + GRACE_SECONDS
        try:
            for process in self._processes:
                _hang_up(process)
            for process in self._processes:
                process.wait(max(0.1, give_up - time.monotonic()))
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            pass
        finally:
            with _signals_later():
                for process in self._processes:
                    process.kill()
                    process.wait()


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()


@contextmanager
def _signals_later() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back while a worker starts; it inherits this and lets them in when it can answer."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Meter:
    """Reads a sweep's progress from the store and turns it into a rate.

    Only runs in training are looked at one by one. All others are counted inside SQLite, the more rarely the longer
    that takes.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._began = time.monotonic()
        self._trained = 0
        self._steps: dict[str, int] = {}  # where each run in training was last seen
        self._count()

    def read(self) -> SweepProgress:
        if time.monotonic() >= self._count_again:
            self._count()
        self._follow()
        elapsed = time.monotonic() - self._began
        number = {status: found for status, (found, _) in self._counts.items()}
        left = sum(left for status, (_, left) in self._counts.items() if status in ("queued", "running"))
        return SweepProgress(
            done=number.get("done", 0),
            failed=number.get("failed", 0),
            running=number.get("running", 0),
            total=sum(number.values()),  # a run that was removed meanwhile is nobody's business any more
            steps_left=left,
            steps_per_second=self._trained / elapsed if elapsed > 1 else 0.0,
        )

    def _count(self) -> None:
        began = time.monotonic()
        self._counts = self._wanted.counts()
        self._count_again = time.monotonic() + COUNTING_COSTS * (time.monotonic() - began)

    def _follow(self) -> None:
        """Add up steps from where a run was first seen: it may go on from a shorter one."""
        now = self._wanted.steps_of(self._steps)
        self._trained += sum(max(0, step - self._steps[run_id]) for run_id, step in now.items())
        self._steps = {run_id: step for run_id, step in self._wanted.running().items() if step}
