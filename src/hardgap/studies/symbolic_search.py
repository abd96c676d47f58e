"""The search for what the paper leaves open about Experiment 2: batch, learning rate, schedule and length.

    python -m hardgap.studies.symbolic_search FOLDER

trains what is missing in the store FOLDER, one run at a time, and prints a line for every run. Its pairs are none of
the paper's four, so no number of the symbolic table was chosen by looking at it. Every setting sees the same number of
examples, which takes about the same time on one core; the best is the one whose held-out pair is recovered most.

    settings     one pair, one seed, the full derivation: each setting once
    conditions   the chosen setting on both pairs, full derivation against label-only
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hardgap.operators.tokens import Condition
from hardgap.runs.config import SymbolicRun
from hardgap.runs.local import run_sweep
from hardgap.runs.store import Store
from hardgap.studies.symbolic_scales import symbolic_base
from hardgap.training.spec import Budget, Optimiser

PAIRS = ("^r", "L&")
EXAMPLES = 768_000
"""That a run sees, repetitions counted: about three minutes on one core."""
SETTINGS = (
    (512, 1e-3),
    (512, 4e-3),
    (256, 2e-3),
    (256, 4e-3),
    (128, 1e-3),
    (128, 2e-3),
    (128, 4e-3),
    (64, 1e-3),
    (64, 2e-3),
)
"""Batch and highest learning rate."""
WARMED_UP = 0.05
"""The share of the steps over which the learning rate rises; then it falls to 0 as a cosine."""
LOOKS = 12


def setting(batch: int, learning_rate: float, *, pair: str = PAIRS[0], examples: int = EXAMPLES) -> SymbolicRun:
    """One setting with the gradient clipped at 1, evaluated a dozen times."""
    steps = examples // batch
    optimiser = Optimiser(
        batch=batch, learning_rate=learning_rate, clip=1.0, schedule="cosine", warmup=round(WARMED_UP * steps)
    )
    budget = Budget(steps=steps, evaluate_every=steps // LOOKS)
    sizes = {"eval_examples": 100, "test_examples": 8}
    return symbolic_base("paper", pair).but(optimiser=optimiser, budget=budget, **sizes)


def settings() -> list[SymbolicRun]:
    return [setting(*one) for one in SETTINGS]


def conditions(batch: int, learning_rate: float, examples: int = EXAMPLES) -> list[SymbolicRun]:
    """A setting on every pair of the search, with and without the derivation."""
    chosen: tuple[Condition, ...] = ("familiar", "label-only")
    return [setting(batch, learning_rate, pair=p, examples=examples).but(condition=c) for p in PAIRS for c in chosen]


def found(store: Store, run: SymbolicRun) -> dict[str, Any]:
    """What a finished run reached on its evaluation sets, by which settings are compared."""
    chosen = run.optimiser
    return {
        "pair": run.holdout,
        "condition": run.condition,
        "batch": chosen.batch,
        "learning_rate": chosen.learning_rate,
        "steps": run.budget.steps,
        **store.curve(run.id)[-1]["detail"]["eval"],
        "seconds": round(store.get(run.id).seconds),
    }


def main(folder: Path) -> None:
    store = Store(folder)
    for run in settings():
        run_sweep(store, [run], workers=1)
        print(found(store, run), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
