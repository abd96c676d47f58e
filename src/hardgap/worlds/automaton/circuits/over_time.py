"""When each signal appears in training, measured on the weights that a run kept along the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hardgap.nn.hooks import DoesNotApply, as_cells, logits_of
from hardgap.worlds.automaton.circuits.attention import attention_maps
from hardgap.worlds.automaton.circuits.cells import Finding, check_rows, shares_right, truth_of
from hardgap.worlds.automaton.circuits.lens import logit_lens
from hardgap.worlds.automaton.circuits.polynomial import fit_polynomial
from hardgap.worlds.automaton.circuits.probes import linear_probes
from hardgap.worlds.automaton.gap import Gap

LEAST_RISE = 0.1
"""A signal that never changes by this much does not appear."""
MOST_ROWS = 256
CONTEXTS = 104


@dataclass(frozen=True)
class Moment:
    """The signals after `step` updates, by name; a signal that does not apply is missing."""

    step: int
    signals: dict[str, float]


@dataclass(frozen=True)
class Timeline(Finding):
    """All moments in order, and for each signal the step at which it appears.

    A signal appears at the first snapshot from which on it stays beyond half of the way from its smallest value
    to its largest; None if these are closer than `LEAST_RISE`, or if it does not stay. (Not from its first value:
    an untrained network gives one constant answer, which is right on all or none of a hidden pattern's cells.)
    """

    moments: tuple[Moment, ...]
    appears: dict[str, int | None]


def over_time(
    snapshots: Iterable[tuple[int, nn.Module]],
    gap: Gap,
    rows: NDArray[np.uint8],
    *,
    on_start: Callable[[int], None] = lambda step: None,
) -> Timeline:
    """Measure the signals on each (step, network); networks are looked at one after the other."""
    rows = rows[:MOST_ROWS]
    check_rows(rows, gap)
    moments = []
    for step, model in snapshots:
        on_start(step)
        moments.append(Moment(step, signals(model.eval(), gap, rows)))
    names = dict.fromkeys(name for moment in moments for name in moment.signals)
    return Timeline(tuple(moments), {name: _appears(moments, name) for name in names})


def signals(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> dict[str, float]:
    """Everything that is followed through training, on one network."""
    found: dict[str, float] = {}
    for measure in (_accuracies, _probed, _read_early, _looked_at, _shaped):
        try:
            found |= {name: value for name, value in measure(model, gap, rows).items() if value is not None}
        except DoesNotApply:
            continue  # `hardgap circuits` says why; here the curve is simply missing
    return found


def _accuracies(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> dict[str, float | None]:
    right = shares_right((logits_of(model, as_cells(model, rows)) > 0).cpu().numpy(), truth_of(gap, rows))
    return {"visible": right.visible, "holdout": right.holdout}


def _probed(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> dict[str, float | None]:
    """Neighbours and output at the end of each layer, and whether what visible cells teach holds for hidden ones."""
    readings = [r for r in linear_probes(model, gap, rows).readings if _ends_layer(r.title)]
    found: dict[str, float | None] = {}
    for title in dict.fromkeys(reading.title for reading in readings):
        here = {reading.bit: reading for reading in readings if reading.title == title}
        neighbours = [r.accuracy for bit, r in here.items() if bit[0] in "LR"]
        output = next(reading for bit, reading in here.items() if bit.startswith("output"))
        found[f"probe neighbours, {title}"] = float(np.mean(neighbours))
        found[f"probe output, {title}"] = output.accuracy
        found[f"probe output, visible to hidden, {title}"] = output.transfer
    return found


def _ends_layer(title: str) -> bool:
    """Leaves out the embedding, which knows one cell, and the encoder's half-way levels."""
    return title != "embedding" and "attention" not in title


def _read_early(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> dict[str, float | None]:
    """The lens before the last level, where it is not yet the network's own answer."""
    readings = [r for r in logit_lens(model, gap, rows).readings if _ends_layer(r.title)]
    return {f"lens, {reading.title}": reading.accuracy.overall for reading in readings[:-1]}


def _looked_at(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> dict[str, float | None]:
    maps = attention_maps(model, gap, rows)
    by_layer: dict[str, list[float]] = {}
    for head in maps.heads:
        by_layer.setdefault(head.title.partition(" head")[0], []).append(head.locality)
    return {f"attention locality, {layer}": max(found) for layer, found in by_layer.items()}


def _shaped(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> dict[str, float | None]:
    polynomial = fit_polynomial(model, gap, rows, contexts=CONTEXTS)
    return {"polynomial, share of the rule": polynomial.rule_share}


def _appears(moments: list[Moment], name: str) -> int | None:
    points = [(moment.step, moment.signals[name]) for moment in moments if name in moment.signals]
    values = [value for _, value in points]
    if max(values) - min(values) < LEAST_RISE:
        return None
    half = (min(values) + max(values)) / 2
    since = len(values)
    while since and values[since - 1] >= half:
        since -= 1
    return points[since][0] if since < len(points) else None
