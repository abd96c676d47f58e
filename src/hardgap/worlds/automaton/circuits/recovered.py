"""The truth table that the network actually computes, and whether it is a local rule at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from torch import nn

from hardgap.nn.hooks import as_cells, logits_of
from hardgap.worlds.automaton.circuits.cells import Finding
from hardgap.worlds.automaton.circuits.contexts import CONTEXTS, Grid, pattern_grid
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

LOCAL_AT = 0.95
"""A network computes a local rule if for every pattern at least this share of contexts gives one answer."""
FLIPPED_CELLS = 40_000
"""About as many cells are answered again, with one cell of their row flipped, to measure influence."""


@dataclass(frozen=True)
class Entry:
    """What the network answers for one pattern. `low` and `high` bound the confidence (Wilson, 95 %)."""

    pattern: int
    cells: str
    hidden: bool
    true: int
    output: int
    confidence: float
    low: float
    high: float
    mean_logit: float
    least_logit: float
    most_logit: float


@dataclass(frozen=True)
class RecoveredRule(Finding):
    """The majority answer for each pattern, read as a rule.

    influence  by offset, the share of answers that change if the cell at that offset is flipped
    outside    the largest of these outside the neighbourhood; 0 for a local rule
    """

    rule: str
    formula: str
    true_rule: str
    entries: tuple[Entry, ...]
    contexts: int
    local: bool
    influence: dict[int, float]
    outside: float

    @property
    def wrong(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.output != entry.true)

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"wrong": [entry.cells for entry in self.wrong]}


def recover_rule(
    model: nn.Module, gap: Gap, rows: NDArray[np.uint8], *, contexts: int = CONTEXTS, seed: int = 0
) -> RecoveredRule:
    """Ask for every pattern in many contexts, take the majority, and measure what else has influence."""
    entries = recovered_table(model, gap, rows, contexts=contexts, seed=seed)
    found = Rule.from_table([entry.output for entry in entries])
    influence = influence_by_offset(model, rows)
    outside = [share for offset, share in influence.items() if abs(offset) > gap.rule.radius]
    return RecoveredRule(
        rule=found.name,
        formula=found.formula_text(),
        true_rule=gap.rule.name,
        entries=entries,
        contexts=contexts,
        local=min(entry.confidence for entry in entries) >= LOCAL_AT,
        influence=influence,
        outside=max(outside, default=0.0),
    )


def recovered_table(
    model: nn.Module, gap: Gap, rows: NDArray[np.uint8], *, contexts: int = CONTEXTS, seed: int = 0
) -> tuple[Entry, ...]:
    """What the network answers for each pattern, in order."""
    return _entries(pattern_grid(model, gap, rows, contexts=contexts, seed=seed), gap)


def influence_by_offset(model: nn.Module, rows: NDArray[np.uint8]) -> dict[int, float]:
    """By offset, how often flipping the cell there changes the answer; offsets from -(W-1)//2 to W//2."""
    width = rows.shape[1]
    rows = rows[: max(1, min(len(rows), FLIPPED_CELLS // width**2))]
    flipped = rows[:, None] ^ np.eye(width, dtype=np.uint8)  # [rows, flipped cell, width]
    before = logits_of(model, as_cells(model, rows)).cpu().numpy() > 0
    after = logits_of(model, as_cells(model, flipped.reshape(-1, width))).cpu().numpy() > 0
    changed = (after.reshape(flipped.shape) != before[:, None]).mean(axis=0)  # [flipped cell, answering cell]
    answering = np.arange(width)
    return {
        offset: float(changed[(answering + offset) % width, answering].mean())
        for offset in range(-((width - 1) // 2), width // 2 + 1)
    }


def _entries(grid: Grid, gap: Gap) -> tuple[Entry, ...]:
    ones = (grid.logits > 0).mean(axis=0)
    outputs = (ones > 0.5).astype(int)
    hits = np.where(outputs, ones, 1 - ones) * len(grid.logits)
    bounds = [binomtest(round(hit), len(grid.logits)).proportion_ci(method="wilson") for hit in hits]
    return tuple(
        Entry(
            pattern=p,
            cells=gap.rule.pattern_text(p),
            hidden=p in gap.hidden,
            true=int(gap.rule.table[p]),
            output=int(outputs[p]),
            confidence=float(hits[p] / len(grid.logits)),
            low=float(bounds[p].low),
            high=float(bounds[p].high),
            mean_logit=float(grid.logits[:, p].mean()),
            least_logit=float(grid.logits[:, p].min()),
            most_logit=float(grid.logits[:, p].max()),
        )
        for p in range(gap.rule.patterns)
    )
