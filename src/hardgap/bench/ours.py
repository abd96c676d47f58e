"""One worker's share of `hardgap bench`: the same updates through this package, on one thread."""

from __future__ import annotations

import sys
import time

import torch

from hardgap.core.loop import Observer
from hardgap.core.specs import Budget
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.worlds.automaton.run import AutomatonRun


def main(updates: int, seed: int) -> float:
    """Seconds for `updates` training steps at the paper's geometry, after one to warm up."""
    single_thread()
    run = AutomatonRun(rule="150", hide=(2,), train_rows=2_000, test_rows=128, budget=Budget(steps=10_000), seed=seed)
    trainer = build_trainer(run)
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
    what, updates, seed = sys.argv[1:]
    print(matmul_gflops() if what == "matmul" else main(int(updates), int(seed)))
