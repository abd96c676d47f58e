"""Ours: feedback at T = 8 on rows as wide as the paper's, 101 cells.

This is neither the recipe nor the desk scale. Batches are of 32 rows, a quarter of the paper's: a step then costs a
quarter, and still shows the network 4.6 times as many cells as a desk step. Wide rows take long to route: hundreds of
steps pass before a network has found any cell's neighbours. Positions that start as waves around the ring shorten that;
the learning rate is doubled, too. The restart, timed for rows of 11 cells, comes too early for them: it throws away
networks that are about to recover.
"""

from __future__ import annotations

from collections.abc import Iterator

from hardgap.core.specs import Scale
from hardgap.nn.spec import EncoderSpec
from hardgap.studies.identifiability import TRAINED_50
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.parts import of_ten, shown
from hardgap.worlds.automaton.recipes import HOT, ROUNDED, TEN_EPOCHS, single_attempt, tempered, untempered
from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.run import AutomatonRun

WIDTH = 101
COMPARED = 3
"""The pattern of Rule 150 on which the ways to route are compared."""
SMUGGLED = 0
"""The pattern that T = 8 does not recover at this width; there the restart and a falling temperature are tried."""
ROUTING = 1000
"""The steps after which the ways to route are compared."""


def wide_run(
    scale: Scale, pattern: int, *, rate: float = 2e-3, waves: bool = True, steps: int = 2 * TEN_EPOCHS
) -> AutomatonRun:
    """T = 8 on rows of 101 cells, stopped once solved; with the recipe's restart, in proportion to the steps."""
    run = tempered(scale, "150", (pattern,), steps=steps)
    run = run.but(model=EncoderSpec(positions="waves" if waves else "random"))
    if scale == "smoke":
        return run
    optimiser = run.optimiser.model_copy(update={"batch": 32, "learning_rate": rate})
    budget = run.budget.model_copy(update={"evaluate_every": 100, "stop_after_solved": 1})
    return run.but(width=WIDTH, optimiser=optimiser, budget=budget)


@study("tempered/wide", **shown("wide"))
def wide(scale: Scale) -> Iterator[Arm]:
    """Does T = 8 recover Rule 150's patterns at width 101, too? The paper took up to 34,540 steps.

    This is not the recipe: batches of 32, learning rate 0.002, positions that start as waves, and, but where it is
    said, no restart.
    """
    paper = TRAINED_50["150"]
    for pattern, successes in enumerate(paper):
        run = single_attempt(wide_run(scale, pattern))
        yield Arm({"way": "T = 8", "pattern": pattern}, (run,), of_ten(successes))
    for pattern in (SMUGGLED, COMPARED):
        run = wide_run(scale, pattern)
        again = f"T = 8, restart at step {run.budget.restart_at:,} with T = 4"
        yield Arm({"way": again, "pattern": pattern}, (run,), of_ten(paper[pattern]))
    cooling = Temperature(start=HOT, end=1.0, over=TEN_EPOCHS)
    run = single_attempt(wide_run(scale, SMUGGLED)).but(unrolling=Unrolling(temperature=cooling))
    falling = f"T from 8 to 1 over {TEN_EPOCHS:,} steps"
    yield Arm({"way": falling, "pattern": SMUGGLED}, (run,), of_ten(paper[SMUGGLED]))
    run = untempered(wide_run(scale, COMPARED))
    yield Arm({"way": "T = 1", "pattern": COMPARED}, (run,), of_ten(paper[COMPARED]))
    for rate, waves in ((2e-3, True), (2e-3, False), (1e-3, True), (1e-3, False)):
        run = single_attempt(wide_run(scale, COMPARED, rate=rate, waves=waves, steps=ROUTING))
        positions = "waves" if waves else "random positions"
        yield Arm({"routing": positions, "learning rate": rate, "pattern": COMPARED}, (run,))


def rounded_run(scale: Scale, pattern: int, share: float, *, steps: int = 2 * TEN_EPOCHS) -> AutomatonRun:
    """The recipe on rows of 101 cells, with some of what is fed back rounded, each cell by chance."""
    run = wide_run(scale, pattern, steps=steps)
    return run.but(unrolling=run.unrolling.model_copy(update={"rounded": share}))


SEARCH_STEPS = 1600


@study("tempered/rounded", **shown())
def rounded(scale: Scale) -> Iterator[Arm]:
    """Are patterns 0 and 7 smuggled past at width 101 if some of what is fed back is rounded? Three tenths are.

    T = 8 and a restart at step 1,200 with T = 4, everything else as in `tempered/wide`. The share was looked for on
    patterns 0 and 7, seed 0, which are smuggled past without it: the search's other runs stand below.
    """
    paper = TRAINED_50["150"]
    patterns = (SMUGGLED, 7, 1, COMPARED)
    for pattern in patterns:
        run = rounded_run(scale, pattern, ROUNDED)
        yield Arm({"way": "T = 8, 3 of 10 rounded, restart", "pattern": pattern}, (run,), of_ten(paper[pattern]))
    for temperature, share, steps in (
        (HOT, ROUNDED, SEARCH_STEPS),
        (HOT, 0.2, SEARCH_STEPS),
        (HOT / 2, ROUNDED, SEARCH_STEPS),
        (HOT / 2, 0.1, 2 * TEN_EPOCHS),
        (HOT / 2, 0.0, 2 * TEN_EPOCHS),
    ):
        way = f"search: T = {temperature:g}, {10 * share:g} of 10 rounded, {steps:,} steps"
        for pattern in patterns[:2]:
            regime = Unrolling(temperature=Temperature(start=temperature, end=temperature), rounded=share)
            run = single_attempt(wide_run(scale, pattern, steps=steps)).but(unrolling=regime)
            yield Arm({"way": way, "pattern": pattern}, (run,), of_ten(paper[pattern]))
