"""Soft unrolling at each scale; every run of Experiment 1 derives from one of these.

The step budgets keep the paper's proportion of 220 to 50 epochs. The desk scale was chosen by
measurement, see docs/fidelity.md.
"""

from __future__ import annotations

from hardgap.core.specs import Budget, Optimiser, Scale
from hardgap.worlds.automaton.run import AutomatonRun

DESK_STEPS_PER_EPOCH = 12


def base(scale: Scale, rule: str, hide: tuple[int, ...], *, epochs: int = 50) -> AutomatonRun:
    """Soft unrolling at a scale; every row of the table derives from this."""
    if scale == "paper":  # 20,000 rows in batches of 128: 157 steps an epoch
        # Differs from paper: a run that is solved five evaluations in a row stops; the paper's go on to the end.
        budget = Budget(steps=157 * epochs, evaluate_every=157, stop_after_solved=5)
        return AutomatonRun(rule=rule, hide=hide, budget=budget)
    if scale == "desk":
        budget = Budget(steps=DESK_STEPS_PER_EPOCH * epochs, evaluate_every=50, stop_after_solved=3)
        optimiser = Optimiser(batch=64, clip=1.0)  # Differs from paper: clipping, see docs/fidelity.md
        return AutomatonRun(rule=rule, hide=hide, width=11, test_rows=500, budget=budget, optimiser=optimiser)
    budget = Budget(steps=max(2, epochs // 25), evaluate_every=2)
    optimiser = Optimiser(batch=8)
    return AutomatonRun(rule=rule, hide=hide, width=9, train_rows=64, test_rows=64, budget=budget, optimiser=optimiser)
