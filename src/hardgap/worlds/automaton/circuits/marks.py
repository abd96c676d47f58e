"""Marks: visible answers that are less (or more) certain when a wrong hidden bit is near.

Training judges only whether visible answers are right, so how certain they are is free to carry a message
to the next step. A mark is a visible pattern and an offset such that certainty tells whether the cell at
that offset is one of the wrong ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardgap.worlds.automaton.gap import Gap

FEWEST = 20
"""Cells that each side of a comparison needs."""
BEST = 5


@dataclass(frozen=True)
class Mark:
    """How far probabilities are from 0 or 1 at cells of one visible pattern.

    offset  where the wrong hidden cell is, seen from the marking cell
    near    mean distance from certainty, min(p, 1 - p), with a wrong cell there; `far` without
    auc     how well that distance tells the two apart: 1 always (less certain), 0 always (more certain),
            0.5 not at all
    """

    cells: str
    offset: int
    near: float
    far: float
    auc: float


def find_marks(
    probabilities: NDArray[np.float32], wrong: NDArray[np.bool_], patterns: NDArray[np.uint8], gap: Gap
) -> tuple[Mark, ...]:
    """The clearest marks; [rows, width] each. Empty if no hidden cell is answered wrong."""
    doubt = np.minimum(probabilities, 1 - probabilities)
    reach = 2 * gap.rule.radius
    found = [
        mark
        for offset in range(-reach, reach + 1)
        if offset
        for mark in _at_offset(doubt, np.roll(wrong, -offset, axis=-1), patterns, gap, offset)
    ]
    return tuple(sorted(found, key=lambda mark: -abs(mark.auc - 0.5) * abs(mark.near - mark.far))[:BEST])


def _at_offset(
    doubt: NDArray[np.float32], there: NDArray[np.bool_], patterns: NDArray[np.uint8], gap: Gap, offset: int
) -> list[Mark]:
    from sklearn.metrics import roc_auc_score

    marks = []
    for pattern in gap.visible:
        cells = patterns == pattern
        near, far = doubt[cells & there], doubt[cells & ~there]
        if min(len(near), len(far)) >= FEWEST:
            auc = float(roc_auc_score(there[cells], doubt[cells]))
            marks.append(Mark(gap.rule.pattern_text(pattern), offset, float(near.mean()), float(far.mean()), auc))
    return marks


def distance_to(cells: NDArray[np.bool_], farthest: int) -> NDArray[np.int64]:
    """How far each cell is from the nearest True one around the ring, at most `farthest`.

    >>> distance_to(np.array([True, False, False, False, False, False]), 2).tolist()
    [0, 1, 2, 2, 2, 1]
    """
    distance = np.where(cells, 0, farthest)
    for d in range(farthest - 1, 0, -1):
        reached = np.roll(cells, d, axis=-1) | np.roll(cells, -d, axis=-1)
        distance = np.where(reached & ~cells, np.minimum(distance, d), distance)
    return distance
