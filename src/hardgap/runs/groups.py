"""Runs that differ in nothing but their seed, found and summed up inside SQLite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardgap.runs.listing import STACKED, Where, condition, stacked_mark
from hardgap.runs.store import Store
from hardgap.runs.summary import SUCCESS

REST = "CASE WHEN json_valid(config) THEN json_remove(config, '$.seed') ELSE id END"
HOLDOUT = "CASE WHEN status = 'done' AND json_valid(summary) THEN json_extract(summary, '$.final_holdout') END"


@dataclass(frozen=True)
class Group:
    """Runs of all seeds of one setting; `id` is that of one of them, and any of theirs names the group."""

    id: str
    about: str
    runs: int
    done: int
    recovered: int
    holdout: float | None  # the mean over those that are done


def groups(store: Store, where: Where = (), *, limit: int = 50, offset: int = 0) -> tuple[int, list[Group]]:
    """How many groups the runs that meet every condition make, and a page of them, the newest first."""
    chosen, values = condition(where)
    found = store.query(
        f"SELECT min(id), min(about), count(*), sum(status = 'done'), sum(coalesce({HOLDOUT} >= {SUCCESS}, 0)), "
        f"avg({HOLDOUT}), sum({STACKED}), count(*) OVER () FROM runs {chosen} "
        f"GROUP BY {REST} ORDER BY max(created) DESC, min(id) LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    return (found[0][-1] if found else 0), [Group(one[0], _about(one[1], one[2], one[-2]), *one[2:-2]) for one in found]


def _about(about: str | None, runs: int, stacked: int) -> str:
    """What they are, and how many of them were trained in a stack."""
    mark = stacked_mark(["stacked"] * stacked + [None] * (runs - stacked))
    return ", ".join(filter(None, (without_seed(about), mark)))


def group_of(store: Store, run_id: str) -> list[str]:
    """The runs of all seeds of the same setting as this run, by id, in the order of their seeds."""
    one = store.find(run_id)
    return [found for (found,) in store.query(
        f"SELECT id FROM runs WHERE {REST} = (SELECT {REST} FROM runs WHERE id = ?) "
        "ORDER BY json_extract(config, '$.seed')", [one],
    )]  # fmt: skip


def without_seed(about: str | None) -> str:
    return re.sub(r", seed \d+$", "", about or "")


def bands(curves: Sequence[Sequence[dict[str, Any]]], names: Sequence[str]) -> dict[str, Any]:
    """The median and the middle half of several curves, step by step; a run that has ended stays where it ended."""
    steps = sorted({point["step"] for curve in curves for point in curve})
    found: dict[str, Any] = {"steps": steps}
    for name in names:
        held = [np.interp(steps, [p["step"] for p in curve], [p[name] for p in curve]) for curve in curves]
        low, middle, high = np.quantile(held, (0.25, 0.5, 0.75), axis=0) if held else ([], [], [])
        found[name] = {key: [round(float(v), 6) for v in values]
                       for key, values in (("low", low), ("median", middle), ("high", high))}  # fmt: skip
    return found
