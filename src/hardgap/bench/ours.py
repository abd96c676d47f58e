"""One worker's share of a benchmark: the same work through this package, on one thread.

It prints seconds: `train UPDATES SHAPE` and `chains UPDATES` for training steps of Experiment 1 and 2,
`decode EXAMPLES` for answers, `confirm EXAMPLES` for the same answers with themselves as the draft.
`matmul SIZE` prints Gflop a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from hardgap.bench.training import GEOMETRIES
from hardgap.core.loop import Observer, Trainer
from hardgap.core.specs import Budget, Optimiser
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.task import SymbolicTask, decode_freely

ENDLESS = Budget(steps=10**6, evaluate_every=10**6)


def run_at(shape: str) -> AutomatonRun:
    """A run of Experiment 1 at one of the shapes."""
    width, batch, _ = GEOMETRIES[shape]
    sizes = {"width": width, "train_rows": 2_000, "test_rows": 128}
    return AutomatonRun(rule="150", hide=(2,), **sizes, optimiser=Optimiser(batch=batch), budget=ENDLESS)


def trainer_at(shape: str) -> Trainer:
    """The same about to begin."""
    return build_trainer(run_at(shape))


def chains_trainer() -> Trainer:
    """A run of Experiment 2 about to begin: 512 examples of the full derivation a step."""
    sizes = {"train_examples": 20_000, "eval_examples": 1, "test_examples": 1}
    return build_trainer(SymbolicRun(holdout="^|", budget=ENDLESS, **sizes))


def train(trainer: Trainer, updates: int) -> float:
    """Seconds for `updates` training steps, after one to warm up."""
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1))
    began = time.perf_counter()
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1 + updates))
    return time.perf_counter() - began


def answer(examples: int, *, with_draft: bool) -> float:
    """Seconds for the greedy answers to `examples` inputs; with a right draft of them, as known chains are scored."""
    trainer = chains_trainer()
    task, model = trainer.task, trainer.model
    assert isinstance(task, SymbolicTask)
    assert isinstance(model, Seq2Seq)
    inputs = np.random.default_rng(0).integers(0, 64, (examples, 5))
    answers, _ = decode_freely(model, task.codec, inputs)  # This also warms up.
    began = time.perf_counter()
    decode_freely(model, task.codec, inputs, draft=answers if with_draft else None)
    return time.perf_counter() - began


def matmul_gflops(size: int, repeats: int = 12) -> float:
    """What one thread of this machine multiplies at best: the yardstick for everything else."""
    a = torch.rand(size, size)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best / 1e9


WORK: dict[str, Callable[..., float]] = {
    "train": lambda updates, shape: train(trainer_at(shape), int(updates)),
    "chains": lambda updates: train(chains_trainer(), int(updates)),
    "decode": lambda examples: answer(int(examples), with_draft=False),
    "confirm": lambda examples: answer(int(examples), with_draft=True),
    "matmul": lambda size: matmul_gflops(int(size)),
}

if __name__ == "__main__":
    single_thread()
    print(WORK[sys.argv[1]](*sys.argv[2:]))
