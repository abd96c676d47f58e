"""What a baseline is shown and what it is asked, at one level; the true answers stay outside of it.

Pooled (Table 1): visible cells of training rows to learn from, cells of test rows to answer for, all positions
together. At a fixed position (Appendix A.1): every visible pattern once at that position to learn from, every pattern
there to answer for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.baselines.input_space import pattern_bits
from hardgap.worlds.automaton.baselines.levels import Level, View, look
from hardgap.worlds.automaton.baselines.methods import Features, Labels, Method, fit
from hardgap.worlds.automaton.gap import Gap, Trajectory

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Question:
    """Examples with labels, and examples to label. Each group is learned from and answered on its own."""

    shown: Features
    labels: Labels
    asked: Features
    shown_group: Indices
    asked_group: Indices

    def answer(self, method: Method, seed: int = 0) -> Labels:
        """The method's labels for the asked examples."""
        answers = np.zeros(len(self.asked), np.uint8)
        for group in np.unique(self.asked_group):
            learn, ask = self.shown_group == group, self.asked_group == group
            answers[ask] = fit(method, self.shown[learn], self.labels[learn], seed).predict(self.asked[ask])
        return answers


@dataclass(frozen=True)
class Cells:
    """Some cells at the first step: where they are, how the network sees their rows, and their true outputs."""

    view: View
    row: Indices  # [cells], an index into the view's rows
    position: Indices  # [cells]
    labels: Labels  # [cells]
    hidden: Mask  # [cells]

    def __getitem__(self, chosen: Mask) -> Cells:
        return Cells(self.view, self.row[chosen], self.position[chosen], self.labels[chosen], self.hidden[chosen])

    @property
    def network(self) -> Labels:
        """What the network itself answers for these cells."""
        return self.view.answers[self.row, self.position]


@dataclass(frozen=True)
class Exam:
    """One network's cells, run through it once and then described at any level."""

    radius: int
    shown: Cells
    asked: Cells
    everywhere: Cells

    @property
    def sources(self) -> Iterable[str]:
        return self.shown.view.sources

    def asked_at(self, level: Level) -> Cells:
        """The cells that `question(level)` asks about, in its order; hidden and, as a control, visible ones."""
        return self.everywhere if level.fixed_position else self.asked

    def question(self, level: Level) -> Question:
        asked = self.asked_at(level)
        shown = asked[~asked.hidden] if level.fixed_position else self.shown
        return Question(
            shown.view.features(level, self.radius, shown.row, shown.position),
            shown.labels,
            asked.view.features(level, self.radius, asked.row, asked.position),
            shown.position if level.fixed_position else np.zeros_like(shown.position),
            asked.position if level.fixed_position else np.zeros_like(asked.position),
        )


def prepare_exam(
    model: nn.Module, gap: Gap, learn: Trajectory, judge: Trajectory, *, size: int, most_asked: int, seed: int = 0
) -> Exam:
    """Draw the cells and run their rows through the network.

    Shown are `size` visible cells of the rows to learn from; asked are hidden cells of the other rows, and visible
    ones as a control, at most `most_asked` of each.
    """
    rng = np.random.default_rng([seed, 4])
    if not judge.hidden[0].any():
        raise BadInput(f"{gap.describe()}: the test rows hold no hidden cell to ask for")
    shown = _draw(~learn.hidden[0], size, rng)
    hidden, visible = (_draw(where, most_asked, rng) for where in (judge.hidden[0], ~judge.hidden[0]))
    return Exam(
        gap.rule.radius,
        _cells(model, learn, shown),
        _cells(model, judge, np.concatenate([hidden, visible])),
        _every_pattern_everywhere(model, gap, learn.states.shape[-1], rng),
    )


def _draw(where: Mask, most: int, rng: np.random.Generator) -> Indices:
    """At most this many cells out of `where` [rows, width], as flat indices, none of them twice."""
    candidates = np.flatnonzero(where)
    return rng.choice(candidates, min(most, len(candidates)), replace=False)


def _cells(model: nn.Module, truth: Trajectory, chosen: Indices) -> Cells:
    rows, position = np.divmod(chosen, truth.states.shape[-1])
    distinct, row = np.unique(rows, return_inverse=True)
    view = look(model, truth.states[0][distinct])
    return Cells(view, row, position, truth.targets[0].ravel()[chosen], truth.hidden[0].ravel()[chosen])


def _every_pattern_everywhere(model: nn.Module, gap: Gap, width: int, rng: np.random.Generator) -> Cells:
    """Each pattern once at each position; the rest of its row is random."""
    position, pattern = (grid.ravel() for grid in np.meshgrid(np.arange(width), np.arange(gap.rule.patterns)))
    rows = rng.integers(0, 2, (len(pattern), width), dtype=np.uint8)
    around = (position[:, None] + np.arange(-gap.rule.radius, gap.rule.radius + 1)) % width
    rows[np.arange(len(rows))[:, None], around] = pattern_bits(gap.rule)[pattern]
    return Cells(look(model, rows), np.arange(len(rows)), position, gap.rule.table[pattern], gap.hidden_table[pattern])
