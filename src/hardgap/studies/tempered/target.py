"""Ours: the tempered recipe on every single-pattern gap of the paper's radius-1 rules, with its control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hardgap.core.run import only
from hardgap.core.specs import Scale
from hardgap.studies.identifiability import TRAINED_50
from hardgap.studies.main_table import SEEDS, radius_2
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.parts import of_ten, shown
from hardgap.worlds.automaton.recipes import single_attempt, soft, tempered, untempered
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

UNSTOPPED = 5
"""A seed that had no part in any choice."""


@study("tempered/target", **shown("target"))
def target(scale: Scale) -> Iterable[Arm]:
    """One recipe recovers each of the eight patterns of Rules 150, 30 and 106, within ten of the paper's epochs."""
    for rule, published in TRAINED_50.items():
        for pattern, successes in enumerate(published):
            run = tempered(scale, rule, (pattern,))
            runs = tuple(run.but(seed=seed) for seed in SEEDS)
            yield Arm({"rule": rule, "pattern": pattern}, runs, of_ten(successes))


@study("tempered/control", **shown())
def control(scale: Scale) -> Iterator[Arm]:
    """The paper's own feedback, T = 1, on the same gaps and seeds as the target.

    Rules 30 and 106 are given as many steps, Rule 150 the main table's 220 epochs: at desk scale 2,640 steps.
    """
    for arm in target.arms(scale):
        runs = tuple(untempered(run) for run in only(AutomatonRun, arm.runs))
        if arm.labels["rule"] == "150":
            run = base(scale, "150", (int(arm.labels["pattern"]),), epochs=220)
            runs = tuple(run.but(seed=seed) for seed in SEEDS)
        yield Arm(arm.labels, runs, arm.published)


@study("tempered/first-attempt", **shown())
def first_attempt(scale: Scale) -> Iterator[Arm]:
    """What the restart is needed for: the recipe's first attempt alone, for as many steps."""
    for arm in target.arms(scale):
        runs = tuple(single_attempt(run) for run in only(AutomatonRun, arm.runs) if run.seed < 3)
        yield Arm(arm.labels, runs, arm.published)
        if arm.labels == {"rule": "30", "pattern": 4}:  # the gap that fails most
            for t in (2.0, 4.0):
                cooler = tuple(run.but(unrolling=soft(t)) for run in runs)
                yield Arm(arm.labels | {"T": t}, cooler, arm.published)


@study("tempered/unstopped", **shown())
def unstopped(scale: Scale) -> Iterator[Arm]:
    """The recipe as one would use it who has no hidden target to look at: all its steps, solved or not."""
    for arm in target.arms(scale):
        run = arm.runs[UNSTOPPED]
        yield Arm(arm.labels, (run.but(budget=run.budget.model_copy(update={"stop_after_solved": None})),))


@study("tempered/unharmed", **shown())
def unharmed(scale: Scale) -> Iterator[Arm]:
    """The recipe does not hurt where the paper's own regime already succeeds: Rules D and G, eight patterns hidden."""
    for rule in ("D", "G"):
        run = tempered(scale, rule, radius_2(scale, rule).hide)
        for way, one in (("tempered", run), ("T = 1", untempered(run))):
            yield Arm({"rule": rule, "way": way}, tuple(one.but(seed=seed) for seed in SEEDS), of_ten(10))
