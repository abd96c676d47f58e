"""A replica: the same config trained again, with another curve. Another machine rounds otherwise.

replicas/    in a store's folder, and a store itself: the row, curve, versions and checkpoints of each replica
A run has at most one. It never passes for the run: whoever opens its weights is told, with both results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardgap.core.wording import percent
from hardgap.runs.store import DATABASE, Row, Store

FOLDER = "replicas"


def replicas_of(store: Store) -> Store | None:
    """The store of a store's replicas, if there are any."""
    folder = store.folder / FOLDER
    return Store(folder, create=False) if (folder / DATABASE).exists() else None


def replica_of(store: Store, run_id: str) -> tuple[Store, Row] | None:
    """The replica of a run, and the store that has it."""
    beside = replicas_of(store)
    if beside is None or run_id not in beside.progress([run_id]):
        return None
    return beside, beside.get(run_id)


def keep_replica(store: Store, row: Row, curve: list[dict[str, Any]], checkpoints: Path) -> None:
    """Have a finished training as the replica of its run, instead of an earlier one; `checkpoints` moves here."""
    from hardgap.runs.checkpoints import Checkpoints

    beside = Store(store.folder / FOLDER)
    beside.remove(row.id)
    kept = Checkpoints(beside.folder, row.id)
    kept.remove()
    kept.folder.parent.mkdir(parents=True, exist_ok=True)
    checkpoints.rename(kept.folder)
    beside.put_all_done([(row.config, curve, row.stopped or "budget", row.versions, row.seconds)])


def remove_replica(store: Store, run_id: str) -> None:
    """Forget the replica of a run, if there is one."""
    from hardgap.runs.checkpoints import Checkpoints

    if found := replica_of(store, run_id):
        found[0].remove(run_id)
        Checkpoints(found[0].folder, run_id).remove()


def both_ends(run: list[dict[str, Any]], replica: list[dict[str, Any]]) -> str:
    """How a replica and its run ended, by their curves.

    >>> end = {"step": 350, "holdout": 0.69, "visible": 1.0}
    >>> both_ends([end], [end | {"step": 600, "holdout": 0.616}])
    'it ended at step 600 with 61.6 % holdout, the run at step 350 with 69.0 %'
    """
    ends = [(curve[-1]["step"], percent(curve[-1]["holdout"])) for curve in (replica, run)]
    return "it ended at step {} with {} % holdout, the run at step {} with {} %".format(*ends[0], *ends[1])


def made_with(versions: dict[str, Any]) -> str:
    """The machine and the engine, as far as they were recorded.

    >>> made_with({"processor": "AMD EPYC", "instructions": "AVX512", "engine": "eager", "torch": "2.13.0"})
    'AMD EPYC, AVX512, eager'
    """
    known = [str(versions[name]) for name in ("processor", "instructions", "engine") if versions.get(name)]
    return ", ".join(known) or "a machine that was not recorded"


def as_data(store: Store, run_id: str) -> dict[str, Any] | None:
    """What a program is told of a run's replica."""
    if (found := replica_of(store, run_id)) is None:
        return None
    beside, row = found
    curve = beside.curve(run_id)
    last = {name: curve[-1][name] for name in ("visible", "holdout")}
    return {"steps": row.step, **last, "versions": row.versions, "curve": curve}
