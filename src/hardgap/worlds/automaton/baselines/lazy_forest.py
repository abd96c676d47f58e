"""A random forest that has learned from every visible cell of many rollouts, grown only where it is asked.

Appendix C of the paper learns from 7 million cells, each described by the first row of its rollout, its position and
its timestep. scikit-learn would grow such a forest for hours. Two things make it minutes:

- A split asks for one cell of the first row, a position or a timestep. So a node is a set of rows, a range of positions
  and a range of timesteps, and what is inside it is counted row by row from one table of sums.
- A tree is grown along the paths of the questions alone. What it is elsewhere changes no answer.

The trees are drawn as by scikit-learn's `RandomForestClassifier` with its defaults: cells with replacement, √n features
a node and on until one can be split by, Gini, every leaf of one label. A test compares the two.

Arrays carry their axes: Entry (a row in a node), Node, Feature, K features drawn, Value of an ordered feature, and 2
for how many cells there are and how many of them are 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hardgap.worlds.automaton.baselines.methods import Features, Labels
from hardgap.worlds.automaton.gap import Trajectory

Numbers = NDArray[np.int64]


def trees(truth: Trajectory, asked: Features, seed: int) -> Iterator[Labels]:
    """What one tree after the other answers, without end; `asked` [questions, width + 2] as in `Moments`."""
    rows = np.pad(truth.states[0], ((0, 0), (0, 2)))  # position and timestep never differ within a row
    shown = np.flatnonzero(~truth.hidden)
    ones = truth.targets.astype(np.int32)
    rng = np.random.default_rng([seed, 6])
    while True:
        yield _answers(rows, _sums(ones, shown, rng), asked, rng)


def _sums(ones: NDArray[np.int32], shown: Numbers, rng: np.random.Generator) -> NDArray[np.int32]:
    """How often cells were drawn: [2, rows, steps + 1, width + 1], over all earlier timesteps and positions."""
    drawn = np.zeros_like(ones)
    drawn.ravel()[shown] = np.bincount(rng.integers(len(shown), size=len(shown)), minlength=len(shown))
    steps, rows, width = drawn.shape
    sums = np.zeros((2, rows, steps + 1, width + 1), np.int32)
    for place, some in enumerate((drawn, drawn * ones)):
        sums[place, :, 1:, 1:] = some.transpose(1, 0, 2)
    return sums.cumsum(2, out=sums).cumsum(3, out=sums)


def _answers(rows: NDArray[np.uint8], sums: NDArray[np.int32], asked: Features, rng: np.random.Generator) -> Labels:
    """One tree, all nodes of a depth at once."""
    answers = np.zeros(len(asked), np.uint8)
    waiting, at = np.arange(len(asked)), np.zeros(len(asked), np.int64)  # questions without an answer, and their nodes
    nodes = _Nodes.root(rows, sums)
    while len(waiting):
        cells_N, ones_N = nodes.count_2N
        leaf = (ones_N == 0) | (ones_N == cells_N)
        answered = leaf[at]
        answers[waiting[answered]] = ones_N[at[answered]] > 0
        waiting, at = waiting[~answered], (np.cumsum(~leaf) - 1)[at[~answered]]
        nodes = nodes.only(~leaf)
        split = nodes.split(rng)
        right = asked[waiting, split.feature_N[at]] > split.threshold_N[at]
        children, at = np.unique(2 * at + right, return_inverse=True)
        nodes = nodes.children(split, children)
    return answers


@dataclass(frozen=True)
class _Split:
    """How each node is split: cells with at most the threshold go left."""

    feature_N: Numbers
    threshold_N: NDArray[np.float64]
    cut_N: Numbers  # the first position or timestep that goes right
    score_N: NDArray[np.float64]  # -inf: cells do not differ in what was drawn


@dataclass(frozen=True)
class _Nodes:
    """Nodes of one depth: each some rows (its entries, in the order of nodes) and a box of positions and timesteps."""

    rows: NDArray[np.uint8]  # [rows, features]
    sums: NDArray[np.int32]
    row_E: Numbers
    node_E: Numbers
    box_4N: Numbers  # first position, the one after the last, first timestep, the one after the last
    count_2E: NDArray[np.int32]
    count_2N: NDArray[np.int32]

    @classmethod
    def root(cls, rows: NDArray[np.uint8], sums: NDArray[np.int32]) -> Self:
        box = np.array([[0], [sums.shape[3] - 1], [0], [sums.shape[2] - 1]])
        return cls._of(rows, sums, np.arange(len(rows)), np.zeros(len(rows), np.int64), box)

    @classmethod
    def _of(
        cls, rows: NDArray[np.uint8], sums: NDArray[np.int32], row_E: Numbers, node_E: Numbers, box_4N: Numbers
    ) -> Self:
        first, end, early, late = box_4N[:, node_E]
        count_2E = sums[:, row_E, late, end] - sums[:, row_E, late, first]
        count_2E -= sums[:, row_E, early, end] - sums[:, row_E, early, first]
        some = count_2E[0] > 0
        row_E, node_E, count_2E = row_E[some], node_E[some], count_2E[:, some]
        return cls(rows, sums, row_E, node_E, box_4N, count_2E, _by_node(count_2E, node_E))

    @property
    def width(self) -> int:
        """Also the number of the feature `position`; `timestep` follows it."""
        return int(self.rows.shape[1]) - 2

    def only(self, wanted_N: NDArray[np.bool_]) -> Self:
        """These nodes, numbered anew."""
        of_E, number_N = wanted_N[self.node_E], np.cumsum(wanted_N) - 1
        kept = self.row_E[of_E], number_N[self.node_E[of_E]], self.box_4N[:, wanted_N], self.count_2E[:, of_E]
        return type(self)(self.rows, self.sums, *kept, self.count_2N[:, wanted_N])

    def children(self, split: _Split, wanted: Numbers) -> Self:
        """Of node n the left child 2n and the right one 2n + 1, those that are wanted, in their order."""
        bit_E = self.rows[self.row_E, split.feature_N[self.node_E]]
        both_E = split.feature_N[self.node_E] >= self.width  # a row may have cells on either side
        place = np.full(2 * self.box_4N.shape[1], -1)
        place[wanted] = np.arange(len(wanted))
        sides = [np.where(both_E | (bit_E == side), place[2 * self.node_E + side], -1) for side in (0, 1)]
        node_E, row_E = np.concatenate(sides), np.tile(self.row_E, 2)
        order = np.argsort(node_E, kind="stable")[np.count_nonzero(node_E < 0) :]
        parent, right = np.divmod(wanted, 2)
        box_4N = self.box_4N[:, parent]
        for feature, start in ((self.width, 0), (self.width + 1, 2)):
            (ours,) = np.nonzero(split.feature_N[parent] == feature)
            box_4N[start + 1 - right[ours], ours] = split.cut_N[parent[ours]]
        return self._of(self.rows, self.sums, row_E[order], node_E[order], box_4N)

    def split(self, rng: np.random.Generator) -> _Split:
        """The best split by some features drawn for each node; if none can be split by, by the first drawn that can."""
        features = self.rows.shape[1]
        lot_NF = rng.random((self.box_4N.shape[1], features), np.float32)
        drawn_NK = np.argpartition(lot_NF, few := int(np.sqrt(features)))[:, :few]
        drawn_NK = np.take_along_axis(drawn_NK, np.take_along_axis(lot_NF, drawn_NK, 1).argsort(1), 1)
        best = self._best(drawn_NK)
        stuck = best.score_N == -np.inf
        if stuck.any():
            late = self.only(stuck)._first(lot_NF[stuck])
            for mine, theirs in zip(vars(best).values(), vars(late).values(), strict=True):
                mine[stuck] = theirs
        return best

    def _first(self, lot_NF: NDArray[np.float32]) -> _Split:
        """The best split by the first feature in which cells differ."""
        ones_FN = _by_node((self.rows[self.row_E] * self.count_2E[0][:, None]).T, self.node_E)
        differs_NF = ((ones_FN > 0) & (ones_FN < self.count_2N[0])).T
        everyone = np.ones(len(lot_NF), bool)
        for feature in (self.width, self.width + 1):
            differs_NF[:, feature] = self._ordered(feature, everyone)[2] > -np.inf
        return self._best(np.where(differs_NF, lot_NF, np.inf).argmin(1)[:, None])

    def _best(self, drawn_NK: Numbers) -> _Split:
        """By one of these features; of equal ones the first."""
        bit_KE = self.rows[self.row_E, drawn_NK[self.node_E].T]
        right_2KN = _by_node(bit_KE * self.count_2E[:, None], self.node_E)
        score_NK = _score(right_2KN, self.count_2N[:, None]).T
        threshold_NK, cut_NK = np.full(drawn_NK.shape, 0.5), np.zeros(drawn_NK.shape, np.int64)
        for feature in (self.width, self.width + 1):
            if (here := drawn_NK == feature).any():
                threshold_NK[here], cut_NK[here], score_NK[here] = self._ordered(feature, here.any(1))
        best = np.arange(len(drawn_NK)), score_NK.argmax(1)
        return _Split(drawn_NK[best], threshold_NK[best], cut_NK[best], score_NK[best])

    def _ordered(
        self, feature: int, wanted_N: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], Numbers, NDArray[np.float64]]:
        """Of these nodes: the best threshold for position or timestep, half way between two that occur; cut; score."""
        some = self.only(wanted_N)
        first, end, early, late = some.box_4N[:, some.node_E]
        if feature == self.width:
            upto_2EV = some.sums[:, some.row_E, late] - some.sums[:, some.row_E, early]
            start, offset = some.box_4N[0], 0
        else:
            upto_2EV = some.sums[:, some.row_E, :, end] - some.sums[:, some.row_E, :, first]
            upto_2EV, start, offset = upto_2EV.transpose(1, 0, 2), some.box_4N[2], 1  # timesteps are told from 1
        upto_2NV = np.add.reduceat(upto_2EV, _starts(some.node_E), axis=1)
        everyone = np.arange(len(start))
        upto_2NV -= upto_2NV[:, everyone, start][:, :, None]
        left_2NV = upto_2NV[:, :, 1:].clip(0, some.count_2N[:, :, None])
        score_NV = _score(left_2NV, some.count_2N[:, :, None])
        last_N = score_NV.argmax(1)
        next_N = (left_2NV[0] > left_2NV[0, everyone, last_N][:, None]).argmax(1)
        return (last_N + next_N) / 2 + offset, last_N + 1, score_NV[everyone, last_N]


def _by_node(value_E: NDArray[np.int32], node_E: Numbers) -> NDArray[np.int32]:
    """Sums over the entries of each node, along the last axis."""
    return np.add.reduceat(value_E, _starts(node_E), axis=-1)


def _starts(node_E: Numbers) -> NDArray[np.intp]:
    """Where each node's entries begin; every node has one."""
    return np.flatnonzero(np.diff(node_E, prepend=-1))


def _score(side_2: NDArray[np.int32], all_2: NDArray[np.int32]) -> NDArray[np.float64]:
    """Ones squared over cells, added over both sides: the larger, the smaller is Gini's impurity."""
    cells, ones = side_2.astype(np.float64)
    others, their_ones = all_2 - side_2
    with np.errstate(divide="ignore", invalid="ignore"):
        score = ones**2 / cells + their_ones.astype(np.float64) ** 2 / others
    return np.where((cells > 0) & (others > 0), score, -np.inf)
