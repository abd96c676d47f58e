"""Ours: which gaps will be hard, said before any training.

A predictor is a number computed from the gap alone. It is chosen on the 24 gaps of the target (Rules 150, 30
and 106), and judged by its rank correlation with the steps to recovery on rules that had no part in the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hardgap.core.specs import Scale
from hardgap.studies.identifiability import refuting_shares
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.parts import shown
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.answers import identify
from hardgap.worlds.automaton.recipes import tempered, until_first_solved

RULES = ("22", "45", "54", "60", "73", "90", "105", "110")
"""One elementary rule each from classes that the target does not touch (60, 90 and 105 are XORs, as is Rule 150)."""
SEEDS = (0,)
"""One. Of a second seed there are only gaps that were run again because they had failed (`atlas/missed`)."""


def downstream_error(gap: Gap) -> float:
    """The share of visible cells one step later that a wrong entry gets wrong."""
    return refuting_shares(gap, 2)[0]


def total_downstream_error(gap: Gap) -> float:
    """The same, summed over all three later steps that the recipe unrolls."""
    return sum(refuting_shares(gap, 4))


def neighbour_agreement(gap: Gap) -> float:
    """The share of patterns one bit away that have the hidden pattern's output."""
    table, patterns = gap.rule.table, np.array(gap.hidden)
    bits = 1 << np.arange(2 * gap.rule.radius + 1)
    return float((table[patterns[:, None] ^ bits] == table[patterns][:, None]).mean())


def balance(gap: Gap) -> float:
    """The share of visible patterns that have the hidden pattern's output."""
    visible = np.delete(gap.rule.table, list(gap.hidden))
    return float(np.mean([(visible == gap.rule.table[p]).mean() for p in gap.hidden]))


def strictly_known(gap: Gap) -> float:
    """The share of hidden cells that the visible cells of two steps determine without assuming the rule."""
    rows = np.random.default_rng(0).integers(0, 2, (300, 11), dtype=np.uint8)
    answer = identify(gap, rows, 2, criteria=("strict",)).strict
    assert answer is not None
    return answer.cells_known


PREDICTORS: dict[str, Callable[[Gap], float]] = {
    "downstream error, next step": downstream_error,
    "downstream error, three steps": total_downstream_error,
    "agreement with neighbours": neighbour_agreement,
    "share of visible entries with its output": balance,
    "strictly known cells": strictly_known,
}


@study("tempered/forecast", **shown("forecast"))
def forecast(scale: Scale) -> Iterator[Arm]:
    """Can it be read off a gap how long its recovery will take? Rules that had no part in choosing the predictor."""
    for rule in RULES:
        for pattern in range(8):
            run = until_first_solved(tempered(scale, rule, (pattern,)))
            yield Arm({"rule": rule, "pattern": pattern}, tuple(run.but(seed=seed) for seed in SEEDS))
