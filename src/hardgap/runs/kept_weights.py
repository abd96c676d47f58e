"""Weights as files beside results, so that chosen networks open where nothing was trained.

weights/<run>.step-00000350.safetensors   a snapshot, with its checksum beside it, as in a store's checkpoints
weights/<run>.state-00000350.safetensors  all that a longer run needs to go on from this one's end, for long ones
weights/<run>.replica.json                the result of the replica that it is of, where it is not the run's own
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hardgap.core.checkpoint import load_tensors, save_bytes
from hardgap.core.errors import BadInput
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.replicas import FOLDER as REPLICAS
from hardgap.runs.results import RUN_FILE, as_text, read_result, write_text
from hardgap.runs.store import DATABASE, Row, Store
from hardgap.runs.weights import Weights, find_weights, is_here, opens

FOLDER = "weights"
NAME = re.compile(r"([0-9a-f]{12})\.(step-\d{8}\.safetensors)")


def write_weights(store: Store, run_id: str, folder: Path, *, film: bool = False, state: bool = False) -> list[Path]:
    """Write the network of a run's end, and of the run's first choice of a checkpoint, if it has one.

    A film is every snapshot that was kept on the way; the state is what a longer run goes on from.
    """
    row = store.get(run_id)
    found = find_weights(store, row.id)
    checkpoints = Checkpoints(found.store.folder, row.id)
    if state:
        _check_state(found, row)
    kept = checkpoints.snapshots()
    steps = [step for step in _steps(found, row) if step in kept]
    if not steps or not is_here(found.store, found.store.get(row.id)):
        raise BadInput(f"run {row.id} has no weights in {store.folder}: `hardgap runs retrain {row.id}` makes them")
    steps = sorted(kept) if film else steps
    written = [folder / f"{row.id}.step-{step:08d}.safetensors" for step in steps]
    for step, path in zip(steps, written, strict=True):
        checkpoints.load_snapshot(step, row.config)  # what is damaged is not passed on
        save_bytes(path, kept[step].read_bytes())
    if found.replica:
        write_text(replica_file(folder, row.id), as_text(found.store.get(row.id), found.store.curve(row.id)))
    return [*written, _write_state(found, row, folder)] if state else written


def _check_state(found: Weights, row: Row) -> None:
    """Refuse a run that has no state, or a damaged one, before anything is written."""
    if found.replica or Checkpoints(found.store.folder, row.id).latest(row.config.budget) is None:
        why = "is a replica here" if found.replica else f"came to {found.store.folder} without its state"
        raise BadInput(f"run {row.id} {why}: no longer run can go on from it")


def _write_state(found: Weights, row: Row, folder: Path) -> Path:
    file = Checkpoints(found.store.folder, row.id).latest_file()
    assert file is not None
    save_bytes(folder / f"{row.id}.{file.name}", file.read_bytes())
    return folder / f"{row.id}.{file.name}"


def _steps(found: Weights, row: Row) -> list[int]:
    curve = found.store.curve(row.id)
    end = int(curve[-1]["step"])
    return sorted({end, *(int(row.config.choose(curve, by)["step"]) for by in row.config.choices[:1])})


def replica_file(folder: Path, run_id: str) -> Path:
    return folder / f"{run_id}.replica.json"


def runs_with_weights(results: Path) -> list[str]:
    """The runs whose weights are kept beside results."""
    named = (NAME.fullmatch(path.name) for path in (results / FOLDER).glob("*.safetensors"))
    return sorted({name[1] for name in named if name})


def take_weights(store: Store, results: Path, only: Iterable[str] | None = None) -> list[str]:
    """Have the weights that are kept beside results, of runs that are done here and have none; which runs these are."""
    wanted = runs_with_weights(results) if only is None else list(only)
    here = [row for row in store.rows(wanted) if row.status == "done" and not opens(store, row.id)]
    for row in here:
        _take(store, row, results / FOLDER)
    for path in (results / FOLDER).glob("*.state-*.safetensors"):
        _take_state(store, path)
    return [row.id for row in here]


def _take_state(store: Store, path: Path) -> None:
    """Have a state that came after its run's weights; not in the place of one that is here."""
    run_id, name = path.name.split(".", 1)
    checkpoints = Checkpoints(store.folder, run_id)
    if checkpoints.snapshots() and checkpoints.latest_file() is None:
        load_tensors(path)
        save_bytes(checkpoints.folder / name, path.read_bytes())


def _take(store: Store, row: Row, folder: Path) -> None:
    place = store
    if (told := replica_file(folder, row.id)).exists():
        place = Store(store.folder / REPLICAS)
        place.remove(row.id)
        place.put_all_done([_replica(told, row)])
    checkpoints = Checkpoints(place.folder, row.id)
    checkpoints.remove()  # at most a state on the way to another end
    for path in sorted(folder.glob(f"{row.id}.*.safetensors")):
        load_tensors(path)
        save_bytes(checkpoints.folder / path.name.removeprefix(f"{row.id}."), path.read_bytes())


def _replica(path: Path, row: Row) -> Any:
    result = read_result(path)
    if result[0].id != row.id:
        raise BadInput(f"{path} holds the result of another run, {result[0].id}")
    return result


def take_in(store_folder: Path, text: str, results: Path) -> str | None:
    """Take in a run by its id or first digits, if results have its weights and the store does not; its id then."""
    kept = runs_with_weights(results)
    known = _known(store_folder, text) if kept else None
    found = [known] if known else [run_id for run_id in kept if text and run_id.startswith(text)]
    if len(found) != 1 or found[0] not in kept:
        return None
    store = Store(store_folder)
    if not known:
        files = [path for path in results.rglob(f"{found[0]}.json") if RUN_FILE.fullmatch(path.name)]
        store.put_all_done(map(read_result, files[:1]))
    return found[0] if take_weights(store, results, found) else None


def _known(store_folder: Path, text: str) -> str | None:
    if not (store_folder / DATABASE).exists():
        return None
    try:
        return Store(store_folder, create=False).find(text)
    except BadInput:  # whoever wants this run will be told
        return None
