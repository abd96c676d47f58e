"""The search for what the paper leaves open about Experiment 2: batch, learning rate, start, dropout, length.

    python -m hardgap.studies.symbolic.search FOLDER

trains what is missing in the store FOLDER, two runs at a time, and prints a line for every run. Its pairs are none of
the paper's four. Every setting runs on both pairs with one seed. What was found, what of the paper's four had been seen
by then, and why the desk scale is the last of `LONGER`, stands in docs/fidelity.md.

    SETTINGS   short runs in which one thing at a time differs from `BASE`; `BASE` also label-only
    LONGER     with what made seen pairs quicker to learn, for longer
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from hardgap.core.specs import Budget, Optimiser
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.runs.local import run_sweep
from hardgap.runs.store import Store
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import SEARCHED, symbolic_base
from hardgap.worlds.chains.selection import select_point

PAIRS = SEARCHED
WARMED_UP = 0.05
"""The share of the steps over which the learning rate rises; then it falls to 0 as a cosine."""
LOOKS = 20


class Setting(NamedTuple):
    """What the search varies."""

    batch: int = 128
    rate: float = 2e-3
    std: float = 0.1  # with which embeddings and positions start
    dropout: float = 0.1
    examples: int = 384_000  # that a run sees, repetitions counted
    fused: bool = False  # Adam's update as one kernel

    def run(self, pair: str) -> SymbolicRun:
        """With the gradient clipped at 1, on the paper's data."""
        steps = self.examples // self.batch
        optimiser = Optimiser(
            batch=self.batch, learning_rate=self.rate, clip=1.0, schedule="cosine", warmup=round(WARMED_UP * steps),
            fused=self.fused,
        )  # fmt: skip
        return symbolic_base("paper", pair).but(
            optimiser=optimiser,
            budget=Budget(steps=steps, evaluate_every=steps // LOOKS),
            model=Seq2SeqSpec(embedding_std=self.std, position_std=self.std, dropout=self.dropout),
            seen_examples=10,
        )


BASE = Setting()
SETTINGS = (
    BASE,
    BASE._replace(dropout=0.0),
    BASE._replace(rate=1e-3),
    BASE._replace(batch=64),
    BASE._replace(rate=4e-3),
    BASE._replace(std=1.0),
)
LONGER = [BASE._replace(dropout=0.0, rate=4e-3, examples=n, fused=True) for n in (512_000, 768_000)]


def found(store: Store, run: SymbolicRun) -> dict[str, Any]:
    """What a finished run reached on its evaluation sets: at its end, and where its held-out pair was best."""
    curve = store.curve(run.id)
    peak = select_point(curve, "eval-holdout")
    return {
        "pair": run.holdout,
        "condition": run.condition,
        "batch": run.optimiser.batch,
        "learning_rate": run.optimiser.learning_rate,
        "std": run.model.embedding_std,
        "dropout": run.model.dropout,
        "steps": run.budget.steps,
        "end": curve[-1]["detail"]["eval"],
        "peak": peak["detail"]["eval"],
        "peak step": peak["step"],
        "seconds": round(store.get(run.id).seconds),
    }


def main(folder: Path) -> None:
    store = Store(folder)

    def train(runs: list[SymbolicRun]) -> None:
        for pair_of_runs in zip(runs[::2], runs[1::2], strict=True):
            run_sweep(store, pair_of_runs, workers=2)
            for run in pair_of_runs:
                print(found(store, run), flush=True)

    train([setting.run(pair) for setting in SETTINGS for pair in PAIRS])
    train([BASE.run(pair).but(condition="label-only") for pair in PAIRS])
    train([setting.run(pair) for setting in LONGER for pair in PAIRS])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("say where the runs are kept: python -m hardgap.studies.symbolic.search FOLDER")
    main(Path(sys.argv[1]))
