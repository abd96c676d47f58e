"""Train runs, or find those that are trained."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardgap.api.result import Result, Results
from hardgap.core.run import Run
from hardgap.runs.driver import SweepProgress, run_sweep
from hardgap.runs.listing import conditions
from hardgap.runs.signals import Signals, interrupt
from hardgap.runs.stackable import stacking
from hardgap.runs.store import Store, open_store
from hardgap.runs.watching import run_lines, sweep_lines

STORE = "hardgap-runs"
Watch = bool | Callable[[dict[str, Any]], None]


def train(run: Run, store: Store | Path | str = STORE, *, watch: Watch = True) -> Result:
    """Train a run in this process, unless the store has it already.

    >>> import hardgap as hg
    >>> result = hg.train(hg.Automaton(30, hide=3, scale="smoke"), store="runs")
    >>> result.curve[-1]["step"], result.summary.steps
    (2, 2)

    Progress goes to stderr; `watch=False` is silent, and a function is told every evaluation. Ctrl-C saves and stops,
    and the same call goes on from there.
    """
    from hardgap.core.loop import Observer
    from hardgap.runs.train import train_here

    opened, stop = open_store(store, create=True), threading.Event()
    watcher = Observer(should_stop=stop.is_set)
    if callable(watch):
        watcher.on_point = lambda point: watch(point.as_dict())
    elif watch:
        watcher.on_point, watcher.on_step = run_lines(run.budget.steps, at_once=False)
    _tell_other_code(opened, [run])
    with _one_thread(), _stopped_by(stop.set):
        train_here(opened, run, watcher)
    return Result(opened, opened.get(run.id))


def sweep(
    runs: Iterable[Run],
    store: Store | Path | str = STORE,
    *,
    on: str = "local",
    workers: int | None = None,
    seconds: float | None = None,
    stack: int | None = None,
    watch: bool | Callable[[SweepProgress], None] = True,
) -> Results:
    """Train what is missing of these runs in worker processes, as many as cores, for at most so many seconds.

    What is finished comes back, each run once, in the order asked for; `.failed` says which failed and why, `.left`
    what is not done. Killed or stopped, the same call goes on from there. `on` says where: `local`, `ray`,
    `ray://HOST:PORT` or `slurm` (docs/scale.md). With `stack=8`, eight runs of one shape at a time are trained as one
    network (docs/stacking.md), which is for a GPU.

        runs = hg.grid(hg.Automaton(150, hide=2), seed=range(5), unrolling__feedback=["soft", "hard"])
        frame = hg.sweep(runs, store="runs").frame()
    """
    opened = open_store(store, create=True)
    wanted = list({run.id: run for run in ([runs] if isinstance(runs, Run) else runs)}.values())
    _tell_other_code(opened, wanted)
    tell = watch if callable(watch) else sweep_lines(at_once=False) if watch else lambda now: None
    with stacking(wanted, stack, workers, on) as (ordered, processes):
        ended = run_sweep(opened, ordered, on=on, workers=processes, seconds=seconds, on_progress=tell)
    if ended == "interrupted":
        raise KeyboardInterrupt
    found = _results(opened, [run.id for run in wanted], left=wanted)
    for run_id, why in found.failed.items():
        print(f"hardgap: run {run_id} failed: {why}", file=sys.stderr)
    return found


def results(store: Store | Path | str = STORE, **where: Any) -> Results:
    """The finished runs of a store whose config says so; of several values of a field, any will do.

    >>> import hardgap as hg
    >>> run = hg.Automaton(30, hide=3, scale="smoke")
    >>> hg.results(hg.train(run, store="runs").store, rule=30, seed=[0, 1], unrolling__feedback="soft")
    1 run in runs
    """
    opened = open_store(store)
    wanted = [pair for name, value in where.items() for pair in conditions(name.replace("__", "."), value)]
    return _results(opened, [one.id for one in opened.listed(where=[*wanted, ("status", "done")])])


def _results(store: Store, ids: list[str], left: Iterable[Run] = ()) -> Results:
    rows = store.rows(ids)
    done = [Result(store, row) for row in rows if row.status == "done"]
    failed = {row.id: row.error or "" for row in rows if row.status == "failed"}
    known = {one.id for one in done} | failed.keys()
    return Results(store, done, failed, [run for run in left if run.id not in known])


def _tell_other_code(store: Store, runs: list[Run]) -> None:
    """Say which plug-ins of runs that are new here had other code in older ones."""
    from hardgap.runs.train import other_code

    known = store.progress(run.id for run in runs)
    for sentence in other_code(store, [run for run in runs if run.id not in known]):
        print(f"hardgap: {sentence}", file=sys.stderr)


@contextmanager
def _one_thread() -> Iterator[None]:
    """A run is trained on one thread, wherever: its numbers depend on the count. Afterwards it is as before."""
    import torch

    from hardgap.runs.execute import single_thread

    before = torch.get_num_threads()
    single_thread()
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _stopped_by(stop: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C stops after this step, a second one at once. Signals are heard in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with Signals(stop, interrupt):
        yield
