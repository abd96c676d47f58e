"""The temporal baseline (paper, Appendix C): forests and neighbours get the network's own input and supervision.

A cell is described by the whole first row, its position and its timestep. Visible cells at t = 1 … 4 are learned
from; asked for are cells at t = 1 of rows that were not shown. No representation of a network is involved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, silent
from hardgap.worlds.automaton.baselines.methods import Features, Labels, Method, NearestVote, fit, forest
from hardgap.worlds.automaton.gap import Gap, Trajectory

STEPS = 4
MOST_SHOWN = 8000
"""Shown cells that are asked for again."""
TEMPORAL_METHODS = (
    Method("RF (500 trees)", lambda seed: forest(500, seed), "500 trees"),
    Method("RF (100 trees)", lambda seed: forest(100, seed), "100 trees"),
    Method("KNN (k=1)", lambda seed: NearestVote(1), "k=1, Euclidean"),
    Method("KNN (k=5)", lambda seed: NearestVote(5), "k=5, Euclidean"),
)


@dataclass(frozen=True)
class Moments:
    """Cells at some timesteps, described by the first row of their rollout."""

    features: Features  # [cells, width + 2]: first row, position, timestep of the output (from 1)
    labels: Labels  # [cells]

    @classmethod
    def draw(cls, truth: Trajectory, where: NDArray[np.bool_], most: int, rng: np.random.Generator) -> Moments:
        """At most this many cells out of `where` [steps, rows, width], none of them twice."""
        candidates = np.flatnonzero(where)
        if not len(candidates):
            raise BadInput("the rows hold no such cell; use more rows or a greater width")
        chosen = rng.choice(candidates, min(most, len(candidates)), replace=False)
        step, row, position = np.unravel_index(chosen, where.shape)
        features = np.column_stack([truth.states[0][row], position, step + 1]).astype(np.float64)
        return cls(features, truth.targets[: len(where)].ravel()[chosen])


@dataclass(frozen=True)
class TemporalQuestion:
    """What Appendix C shows and asks: hidden cells, and as controls visible ones of the same unseen rows."""

    shown: Moments
    hidden: Moments
    visible: Moments

    @property
    def asked(self) -> dict[str, Moments]:
        """By name; of the shown cells, which are drawn in no order, no more than `MOST_SHOWN`."""
        again = Moments(self.shown.features[:MOST_SHOWN], self.shown.labels[:MOST_SHOWN])
        return {"holdout": self.hidden, "visible": self.visible, "shown": again}

    @classmethod
    def draw(cls, learn: Trajectory, judge: Trajectory, *, size: int, most_asked: int, seed: int) -> TemporalQuestion:
        rng = np.random.default_rng([seed, 5])
        return cls(
            Moments.draw(learn, ~learn.hidden, size, rng),
            Moments.draw(judge, judge.hidden[:1], most_asked, rng),
            Moments.draw(judge, ~judge.hidden[:1], most_asked, rng),
        )

    def answer(self, method: Method, seed: int = 0) -> dict[str, Labels]:
        """The method's labels for hidden, visible and shown cells."""
        fitted = fit(method, self.shown.features, self.shown.labels, seed)
        return {name: fitted.predict(cells.features) for name, cells in self.asked.items()}


@dataclass(frozen=True)
class TemporalAccuracy:
    """Accuracy at hidden cells of t = 1, at visible ones of the same unseen rows, and on (some of) the shown cells."""

    holdout: float
    visible: float
    shown: float


def measure_temporal(
    gap: Gap,
    learn: NDArray[np.uint8],
    judge: NDArray[np.uint8],
    methods: Iterable[Method] = TEMPORAL_METHODS,
    *,
    size: int,
    most_asked: int = 2000,
    seed: int = 0,
    on_progress: Progress = silent,
) -> dict[str, TemporalAccuracy]:
    """Appendix C's table for one gap; `learn` and `judge` are first rows [rows, width]."""
    steps = gap.trajectory(learn, STEPS), gap.trajectory(judge, 1)
    question = TemporalQuestion.draw(*steps, size=size, most_asked=most_asked, seed=seed)
    methods, table = tuple(methods), {}
    for done, method in enumerate(methods):
        on_progress(f"first row, position, timestep: {method.name}", done, len(methods))
        answers = question.answer(method, seed)
        table[method.name] = TemporalAccuracy(
            **{name: round(float((answers[name] == cells.labels).mean()), 6) for name, cells in question.asked.items()}
        )
    on_progress("done", len(methods), len(methods))
    return table
