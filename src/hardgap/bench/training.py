"""Whole-machine training throughput at the paper's geometry: a plain script against this package.

Both get the whole machine: the plain script its default threads, seeds one after another; ours one process
a core with one thread each. Rounds are interleaved, since a shared machine's speed drifts; ratios are taken
within a round and the median is reported.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from hardgap.runs.local import ONE_THREAD

BATCH, WIDTH, UNROLL, DIM, FFN, LAYERS = 128, 101, 4, 64, 128, 2


@dataclass(frozen=True)
class Throughput:
    """Training steps a second of the whole machine, and how they relate."""

    plain: float
    ours: float
    ratio: float
    ratios: tuple[float, ...]
    matmul_gflops: float
    share_of_matmul: float
    processes: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def flops_per_update() -> int:
    """A multiply-add counts twice; backward costs twice the forward pass; softmax and norms are not counted."""
    cells = BATCH * WIDTH * UNROLL
    weights = LAYERS * (4 * DIM * DIM + 2 * DIM * FFN)
    attention = LAYERS * 2 * 2 * WIDTH * DIM
    return 3 * cells * (2 * weights + attention)


def measure(updates: int = 6, rounds: int = 3, say: Callable[[str], None] = lambda line: None) -> Throughput:
    """`rounds` interleaved rounds of `updates` training steps each."""
    processes = os.cpu_count() or 1
    plain, ours, limits = [], [], []
    for number in range(1, rounds + 1):
        say(f"round {number} of {rounds}: the plain script")
        plain.append(updates / run_copies(["hardgap.bench.plain", str(updates), "0"], 1, {})[0])
        say(f"round {number} of {rounds}: hardgap, {processes} processes")
        taken = run_copies(["hardgap.bench.ours", "train", str(updates), "0"], processes, ONE_THREAD)
        ours.append(sum(updates / seconds for seconds in taken))
        limits.append(sum(run_copies(["hardgap.bench.ours", "matmul", "0", "0"], processes, ONE_THREAD)))
    ratios = tuple(round(o / p, 2) for o, p in zip(ours, plain, strict=True))
    shares = [o * flops_per_update() / 1e9 / limit for o, limit in zip(ours, limits, strict=True)]
    return Throughput(
        plain=statistics.median(plain),
        ours=statistics.median(ours),
        ratio=statistics.median(ratios),
        ratios=ratios,
        matmul_gflops=statistics.median(limits),
        share_of_matmul=statistics.median(shares),
        processes=processes,
    )


def run_copies(arguments: list[str], copies: int, environment: dict[str, str]) -> list[float]:
    """Run copies of a module at the same time; each prints one number."""
    command = [sys.executable, "-m", *arguments]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | environment) for _ in range(copies)]
    return [float(process.communicate()[0]) for process in started]
