"""One worker's share of `hardgap bench symbolic`: the same work through this package, on one thread.

It prints seconds: `train STEPS` for training steps, `decode EXAMPLES` for answers, `confirm EXAMPLES` for the same
answers with themselves as the draft.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from hardgap.core.loop import Observer, Trainer
from hardgap.core.specs import Budget, Optimiser
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.task import SymbolicTask, decode_freely


def train(updates: int) -> float:
    """Seconds for `updates` training steps of 512 examples of the full derivation, after one to warm up."""
    trainer = _trainer()
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1))
    began = time.perf_counter()
    trainer.run(Observer(should_stop=lambda: trainer.step >= 1 + updates))
    return time.perf_counter() - began


def decode(examples: int) -> float:
    """Seconds for the greedy answers to `examples` inputs, without any draft of them."""
    return _answer(examples, with_draft=False)


def confirm(examples: int) -> float:
    """Seconds for the same where the draft is the answer: how the chains that a network knows are scored."""
    return _answer(examples, with_draft=True)


def _answer(examples: int, *, with_draft: bool) -> float:
    trainer = _trainer()
    task, model = trainer.task, trainer.model
    assert isinstance(task, SymbolicTask)
    assert isinstance(model, Seq2Seq)
    inputs = np.random.default_rng(0).integers(0, 64, (examples, 5))
    answers, _ = decode_freely(model, task.codec, inputs)  # This also warms up.
    began = time.perf_counter()
    decode_freely(model, task.codec, inputs, draft=answers if with_draft else None)
    return time.perf_counter() - began


def trainer_at(batch: int) -> Trainer:
    """A run of the full derivation, about to begin."""
    sizes = {"train_examples": 20_000, "eval_examples": 1, "test_examples": 1, "optimiser": Optimiser(batch=batch)}
    return build_trainer(SymbolicRun(holdout="^|", budget=Budget(steps=10_000, evaluate_every=10_000), **sizes))


def _trainer() -> Trainer:
    single_thread()
    return trainer_at(512)


if __name__ == "__main__":
    what, amount = sys.argv[1:]
    print({"train": train, "decode": decode, "confirm": confirm}[what](int(amount)))
