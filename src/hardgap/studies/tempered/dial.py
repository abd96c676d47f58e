"""Ours: what the temperature does, and what else might: one factor at a time from the tempered recipe.

Every arm trains single-pattern gaps of Rule 150, the paper's hardest, for as long as the recipe's first attempt,
without a second: an arm which merely gets there in the end can be told from one which is quick. Reflection and
complement leave Rule 150 as it is, so its patterns fall into three classes: 0 and 7, 2 and 5, and the rest.
Every arm has one pattern of each class; the phases show the temperature on all eight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from hardgap.core.specs import Scale
from hardgap.nn.spec import EncoderSpec
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.parts import shown
from hardgap.worlds.automaton.recipes import (
    HOT,
    RESTART,
    TEN_EPOCHS,
    single_attempt,
    soft,
    tempered,
    until_first_solved,
)
from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.run import AutomatonRun

SEEDS = range(3)
RULE = "150"
CLASSES = (0, 3, 5)
TEMPERATURES = (0.25, 1.0, 2.0, 4.0, 8.0, 16.0)
LENGTHS = (2, 3, 4, 6, 8)

Change = Callable[[AutomatonRun], AutomatonRun]


def regime(**changes: Any) -> Change:
    """Another unrolling; what is not said stays as in the recipe."""
    return lambda run: run.but(unrolling=Unrolling.model_validate(run.unrolling.model_dump() | changes))


def optimiser(**changes: Any) -> Change:
    return lambda run: run.but(optimiser=run.optimiser.model_copy(update=changes))


def width(cells: int) -> Change:
    return lambda run: run.but(width=cells)


def layers(number: int) -> Change:
    return lambda run: run.but(model=EncoderSpec(layers=number))


def falling(shape: str = "linear", over: int = RESTART) -> dict[str, Any]:
    """From the recipe's temperature to the paper's 1; if `over` more steps than an arm has, it ends before that."""
    return {"start": HOT, "end": 1.0, "over": over, "shape": shape}


def both(*changes: Change) -> Change:
    """One change after the other."""
    return lambda run: reduce(lambda changed, change: change(changed), changes, run)


def as_it_is(run: AutomatonRun) -> AutomatonRun:
    return run


PAPER_T = Temperature().model_dump()
LEARNED = {"start": HOT, "shape": "learned"}
EARLY = (4.0, 2.0, 1.0, 0.5)
COOLING = regime(temperature=falling(over=2 * TEN_EPOCHS // 3))
FACTORS: dict[str, dict[str, Change]] = {
    "constant temperature": {f"{t:g}": regime(temperature={"start": t, "end": t}) for t in TEMPERATURES},
    "schedule, from 8": {
        "constant": as_it_is,
        "linear, to 4 (on its way to 1)": COOLING,
        "linear, to 1": regime(temperature=falling()),
        "cosine, to 1": regime(temperature=falling("cosine")),
        "random, down to 0.5": regime(temperature={"start": HOT, "end": 0.5, "shape": "random"}),
        "learned": regime(temperature=LEARNED),
        "learned, from 1": regime(temperature={"start": 1.0, "shape": "learned"}),
    },
    "unrolled steps": {
        "1": regime(feedback="none", steps=1, temperature=PAPER_T),
        **{str(s): regime(steps=s) for s in LENGTHS},
    },
    "step weights": {
        "equal": as_it_is,
        "4, 2, 1, 0.5": regime(weights=EARLY),
        "0.5, 1, 2, 4": regime(weights=(0.5, 1, 2, 4)),
    },
    "clipping": {
        "none": optimiser(clip=None),
        "0.1": optimiser(clip=0.1),
        "1": as_it_is,
    },
    "noise on what is fed back": {
        "none": as_it_is,
        "logits, deviation 4": regime(noise=4.0),
        "logits, deviation 4, at T = 1": regime(noise=4.0, temperature=PAPER_T),
        "half of the cells rounded": regime(rounded=0.5),
    },
    "fed forward, and the gradient's": {
        "T = 8, of T = 8": as_it_is,
        "T = 1, of T = 8": regime(temperature=PAPER_T, backward=HOT),
        "T = 1, of identity": regime(temperature=PAPER_T, backward="identity"),
        "T = 8, of T = 1": regime(backward=1.0),
        "rounded, of T = 1": regime(feedback="hard", temperature=PAPER_T),
        "rounded, of T = 8": regime(feedback="hard", temperature=PAPER_T, backward=HOT),
        "rounded, of identity": regime(feedback="hard", temperature=PAPER_T, backward="identity"),
    },
    "cells tempered": {
        "all": as_it_is,
        "hidden only": regime(cells="hidden"),
        "visible only": regime(cells="visible"),
    },
    "width": {str(cells): width(cells) for cells in (7, 11, 17)},
    "layers": {str(number): layers(number) for number in (1, 2, 3)},
    "the best few together": {
        "none": as_it_is,
        "falling, early weights": both(COOLING, regime(weights=EARLY)),
        "falling, early weights, 3 steps": both(COOLING, regime(steps=3, weights=EARLY[:3])),
        "learned, early weights": regime(temperature=LEARNED, weights=EARLY),
        "learned, early weights, 3 steps, unclipped": both(
            regime(temperature=LEARNED, steps=3, weights=EARLY[:3]), optimiser(clip=None)
        ),
    },
}
"""The last were declared when the first seed of the others had been measured."""


def start(scale: Scale, pattern: int) -> AutomatonRun:
    """What every arm departs from: the recipe on one gap, its first attempt alone, stopped once solved."""
    run = single_attempt(until_first_solved(tempered(scale, RULE, (pattern,))))
    return run if scale == "smoke" else run.but(budget=run.budget.model_copy(update={"steps": RESTART}))


def arm(scale: Scale, factor: str, value: str, change: Change) -> Arm:
    runs = (change(start(scale, pattern)) for pattern in CLASSES)
    return Arm({"factor": factor, "value": value}, tuple(run.but(seed=seed) for run in runs for seed in SEEDS))


@study("tempered/dial", **shown(figure="dial"))
def dial(scale: Scale) -> Iterator[Arm]:
    """On what does the recovery of Rule 150 depend? One factor at a time, from feedback at T = 8."""
    for factor, changes in FACTORS.items():
        yield from (arm(scale, factor, value, change) for value, change in changes.items())


@study("tempered/phases", **shown(figure="phases"))
def phases(scale: Scale) -> Iterable[Arm]:
    """Temperature against the number of unrolled steps (patterns 0, 3 and 5 of Rule 150), and against the pattern."""
    for t in (1.0, 4.0, 8.0):
        for s in LENGTHS:
            runs = (start(scale, pattern).but(unrolling=soft(t, steps=s)) for pattern in CLASSES)
            yield Arm({"T": t, "steps": s}, tuple(runs))
    for t in TEMPERATURES:
        for pattern in range(8):
            run = start(scale, pattern).but(unrolling=soft(t))  # shared with the dial
            yield Arm({"T": t, "pattern": pattern}, tuple(run.but(seed=seed) for seed in SEEDS))
