"""The temporal baseline learned from every visible cell (paper, Appendix C): 7 million at the paper's size.

Forests are grown where they are asked (`lazy_forest`). Neighbours need no search over cells either: the squared
distance of two cells is the number of places in which their first rows differ, plus the squares of how far apart they
are in position and in timestep. So the nearest cells are near in place and time on one of the nearest rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hardgap.core.progress import Progress, silent
from hardgap.worlds.automaton.baselines.lazy_forest import trees
from hardgap.worlds.automaton.baselines.methods import Features, Labels
from hardgap.worlds.automaton.gap import Trajectory

BATCH = 256


def forest_answers(
    truth: Trajectory, asked: Features, sizes: Iterable[int], seed: int, on_progress: Progress = silent
) -> dict[int, Labels]:
    """Of forests of so many trees; the trees of a smaller one are the first of a larger one's, as in scikit-learn."""
    most, votes, found = max(sizes), np.zeros(len(asked), np.int64), {}
    for done, answers in enumerate(islice(trees(truth, asked, seed), most), start=1):
        votes += answers
        if done in sizes:
            found[done] = (2 * votes > done).astype(np.uint8)
        on_progress(f"first row, position, timestep: {most} trees", done, most)
    return found


def neighbour_answers(truth: Trajectory, asked: Features, voters: Iterable[int], seed: int) -> dict[int, Labels]:
    """Of so many nearest cells the majority; among equally near ones a lot decides, drawn once for each cell."""
    cells = _Cells(truth, np.random.default_rng([seed, 7]).random(truth.hidden.shape))
    pieces = [asked[start : start + BATCH] for start in range(0, len(asked), BATCH)]
    nearest = np.concatenate([cells.nearest(piece, max(voters)) for piece in pieces])
    return {k: (2 * nearest[:, :k].sum(1, dtype=np.int64) > k).astype(np.uint8) for k in voters}


class _Cells:
    """Every cell of the rollouts; only visible ones can be near."""

    def __init__(self, truth: Trajectory, lot: NDArray[np.float64]) -> None:
        self.rows, self.labels = truth.states[0].astype(np.float32), truth.targets
        self.lot = np.where(truth.hidden, np.inf, lot)

    def nearest(self, asked: Features, k: int, rows: int = 64, reach: int = 4) -> Labels:
        """The labels of the k nearest cells [questions, k], nearest first.

        Looked for on so many of the nearest rows and so far away in position; where that may miss one, further.
        """
        bits, (place, time) = asked[:, :-2].astype(np.float32), asked[:, -2:].T.astype(np.int64) - [[0], [1]]
        apart = bits.sum(1)[:, None] + self.rows.sum(1) - 2 * bits @ self.rows.T
        rows = min(rows, apart.shape[1])
        near = np.argpartition(apart, rows - 1, axis=1)
        near, beyond = near[:, :rows], np.take_along_axis(apart, near[:, rows:], 1).min(1, initial=np.inf)
        apart = np.take_along_axis(apart, near, 1)
        far, candidates = self._around(near, place, time, reach)
        far += apart[:, :, None]
        far = far.reshape(len(asked), -1)
        best = np.argsort(far, axis=1)[:, :k]
        farthest = np.floor(np.take_along_axis(far, best, 1)[:, -1])
        labels = np.take_along_axis(self.labels.ravel()[candidates].reshape(far.shape), best, 1)
        unsure = farthest >= np.minimum(beyond, apart.min(1) + (reach + 1) ** 2)
        if unsure.any() and (rows < len(self.rows) or reach < self.rows.shape[1]):
            labels[unsure] = self.nearest(asked[unsure], k, 8 * rows, 2 * reach)
        return labels

    def _around(
        self, near: NDArray[np.intp], place: NDArray[np.int64], time: NDArray[np.int64], reach: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """How far cells are in place and time, their lot added, and where in the rollouts: [questions, rows, cells]."""
        steps, rows, width = self.labels.shape
        step, shift = (axis.ravel() for axis in np.mgrid[:steps, -reach : reach + 1])
        position = place[:, None] + shift
        inside = (position >= 0) & (position < width)
        index = (step * rows + near[:, :, None]) * width + position.clip(0, width - 1)[:, None]
        far = (np.square(step - time[:, None]) + np.square(shift))[:, None] + self.lot.ravel()[index]
        return np.where(inside[:, None], far, np.inf), index
