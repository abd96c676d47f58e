"""Experiment 2 at each scale; every run of it derives from one of these.

paper   144,000 examples, 500 test examples of each pair. Paper is silent: batch 512, Adam 1e-3 and 100 epochs are ours
desk    the same data, about ten minutes on one core: in 6,000 steps the held-out `^|` has begun its late, sharp rise
smoke   seconds; what the tests use, shows nothing
"""

from __future__ import annotations

from hardgap.runs.config import SymbolicRun
from hardgap.studies.study import Scale
from hardgap.training.spec import Budget, Optimiser

PAPER_STEPS_PER_EPOCH = 282  # 144,000 examples in batches of 512


def symbolic_base(scale: Scale, holdout: str) -> SymbolicRun:
    """The familiar condition with one pair held out; conditions and seeds derive from it."""
    if scale == "paper":
        budget = Budget(steps=100 * PAPER_STEPS_PER_EPOCH, evaluate_every=PAPER_STEPS_PER_EPOCH)
        return SymbolicRun(holdout=holdout, budget=budget)
    if scale == "desk":
        budget = Budget(steps=6_000, evaluate_every=250)
        return SymbolicRun(holdout=holdout, budget=budget, eval_examples=25, test_examples=50)
    budget = Budget(steps=2, evaluate_every=2)
    optimiser = Optimiser(batch=16)
    sizes = {"train_examples": 96, "eval_examples": 1, "test_examples": 2}
    return SymbolicRun(holdout=holdout, budget=budget, optimiser=optimiser, **sizes)
