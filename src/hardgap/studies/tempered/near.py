"""Ours: the recipe for rows as wide as the paper's, its control, and what was tried on the way to it.

Two things stand between T = 8 and a hidden entry at width 101. Each position has to find its neighbours among all cells
by itself: of a network that stays at 87 % of visible cells, three quarters of the positions are right and the others
know nothing. And patterns 0 and 7 are smuggled past. So attention starts near each cell, and only networks that lose
visible cells to rounding start again, with some of what is fed back rounded.
"""

from __future__ import annotations

from collections.abc import Iterator

from hardgap.core.specs import Scale
from hardgap.nn.spec import EncoderSpec
from hardgap.studies.identifiability import TRAINED_50
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.parts import of_ten, shown
from hardgap.studies.tempered.wide import ROUNDED, ROUTING, SEARCH_STEPS, SMUGGLED, wide_run
from hardgap.worlds.automaton.recipes import single_attempt, untempered
from hardgap.worlds.automaton.run import AutomatonRun

SEEDS = (0, 1)
LARGER = 2.0
"""How many times as large as usual positions start, so that attention is near from the first step on."""
RECIPE, UNTEMPERED = "T = 8, near; smugglers again, rounded", "T = 1, near"


def near_run(scale: Scale, pattern: int) -> AutomatonRun:
    """T = 8 from attention that starts near; at step 1,200 smugglers start again at T = 4, 3 of 10 cells rounded."""
    run = wide_run(scale, pattern)
    return run.but(
        model=EncoderSpec(positions="near", position_std=LARGER),
        unrolling=run.unrolling.model_copy(update={"rounded_again": ROUNDED}),
        budget=run.budget.model_copy(update={"restart_whom": "smugglers"}),
    )


@study("tempered/near", **shown("wide", figure="near"))
def near(scale: Scale) -> Iterator[Arm]:
    """Is each pattern of Rule 150 recovered at width 101? Attention starts near, and only smugglers start again.

    Everything else is as in `tempered/wide`. What was tried before, on seed 0, stands below.
    """
    paper = TRAINED_50["150"]
    for pattern, successes in enumerate(paper):
        runs = tuple(near_run(scale, pattern).but(seed=seed) for seed in SEEDS)
        yield Arm({"way": RECIPE, "pattern": pattern}, runs, of_ten(successes))
    for pattern in (SMUGGLED, 3, 7):
        run = untempered(near_run(scale, pattern))
        yield Arm({"way": UNTEMPERED, "pattern": pattern}, (run,), of_ten(paper[pattern]))
    for way, pattern, run in _tried(scale):
        yield Arm({"way": f"tried: {way}", "pattern": pattern}, (run,), of_ten(paper[pattern]))


def _tried(scale: Scale) -> Iterator[tuple[str, int, AutomatonRun]]:
    """On the way to it: positions that start larger, and a higher rate, none with a restart."""
    short = single_attempt(wide_run(scale, 1, steps=ROUTING))
    faster = short.optimiser.model_copy(update={"learning_rate": 2 * short.optimiser.learning_rate})
    yield f"waves, learning rate {faster.learning_rate:g}, {ROUTING:,} steps", 1, short.but(optimiser=faster)
    yield f"waves, twice as large, {ROUTING:,} steps", 1, short.but(model=_waves(2.0))
    for pattern in (1, 3, 6):
        run = single_attempt(wide_run(scale, pattern, steps=SEARCH_STEPS))
        yield f"waves, four times as large, {SEARCH_STEPS:,} steps", pattern, run.but(model=_waves(4.0))


def _waves(std: float) -> EncoderSpec:
    return EncoderSpec(positions="waves", position_std=std)
