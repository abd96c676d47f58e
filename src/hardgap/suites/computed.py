"""References that nobody trains: similarity on the rule's own table, the majority, and the exact solver as ceiling.

Each is shown the visible entries and answers the hidden ones; all patterns are equally common in random rows, so the
share of entries that are right is the holdout accuracy. What it would answer for visible entries is not asked: the 1 in
its point stands for that they are given, and no table shows it. The solver is shown the visible cells of the training
rows.
"""

from __future__ import annotations

from hardgap.core.progress import Progress, silent
from hardgap.suites.card import Card, Outcome
from hardgap.suites.gaps import Suite, SuiteGap, is_determined
from hardgap.worlds.automaton.baselines.input_space import predict_hidden
from hardgap.worlds.automaton.baselines.methods import METHODS

SOLVER = "solver"
COMPUTED = {method.name: method.settings for method in METHODS} | {SOLVER: "the tables that fit what is visible"}


def computed_card(suite: Suite, name: str, *, quick: bool, seed: int, on_progress: Progress = silent) -> Card:
    """The card of a method; it is the same each time, so one seed says all."""
    gaps = suite.asked(seed, quick=quick)
    runs = []
    for place, gap in enumerate(gaps):
        on_progress(f"{name}: {gap.gap.describe()}", place, len(gaps))
        runs.append(Outcome(gap=gap, seed=0, curve=((0, 1.0, _holdout(gap, name)),)))
    return Card(
        suite=suite.name, quick=quick, network=name, recipe="", about=COMPUTED[name], seed=seed, planned=len(gaps),
        runs=tuple(runs),
    )  # fmt: skip


def _holdout(gap: SuiteGap, name: str) -> float:
    if name == SOLVER:
        return float(is_determined(gap.gap, gap.width))
    answers = predict_hidden(gap.gap, [method for method in METHODS if method.name == name])[name]
    right = [bool(answer == gap.gap.rule.table[p]) for answer, p in zip(answers, gap.hide, strict=True)]
    return sum(right) / len(right)
