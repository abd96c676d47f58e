"""Periodic rows stepped by a rule.

Rows are `[..., W]` of 0 and 1 in any integer or boolean dtype; the two ends of a row are neighbours. A row
narrower than the neighbourhood wraps more than once, which is still the periodic automaton.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.rule import Rule


def patterns_of(rows: NDArray[Any], radius: int) -> NDArray[np.uint8]:
    """Return the pattern of every cell's neighbourhood, `[..., W]`; the leftmost cell is the most significant bit.

    >>> patterns_of(np.array([0, 1, 1, 0, 0]), radius=1).tolist()
    [1, 3, 6, 4, 0]
    """
    return _patterns(checked_rows(rows), radius)


def step(rule: Rule, rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the rows one step later.

    >>> step(Rule(1, 110), np.array([0, 0, 0, 1, 0])).tolist()
    [0, 0, 1, 1, 0]
    """
    rows = checked_rows(rows)
    return _step(rule, rows, np.empty(rows.shape, dtype=np.uint8))


def rollout(rule: Rule, rows: NDArray[Any], steps: int) -> NDArray[np.uint8]:
    """Return every state from the given one on, `[steps + 1, ..., W]`.

    >>> rollout(Rule(1, 110), np.array([0, 0, 0, 1, 0]), steps=2).tolist()
    [[0, 0, 0, 1, 0], [0, 0, 1, 1, 0], [0, 1, 1, 1, 0]]
    """
    check_steps(steps)
    rows = checked_rows(rows)
    states = np.empty((steps + 1, *rows.shape), dtype=np.uint8)
    states[0] = rows
    for t in range(steps):
        _step(rule, states[t], states[t + 1])
    return states


def check_steps(steps: int) -> None:
    """Refuse a negative number of steps."""
    if steps < 0:
        raise BadInput(f"steps {steps} is not possible: give 0 or more")


def checked_rows(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the rows as uint8, refusing anything but 0 and 1 and rows without cells."""
    if rows.dtype.kind not in "biu":
        raise BadInput(f"rows must hold integers or booleans, not {rows.dtype}")
    if not rows.shape or rows.shape[-1] < 1:
        raise BadInput(f"rows need a width of at least 1, not shape {rows.shape}")
    if rows.size and not 0 <= rows.min() <= rows.max() <= 1:
        raise BadInput(f"rows must hold only 0 and 1, not values from {rows.min()} to {rows.max()}")
    return rows.astype(np.uint8, copy=False)


def _step(rule: Rule, rows: NDArray[np.uint8], out: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # "clip" only spares NumPy a bounds check that needs a copy of the output.
    return np.take(rule.table, _patterns(rows, rule.radius), out=out, mode="clip")


def _patterns(rows: NDArray[np.uint8], radius: int) -> NDArray[np.uint8]:
    """Shift the whole batch at once: rows lie end to end, each with its wrapped ends; a shift is a slice."""
    width = rows.shape[-1]
    extended = np.empty((*rows.shape[:-1], width + 2 * radius), dtype=np.uint8)
    extended[..., radius : radius + width] = rows
    near = np.arange(radius)
    extended[..., :radius] = rows[..., (near - radius) % width]
    extended[..., radius + width :] = rows[..., near % width]
    cells = extended.reshape(-1)
    patterns = np.zeros_like(extended)
    line = patterns.reshape(-1)[: max(0, cells.size - 2 * radius)]
    for shift in range(2 * radius + 1):
        line += line  # doubling, because NumPy vectorises the addition of bytes but not their shift
        line += cells[shift : shift + line.size]
    return np.ascontiguousarray(patterns[..., :width])
