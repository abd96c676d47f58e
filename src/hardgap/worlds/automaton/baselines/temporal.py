"""The temporal baseline (paper, Appendix C): forests and neighbours get the network's own input and supervision.

A cell is described by the whole first row, its position and its timestep. Visible cells at t = 1 … 4 are learned
from; asked for are cells at t = 1 of rows that were not shown. No representation of a network is involved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, silent
from hardgap.worlds.automaton.baselines.every_cell import forest_answers, neighbour_answers
from hardgap.worlds.automaton.baselines.methods import Features, Labels, Method, NearestVote, fit, forest
from hardgap.worlds.automaton.gap import Gap, Trajectory

STEPS = 4
MOST_SHOWN = 8000
"""Shown cells that are asked for again."""
TREES = {"RF (500 trees)": 500, "RF (100 trees)": 100}
VOTERS = {"KNN (k=1)": 1, "KNN (k=5)": 5}


def _voters(k: int, seed: int) -> NearestVote:
    return NearestVote(k)


TEMPORAL_METHODS = (
    *(Method(name, partial(forest, trees), f"{trees} trees") for name, trees in TREES.items()),
    *(Method(name, partial(_voters, k), f"k={k}, Euclidean") for name, k in VOTERS.items()),
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

    def answers_of_all(
        self, learn: Trajectory, names: Iterable[str], seed: int, on_progress: Progress = silent
    ) -> Iterator[tuple[str, dict[str, Labels]]]:
        """Labels by forests and neighbours that have learned from every visible cell of these rollouts."""
        features = np.concatenate([cells.features for cells in self.asked.values()])
        ends = np.cumsum([len(cells.labels) for cells in self.asked.values()])[:-1]
        trees, voters = ({name: known[name] for name in names if name in known} for known in (TREES, VOTERS))
        forests = forest_answers(learn, features, set(trees.values()), seed, on_progress) if trees else {}
        votes = neighbour_answers(learn, features, set(voters.values()), seed) if voters else {}
        for name in names:
            labels = forests[TREES[name]] if name in trees else votes[VOTERS[name]]
            yield name, dict(zip(self.asked, np.split(labels, ends), strict=True))


def measure_temporal(
    gap: Gap,
    learn: NDArray[np.uint8],
    judge: NDArray[np.uint8],
    methods: Iterable[Method] = TEMPORAL_METHODS,
    *,
    size: int | None,
    most_asked: int = 2000,
    seed: int = 0,
    on_progress: Progress = silent,
) -> dict[str, dict[str, float]]:
    """Appendix C's table for one gap, learned from so many visible cells, or with size None from all of them.

    Of each method: accuracy at hidden cells of t = 1, at visible ones of the same unseen rows, and on shown cells.
    `learn` and `judge` are first rows [rows, width].
    """
    truth, judged = gap.trajectory(learn, STEPS), gap.trajectory(judge, 1)
    question = TemporalQuestion.draw(truth, judged, size=size or most_asked, most_asked=most_asked, seed=seed)
    if size is None:
        names = [method.name for method in methods]
        if others := [name for name in names if name not in TREES | VOTERS]:
            able = ", ".join(TREES | VOTERS)
            raise BadInput(
                f"{others[0]} cannot learn from all cells: give a number of them, or choose {able}", of="size"
            )
        answered = dict(question.answers_of_all(truth, names, seed, on_progress))
    else:
        answered = dict(_one_by_one(question, tuple(methods), seed, on_progress))
    return {
        name: {kind: round(float((labels[kind] == cells.labels).mean()), 6) for kind, cells in question.asked.items()}
        for name, labels in answered.items()
    }


def _one_by_one(
    question: TemporalQuestion, methods: tuple[Method, ...], seed: int, on_progress: Progress
) -> Iterator[tuple[str, dict[str, Labels]]]:
    for done, method in enumerate(methods):
        on_progress(f"first row, position, timestep: {method.name}", done, len(methods))
        yield method.name, question.answer(method, seed)
    on_progress("done", len(methods), len(methods))
