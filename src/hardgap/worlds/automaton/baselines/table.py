"""Table 1 for one network: every level, every method; hidden cells are judged only after all answers are in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from hardgap.core.progress import Progress, silent
from hardgap.worlds.automaton.baselines.levels import LEVELS, Level
from hardgap.worlds.automaton.baselines.methods import METHODS, Labels, Method
from hardgap.worlds.automaton.baselines.questions import Cells, Exam


@dataclass(frozen=True)
class Accuracy:
    """The share of right answers on hidden cells, and as a control on visible ones.

    Those are cells of unseen rows; at a fixed position, where there is nothing else, the shown patterns themselves.
    """

    holdout: float
    visible: float


@dataclass(frozen=True)
class LevelResult:
    """One line of the table."""

    level: Level
    dimensions: int
    shown: int  # examples that one fit learns from, at most
    asked: int  # hidden cells
    network: Accuracy
    methods: dict[str, Accuracy] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.level.title(self.dimensions)


def measure(
    exam: Exam,
    methods: Iterable[Method] = METHODS,
    levels: Iterable[Level] = LEVELS,
    *,
    seed: int = 0,
    on_progress: Progress = silent,
) -> list[LevelResult]:
    """The table. A level that this network has no activation for is left out."""
    methods = tuple(methods)
    levels = [level for level in levels if level.source in exam.sources]
    lines = []
    for done, level in enumerate(levels):
        question, cells = exam.question(level), exam.asked_at(level)
        accuracy = {}
        for i, method in enumerate(methods):
            on_progress(f"{level.name}: {method.name}", done * len(methods) + i, len(levels) * len(methods))
            accuracy[method.name] = judge(question.answer(method, seed), cells)
        shown = int(np.bincount(question.shown_group).max())
        lines.append(
            LevelResult(
                level, question.asked.shape[1], shown, int(cells.hidden.sum()), judge(cells.network, cells), accuracy
            )
        )
    on_progress("done", len(levels) * len(methods), len(levels) * len(methods))
    return lines


def judge(answers: Labels, cells: Cells) -> Accuracy:
    """Compare answers with the truth; the one place where hidden labels are looked at."""
    right = answers == cells.labels
    return Accuracy(*(round(float(right[where].mean()), 6) for where in (cells.hidden, ~cells.hidden)))
