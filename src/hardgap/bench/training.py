"""Whole-machine training throughput: a plain script against this package.

Both get the whole machine: the plain script its default threads, seeds one after another; ours one process
a core with one thread each. Rounds are interleaved, since a shared machine's speed drifts; ratios are taken
within a round and the median is reported.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from typing import Any, NamedTuple

from hardgap.bench import Say, silent
from hardgap.core.cores import usable_cores
from hardgap.nn.native.engine import VARIABLE, current_name
from hardgap.runs.local import ONE_THREAD

OURS = "hardgap.bench.ours"


UNROLL, DIM, FFN, LAYERS = 4, 64, 128, 2


class Geometry(NamedTuple):
    """Cells in a row and rows in a batch; how many updates one measurement takes for each that is asked for."""

    width: int
    batch: int
    repeats: int

    def flops(self, engine: str) -> int:
        """Of an update. A multiply-add counts twice, backward twice the forward pass; softmax and norms not at all.

        The kernel has no product for queries, keys and values of the first layer (`Entry` in network.h).
        """
        cells = self.batch * self.width * UNROLL
        spared = 3 * DIM * DIM if engine.startswith("native") else 0
        weights = LAYERS * (4 * DIM * DIM + 2 * DIM * FFN) - spared
        attention = LAYERS * 2 * 2 * self.width * DIM
        return 3 * cells * (2 * weights + attention)


GEOMETRIES = {"paper": Geometry(101, 128, 1), "desk": Geometry(11, 64, 16)}


def measure(shape: str, updates: int, rounds: int, say: Say = silent) -> dict[str, Any]:
    """`rounds` interleaved rounds of `updates` training steps each (16 times as many at desk scale).

    Training steps a second of the whole machine, and how they relate. `flat` is what a step costs with a process a
    core, relative to one process alone.
    """
    geometry, processes = GEOMETRIES[shape], usable_cores()
    width, batch, repeats = geometry
    steps = updates * repeats
    taken: dict[str, list[float]] = {"plain": [], "eager": [], "ours": [], "alone": []}
    limits = []
    for number in range(1, rounds + 1):
        say(f"{shape}, whole machine: round {number} of {rounds}")
        plain = ["hardgap.bench.plain", str(steps), "0", str(width), str(batch)]
        ours = [OURS, "train", str(steps), shape]
        eager = ONE_THREAD | {VARIABLE: "eager"}
        for name, command, copies, environment in (
            ("plain", plain, 1, {}), ("eager", ours, processes, eager), ("ours", ours, processes, ONE_THREAD),
            ("alone", ours, 1, ONE_THREAD),
        ):  # fmt: skip
            taken[name].append(sum(steps / seconds for seconds in run_copies(command, copies, environment)))
        limits.append(sum(run_copies([OURS, "matmul", "1024"], processes, ONE_THREAD)))
    ratios = _ratios(taken["ours"], taken["plain"])
    flat = [processes * one / all_ for one, all_ in zip(taken["alone"], taken["ours"], strict=True)]
    flops = geometry.flops(current_name())
    shares = [rate * flops / 1e9 / limit for rate, limit in zip(taken["ours"], limits, strict=True)]
    return {
        "shape": shape,
        "engine": current_name(),
        **{name: statistics.median(taken[name]) for name in ("plain", "eager", "ours")},
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "to_eager": statistics.median(_ratios(taken["ours"], taken["eager"])),
        "flat": statistics.median(flat),
        "matmul_gflops": statistics.median(limits),
        "share_of_matmul": statistics.median(shares),
        "processes": processes,
    }


def _ratios(ours: list[float], theirs: list[float]) -> tuple[float, ...]:
    return tuple(round(o / t, 2) for o, t in zip(ours, theirs, strict=True))


def run_copies(arguments: list[str], copies: int, environment: dict[str, str]) -> list[float]:
    """Run copies of a module at the same time; each prints one number."""
    command = [sys.executable, "-m", *arguments]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | environment) for _ in range(copies)]
    return [float(process.communicate()[0]) for process in started]
