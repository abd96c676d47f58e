"""The checkpoints of a run: one state to go on from, and snapshots to look back at.

checkpoints/<run>/state-00000800.safetensors    everything needed to go on; older ones are removed
checkpoints/<run>/step-00000800.safetensors     weights only, kept
checkpoints/<run>/eval-seen-00000800.safetensors   weights that a rule of selection would choose so far, one a rule
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from torch import Tensor

from hardgap.runs.selection import Selection
from hardgap.training.checkpoint import CorruptFile, load_tensors, save_bytes, save_tensors, sidecar

SNAPSHOTS = 10
"""A run keeps about this many evenly spaced snapshots, and two more around the transition."""
BEST: tuple[Selection, ...] = ("eval-holdout", "eval-seen")
"""Rules of selection that look at every evaluation; the chosen network is kept, wherever it stands."""


class Checkpoints:
    """The checkpoint folder of one run."""

    def __init__(self, store_folder: Path, run_id: str) -> None:
        self.run_id = run_id
        self.folder = store_folder / "checkpoints" / run_id

    def save_state(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        path, older = self._path("state", meta["step"]), self._files("state")
        # Never the only state again: a kill in the middle would leave none. Equal steps go on equally.
        if not sidecar(path).exists():
            save_tensors(path, tensors, meta | {"run": self.run_id})
        for other in older:
            if other != path:
                _remove(other)

    def save_snapshot(self, weights: dict[str, Tensor], step: int, config: dict[str, Any]) -> None:
        path = self._path("step", step)
        if not sidecar(path).exists():
            save_tensors(path, weights, {"run": self.run_id, "step": step, "config": config})

    def save_best(self, by: Selection, weights: dict[str, Tensor], step: int, config: dict[str, Any]) -> None:
        """Keep these weights as the best so far by one rule; those that were it before go."""
        path, older = self._path(by, step), self._files(by)
        if not sidecar(path).exists():
            save_tensors(path, weights, {"run": self.run_id, "step": step, "config": config})
        for other in older:
            if other != path:
                _remove(other)

    def take_snapshots(self, other: Checkpoints) -> None:
        """Have the snapshots of another run as well, since this one shares its first steps."""
        for step, path in other.snapshots().items():
            if not sidecar(self._path("step", step)).exists():
                save_bytes(self._path("step", step), path.read_bytes())

    def latest(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The newest state, or None. An interrupted write is passed over; a damaged file is refused."""
        for path in reversed(self._files("state")):
            if sidecar(path).exists():
                return load_tensors(path)
        return None

    def set_aside(self) -> None:
        """Rename damaged states, so that the run can start again and the evidence stays."""
        for path in self._files("state"):
            try:
                load_tensors(path)
            except CorruptFile:
                path.rename(path.with_name(path.name + ".damaged"))
                sidecar(path).unlink(missing_ok=True)

    def snapshots(self) -> dict[int, Path]:
        """The kept weights by step, in order: evenly spaced ones, and the best ones."""
        files = [path for kind in (*BEST, "step") for path in self._files(kind) if sidecar(path).exists()]
        return dict(sorted((int(path.stem.rpartition("-")[2]), path) for path in files))

    def remove(self) -> OSError | None:
        """Remove all of it; what kept the first file that stays, if one does."""
        kept: list[Any] = []
        shutil.rmtree(self.folder, onerror=lambda _call, _path, raised: kept.append(raised[1]))
        return kept[0] if kept and self.folder.exists() else None

    def _path(self, kind: str, step: int) -> Path:
        return self.folder / f"{kind}-{step:08d}.safetensors"

    def _files(self, kind: str) -> list[Path]:
        return sorted(self.folder.glob(f"{kind}-*.safetensors"))


def _remove(path: Path) -> None:
    # The sidecar goes last: without its file it means nothing, but a file without it is passed over.
    path.unlink(missing_ok=True)
    sidecar(path).unlink(missing_ok=True)
