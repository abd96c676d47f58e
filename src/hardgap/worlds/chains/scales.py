"""Experiment 2 at each scale; every run of it derives from one of these.

paper   144,000 examples, 500 test examples of each pair. Paper is silent: batch 512, Adam 1e-3 and 100 epochs are ours
desk    the same data seen 5.3 times, in smaller batches at a rate that rises to 4e-3 and falls, from small embeddings;
        few seen examples at each look, so that there can be many looks. Five to seven minutes a run, two side
        by side; found by studies/symbolic/search.py on two pairs that are not among the paper's four (docs/fidelity.md)
smoke   seconds; what the tests use, shows nothing
"""

from __future__ import annotations

from hardgap.core.specs import Budget, Optimiser, Scale
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.worlds.chains.run import SymbolicRun

SEARCHED = ("^r", "L&")
"""The pairs on which the desk scale was chosen (studies/symbolic/search.py): not clean at that scale."""
PAPER_STEPS_PER_EPOCH = 282  # 144,000 examples in batches of 512


def symbolic_base(scale: Scale, holdout: str) -> SymbolicRun:
    """The familiar condition with one pair held out; conditions and seeds derive from it."""
    if scale == "paper":
        budget = Budget(steps=100 * PAPER_STEPS_PER_EPOCH, evaluate_every=PAPER_STEPS_PER_EPOCH)
        return SymbolicRun(holdout=holdout, budget=budget)
    if scale == "desk":
        budget = Budget(steps=6_000, evaluate_every=300)
        optimiser = Optimiser(batch=128, learning_rate=4e-3, clip=1.0, schedule="cosine", warmup=300, fused=True)
        model = Seq2SeqSpec(embedding_std=0.1, position_std=0.1)
        return SymbolicRun(holdout=holdout, budget=budget, optimiser=optimiser, model=model, seen_examples=10)
    budget = Budget(steps=2, evaluate_every=2)
    optimiser = Optimiser(batch=16, fused=True)
    sizes = {"train_examples": 96, "eval_examples": 1, "test_examples": 2}
    return SymbolicRun(holdout=holdout, budget=budget, optimiser=optimiser, **sizes)
