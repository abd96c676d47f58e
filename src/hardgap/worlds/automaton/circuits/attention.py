"""Attention by relative offset: where each head looks from a cell, averaged over rows and positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.nn.hooks import DoesNotApply, as_cells, record, sites
from hardgap.worlds.automaton.circuits.cells import Finding
from hardgap.worlds.automaton.gap import Gap

MOST_ROWS = 256


@dataclass(frozen=True)
class Head:
    """Where one head looks.

    weights   by offset (key position minus query position, around the ring); they sum to 1
    peak      the offset with most weight
    agree     the share of positions whose own heaviest offset is that peak: 1 if the head does the same
              everywhere, low if positions use the head differently and the average hides it
    locality  the weight inside the rule's neighbourhood
    """

    site: str
    title: str
    weights: dict[int, float]
    peak: int
    agree: float
    locality: float


@dataclass(frozen=True)
class AttentionMaps(Finding):
    """All heads, and the locality that uniform attention would have."""

    heads: tuple[Head, ...]
    uniform: float


def attention_maps(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> AttentionMaps:
    """Every head's attention by offset."""
    width, radius = rows.shape[1], gap.rule.radius
    found = [s.name for s in sites(model, width) if s.name.endswith("pattern") and s.shape[1:] == (width, width)]
    if not found:
        raise DoesNotApply(
            f"{type(model).__name__} names no attention: a map needs an activation whose name ends in `pattern` "
            "and that is [rows, heads, queries, keys]"
        )
    values = record(model, as_cells(model, rows[:MOST_ROWS]), found)
    heads = tuple(
        _head(name, f"{_layer_title(name)} head {i}", mean_QK, radius)
        for name in found
        for i, mean_QK in enumerate(_means(values[name]))
    )
    return AttentionMaps(heads, min(1.0, (2 * radius + 1) / width))


def _means(pattern_BHQK: Tensor) -> NDArray[np.float64]:
    means: NDArray[np.float64] = pattern_BHQK.double().mean(0).cpu().numpy()
    return means


def _head(site: str, title: str, mean_QK: NDArray[np.float64], radius: int) -> Head:
    width = len(mean_QK)
    offsets = np.arange(-((width - 1) // 2), width // 2 + 1)
    queries = np.arange(width)
    by_offset = mean_QK[queries[:, None], (queries[:, None] + offsets) % width]  # [query, offset]
    weights = by_offset.mean(axis=0)
    peak = int(offsets[weights.argmax()])
    agree = float((offsets[by_offset.argmax(axis=1)] == peak).mean())
    near = np.abs(offsets) <= radius
    return Head(
        site,
        title,
        {int(offset): float(weight) for offset, weight in zip(offsets, weights, strict=True)},
        peak,
        agree,
        float(weights[near].sum()),
    )


def _layer_title(name: str) -> str:
    number = next((part for part in name.split(".") if part.isdigit()), None)
    return f"layer {number}" if number is not None else name
