"""Ours: the recipe on rows as wide as the paper's, from attention that begins at cells near by; its controls.

At width 101 each position has to find its neighbours by itself: of a network with 90 % of visible cells right, 76
positions were right throughout and 25 knew nothing (`hardgap circuits 6b47cd83c3a6 --only positions`). Heads that begin
at cells of their own need not search. Who begins so is told where to look, not what the rule is.
"""

from __future__ import annotations

from collections.abc import Iterator

from hardgap.core.specs import Scale
from hardgap.nn.spec import EncoderSpec
from hardgap.studies.identifiability import TRAINED_50
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.parts import of_ten, shown
from hardgap.studies.tempered.wide import ROUTING, rounded_run, wide_run
from hardgap.worlds.automaton.recipes import ROUNDED, TEN_EPOCHS, single_attempt, untempered
from hardgap.worlds.automaton.run import AutomatonRun

SEEDS = range(10)
SIZE = 0.5
"""Of positions, where heads begin near by: the smaller, the less each cell's own matters to what is made of the row."""
RECIPE, UNTEMPERED = "the recipe, heads spread, 3 of 10 rounded", "T = 1, heads spread"


def spread_run(scale: Scale, pattern: int, share: float = ROUNDED) -> AutomatonRun:
    """The recipe, 1,570 steps and a restart at 600, on rows of 101 cells; some of what is fed back is rounded.

    Each head begins at a cell of its own: to the left, itself, one and two to the right.
    """
    run = rounded_run(scale, pattern, share, steps=TEN_EPOCHS)
    return run.but(model=EncoderSpec(positions="spread", position_std=SIZE))


@study("tempered/spread", **shown("wide", figure="spread"))
def spread(scale: Scale) -> Iterator[Arm]:
    """Is each pattern of Rule 150 recovered at width 101 if each head begins at a neighbour? It is told where to look.

    Batches of 32 and the learning rate are those of `tempered/wide`. What was tried before, on seed 0, stands below.
    """
    for pattern in range(8):
        runs = tuple(spread_run(scale, pattern).but(seed=seed) for seed in SEEDS)
        yield _arm(RECIPE, pattern, *runs)
    for pattern in range(8):
        yield _arm(UNTEMPERED, pattern, untempered(spread_run(scale, pattern, 0.0)))
    for pattern in (0, 3, 7):
        yield _arm("the recipe, heads spread", pattern, spread_run(scale, pattern, 0.0))
    for pattern in (1, 7):
        near = spread_run(scale, pattern).but(model=EncoderSpec(positions="near", position_std=SIZE))
        yield _arm("the recipe, all heads at the cell itself, 3 of 10 rounded", pattern, near)
    yield from _tried(scale)


def _tried(scale: Scale) -> Iterator[Arm]:
    """On the way to it: a higher rate, and larger positions; without a restart."""
    short = single_attempt(wide_run(scale, 1, steps=ROUTING))
    faster = short.optimiser.model_copy(update={"learning_rate": 2 * short.optimiser.learning_rate})
    way = f"tried: waves, learning rate {faster.learning_rate:g}, {ROUTING:,} steps"
    yield _arm(way, 1, short.but(optimiser=faster))
    yield _arm(
        f"tried: waves, twice as large, {ROUTING:,} steps",
        1,
        short.but(model=EncoderSpec(positions="waves", position_std=2.0)),
    )


def _arm(way: str, pattern: int, *runs: AutomatonRun) -> Arm:
    return Arm({"way": way, "pattern": pattern}, runs, of_ten(TRAINED_50["150"][pattern]))
