"""Make the weights of an imported result again, and see whether its curve comes out the same."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.core.run import check_plugins
from hardgap.nn.native import engine
from hardgap.runs.checkpoints import Checkpoints, initial_path, keep_initial
from hardgap.runs.comparing import agrees
from hardgap.runs.replicas import keep_replica
from hardgap.runs.store import Row, Store
from hardgap.runs.train import train_here


@dataclass(frozen=True)
class Retrained:
    """What came out, and whether it is the run's result, bit for bit."""

    row: Row
    curve: list[dict[str, Any]]
    same: bool


def retrain_run(store: Store, row: Row, watcher: Observer) -> Retrained:
    """Train in a store of its own beside this one, and keep the checkpoints here.

    With the run's curve these are the run's weights. With another they are its replica's, and its own, if here, stay.
    """
    if row.status != "done":
        raise BadInput(f"run {row.id} is {row.status}: only a finished run has a result to compare with")
    before = store.curve(row.id)  # a damaged one is refused before anything is trained
    check_plugins([row.config])
    beside = Store(store.folder / "retraining")
    if (initial := row.config.starts_from()) is not None:
        keep_initial(beside.folder, initial_path(store.folder, initial))
    beside.add([row.config])
    made, kept = Checkpoints(beside.folder, row.id), Checkpoints(store.folder, row.id)
    if beside.progress([row.id])[row.id][0] == "done" and not made.folder.exists():
        beside.remove(row.id)  # An earlier call was killed after it had moved the checkpoints.
        beside.add([row.config])
    train_here(beside, row.config, watcher, engine=_engine_of(row))
    curve = beside.curve(row.id)
    again = Retrained(beside.get(row.id), curve, agrees(before, curve))
    mine = made.folder.with_name(f"{row.id}.{os.getpid()}")
    try:
        made.folder.rename(mine)  # of two processes that come this far, one succeeds
    except FileNotFoundError as error:
        raise BadInput(f"run {row.id} has just been retrained by another process") from error
    beside.remove(row.id)
    if again.same:
        kept.replace_with(mine)
    else:
        keep_replica(store, again.row, curve, mine)
    return again


def _engine_of(row: Row) -> str:
    """The engine that the result was made with, if nothing else is asked for and it is here."""
    made_with = row.versions.get("engine", engine.EAGER).rpartition(", then ")[2]
    if engine.asked() != "auto":
        return engine.asked()
    return str(made_with) if engine.is_here(made_with) else "auto"
