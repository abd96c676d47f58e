"""Runs one at a time against stacks of them, on a GPU (or, asked for, on a CPU): what `--stack N` is worth here.

All contenders take their steps in turn, round after round, and the device is waited for before a clock is read. One
thread, as a worker has. Whether a run's bits depend on its stack is looked at as well: on a GPU nobody has.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from hardgap.bench import Say, silent
from hardgap.bench.ours import run_at
from hardgap.bench.step import by_engine
from hardgap.core.loop import Trainer
from hardgap.core.stack import Member
from hardgap.core.task import pick_device
from hardgap.nn.native import engine
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.runs.stackable import stack_for
from hardgap.runs.versions import processor

SINGLE = "one at a time"
STEPS_COMPARED = 5


def measure_stacks(
    shape: str, device: str, sizes: Sequence[int], updates: int, rounds: int, say: Say = silent
) -> list[dict[str, Any]]:
    """For separate training and for each size of a stack: milliseconds a step of all, run-steps a second, bits."""
    pick_device(device)
    single_thread()
    with engine.using(engine.EAGER):
        contenders, same = {SINGLE: (_trainer(shape, device).update, 1)}, dict[str, bool]()
        if device == "cpu" and engine.is_here("native"):
            contenders["the same, native"] = _native(shape), 1
        for size in sizes:
            say(f"{shape}, {device}: a stack of {size}")
            try:
                same[f"stack of {size}"] = _same_bits(shape, device, size)
                contenders[f"stack of {size}"] = _stacked(shape, device, size), size
            except torch.OutOfMemoryError:
                say(f"{shape}, {device}: there is too little memory for a stack of {size}")
                break
        taken: dict[str, list[float]] = {name: [] for name in contenders}
        for number in range(1, rounds + 1):
            say(f"{shape}, {device}: round {number} of {rounds}")
            for name, (update, _) in contenders.items():
                taken[name].append(_timed(update, updates, device) / updates)
    return [_row(name, size, taken, same.get(name)) for name, (_, size) in contenders.items()]


def _trainer(shape: str, device: str, seed: int = 0, *, stacked: bool = False) -> Trainer:
    run = run_at(shape).but(device=device, seed=seed)
    return build_trainer(run, make_adam=Member) if stacked else build_trainer(run)


def _native(shape: str) -> Callable[[], None]:
    """What trains a run on a CPU unless something else is asked for."""
    with engine.using("native"):
        return by_engine("native", _trainer(shape, "cpu").update)


def _stacked(shape: str, device: str, size: int) -> Callable[[], None]:
    """What makes a step of a stack, warmed up."""
    members = [_trainer(shape, device, seed, stacked=True) for seed in range(size)]
    stack = stack_for(run_at(shape))
    stack.update(members)
    return lambda: stack.update(members)


def _timed(update: Callable[[], None], times: int, device: str) -> float:
    """Seconds; on a CPU, which others may be using as well, of its time."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    _wait(device)
    began = clock()
    for _ in range(times):
        update()
    _wait(device)
    return clock() - began


def _wait(device: str) -> None:
    """Until all that was asked of the device is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


def _same_bits(shape: str, device: str, size: int) -> bool:
    """Whether the last run of a stack has the weights that it has alone, after a few steps."""
    members = [_trainer(shape, device, seed, stacked=True) for seed in range(size)]
    alone = _trainer(shape, device, size - 1, stacked=True)
    for together in (members, [alone]):
        stack = stack_for(run_at(shape))
        for _ in range(STEPS_COMPARED):
            stack.update(together)
    theirs, own = members[-1].weights(), alone.weights()
    return all(torch.equal(theirs[name], own[name]) for name in own)


def _row(name: str, size: int, taken: dict[str, list[float]], same: bool | None) -> dict[str, Any]:
    ratios = [size * one / all_ for one, all_ in zip(taken[SINGLE], taken[name], strict=True)]
    seconds = statistics.median(taken[name])
    return {
        "name": name,
        "ms_a_step": 1e3 * seconds,
        "run_steps_a_second": size / seconds,
        "times_single": statistics.median(ratios),
        "same_bits_as_alone": same,
    }


def machine(device: str) -> str:
    """What was measured on."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    return processor()
