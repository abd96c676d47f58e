"""Ours: the recipe at the paper's width of 101 cells.

Its batches are of 32 rows, a quarter of the paper's: a step then costs a quarter, and still shows the network
4.6 times as many cells as a desk step.
"""

from __future__ import annotations

from collections.abc import Iterator

from hardgap.studies.identifiability import TRAINED_50
from hardgap.studies.recipes import TEN_EPOCHS, single_attempt, tempered
from hardgap.studies.study import Scale
from hardgap.studies.trial import Arm, trial


@trial("wide")
def wide(scale: Scale) -> Iterator[Arm]:
    """Does the recipe recover Rule 150's patterns at width 101, too? The paper took up to 34,500 steps."""
    for pattern, successes in enumerate(TRAINED_50["150"]):
        run = single_attempt(tempered(scale, "150", (pattern,), steps=2 * TEN_EPOCHS))
        if scale != "smoke":
            optimiser = run.optimiser.model_copy(update={"batch": 32})
            budget = run.budget.model_copy(update={"evaluate_every": 100, "stop_after_solved": 1})
            run = run.but(width=101, optimiser=optimiser, budget=budget)
        yield Arm("Rule 150, width 101", f"pattern {pattern}", (run,), (successes, 10))
