"""One worker's share of `hardgap bench symbolic`: the same work through this package, on one thread.

It prints seconds: `train STEPS` for training steps, `decode EXAMPLES` for answers.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from hardgap.nn.seq2seq import Seq2Seq
from hardgap.runs.config import SymbolicRun
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.training.loop import Observer, Trainer
from hardgap.training.spec import Budget
from hardgap.training.symbolic import DECODED_AT_ONCE, SymbolicTask, decode_freely


def train(updates: int) -> float:
    """Seconds for `updates` training steps of 512 examples of the full derivation, after one to warm up."""
    trainer = _trainer()
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1))
    began = time.perf_counter()
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1 + updates))
    return time.perf_counter() - began


def decode(examples: int) -> float:
    """Seconds for the greedy answers to `examples` inputs, without any draft of them."""
    trainer = _trainer()
    task, model = trainer.task, trainer.model
    assert isinstance(task, SymbolicTask)
    assert isinstance(model, Seq2Seq)
    inputs = np.random.default_rng(0).integers(0, 64, (examples, 5))
    decode_freely(model, task.codec, inputs[:DECODED_AT_ONCE])
    began = time.perf_counter()
    decode_freely(model, task.codec, inputs)
    return time.perf_counter() - began


def _trainer() -> Trainer:
    single_thread()
    sizes = {"train_examples": 20_000, "eval_examples": 1, "test_examples": 1}
    return build_trainer(SymbolicRun(holdout="^|", budget=Budget(steps=10_000, evaluate_every=10_000), **sizes))


if __name__ == "__main__":
    what, amount = sys.argv[1:]
    print({"train": train, "decode": decode}[what](int(amount)))
