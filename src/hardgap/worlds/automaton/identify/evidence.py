"""What is visible of a rollout, as windows: the finite evidence that a completion of the rule has to match.

The value of a cell at step t is decided by the 2·radius·t + 1 cells around it in the initial row, its *window*; and
whether the cell is supervised is decided by the same window, because masks come from the true rollout (paper §3.2).
So all rows of all widths say no more than the 2^(2·radius·t + 1) windows: 512 for Rule D at two steps, 131,072 at
four. A window is written as a number, cells left to right, most significant first, like a pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

Windows = NDArray[np.int64]

# 2^25 windows of 8 bytes are the most that `every_row` holds: radius 3 at four steps.
MAX_WINDOW = 25
# Cells that one table lookup advances together.
_BLOCK = 8


@dataclass(frozen=True)
class Depth:
    """The supervised cells of step `steps`, one entry for each distinct window."""

    steps: int
    windows: Windows
    targets: NDArray[np.uint8]


@dataclass(frozen=True)
class Evidence:
    """Everything supervised at steps 2 to `steps`. Step 1 is not listed: every completion gets it right."""

    gap: Gap
    depths: tuple[Depth, ...]

    def refutation(self, candidate: Rule, at_most: int = 4) -> Depth | None:
        """Windows where the candidate's own rollout misses a target, at the earliest such step; None if it fits.

        A few, spread over the list, are enough for a search to learn from.
        """
        for depth in self.depths:
            wrong = np.flatnonzero(evolve(candidate, depth.windows, depth.steps) != depth.targets)
            if len(wrong):
                chosen = wrong[np.unique(np.linspace(0, len(wrong) - 1, at_most).astype(int))]
                return Depth(depth.steps, depth.windows[chosen], depth.targets[chosen])
        return None


def every_row(gap: Gap, steps: int) -> Evidence:
    """The evidence of all rows of all widths, which is as much as can be visible in `steps` steps."""
    bits = _window_bits(gap, steps)
    if bits > MAX_WINDOW:
        raise BadInput(
            f"steps {steps}: all 2^{bits} windows of Rule {gap.rule.name} are too many, "
            f"give at most {(MAX_WINDOW - 1) // (2 * gap.rule.radius)} steps",
            of="steps",
        )
    depths = (_supervised(gap, *_every_window(gap.rule, t), t) for t in range(2, steps + 1))
    return Evidence(gap, tuple(depths))


def rows_shown(gap: Gap, rows: NDArray[np.uint8], steps: int) -> Evidence:
    """The evidence of the given initial rows, `[..., W]`, alone."""
    if _window_bits(gap, steps) > 63:
        raise BadInput(
            f"steps {steps}: give at most {62 // (2 * gap.rule.radius)} steps for Rule {gap.rule.name}", of="steps"
        )
    depths = []
    for t in range(2, steps + 1):
        windows = np.unique(windows_of(rows, gap.rule.radius * t))
        depths.append(_supervised(gap, windows, _last_patterns(gap.rule, windows, t), t))
    return Evidence(gap, tuple(depths))


def windows_of(rows: NDArray[np.uint8], reach: int) -> Windows:
    """The window of `reach` cells each way around every cell of periodic rows, `[..., W]`."""
    width = rows.shape[-1]
    cell = np.arange(width)
    windows = np.zeros(rows.shape, dtype=np.int64)
    for offset in range(-reach, reach + 1):
        windows = windows << 1 | rows[..., (cell + offset) % width]
    return windows


def evolve(rule: Rule, windows: Windows, steps: int) -> Windows:
    """The value of each window's centre after `steps` steps of the rule: windows of one bit.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> evolve(parse_rule("150"), np.array([0b00100, 0b10000]), steps=2).tolist()
    [1, 1]
    """
    return rule.table[_last_patterns(rule, windows, steps)].astype(np.int64)


def _supervised(gap: Gap, windows: Windows, patterns: Windows, steps: int) -> Depth:
    """Of these windows, those whose centre is supervised at step `steps`, with its true value."""
    shown = ~gap.hidden_table[patterns]
    return Depth(steps, windows[shown], gap.rule.table[patterns[shown]])


def _last_patterns(rule: Rule, windows: Windows, steps: int) -> Windows:
    """The centre's neighbourhood one step before the last: what decides its value and whether it is hidden."""
    block = _block_table(rule)
    for left in range(steps - 1, 0, -1):
        windows = _advance(rule, block, windows, 2 * rule.radius * left + 1)
    return windows


@lru_cache(maxsize=8)
def _every_window(rule: Rule, steps: int) -> tuple[Windows, Windows]:
    """All windows and their last patterns; cached, because a study asks for many gaps in one rule."""
    windows = np.arange(1 << (2 * rule.radius * steps + 1))
    return windows, _last_patterns(rule, windows, steps)


def _advance(rule: Rule, block: Windows, windows: Windows, outputs: int) -> Windows:
    """One step: a window of `outputs + 2·radius` cells becomes one of `outputs` cells."""
    mask, result = len(block) - 1, np.zeros_like(windows)
    for shift in range(0, outputs, _BLOCK):
        result |= block[windows >> shift & mask] << shift
    # The last block may reach beyond the window, where it read zeros.
    return result & ((1 << outputs) - 1)


def _block_table(rule: Rule) -> Windows:
    """The next value of `_BLOCK` adjacent cells at once, by their common window."""
    image = rule.table.astype(np.int64)
    for bits in range(2 * rule.radius + 2, 2 * rule.radius + 1 + _BLOCK):
        window = np.arange(1 << bits)
        image = image[window >> 1] << 1 | rule.table[window & (rule.patterns - 1)]
    return image


def _window_bits(gap: Gap, steps: int) -> int:
    if steps < 1:
        raise BadInput(f"steps {steps}: give 1 or more", of="steps")
    return 2 * gap.rule.radius * steps + 1
