"""A run as a film: what its network does and holds at each of the weights that were kept.

Every frame is about the same row, so that a slider moves the network and nothing else.
"""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.nn.hooks import DoesNotApply, as_cells, logits_of
from hardgap.runs.execute import load_model, single_thread
from hardgap.runs.store import Store
from hardgap.runs.weights import Weights, own_snapshots, stamp, with_snapshots
from hardgap.ui.asking import Asked, of_kind
from hardgap.ui.runs import slim
from hardgap.worlds.automaton.circuits.attention import attention_maps
from hardgap.worlds.automaton.circuits.lens import logit_lens
from hardgap.worlds.automaton.circuits.recovered import recovered_table
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import split_rows

STEPS = 8
"""Timesteps of a rollout that is shown."""
ROWS = 64
CONTEXTS = 64


def show_film(asked: Asked) -> dict[str, Any]:
    """Which frames a run has, and what stays the same in all of them."""
    with asked.store() as store:
        row = store.get(asked.run)
        run = of_kind(AutomatonRun, row.config)
        found = _filmed(store, row.id)
        return {
            "id": row.id,
            "about": found.about(run),
            "replica": found.replica,
            "rule": run.rule,
            "radius": run.gap.rule.radius,
            "hidden": list(run.gap.hidden),
            "table": run.gap.rule.table.tolist(),
            "frames": _frames(found, row.id),
            "curve": [slim(point) for point in found.store.curve(row.id)],
            **truth(run),
        }


def has_film(store: Store, run_id: str) -> bool:
    """Whether more than the end of a run can be looked at."""
    return len(_frames(_filmed(store, run_id), run_id)) > 1


def _filmed(store: Store, run_id: str) -> Weights:
    """Where a run has several snapshots, or else one: its own place, or its replica's."""
    several = with_snapshots(store, run_id, 2)
    return several if _frames(several, run_id) else with_snapshots(store, run_id, 1)


def _frames(found: Weights, run_id: str) -> list[int]:
    return own_snapshots(found.store, found.store.get(run_id))


def show_frame(asked: Asked) -> dict[str, Any]:
    return frame(asked.folder, asked.run, asked.whole("step", 0, 0, 10**9))


def frame(folder: Path, run_id: str, step: int) -> dict[str, Any]:
    """What the network of one snapshot does: its rollout, its attention by offset, its table, its lens."""
    with closing(Store(folder)) as store:
        return _frame(folder, run_id, step, stamp(store, run_id))


@lru_cache(maxsize=512)
def _frame(folder: Path, run_id: str, step: int, made: tuple[object, ...]) -> dict[str, Any]:
    single_thread()
    with closing(Store(folder)) as store:
        model, run = load_model(store, run_id, step)
    automaton = of_kind(AutomatonRun, run)
    rows = shown_rows(automaton)
    found: dict[str, Any] = {"step": step, "probabilities": probabilities(model, rows[0])}
    entries = recovered_table(model, automaton.gap, rows, contexts=CONTEXTS)
    found["table"] = [{"output": one.output, "confidence": one.confidence} for one in entries]
    for name, look in (("attention", _attention), ("lens", _lens)):
        try:
            found[name] = look(model, automaton, rows)
        except DoesNotApply as reason:
            found[name] = {"reason": str(reason)}
    return found


def truth(run: AutomatonRun) -> dict[str, Any]:
    """The true rollout of the row that every frame is about, and which of its cells are hidden."""
    found = run.gap.trajectory(shown_rows(run)[:1], STEPS)
    hidden = np.concatenate([np.zeros_like(found.hidden[:1]), found.hidden])
    return {"rows": found.states[:, 0].tolist(), "hidden_cells": hidden[:, 0].astype(int).tolist()}


@torch.no_grad()
def probabilities(model: nn.Module, row: NDArray[np.uint8]) -> list[list[float]]:
    """A free run from the row: how probable the network holds a 1, cell by cell. What it rounds to goes on."""
    was_training = model.training
    model.eval()
    cells, found = as_cells(model, row[None]), [row.astype(float).tolist()]
    for _ in range(STEPS):
        sure = torch.sigmoid(logits_of(model, cells))
        found.append([round(float(one), 4) for one in sure[0]])
        cells = (sure > 0.5).to(cells.dtype)
    model.train(was_training)
    return found


@lru_cache(maxsize=16)
def shown_rows(run: AutomatonRun) -> NDArray[np.uint8]:
    """Some of the run's test rows; the first has a hidden cell."""
    rows = split_rows(run.width, run.train_rows, run.test_rows, run.seed)[1]
    hidden = run.gap.trajectory(rows, 1).hidden[0].any(axis=1)
    if not hidden.any():
        raise BadInput(f"no test row of run {run.id} has a hidden cell")
    return rows[np.argsort(~hidden, kind="stable")][:ROWS]


def _attention(model: nn.Module, run: AutomatonRun, rows: NDArray[np.uint8]) -> Any:
    heads = attention_maps(model, run.gap, rows).heads
    reach = run.gap.rule.radius + 2
    return [
        {"title": head.title, "weights": {o: round(w, 4) for o, w in head.weights.items() if abs(o) <= reach}}
        for head in heads
    ]


def _lens(model: nn.Module, run: AutomatonRun, rows: NDArray[np.uint8]) -> Any:
    return [
        {"title": one.title, "visible": one.accuracy.visible, "holdout": one.accuracy.holdout}
        for one in logit_lens(model, run.gap, rows).readings
    ]


def live_frame(model: nn.Module, run: Run) -> dict[str, Any]:
    """What is shown of a network while it trains; nothing of one that has no rollout."""
    if not isinstance(run, AutomatonRun):
        return {}
    return {"probabilities": probabilities(model, shown_rows(run)[0])}
