"""Results as files: one JSON a run, compact and diffable, that any store can take in again.

A file holds what was asked for, what it was made with, and the whole curve, one evaluation a line. Weights
are not in it: `hardgap runs retrain` makes them again from the config.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from hardgap.errors import BadInput
from hardgap.runs.config import parse_run
from hardgap.runs.store import Row, Store

FORMAT = 1


def export_runs(store: Store, rows: list[Row], folder: Path) -> list[Path]:
    """Write every finished run of `rows` to `folder`; a file that is already the same is left alone."""
    written = []
    for row in rows:
        if row.status != "done":
            continue
        path = folder / f"{row.id}.json"
        text = as_text(row, store.curve(row.id))
        if not path.exists() or path.read_text() != text:
            _write(path, text)
            written.append(path)
    return written


def as_text(row: Row, curve: list[dict[str, Any]]) -> str:
    """The file of one run: the same run always gives the same text."""
    head = {
        "format": FORMAT,
        "run": row.id,
        "about": row.config.describe(),
        "config": row.config.model_dump(mode="json", exclude_defaults=True) | {"experiment": row.config.experiment},
        "versions": row.versions,
        "stopped": row.stopped,
        "seconds": round(row.seconds, 1),
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    points = ",\n".join("  " + json.dumps(point, separators=(",", ":")) for point in curve)
    return "{\n" + ",\n".join(lines) + ',\n "curve": [\n' + points + "\n ]\n}\n"


def import_runs(store: Store, folder: Path) -> tuple[int, int]:
    """Take in every results file under `folder`; how many were new, and how many were already here.

    All files are read before the first is taken in, so a damaged one leaves the store as it was.
    """
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}")
    read = [_read(path) for path in sorted(folder.rglob("*.json"))]
    taken = [store.put_done(*found) for found in read]
    return sum(taken), len(taken) - sum(taken)


def _read(path: Path) -> tuple[Any, ...]:
    try:
        data = json.loads(path.read_text(), parse_constant=_refuse_constant)
        run, curve = parse_run(data["config"]), data["curve"]
        numbers = [point[key] for point in curve for key in ("step", "visible", "holdout")]
        known = data["format"] == FORMAT and run.id == data["run"]
        sound = bool(curve) and all(isinstance(n, int | float) and math.isfinite(n) for n in numbers)
        rest = (data["stopped"], data["versions"], float(data["seconds"]))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is not a results file: {error}") from error
    if not known or not sound:
        raise BadInput(f"{path} is damaged: its content does not belong to the config it holds")
    return (run, curve, *rest)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a result may hold")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.part")
        partial.write_text(text)
        partial.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from error
