"""A training step on one core: native, eager and a plain script in turn, in processor time.

A shared machine's speed drifts, so ratios are taken within a round and the median of the rounds is reported; the
limit is what the same core multiplies in the same round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from hardgap.bench import Say, plain, ratio, silent
from hardgap.bench.ours import trainer_at
from hardgap.bench.training import GEOMETRIES
from hardgap.nn.native import engine
from hardgap.runs.execute import single_thread

LIMIT = "matrix multiplication"
SIZE = 1024


def measure_step(shape: str, updates: int, rounds: int, say: Say = silent) -> list[dict[str, Any]]:
    """What every contender takes for a step, in milliseconds, and how it relates to the others of its round."""
    single_thread()
    geometry = GEOMETRIES[shape]
    contenders = {
        name: (step, 4 if name == LIMIT else updates * geometry.repeats) for name, step in _contenders(shape).items()
    }
    taken = in_turn(contenders, rounds, lambda line: say(f"{shape}, one core: {line}"))
    limits = [2 * SIZE**3 / seconds for seconds in taken.pop(LIMIT)]
    shares = {
        name: [geometry.flops(name) / s / limit for s, limit in zip(own, limits, strict=True)]
        for name, own in taken.items()
    }
    return [row | {"share": statistics.median(shares[row["name"]])} for row in compared(taken)]


def in_turn(contenders: dict[str, tuple[Callable[[], object], int]], rounds: int, say: Say) -> dict[str, list[float]]:
    """The processor time in seconds that each takes for one call, in each round of so many calls."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        say(f"round {number} of {rounds}" if number else "warming up")
        for name, (call, times) in contenders.items():
            began = time.process_time()
            for _ in range(times if number else 1):
                call()
            if number:
                taken[name].append((time.process_time() - began) / times)
    return taken


def compared(taken: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Milliseconds, and how each relates to the others of its round."""
    return [
        {"name": name, "cpu_ms": 1e3 * statistics.median(seconds)}
        | {f"times {other}": ratio(taken[other], seconds) for other in taken if other != name}
        for name, seconds in taken.items()
    ]


def ready() -> list[str]:
    """The builds of the native engine that are worth measuring here."""
    builds = [build for build in engine.BUILT if engine.state_of(build).startswith("ready")]
    return [build for build in builds if build != "portable"]


def by_engine(name: str, call: Callable[[], object]) -> Callable[[], None]:
    """A call that is made with this engine."""

    def with_engine() -> None:
        with engine.using(name):
            call()

    return with_engine


def _contenders(shape: str) -> dict[str, Callable[[], object]]:
    def of(name: str) -> Callable[[], None]:
        with engine.using(name):
            return by_engine(name, trainer_at(shape).update)

    found: dict[str, Callable[[], object]] = {f"native {build}": of(build) for build in ready()}
    matrix = torch.rand(SIZE, SIZE)
    one_plain = plain.stepper(0, *GEOMETRIES[shape][:2])
    return found | {"eager": of("eager"), "plain": one_plain, LIMIT: lambda: matrix @ matrix}
