"""Which weights answer for a run: its own, if they are here, else those of its replica."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from hardgap.core.checkpoint import CorruptFile
from hardgap.core.loop import under
from hardgap.core.run import Run
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.replicas import both_ends, made_with, replica_of
from hardgap.runs.store import Row, Store

State = tuple[dict[str, Tensor], dict[str, Any]]
_told: set[tuple[str, str]] = set()
"""Replicas that have been named, by their store: a run with many snapshots is opened many times."""


@dataclass(frozen=True)
class Weights:
    """Where the asked-for network of a run is kept: in which store, at which step (None is the end)."""

    store: Store
    step: int | None
    replica: bool = False

    def about(self, run: Run) -> str:
        """The run in one line, with what its reader must know."""
        return f"{run.describe()}{', a replica' if self.replica else ''}"


def find_weights(store: Store, run_id: str, at: int | str | None = None) -> Weights:
    """The network of a run at a step, by one of its choices, or at its end (None, or `final`).

    A replica is asked only where the run's own weights are not here, and chooses by its own curve. If neither has
    them, whoever loads from the place that this names says what is missing.
    """
    row = store.get(run_id)
    own = Weights(store, _step(store, row, at))
    if (found := replica_of(store, row.id)) is None or is_here(own.store, row, own.step):
        return own
    beside, trained_again = found
    other = Weights(beside, _step(beside, trained_again, at), replica=True)
    if not is_here(beside, trained_again, other.step) and Checkpoints(store.folder, row.id).snapshots():
        return own
    return other


def stamp(store: Store, run_id: str) -> tuple[object, ...]:
    """What changes when a run goes on or other weights come to answer for it: for whoever remembers what they gave."""
    found = replica_of(store, run_id)
    rows = [store.get(run_id), *([found[1]] if found else [])]
    return tuple((row.step, row.finished) for row in rows)


def with_snapshots(store: Store, run_id: str, at_least: int) -> Weights:
    """Where so many snapshots of a run are: its own place, unless only its replica has them."""
    own = Weights(store, None)
    found = replica_of(store, run_id)
    if found is None or len(own_snapshots(store, store.get(run_id))) >= at_least:
        return own
    return Weights(found[0], None, replica=True) if len(own_snapshots(*found)) >= at_least else own


def own_snapshots(store: Store, row: Row) -> list[int]:
    """The steps at which weights of this very run were kept."""
    checkpoints = Checkpoints(store.folder, row.id)
    return list(checkpoints.snapshots()) if _is_own(checkpoints, store, row) else []


def announce(store: Store, run_id: str) -> None:
    """Say, once, that a replica is opened."""
    found = replica_of(store, run_id)
    if found is None or (str(store.folder), run_id) in _told:
        return
    _told.add((str(store.folder), run_id))
    beside, again = found
    ends = both_ends(store.curve(run_id), beside.curve(run_id))
    print(f"hardgap: run {run_id} opens as a REPLICA ({made_with(again.versions)}): {ends}", file=sys.stderr)


def _step(store: Store, row: Row, at: int | str | None) -> int | None:
    if at is None or isinstance(at, int):
        return at
    return None if at == "final" else int(row.config.choose(store.curve(row.id), at)["step"])


def is_here(store: Store, row: Row, step: int | None = None) -> bool:
    """Whether a store has a run's own network of this step, whole; None is the end."""
    if step is not None:
        return step in own_snapshots(store, row)
    try:
        return at_end(store, row) is not None
    except CorruptFile:
        return False


def opens(store: Store, run_id: str) -> bool:
    """Whether a run's network can be opened as it ended: its own, or its replica's."""
    found = find_weights(store, run_id)
    return is_here(found.store, found.store.get(run_id))


def at_end(store: Store, row: Row) -> dict[str, Tensor] | None:
    """The weights with which a run ended, or at which it stands, if they are here and its own."""
    checkpoints = Checkpoints(store.folder, row.id)
    found = checkpoints.latest()
    if found is None and row.step in checkpoints.snapshots():  # weights that came as a file
        return checkpoints.load_snapshot(row.step, row.config)
    # A result may have been imported over a half-trained state: only the state of its end is its network.
    if found is None or (row.status == "done" and not (found[1]["step"] == row.step and _agrees(found, store, row))):
        return None
    return under("model.", found[0])


def _is_own(checkpoints: Checkpoints, store: Store, row: Row) -> bool:
    """Whether snapshots are those of this run: the state beside them, if there is one, tells the same story."""
    try:
        found = checkpoints.latest()
    except CorruptFile:
        return True  # nothing is known against them
    return found is None or row.status != "done" or _agrees(found, store, row)


def _agrees(state: State, store: Store, row: Row) -> bool:
    """Whether a state's curve is the run's so far; it may still owe the evaluation of its own step."""
    told = state[1]["curve"]
    return bool(told == store.curve(row.id)[: len(told)])
