"""What the best reader of a pair could get right, whoever it is: exact, over all operands.

A reader is shown a, b, c, d of a chain (a op1 b) op2 c = d whose operands and operators are drawn uniformly, and knows
every operator. Where several pairs fit it names one of them, and no choice is better than another; so what it gets
right is a count: of the different d that (a, b, c) are followed by. A filter drops some examples, and the reader knows
which.
Arrays are `[op1, op2, a · size + b, c]`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hardgap.worlds.chains.chains import Arithmetic, Mask

Results = NDArray[np.int16]
AT_ONCE = 4
"""Operands (a, b) looked at together where u matters too: more would leave the cache."""


def every_result(arithmetic: Arithmetic) -> Results:
    """d of every pair on all operands."""
    tables = np.stack([one.table(arithmetic.bits) for one in arithmetic.operators]).astype(np.int16)
    return np.stack([tables[:, first] for first in tables.reshape(len(tables), -1)])


def filters(arithmetic: Arithmetic, d: Results) -> dict[str, Mask]:
    """Which examples are kept, by what is asked of them; only the last leaves none with two right answers."""
    e = np.stack([one.table(arithmetic.bits).ravel() for one in arithmetic.operators])
    shown = np.broadcast_to(_alone(e, 0)[:, None, :, None], d.shape)
    op1, op2 = _alone(d, 0), _alone(d, 1)
    return {
        "always": np.ones(d.shape, dtype=bool),
        "no other op1 gives the same e": shown,
        "no other op2 turns e and c into d": op2,
        "both of these": shown & op2,
        "no other op1, with the same op2, gives d": op1,
        "no pair that differs in one operator fits": op1 & op2,
        "no other pair fits": _alone(d.reshape(-1, *d.shape[2:]), 0).reshape(d.shape),
    }


def _alone(values: NDArray[np.integer], axis: int) -> Mask:
    """Where no other value along the axis is the same."""
    same = np.zeros(values.shape, dtype=np.int8)
    for place in range(values.shape[axis]):
        same += values == values.take([place], axis)
    return np.asarray(same == 1)


def best_pair(d: Results, kept: Mask) -> float:
    """The share of kept examples of which both operators can be named."""
    pairs = d.reshape(-1, *d.shape[2:])
    return _different(pairs, kept.reshape(pairs.shape)) / int(kept.sum())


def best_second(d: Results, kept: Mask) -> float:
    """The share of which op2 can be named by who is told e as well; op1 may be any that gives it."""
    return sum(_different(results, some) for results, some in zip(d, kept, strict=True)) / int(kept.sum())


def _different(results: Results, kept: Mask) -> int:
    """How many different results are kept, over all operands: `[several, a · size + b, c]`."""
    ordered = np.sort(np.where(kept, results, -1), axis=0)
    is_first = np.diff(ordered, axis=0, prepend=-1) != 0
    return int((is_first & (ordered >= 0)).sum())


def also_fitted(d: Results) -> NDArray[np.float64]:
    """For each pair, the share of its examples that another pair fits too, `[op1, op2]`."""
    pairs = d.reshape(-1, *d.shape[2:])
    return np.asarray(1 - _alone(pairs, 0).mean(axis=(1, 2)).reshape(d.shape[:2]))


def best_value(d: Results, on_progress: Callable[[int, int], None] = lambda done, total: None) -> float:
    """The share of examples, none dropped, of which f = e op2 u can be told: u is drawn like c, so f like d."""
    pairs = np.ascontiguousarray(np.moveaxis(d.reshape(-1, *d.shape[2:]), 0, -1)).astype(np.uint16)
    size, right = pairs.shape[1], 0
    for start in range(0, len(pairs), AT_ONCE):
        on_progress(start, len(pairs))
        some = pairs[start : start + AT_ONCE]
        d_and_f = (some[:, :, None] * size + some[:, None]).reshape(-1, some.shape[-1])
        d_and_f.sort(axis=1)
        right += _most_likely(np.ascontiguousarray(d_and_f.T), size)
    return float(right / (pairs.size * size))


def _most_likely(d_and_f: NDArray[np.uint16], size: int) -> int:
    """In each column, sorted, the count of the most frequent f of every d, summed up."""
    alike = np.ones(d_and_f.shape[1], dtype=np.int16)  # so far, with this d and f
    most, total = alike.copy(), 0  # so far, with this d
    for before, now in pairwise(d_and_f):
        alike = np.where(now == before, alike + 1, 1)
        goes_on = now // size == before // size
        total += int(most[~goes_on].sum())
        most = np.where(goes_on, np.maximum(most, alike), alike)
    return total + int(most.sum())
