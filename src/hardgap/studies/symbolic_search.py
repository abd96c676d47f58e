"""The search for what the paper leaves open about Experiment 2: batch, learning rate, start, dropout.

    python -m hardgap.studies.symbolic_search FOLDER

trains what is missing in the store FOLDER, one run at a time, and prints a line for every run. Its pairs are none of
the paper's four, so no number of the symbolic table was chosen by looking at it. Every setting sees the same number of
examples, which takes about the same time on one core; the best is the one whose held-out pair is recovered most.

    settings     one pair, one seed, the full derivation: each setting once
    conditions   the best of them on both pairs, full derivation against label-only
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hardgap.nn.spec import Seq2SeqSpec
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
    (128, 2e-3, 0.1, 0.0),
    (128, 2e-3, 0.1, 0.1),
    (128, 1e-3, 0.1, 0.0),
    (64, 2e-3, 0.1, 0.0),
    (128, 2e-3, 1.0, 0.0),
)
"""Batch, highest learning rate, the deviation with which embeddings and positions start, dropout."""
WARMED_UP = 0.05
"""The share of the steps over which the learning rate rises; then it falls to 0 as a cosine."""
LOOKS = 12


def setting(batch: int, rate: float, std: float, dropout: float, *, pair: str = PAIRS[0]) -> SymbolicRun:
    """One setting with the gradient clipped at 1, evaluated a dozen times."""
    steps = EXAMPLES // batch
    warmup = round(WARMED_UP * steps)
    optimiser = Optimiser(batch=batch, learning_rate=rate, clip=1.0, schedule="cosine", warmup=warmup)
    return symbolic_base("paper", pair).but(
        optimiser=optimiser,
        budget=Budget(steps=steps, evaluate_every=steps // LOOKS),
        model=Seq2SeqSpec(embedding_std=std, position_std=std, dropout=dropout),
        eval_examples=100,
        test_examples=8,
    )


def settings() -> list[SymbolicRun]:
    return [setting(*one) for one in SETTINGS]


def conditions(best: SymbolicRun) -> list[SymbolicRun]:
    """A setting on every pair of the search, with and without the derivation."""
    chosen: tuple[Condition, ...] = ("familiar", "label-only")
    return [best.but(holdout=pair, condition=condition) for pair in PAIRS for condition in chosen]


def found(store: Store, run: SymbolicRun) -> dict[str, Any]:
    """What a finished run reached on its evaluation sets, by which settings are compared."""
    chosen = run.optimiser
    return {
        "pair": run.holdout,
        "condition": run.condition,
        "batch": chosen.batch,
        "learning_rate": chosen.learning_rate,
        "std": run.model.embedding_std,
        "dropout": run.model.dropout,
        "steps": run.budget.steps,
        **store.curve(run.id)[-1]["detail"]["eval"],
        "seconds": round(store.get(run.id).seconds),
    }


def main(folder: Path) -> None:
    store = Store(folder)

    def train(runs: list[SymbolicRun]) -> None:
        for run in runs:
            run_sweep(store, [run], workers=1)
            print(found(store, run), flush=True)

    train(settings())
    train(conditions(max(settings(), key=lambda run: found(store, run)["holdout"])))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
