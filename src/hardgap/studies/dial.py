"""Ours: what the temperature does, and what else might: one factor at a time from the tempered recipe.

Every arm trains single-pattern gaps of Rule 150, the paper's hardest, for `STEPS` steps: half the target's
budget, so that an arm which merely gets there in the end can be told from one which is quick. Reflection and
complement leave Rule 150 as it is, so its patterns fall into three classes: 0 and 7, 2 and 5, and the rest.
The temperature itself is measured on all eight patterns, everything else on four that cover the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hardgap.nn.spec import EncoderSpec
from hardgap.runs.config import AutomatonRun
from hardgap.studies.recipes import TEMPERATURE, soft, tempered, until_first_solved
from hardgap.studies.study import Scale
from hardgap.studies.trial import Arm, trial
from hardgap.training.spec import Temperature, Unrolling

STEPS = 785
"""Five of the paper's epochs."""
SEEDS = range(3)
RULE = "150"
FOUR = (0, 3, 5, 7)
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
LENGTHS = (2, 3, 4, 5, 6, 8)

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


def falling(start: float, shape: str) -> dict[str, Any]:
    return {"start": start, "end": 1.0, "over": STEPS, "shape": shape}


PAPER_T = Temperature().model_dump()
FACTORS: dict[str, dict[str, Change]] = {
    "temperature": {f"{t:g}": regime(temperature={"start": t, "end": t}) for t in TEMPERATURES},
    "schedule": {
        "constant 8": lambda run: run,
        "linear, 8 to 1": regime(temperature=falling(8, "linear")),
        "cosine, 8 to 1": regime(temperature=falling(8, "cosine")),
        "learned, from 8": regime(temperature={"start": 8.0, "shape": "learned"}),
        "learned, from 1": regime(temperature={"start": 1.0, "shape": "learned"}),
    },
    "unrolled steps": {
        "1": regime(feedback="none", steps=1, temperature=PAPER_T),
        **{str(s): regime(steps=s) for s in LENGTHS},
    },
    "step weights": {
        "equal": lambda run: run,
        "4, 2, 1, 0.5": regime(weights=(4, 2, 1, 0.5)),
        "0.5, 1, 2, 4": regime(weights=(0.5, 1, 2, 4)),
        "1, 0, 0, 1": regime(weights=(1, 0, 0, 1)),
    },
    "clipping": {
        "none": optimiser(clip=None),
        "0.1": optimiser(clip=0.1),
        "1": lambda run: run,
        "10": optimiser(clip=10.0),
    },
    "noise on the fed-back logit": {
        "0": lambda run: run,
        "1": regime(noise=1.0),
        "4": regime(noise=4.0),
        "4, at T = 1": regime(noise=4.0, temperature=PAPER_T),
    },
    "straight-through": {
        "soft, gradient its own": lambda run: run,
        "T = 1 fed, gradient of T = 8": regime(temperature=PAPER_T, backward=TEMPERATURE),
        "T = 1 fed, gradient of identity": regime(temperature=PAPER_T, backward="identity"),
        "T = 8 fed, gradient of T = 1": regime(backward=1.0),
        "rounded, gradient of T = 1": regime(feedback="hard", temperature=PAPER_T),
        "rounded, gradient of T = 8": regime(feedback="hard", temperature=PAPER_T, backward=TEMPERATURE),
        "rounded, gradient of identity": regime(feedback="hard", temperature=PAPER_T, backward="identity"),
    },
    "cells tempered": {
        "all": lambda run: run,
        "hidden only": regime(cells="hidden"),
        "visible only": regime(cells="visible"),
    },
    "width": {str(cells): width(cells) for cells in (7, 11, 17, 23)},
    "layers": {str(number): layers(number) for number in (1, 2, 3)},
    "learning rate": {
        "0.0003": optimiser(learning_rate=3e-4),
        "0.001": lambda run: run,
        "0.003": optimiser(learning_rate=3e-3),
    },
}


def start(scale: Scale, pattern: int) -> AutomatonRun:
    """What every arm departs from: the recipe on one gap, stopped as soon as it is solved."""
    return until_first_solved(tempered(scale, RULE, (pattern,), steps=STEPS))


def arm(scale: Scale, factor: str, value: str, change: Change) -> Arm:
    patterns = range(8) if factor == "temperature" else FOUR
    runs = (change(start(scale, pattern)) for pattern in patterns)
    return Arm(factor, value, tuple(run.but(seed=seed) for run in runs for seed in SEEDS))


@trial("dial")
def dial(scale: Scale) -> Iterator[Arm]:
    """Recovery of Rule 150 depends on the temperature of the feedback, and on which part of it."""
    for factor, changes in FACTORS.items():
        yield from (arm(scale, factor, value, change) for value, change in changes.items())


@trial("phases")
def phases(scale: Scale) -> Iterable[Arm]:
    """Temperature against the number of unrolled steps, on the three patterns that the paper's regime never solves."""
    for t in TEMPERATURES[2:]:
        for s in LENGTHS:
            runs = (start(scale, pattern).but(unrolling=soft(t, steps=s)) for pattern in (0, 3, 7))
            yield Arm(f"T = {t:g}", f"{s} steps", tuple(runs))
