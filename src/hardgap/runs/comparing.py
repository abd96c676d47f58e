"""Runs beside their retraining on this machine: the same bits? the same end? the same answer?

One JSON file holds them, written after every run, so that a command that was stopped goes on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.runs.replicas import made_with
from hardgap.runs.results import write_text
from hardgap.runs.store import Row
from hardgap.runs.summary import summarise

KIND = "machines"
Curve = list[dict[str, Any]]


def compared(row: Row, curve: Curve, again: Row, again_curve: Curve) -> dict[str, Any]:
    """One run: what its result says, and what training it again says."""
    return {
        "run": row.id,
        "about": row.config.describe(),
        "experiment": row.config.experiment,
        "identical": agrees(curve, again_curve),
        "committed": _end(row, curve),
        "again": _end(again, again_curve),
    }


def agrees(kept: Any, again: Any) -> bool:
    """Whether a curve says again what was kept; what an older result did not yet measure is not compared.

    >>> agrees([{"step": 5, "holdout": 1.0}], [{"step": 5, "holdout": 1.0, "ops": [1.0, 0.5]}])
    True
    """
    if isinstance(kept, dict) and isinstance(again, dict):
        return all(name in again and agrees(value, again[name]) for name, value in kept.items())
    if isinstance(kept, list) and isinstance(again, list):
        return len(kept) == len(again) and all(map(agrees, kept, again))
    return bool(kept == again)


def _end(row: Row, curve: Curve) -> dict[str, Any]:
    found = summarise(curve, row.config.budget.solved_at)
    return {
        "steps": found.steps, "stopped": row.stopped, "visible": found.final_visible, "holdout": found.final_holdout,
        "best_holdout": found.best_holdout, "recovered": found.success, "made_with": made_with(row.versions),
    }  # fmt: skip


def read_compared(path: Path) -> list[dict[str, Any]]:
    """What a file holds by now; nothing, if there is none."""
    if not path.exists():
        return []
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["kind"] == KIND:
            return list(data["runs"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise BadInput(f"{path} holds no comparison of retrained runs; name another file")


def write_compared(path: Path, runs: list[dict[str, Any]]) -> None:
    lines = ",\n".join("  " + json.dumps(run, ensure_ascii=False) for run in runs)
    write_text(path, f'{{\n "kind": "{KIND}",\n "runs": [\n{lines}\n ]\n}}\n')
