"""Make the weights of an imported result again, and see whether its curve comes out the same."""

from __future__ import annotations

import os
import shutil

from hardgap.core.checkpoint import CorruptFile
from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.core.run import check_plugins
from hardgap.nn.native import engine
from hardgap.runs.checkpoints import Checkpoints, initial_path, keep_initial
from hardgap.runs.store import Row, Store
from hardgap.runs.train import train_here


def retrain_run(store: Store, row: Row, watcher: Observer) -> bool:
    """Train in a store of its own beside this one, compare the curves, and move the checkpoints over.

    Weights of the run's end that are here stay, unless the new ones have the same curve.
    """
    if row.status != "done":
        raise BadInput(f"run {row.id} is {row.status}: only a finished run has a result to compare with")
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
    same = beside.curve(row.id) == store.curve(row.id)
    mine = made.folder.with_name(f"{row.id}.{os.getpid()}")
    try:
        made.folder.rename(mine)  # of two processes that come this far, one succeeds
    except FileNotFoundError as error:
        raise BadInput(f"run {row.id} has just been retrained by another process") from error
    beside.remove(row.id)
    if not same and is_whole(kept, row):
        shutil.rmtree(mine)
        return same
    kept.remove()
    kept.folder.parent.mkdir(parents=True, exist_ok=True)
    mine.rename(kept.folder)
    return same


def _engine_of(row: Row) -> str:
    """The engine that the result was made with, if nothing else is asked for and it is here."""
    made_with = row.versions.get("engine", engine.EAGER).rpartition(", then ")[2]
    if engine.asked() != "auto":
        return engine.asked()
    return str(made_with) if engine.is_here(made_with) else "auto"


def is_whole(kept: Checkpoints, row: Row) -> bool:
    """Whether the network of the run's end is here, and not only a state on the way to it, or a damaged one."""
    try:
        found = kept.latest()
    except CorruptFile:
        return False
    return found is not None and found[1]["step"] == row.step
