"""Train a run in this process: claim it, execute it, give it back. Commands, workers and retraining all go this way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer, Stopped
from hardgap.core.run import Run
from hardgap.runs.execute import CHECKPOINT_SECONDS, Execution
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds import build_task


def train_here(store: Store, run: Run, watcher: Observer | None = None, *, engine: str | None = None) -> None:
    """Train a run, unless it is done already. Stopped by the watcher, it raises KeyboardInterrupt, and can go on."""
    queue(store, run)
    if store.progress([run.id])[run.id][0] == "done":
        return
    owner = me()
    if store.claim([run.id], owner) is None:
        why = store.get(run.id).error or "it is being trained by another process; `hardgap runs list` shows it"
        raise BadInput(f"run {run.id} cannot be taken up: {why}")
    try:
        stopped = execute_claimed(store, run, owner, watcher, engine=engine)
    except BaseException:
        with suppress(sqlite3.Error):  # the store itself may be what went wrong
            store.release(run.id, owner)
        raise
    if stopped is None:
        raise BadInput(f"another process has taken over run {run.id}; `hardgap runs list` shows it")
    if stopped == "interrupted":
        raise KeyboardInterrupt


def queue(store: Store, run: Run) -> None:
    """Write a run down. What cannot be trained is refused before: a new run's network and data are made once."""
    if run.id not in store.progress([run.id]):
        task = build_task(run)
        task.check()
        task.model()
    store.add([run])


def other_code(store: Store, runs: Iterable[Run]) -> list[str]:
    """Which plug-ins of new runs had other code in older ones, a sentence each."""
    now = {path: source for run in runs for path, source in run.plugins().items()}
    if not now:
        return []
    older = {path: (row.id, source) for row in store.rows() for path, source in row.config.plugins().items()
             if path in now and source != now[path]}  # fmt: skip
    said = {path: "changed since" if source else "may not be that of" for path, (_, source) in older.items()}
    return [f"the code of {path} {said[path]} run {run_id}; this is a new run" for path, (run_id, _) in older.items()]


def execute_claimed(
    store: Store,
    run: Run,
    owner: str,
    watcher: Observer | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    engine: str | None = None,
) -> Stopped | None:
    """Train a run that `owner` has claimed; one that fails by its own fault is marked so, with the reason."""
    chosen: dict[str, Any] = {} if engine is None else {"engine": engine}
    execution = Execution(store, run, owner, watcher or Observer(), checkpoint_seconds, **chosen)
    with blamed_on(execution):
        return execution()


@contextmanager
def blamed_on(execution: Execution) -> Iterator[None]:
    """What goes wrong in here by a run's own fault is written down with it."""
    try:
        yield
    except (BadInput, KeyboardInterrupt, sqlite3.Error):
        raise
    except BaseException as error:  # whatever a user's own network raises, SystemExit too
        reason = f"{type(error).__name__}: {error}"
        execution.store.fail(execution.run.id, execution.owner, reason)
        raise BadInput(f"run {execution.run.id} failed: {reason}") from error
