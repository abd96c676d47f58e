"""Ours: the recipe at the paper's own geometry, width 101 and batch 128."""

from __future__ import annotations

from collections.abc import Iterator

from hardgap.studies.recipes import tempered
from hardgap.studies.study import Scale
from hardgap.studies.trial import Arm, trial

STEPS = 3140
PUBLISHED = (0, 0, 4, 0, 0, 4, 0, 0)


@trial("wide")
def wide(scale: Scale) -> Iterator[Arm]:
    """The recipe recovers Rule 150's patterns at width 101 in a fraction of the paper's 34,500 steps."""
    size: Scale = "smoke" if scale == "smoke" else "paper"
    for pattern, successes in enumerate(PUBLISHED):
        run = tempered(size, "150", (pattern,), steps=STEPS)
        budget = run.budget.model_copy(update={"stop_after_solved": 2, "restart_at": None})
        yield Arm("Rule 150, width 101", f"pattern {pattern}", (run.but(budget=budget),), (successes, 10))
