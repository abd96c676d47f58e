"""Periodic rows stepped by a rule, for NumPy arrays and torch tensors alike.

Rows are `[..., W]` of 0 and 1 in any integer or boolean dtype; the two ends of a row are neighbours. A row
narrower than the neighbourhood wraps more than once, which is still the periodic automaton. torch is never
imported here: a tensor brings its own methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.rule import Rule

if TYPE_CHECKING:
    import torch

Rows = TypeVar("Rows", NDArray[Any], "torch.Tensor")


def patterns_of(rows: Rows, radius: int) -> Rows:
    """Return the pattern index of every cell's neighbourhood, `[..., W]`.

    The leftmost cell is the most significant bit. NumPy answers in uint8, torch in int64 (its index dtype).

    >>> patterns_of(np.array([0, 1, 1, 0, 0]), radius=1).tolist()
    [1, 3, 6, 4, 0]
    """
    if isinstance(rows, np.ndarray):
        return _numpy_patterns(checked_rows(rows), radius)
    return _torch_patterns(checked_tensor(rows), radius)


def step(rule: Rule, rows: Rows) -> Rows:
    """Return the rows one step later, as uint8.

    >>> step(Rule(1, 110), np.array([0, 0, 0, 1, 0])).tolist()
    [0, 0, 1, 1, 0]
    """
    if isinstance(rows, np.ndarray):
        rows = checked_rows(rows)
        return _numpy_step(rule, rows, np.empty(rows.shape, dtype=np.uint8))
    rows = checked_tensor(rows)
    return _torch_step(_tensor_table(rule, rows), rows, rule.radius)


def rollout(rule: Rule, rows: Rows, steps: int) -> Rows:
    """Return every state from the given one on, `[steps + 1, ..., W]` as uint8.

    >>> rollout(Rule(1, 110), np.array([0, 0, 0, 1, 0]), steps=2).tolist()
    [[0, 0, 0, 1, 0], [0, 0, 1, 1, 0], [0, 1, 1, 1, 0]]
    """
    check_steps(steps)
    if isinstance(rows, np.ndarray):
        return _numpy_rollout(rule, checked_rows(rows), steps)
    return _torch_rollout(rule, checked_tensor(rows), steps)


def check_steps(steps: int) -> None:
    """Refuse a negative number of steps."""
    if steps < 0:
        raise BadInput(f"steps {steps} is not possible: give 0 or more")


def checked_rows(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the rows as uint8, refusing anything but 0 and 1 and rows without cells."""
    if rows.dtype.kind not in "biu":
        raise BadInput(f"rows must hold integers or booleans, not {rows.dtype}")
    _check_shape(rows.shape)
    if rows.size:
        _check_values(int(rows.min()), int(rows.max()))
    return rows.astype(np.uint8, copy=False)


def checked_tensor(rows: torch.Tensor) -> torch.Tensor:
    """Do for a tensor what `checked_rows` does for an array."""
    name = str(rows.dtype).removeprefix("torch.")
    if not name.startswith(("bool", "int", "uint")):
        raise BadInput(f"rows must hold integers or booleans, not {name}")
    _check_shape(tuple(rows.shape))
    if rows.numel():
        _check_values(int(rows.min()), int(rows.max()))
    return rows.byte()


def _check_shape(shape: tuple[int, ...]) -> None:
    if not shape or shape[-1] < 1:
        raise BadInput(f"rows need a width of at least 1, not shape {shape}")


def _check_values(lowest: int, highest: int) -> None:
    if lowest < 0 or highest > 1:
        raise BadInput(f"rows must hold only 0 and 1, not values from {lowest} to {highest}")


def _numpy_rollout(rule: Rule, rows: NDArray[np.uint8], steps: int) -> NDArray[np.uint8]:
    states = np.empty((steps + 1, *rows.shape), dtype=np.uint8)
    states[0] = rows
    for t in range(steps):
        _numpy_step(rule, states[t], states[t + 1])
    return states


def _numpy_step(rule: Rule, rows: NDArray[np.uint8], out: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # "clip" only spares NumPy a bounds check that needs a copy of the output.
    return np.take(rule.table, _numpy_patterns(rows, rule.radius), out=out, mode="clip")


def _numpy_patterns(rows: NDArray[np.uint8], radius: int) -> NDArray[np.uint8]:
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


def _torch_rollout(rule: Rule, rows: torch.Tensor, steps: int) -> torch.Tensor:
    table = _tensor_table(rule, rows)
    states = rows.new_empty((steps + 1, *rows.shape))
    states[0] = rows
    for t in range(steps):
        states[t + 1] = _torch_step(table, states[t], rule.radius)
    return states


def _tensor_table(rule: Rule, like: torch.Tensor) -> torch.Tensor:
    return like.new_tensor(rule.table.tolist())


def _torch_step(table: torch.Tensor, rows: torch.Tensor, radius: int) -> torch.Tensor:
    return table[_torch_patterns(rows, radius)]


def _torch_patterns(rows: torch.Tensor, radius: int) -> torch.Tensor:
    cells = rows.long()
    patterns = cells.roll(radius, -1)
    for shift in range(radius - 1, -radius - 1, -1):
        patterns = patterns * 2 + cells.roll(shift, -1)
    return patterns
