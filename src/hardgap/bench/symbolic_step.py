"""Experiment 2 on one core: native, eager and a plain script in turn, in processor time (as `step.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from hardgap.bench import Say, plain_symbolic, silent
from hardgap.bench.ours import chains_trainer
from hardgap.bench.step import by_engine, compared, in_turn, ready
from hardgap.nn.native import engine
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.runs.execute import single_thread
from hardgap.worlds.chains.task import SymbolicTask, decode_freely

BATCH = 512
Work = dict[str, Callable[[], object]]


def measure_one_core(updates: int, rounds: int, say: Say = silent) -> dict[str, Any]:
    """A training step and the greedy answers to 512 inputs, each by every engine that is here."""
    single_thread()
    engines = {**{f"native {build}": build for build in ready()}, "eager": "eager"}
    model = plain_symbolic.Model().eval()
    inputs = torch.randint(0, plain_symbolic.NUMBERS, (BATCH, plain_symbolic.INPUTS))
    calls: dict[str, tuple[Work, int]] = {
        "training": (_training(engines) | {"plain": plain_symbolic.stepper(plain_symbolic.TOKENS)}, updates),
        "decoding": (_decoding(engines) | {"plain": lambda: plain_symbolic.answer(model, inputs)}, 1),
    }
    found = {}
    for what, (work, times) in calls.items():
        contenders = {name: (call, times) for name, call in work.items()}
        found[what] = compared(in_turn(contenders, rounds, lambda line, what=what: say(f"{what}, one core: {line}")))  # type: ignore[misc]
    return found


def _training(engines: dict[str, str]) -> Work:
    found: Work = {}
    for name, build in engines.items():
        with engine.using(build):
            found[name] = by_engine(build, chains_trainer().update)
    return found


def _decoding(engines: dict[str, str]) -> Work:
    trainer = chains_trainer()
    task, model = trainer.task, trainer.model
    assert isinstance(task, SymbolicTask)
    assert isinstance(model, Seq2Seq)
    inputs = np.random.default_rng(0).integers(0, plain_symbolic.NUMBERS, (BATCH, plain_symbolic.INPUTS))
    return {name: by_engine(build, lambda: decode_freely(model, task.codec, inputs)) for name, build in engines.items()}
