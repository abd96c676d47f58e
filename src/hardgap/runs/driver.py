"""Have runs of a store trained, wherever: the one loop of every executor.

An executor is a pool of workers somewhere. The driver writes the wanted runs down, tends the pool until none is left,
and reads from the store how far they are. Only processes of this machine write the store; what is far away tells the
driver. Killing it loses nothing: started again, it goes on.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.core.run import Run, check_plugins
from hardgap.nn.native import engine
from hardgap.runs.file_system import network_file_system
from hardgap.runs.store import Store
from hardgap.runs.wanted import Wanted

COUNTING_COSTS = 50
"""The runs of a sweep are counted at most a fiftieth of the time."""
LOCAL = "local"


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


class Pool(Protocol):
    """The workers of one driver. Made with the store, ids in their order, how many workers, seconds between states."""

    def tend(self, runs_left: int) -> None:
        """Start what is missing, replace what died, take in what is new; comes back within about half a second."""

    def end(self) -> None:
        """Let every worker save its state and leave; end by force what does not."""


Executor = Callable[[Store, list[str], int | None, float], Pool]


def executor(on: str) -> Executor:
    """What makes the pool for a place. `BadInput` if there is no such place, or what it needs is not installed."""
    asked = re.fullmatch(r"(?P<local>local)|ray(?:://(?P<ray>[^/\s]+:\d+))?|(?P<slurm>slurm)(?::(?P<settings>.+))?", on)
    if asked is None:
        raise BadInput(f"on {on}: choose local, ray, ray://HOST:PORT or slurm", of="on")
    if asked["local"]:
        local: Executor = part("hardgap.runs.local:Workers")
        return local
    name = "slurm" if asked["slurm"] else "ray"
    try:
        if asked["slurm"]:
            return partial(part("hardgap.runs.cluster.on_slurm:SlurmPool"), settings=asked["settings"] or "")
        return partial(part("hardgap.runs.cluster.on_ray:RayPool"), address=asked["ray"])
    except ModuleNotFoundError as error:
        raise BadInput(f"on {on}: {error.name} is not installed; pip install 'hardgap[{name}]'", of="on") from error


def _check_devices(runs: Sequence[Run]) -> None:
    """A device that is not here is said now, not by every run; elsewhere there may be others."""
    if asked := {run.device for run in runs} - {"auto", "cpu"}:
        from hardgap.core.task import pick_device

        for device in sorted(asked):
            pick_device(device)


def run_sweep(
    store: Store,
    runs: Sequence[Run],
    *,
    on: str = LOCAL,
    workers: int | None = None,
    seconds: float | None = None,
    on_progress: Callable[[SweepProgress], None] = lambda progress: None,
    checkpoint_seconds: float = 15.0,
) -> Ended:
    """Train what is missing of these runs, in this order, for at most `seconds`, at the place `on`."""
    if workers is not None and workers < 1:
        raise BadInput(f"workers {workers}: at least one is needed")
    make_pool = executor(on)
    check_plugins(runs)
    if on == LOCAL:
        _check_devices(runs)
    engine.choose(None)  # an engine that is not here is said now, not by every worker
    _tell_network(store)
    pool = make_pool(store, [run.id for run in runs], workers, checkpoint_seconds)
    deadline = time.monotonic() + seconds if seconds is not None else None
    try:
        store.add(runs)
        with store.wanted((run.id, run.budget.steps) for run in runs) as wanted:
            meter = Meter(wanted)
            while (progress := meter.read()).done + progress.failed < progress.total:
                on_progress(progress)
                if deadline is not None and time.monotonic() > deadline:
                    return "budget"
                pool.tend(progress.total - progress.done - progress.failed)
            on_progress(progress)
        return "finished"
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        pool.end()


def _tell_network(store: Store) -> None:
    if kind := network_file_system(store.folder):
        print(
            f"hardgap: the store {store.folder} is on a network file system ({kind}), where SQLite's log holds for one "
            "machine: let no other machine use it meanwhile",
            file=sys.stderr,
        )


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
