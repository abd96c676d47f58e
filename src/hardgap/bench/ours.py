"""One worker's share of `hardgap bench`: the same updates through this package, on one thread."""

from __future__ import annotations

import sys
import time

import torch

from hardgap.bench.geometry import GEOMETRIES
from hardgap.core.loop import Observer, Trainer
from hardgap.core.specs import Budget, Optimiser
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.worlds.automaton.run import AutomatonRun


def trainer_at(shape: str, seed: int = 0) -> Trainer:
    """A run at one of the shapes, about to begin."""
    width, batch, _ = GEOMETRIES[shape]
    return build_trainer(
        AutomatonRun(
            rule="150",
            hide=(2,),
            width=width,
            train_rows=2_000,
            test_rows=128,
            optimiser=Optimiser(batch=batch),
            budget=Budget(steps=10**6, evaluate_every=10**6),
            seed=seed,
        )
    )


def main(updates: int, seed: int, shape: str) -> float:
    """Seconds for `updates` training steps, after one to warm up."""
    single_thread()
    trainer = trainer_at(shape, seed)
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1))
    began = time.perf_counter()
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1 + updates))
    return time.perf_counter() - began


def matmul_gflops(size: int = 1024, repeats: int = 12) -> float:
    """What one thread of this machine multiplies at best: the yardstick for everything else."""
    single_thread()
    a = torch.rand(size, size)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best / 1e9


if __name__ == "__main__":
    what, updates, seed, shape = sys.argv[1:]
    print(matmul_gflops() if what == "matmul" else main(int(updates), int(seed), shape))
