"""The k-sweep (paper, Appendix D): how many of 32 patterns can be hidden, in what stands for the paper's 50 epochs.

Differs from paper: three random hidden sets with two seeds each a point, where the paper has ten seeds of sets that it
does not name; and beside it the tempered recipe on the same sets and seeds. `tempered/cliff` gives T = 1 as many steps
as it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.studies.identifiability import TRAINED_K
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import interval, mean, published_count, recovered, span
from hardgap.studies.published import Rate
from hardgap.studies.study import Arm, study, words
from hardgap.worlds.automaton.gap import draw_hidden
from hardgap.worlds.automaton.recipes import RECIPES, Recipe
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

SETS, SEEDS = range(3), range(2)
WAYS: dict[str, Recipe] = {"T = 1": "paper", "tempered": "tempered"}
SHOWN: dict[str, Any] = {
    "tables": "hardgap.studies.k_sweep:k_tables",
    "figure": "hardgap.studies.k_sweep_figure:k_figure",
}


def runs(scale: Scale, rule: str, k: int, recipe: Recipe) -> tuple[AutomatonRun, ...]:
    """Three hidden sets, two seeds each: every set once before a second seed of any."""
    sets = [draw_hidden(parse_rule(rule), k, seed=index) for index in SETS]
    return tuple(RECIPES[recipe](scale, rule, hide).but(seed=seed) for seed in SEEDS for hide in sets)


def _arms(scale: Scale, rule: str) -> Iterator[Arm]:
    for k, (share, successes) in TRAINED_K[rule].items():
        for way, recipe in WAYS.items():
            paper = Rate("k-sweep tables", mean=share, successes=successes, n=10) if recipe == "paper" else None
            yield Arm({"rule": rule, "k": k, "way": way}, runs(scale, rule, k, recipe), paper)


@study("k-sweep/rule-d", **SHOWN)
def rule_d(scale: Scale) -> Iterator[Arm]:
    """Of Rule D's 32 patterns up to 14 can be hidden; from 16 on recovery fails."""
    return _arms(scale, "D")


@study("k-sweep/rule-g", **SHOWN)
def rule_g(scale: Scale) -> Iterator[Arm]:
    """Rule G degrades gradually: most runs recover even with 28 of 32 patterns hidden."""
    return _arms(scale, "G")


def k_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a number of hidden patterns: the paper, T = 1 and tempered."""
    scale, arms = results[0].scale, {tuple(a.labels.values()): a for one in results for a in one.arms}
    rows = [_row(arms[rule, k, "T = 1"], arms[rule, k, "tempered"]) for rule, k, way in arms if way == "T = 1"]
    ours = ["T = 1", "Wilson %", "mean %", "tempered", "tempered Wilson %", "tempered mean %"]
    right = ["hidden of 32", "published", "its mean %", *ours]
    steps, longer = (span((run.budget.steps for run in runs(scale, "D", 4, one)), ",") for one in WAYS.values())
    title = f"Patterns hidden, {scale} scale, {steps} steps at T = 1 for the paper's 50 epochs (tempered: {longer})"
    detail = ["why", "Wilson %", "tempered Wilson %", "tempered mean %", "its mean %"]
    return [Table(title, ["rule", *right, "verdict", "why"], rows, right, detail)]


def _row(arm: Measured, tempered: Measured) -> list[object]:
    assert isinstance(arm.published, Rate)
    rule, k, _ = words(arm.labels)
    ours = [cell for one in (arm, tempered) for cell in (recovered(one), interval(one.wilson, 0), mean(one.holdout))]
    found = arm.comparison
    return [rule, k, published_count(arm), arm.published.mean, *ours, found.verdict, found.note]
