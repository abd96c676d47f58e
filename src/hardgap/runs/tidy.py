"""Runs as two tidy tables: a row a run, and a row an evaluation, each with every field of the config.

Configs are read as this version reads them, so that a field has its default, too, in a run that was written down
before there was such a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hardgap.core.wording import flattened
from hardgap.runs.reading import Row
from hardgap.runs.store import Store

POINT = ("run", "step", "loss", "visible", "holdout")


def config_of(row: Row) -> dict[str, Any]:
    """Every field of a run's config by its dotted name, defaults included."""
    return flattened(row.config.model_dump(mode="json"))


def run_rows(store: Store, ids: Iterable[str]) -> list[dict[str, Any]]:
    """A row a finished run: id, what it is, its config, its summary, what it was made with."""
    wanted = list(ids)
    summaries = {one.id: one.summary for one in store.listed(ids=wanted)}
    return [
        {"run": row.id, "about": row.config.describe(), **config_of(row), **(summaries[row.id] or {}),
         "seconds": row.seconds, "stopped": row.stopped, **flattened({"versions": row.versions})}
        for row in store.rows(wanted) if row.status == "done" and row.id in summaries
    ]  # fmt: skip


def point_rows(store: Store, ids: Iterable[str]) -> list[dict[str, Any]]:
    """A row an evaluation: run, step, loss and accuracies, and the config; its fields of these names are `config.…`."""
    rows = {row.id: row for row in store.rows(ids)}
    return [
        {"run": run_id} | {name: point[name] for name in POINT[1:]} | config
        for run_id, curve in store.curves(rows).items()
        for config in [{f"config.{name}" if name in POINT else name: v for name, v in config_of(rows[run_id]).items()}]
        for point in curve
    ]
