"""Periodic rows stepped by a rule, for NumPy arrays and torch tensors alike.

Rows are `[..., W]` of 0 and 1 in any integer or boolean dtype; the two ends of a row are neighbours. A row
narrower than the neighbourhood wraps more than once, which is still the periodic automaton. torch is never
imported here: a tensor brings its own methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hardgap.automata.rule import Rule
from hardgap.errors import BadInput

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
        return _numpy_patterns(_checked(rows), radius)
    return _torch_patterns(_checked_tensor(rows), radius)


def step(rule: Rule, rows: Rows) -> Rows:
    """Return the rows one step later, as uint8.

    >>> step(Rule(1, 110), np.array([0, 0, 0, 1, 0])).tolist()
    [0, 0, 1, 1, 0]
    """
    if isinstance(rows, np.ndarray):
        return rule.table[_numpy_patterns(_checked(rows), rule.radius)]
    return _tensor_table(rule, rows)[_torch_patterns(_checked_tensor(rows), rule.radius)]


def rollout(rule: Rule, rows: Rows, steps: int) -> Rows:
    """Return every state from the given one on, `[steps + 1, ..., W]` as uint8.

    >>> rollout(Rule(1, 110), np.array([0, 0, 0, 1, 0]), steps=2).tolist()
    [[0, 0, 0, 1, 0], [0, 0, 1, 1, 0], [0, 1, 1, 1, 0]]
    """
    if steps < 0:
        raise BadInput(f"steps {steps} is not possible: give 0 or more")
    if isinstance(rows, np.ndarray):
        return _numpy_rollout(rule, _checked(rows), steps)
    return _torch_rollout(rule, _checked_tensor(rows), steps)


def _numpy_rollout(rule: Rule, rows: NDArray[np.uint8], steps: int) -> NDArray[np.uint8]:
    states = np.empty((steps + 1, *rows.shape), dtype=np.uint8)
    states[0] = rows
    for t in range(steps):
        np.take(rule.table, _numpy_patterns(states[t], rule.radius), out=states[t + 1], mode="wrap")
    return states


def _torch_rollout(rule: Rule, rows: torch.Tensor, steps: int) -> torch.Tensor:
    table = _tensor_table(rule, rows)
    states = rows.new_empty((steps + 1, *rows.shape))
    states[0] = rows
    for t in range(steps):
        states[t + 1] = table[_torch_patterns(states[t], rule.radius)]
    return states


def _checked(rows: NDArray[Any]) -> NDArray[np.uint8]:
    if rows.dtype.kind not in "biu":
        raise BadInput(f"rows must hold integers or booleans, not {rows.dtype}")
    _check_values(rows.shape, rows.size and (rows.min(), rows.max()))
    return rows.astype(np.uint8, copy=False)


def _checked_tensor(rows: torch.Tensor) -> torch.Tensor:
    name = str(rows.dtype).removeprefix("torch.")
    if not name.startswith(("bool", "int", "uint")):
        raise BadInput(f"rows must hold integers or booleans, not {name}")
    rows = rows.detach()
    _check_values(tuple(rows.shape), rows.numel() and (int(rows.min()), int(rows.max())))
    return rows.byte()


def _check_values(shape: tuple[int, ...], extremes: Any) -> None:
    if not shape or shape[-1] < 1:
        raise BadInput(f"rows need a width of at least 1, not shape {shape}")
    if extremes and (extremes[0] < 0 or extremes[1] > 1):
        raise BadInput(f"rows must hold only 0 and 1, not values from {extremes[0]} to {extremes[1]}")


def _numpy_patterns(rows: NDArray[np.uint8], radius: int) -> NDArray[np.uint8]:
    width = rows.shape[-1]
    around = np.take(rows, np.arange(-radius, width + radius) % width, axis=-1)
    patterns: NDArray[np.uint8] = around[..., :width].copy()
    for shift in range(1, 2 * radius + 1):
        patterns <<= 1
        patterns |= around[..., shift : shift + width]
    return patterns


def _torch_patterns(rows: torch.Tensor, radius: int) -> torch.Tensor:
    cells = rows.long()
    patterns = cells.roll(radius, -1)
    for shift in range(radius - 1, -radius - 1, -1):
        patterns = patterns * 2 + cells.roll(shift, -1)
    return patterns


def _tensor_table(rule: Rule, like: torch.Tensor) -> torch.Tensor:
    return like.new_tensor(rule.table.tolist()).byte()
