"""Criterion `next-step` of identifiability: which hidden cells does the step after them, taken alone, give away?

A quick bound from below for `strict`, which asks about whole rollouts. Every hidden cell is an unknown of its own, and
nothing is assumed about the hidden entries. A supervised cell says that its neighbourhood is one of the *visible*
patterns with that output. With `mask`, a hidden cell counts as evidence too: its neighbourhood is one of the hidden
patterns. (A network is never told where the mask was, but whoever fits it to the data could use it.) What is left out:
what visible entries make of an unknown cell that is not supervised, and so all that later steps say.

The values of one step that agree with the step after it are the closed walks of length W in a graph whose nodes are
2·radius adjacent cells and whose arcs are patterns. So what is possible at each cell follows from one pass forward
and one pass backward around the ring, for all rows at once, without a solver and for rules that are not linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rollout import patterns_of

# A set of start nodes as one machine word: 2·radius cells have at most 64 values.
_Nodes = NDArray[np.uint64]


@dataclass(frozen=True)
class DeterminedCells:
    """Which hidden cells have only one value that agrees with what is visible, `[steps - 1 or 1, rows, width]`."""

    gap: Gap
    patterns: NDArray[np.uint8]  # the true pattern that each cell came from
    unknown: NDArray[np.bool_]
    known: NDArray[np.bool_]  # unknown, but determined

    @property
    def identified(self) -> NDArray[np.bool_]:
        """The rows in which every hidden cell is determined, `[rows]`."""
        return np.asarray((self.known == self.unknown).all(axis=(0, 2)))

    @property
    def entries(self) -> NDArray[np.bool_]:
        """The hidden entries that a row gives away at one cell at least, `[rows, k]`."""
        return np.stack([(self.known & (self.patterns == p)).any(axis=(0, 2)) for p in self.gap.hidden], axis=-1)


def next_step_cells(gap: Gap, rows: NDArray[np.uint8], steps: int, *, mask: bool = False) -> DeterminedCells:
    """Decide every hidden cell of steps 1 to `steps - 1`: nothing is seen of what follows on the last step.

    A single step leaves its own hidden cells unknown.
    """
    if steps < 1:
        raise BadInput(f"steps {steps}: give 1 or more", of="steps")
    truth = gap.trajectory(rows, steps)
    if steps == 1:
        return DeterminedCells(gap, truth.patterns, truth.hidden, np.zeros_like(truth.hidden))
    possible = _possible(gap, truth.states[1:-1], truth.hidden[:-1], truth.patterns[1:], mask)
    width = 2 * gap.rule.radius + 1
    centre = (np.arange(gap.rule.patterns) >> (width // 2) & 1).astype(bool)
    both = possible[..., centre].any(axis=-1) & possible[..., ~centre].any(axis=-1)
    return DeterminedCells(gap, truth.patterns[:-1], truth.hidden[:-1], truth.hidden[:-1] & ~both)


def _possible(
    gap: Gap, states: NDArray[np.uint8], unknown: NDArray[np.bool_], truth: NDArray[np.uint8], mask: bool
) -> NDArray[np.bool_]:
    """Which patterns a cell's neighbourhood can be, `[..., W, patterns]`, given the states where they are known."""
    allowed = _agrees(gap, states, unknown) & _explains(gap, truth, mask)
    allowed = np.moveaxis(allowed, -2, 0)
    pattern = np.arange(gap.rule.patterns)
    tail, head = pattern >> 1, pattern & (gap.rule.patterns // 2 - 1)
    # An arc lies on a closed walk if one start node reaches its tail and is reached from its head.
    meets = _forward(allowed, tail)[:-1][..., tail] & _backward(allowed, head)[1:][..., head]
    return np.moveaxis(allowed & (meets != 0), 0, -2)


def _forward(allowed: NDArray[np.bool_], tail: NDArray[np.int64]) -> _Nodes:
    """From which nodes at cell 0 each node at each cell is reached, `[W + 1, ..., nodes]`."""
    reached = _start(allowed)
    for i, arcs in enumerate(allowed):  # a walk: each cell needs the one before
        through = np.where(arcs, reached[i][..., tail], np.uint64(0))
        reached[i + 1] = through[..., : len(tail) // 2] | through[..., len(tail) // 2 :]
    return reached


def _backward(allowed: NDArray[np.bool_], head: NDArray[np.int64]) -> _Nodes:
    """Which nodes at cell W each node at each cell reaches, `[W + 1, ..., nodes]`."""
    reaches = _start(allowed)
    for i in range(len(allowed) - 1, -1, -1):
        through = np.where(allowed[i], reaches[i + 1][..., head], np.uint64(0))
        reaches[i] = through[..., 0::2] | through[..., 1::2]
    return reaches


def _start(allowed: NDArray[np.bool_]) -> _Nodes:
    """At both ends every node has reached itself."""
    nodes = allowed.shape[-1] // 2
    reached = np.empty((len(allowed) + 1, *allowed.shape[1:-1], nodes), dtype=np.uint64)
    reached[:] = np.uint64(1) << np.arange(nodes, dtype=np.uint64)
    return reached


def _agrees(gap: Gap, states: NDArray[np.uint8], unknown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which patterns have the right bit at every cell of the neighbourhood that is known."""
    pattern = np.arange(gap.rule.patterns, dtype=np.uint8)
    fixed = patterns_of((~unknown).astype(np.uint8), gap.rule.radius)[..., None]
    differs = patterns_of(states, gap.rule.radius)[..., None] ^ pattern
    return np.asarray(differs & fixed == 0)


def _explains(gap: Gap, truth: NDArray[np.uint8], mask: bool) -> NDArray[np.bool_]:
    """Which patterns agree with what is seen of the next state, given the true pattern behind it."""
    table, hidden = gap.rule.table, gap.hidden_table
    same = (table[truth][..., None] == table) & ~hidden
    return np.where(hidden[truth][..., None], hidden | (not mask), same)
