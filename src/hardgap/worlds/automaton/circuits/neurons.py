"""Parity neurons (Appendix B): hidden units whose mean activation differs with the rule's output.

A unit's mean activation on every pattern also shows detectors: units that fire on one pattern alone, as
the eight of the paper's construction do (Theorem 14).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hardgap.nn.hooks import DoesNotApply, as_cells, by_cell, record, sites
from hardgap.worlds.automaton.circuits.cells import Finding, truth_of
from hardgap.worlds.automaton.gap import Gap

BEST = 8
"""Units kept in detail."""
FIRES_ABOVE = 0.05
"""A unit fires on a pattern if its mean there exceeds this share of its largest mean."""


@dataclass(frozen=True)
class Neuron:
    """One hidden unit; `by_pattern` is its mean activation on each pattern (None if none occurred)."""

    site: str
    unit: int
    mean_one: float
    mean_zero: float
    difference: float
    by_pattern: tuple[float | None, ...]


@dataclass(frozen=True)
class Neurons(Finding):
    """The units with the largest difference, and which units detect one pattern alone."""

    best: tuple[Neuron, ...]
    detectors: dict[str, tuple[tuple[int, int], ...]]
    units: dict[str, int]
    dead: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        detectors = {
            site: [{"unit": unit, "pattern": pattern} for unit, pattern in found]
            for site, found in self.detectors.items()
        }
        return super().as_dict() | {"detectors": detectors}


def parity_neurons(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> Neurons:
    """Mean activation of every hidden unit where the true output is 1 and where it is 0.

    Hidden units are the feed-forward activations after the ReLU (`….ffn.post`); in a network without such
    a name, every named vector a cell.
    """
    found = [site for site in sites(model, rows.shape[1]) if site.level]
    chosen = [site for site in found if site.name.endswith("ffn.post")] or found
    if not chosen:
        raise DoesNotApply(f"{type(model).__name__} names no activation with one vector a cell, so no units to read")
    truth = truth_of(gap, rows)
    values = record(model, as_cells(model, rows), [site.name for site in chosen])
    best: list[Neuron] = []
    detectors, units, dead = {}, {}, {}
    for site in chosen:
        assert site.cell_axis is not None
        flat = by_cell(values[site.name], site.cell_axis).cpu().numpy().astype(np.float64)
        means = _by_pattern(flat, truth.patterns, gap.rule.patterns)
        detectors[site.name] = _detectors(means)
        units[site.name], dead[site.name] = means.shape[1], int((flat.max(axis=(0, 1)) <= 0).sum())
        best += _units(site.name, flat, truth.targets == 1, means)
    best.sort(key=lambda neuron: -abs(neuron.difference))
    return Neurons(tuple(best[:BEST]), detectors, units, dead)


def _by_pattern(flat: NDArray[np.float64], patterns: NDArray[np.uint8], count: int) -> NDArray[np.float64]:
    """Mean activation, [patterns, units]; NaN where a pattern does not occur."""
    members = np.eye(count)[patterns.ravel()]  # [cells, patterns]
    seen = members.sum(axis=0)
    sums = members.T @ flat.reshape(-1, flat.shape[-1])
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = sums / seen[:, None]
    return means


def _detectors(means: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    largest = np.nanmax(means, axis=0)
    fires = (means > FIRES_ABOVE * largest) & (largest > 0)
    alone = np.flatnonzero(fires.sum(axis=0) == 1)
    return tuple((int(unit), int(fires[:, unit].argmax())) for unit in alone)


def _units(site: str, flat: NDArray[np.float64], ones: NDArray[np.bool_], means: NDArray[np.float64]) -> list[Neuron]:
    mean_one, mean_zero = flat[ones].mean(axis=0), flat[~ones].mean(axis=0)
    order = np.argsort(-np.abs(mean_one - mean_zero))[:BEST]
    return [
        Neuron(
            site,
            int(unit),
            float(mean_one[unit]),
            float(mean_zero[unit]),
            float(mean_one[unit] - mean_zero[unit]),
            tuple(None if np.isnan(mean) else float(mean) for mean in means[:, unit]),
        )
        for unit in order
    ]
