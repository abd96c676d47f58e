"""The checkpoints of a run: one state to go on from, and snapshots to look back at.

checkpoints/<run>/state-00000800.safetensors    everything needed to go on; older ones are removed
checkpoints/<run>/step-00000800.safetensors     weights only, kept
checkpoints/<run>/eval-seen-00000800.safetensors   weights that a rule of the run would choose so far, one a rule
initial/<sha256>.safetensors   weights that runs start from, not random ones; a config names them so
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, model_validator
from torch import Tensor, nn

from hardgap.core.checkpoint import CorruptFile, load_tensors, load_weights, save_bytes, save_tensors, sidecar
from hardgap.core.errors import BadInput
from hardgap.core.loop import under
from hardgap.core.refusal import first_problem
from hardgap.core.run import Run
from hardgap.core.specs import Budget, Count, Spec
from hardgap.runs.detail import Evaluation
from hardgap.worlds import parse_run

SNAPSHOTS = 10
"""A run keeps about this many evenly spaced snapshots, and two more around the transition."""


class StateLabel(Spec, strict=True):
    """What stands in the metadata of a state: nothing is gone on from that does not fit together."""

    run: str
    kind: Literal["state"] = "state"  # the first states were written without
    step: Count
    curve: list[Evaluation]
    loss: tuple[Annotated[float, Field(allow_inf_nan=True)], Count]  # not finite while a run diverges
    attempt: tuple[Count, Count] = (0, 0)  # as were they without this
    engines: tuple[str, ...] = ()  # what computed it, in order; before there were several, nobody wrote it down
    machines: tuple[str, ...] = ()  # where, in order; likewise
    processor_clock: bool = False  # whether all its seconds are a processor's

    @model_validator(mode="after")
    def _fits_together(self) -> StateLabel:
        if "kind" in self.model_fields_set and "attempt" not in self.model_fields_set:
            raise ValueError("attempt: it is missing")
        last = self.curve[-1].step if self.curve else 0
        if self.loss[1] != self.step - last or (not self.loss[1] and self.loss[0]):
            raise ValueError(f"loss: it is not that of the updates between step {last} and step {self.step}")
        attempt, began = self.attempt
        if began > self.step or bool(attempt) != bool(began):
            raise ValueError(f"attempt: start {attempt} at step {began} is not possible by step {self.step}")
        for point in self.curve:
            if point.detail.get("attempt", 0) != (attempt if point.step > began else 0):
                raise ValueError(f"attempt: the evaluation at step {point.step} was made in another one")
        return self

    def check(self, budget: Budget) -> None:
        """Raise `ValueError` if training for this budget cannot stand here."""
        if self.step > budget.steps:
            raise ValueError(f"step: {self.step} is past the end, at {budget.steps}")
        if self.attempt not in ((0, 0), (1, budget.restart_at)):
            raise ValueError(f"attempt: start {self.attempt[0]} at step {self.attempt[1]} was not planned")
        looked = [point.step for point in self.curve]
        due = list(range(0, self.step, budget.evaluate_every))
        if looked not in (due, [*due, self.step]):  # A state may still owe the point of its own step.
            raise ValueError(f"curve: it was not evaluated every {budget.evaluate_every} steps up to {self.step}")


class SnapshotLabel(Spec, strict=True):
    """What stands in the metadata of a snapshot."""

    run: str
    step: Count
    config: dict[str, Any]
    kind: Literal["snapshot"] = "snapshot"


Label = TypeVar("Label", StateLabel, SnapshotLabel)


class Checkpoints:
    """The checkpoint folder of one run."""

    def __init__(self, store_folder: Path, run_id: str) -> None:
        self.run_id = run_id
        self.folder = store_folder / "checkpoints" / run_id

    def save_state(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        # The first states, which a longer run may go on from, were written without `attempt`.
        self._save_latest("state", tensors, {"attempt": [0, 0]} | meta | {"run": self.run_id, "kind": "state"})

    def save_snapshot(self, weights: dict[str, Tensor], step: int, config: dict[str, Any]) -> None:
        path = self._path("step", step)
        if not sidecar(path).exists():
            save_tensors(path, weights, self._snapshot_meta(step, config))

    def save_best(self, by: str, weights: dict[str, Tensor], step: int, config: dict[str, Any]) -> None:
        """Keep these weights as the best so far by one rule; those that were it before go."""
        self._save_latest(by, weights, self._snapshot_meta(step, config))

    def _snapshot_meta(self, step: int, config: dict[str, Any]) -> dict[str, Any]:
        return {"run": self.run_id, "step": step, "config": config, "kind": "snapshot"}

    def _save_latest(self, kind: str, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        path = self._path(kind, meta["step"])
        # Never the only one again: a kill in the middle would leave none. Equal steps go on equally.
        if not sidecar(path).exists():
            save_tensors(path, tensors, meta)
        self._remove_older(kind, meta["step"])

    def _remove_older(self, kind: str, than: int) -> None:
        for step, older in self._files(kind).items():
            if step < than:  # What is further was made by someone who took this run over: it is theirs.
                _remove(older)

    def names(self) -> list[str]:
        """The files that are whole: the newest state, and all kept weights."""
        whole = sorted(path.name for path in self.folder.glob("*.safetensors") if sidecar(path).exists())
        states = [name for name in whole if name.startswith("state-")]
        return [name for name in whole if name not in states[:-1]]

    def take_file(self, name: str, data: bytes) -> None:
        """Have a file of this run that was written elsewhere; what it replaces goes."""
        if (named := re.fullmatch(r"([a-z]+(?:-[a-z]+)*)-(\d+)\.safetensors", name)) is None:
            raise BadInput(f"{name!r:.60} is no name of a run's file")
        save_bytes(self.folder / name, data)
        if named[1] != "step":
            self._remove_older(named[1], int(named[2]))

    def take_snapshots(self, other: Checkpoints, run: Run) -> None:
        """Have the snapshots of another run as well, since this one, `run`, shares its first steps."""
        for step in other.snapshots():
            try:
                weights = other.load_snapshot(step, run)
            except CorruptFile as error:
                print(f"hardgap: {error}; passed over", file=sys.stderr)
                continue
            self.save_snapshot(weights, step, run.model_dump(mode="json"))

    def latest(self, budget: Budget | None = None) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The newest state, or None.

        What is damaged, another run's, or no state that training (for `budget`, if given) comes by is refused.
        """
        if (path := self.latest_file()) is None:
            return None
        tensors, meta = load_tensors(path)
        label = _read_label(StateLabel, path, meta, int(path.stem.removeprefix("state-")))
        if label.run != self.run_id:
            raise CorruptFile(f"{path} is the state of another run, {label.run!r:.40}")
        try:
            if budget is not None:
                label.check(budget)
        except ValueError as error:
            raise CorruptFile(f"{path} is no state of this run: {error}") from error
        return tensors, meta

    def latest_file(self) -> Path | None:
        """Where the newest state is, or None. An interrupted write is passed over."""
        return next((path for path in reversed(self._files("state").values()) if sidecar(path).exists()), None)

    def set_aside(self) -> None:
        """Rename the states, so that the run can start again and the evidence stays; snapshots are made anew, too."""
        for path in self.snapshots().values():  # what begins again, perhaps elsewhere, may take another way
            _remove(path)
        for path in self._files("state").values():
            path.rename(path.with_name(path.name + ".damaged"))
            sidecar(path).unlink(missing_ok=True)

    def snapshots(self) -> dict[int, Path]:
        """The kept weights by step, in order: evenly spaced ones, and the best ones."""
        return {step: path for step, path in self._files("(?!state).+").items() if sidecar(path).exists()}

    def load_snapshot(self, step: int, run: Run) -> dict[str, Tensor]:
        """The weights kept at a step, made by `run` or by one that shares its first steps."""
        path = self.snapshots()[step]
        weights, meta = load_tensors(path)
        label = _read_label(SnapshotLabel, path, meta, step)
        try:
            maker = parse_run(label.config)
        except BadInput as error:
            raise CorruptFile(f"{path} holds a config that cannot be read: {error}") from error
        if (maker.id, maker.family) != (label.run, run.family):
            raise CorruptFile(f"{path} is a snapshot of another run, {label.run!r:.40}")
        return weights

    def replace_with(self, folder: Path) -> None:
        """Have another folder's files instead; those from before are removed when the new ones are in their place."""
        before = folder.with_name(f"{folder.name}.before")
        with suppress(FileNotFoundError):
            self.folder.rename(before)
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(self.folder)
        shutil.rmtree(before, ignore_errors=True)

    def remove(self) -> OSError | None:
        """Remove all of it; what kept the first file that stays, if one does."""
        kept: list[Any] = []
        shutil.rmtree(self.folder, onerror=lambda _call, _path, raised: kept.append(raised[1]))
        return kept[0] if kept and self.folder.exists() else None

    def _path(self, kind: str, step: int) -> Path:
        return self.folder / f"{kind}-{step:08d}.safetensors"

    def _files(self, kind: str) -> dict[int, Path]:
        """The files of a kind, a pattern, by step, in order."""
        named = re.compile(rf"{kind}-(\d+)\.safetensors")
        found = [(named.fullmatch(path.name), path) for path in self.folder.glob("*.safetensors")]
        return dict(sorted((int(name[1]), path) for name, path in found if name))


def _read_label(kind: type[Label], path: Path, meta: object, step: int) -> Label:
    """The metadata, checked: types, and the step against the file's name."""
    try:
        label = kind.model_validate_json(json.dumps(meta))
    except ValidationError as error:
        raise CorruptFile(f"{path} has metadata that cannot be used: {first_problem(kind, error)}") from error
    if label.step != step:
        raise CorruptFile(f"{path} holds another step than its name says")
    return label


def _remove(path: Path) -> None:
    # The sidecar goes last: without its file it means nothing, but a file without it is passed over.
    path.unlink(missing_ok=True)
    sidecar(path).unlink(missing_ok=True)


def keep_initial(store_folder: Path, path: Path) -> str:
    """Copy a weights file into the store, after checking it, and return the name to put into a config."""
    if not path.exists():
        raise BadInput(f"init {path}: there is no such file", of="init")
    load_tensors(path)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    kept = initial_path(store_folder, digest)
    if not sidecar(kept).exists():
        save_bytes(kept, data)
    return digest


def start_from(model: nn.Module, store_folder: Path, digest: str) -> None:
    """Load the weights that a config names; a state to go on from serves as well as bare weights."""
    path = initial_path(store_folder, digest)
    if not path.exists():
        raise BadInput(f"the weights that this run starts from are not in {store_folder}; give them again")
    tensors, _ = load_tensors(path)
    load_weights(model, under("model.", tensors) or tensors, path)


def initial_path(store_folder: Path, digest: str) -> Path:
    return store_folder / "initial" / f"{digest}.safetensors"
