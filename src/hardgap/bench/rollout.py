"""Rollout speed: ours against CellPyLib and CAX, on the same rows, checked for equal output.

Everything is timed from rows of bytes to rows of bytes, so packing, unpacking and copies to a device count.
Rounds are interleaved, since a shared machine's speed drifts, and medians are reported: of the time on the clock
and of the processor time of all threads, which other work on the machine disturbs less. Compilation is not counted.
CellPyLib takes one row after another, so it is timed on fewer rows and scaled up where all would take minutes.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module, metadata
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.bench import Say, ratio, silent
from hardgap.worlds.automaton import bitslice
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import Rule

RULE = Rule(1, 110)  # elementary, because CAX knows no other; not symmetric, so a mirrored rollout would show
INSTALL = "not installed: pip install 'hardgap[bench]'"
LONGEST = 60.0  # seconds that one round of one contender may take before it is timed on fewer rows

Rows = NDArray[np.uint8]
Run = Callable[[Rows, int], Any]


@dataclass
class Contender:
    """One way to roll rows out; `build` imports what it needs and returns the function to time."""

    name: str
    package: str
    output: str  # "final state" or "whole trajectory"
    build: Callable[[], Run]
    rowwise: bool = False  # takes time in proportion to the rows, one after another
    rows: int = 0
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)


def contenders() -> list[Contender]:
    """Return everything that is compared, ours first."""
    return [
        Contender("hardgap bit-sliced", "hardgap", "final state", lambda: _bit_sliced(bitslice.evolve)),
        Contender("hardgap bit-sliced", "hardgap", "whole trajectory", lambda: _bit_sliced(bitslice.rollout)),
        Contender("hardgap NumPy", "hardgap", "whole trajectory", lambda: lambda rows, t: rollout(RULE, rows, t)),
        Contender("CAX", "cax", "final state", _cax),
        Contender("CellPyLib", "cellpylib", "whole trajectory", lambda: _cellpylib(memoize=False), rowwise=True),
        Contender(
            "CellPyLib, memoized", "cellpylib", "whole trajectory", lambda: _cellpylib(memoize=True), rowwise=True
        ),
    ]


def measure(
    rows: int = 10_000, width: int = 101, steps: int = 100, repeats: int = 5, say: Say = silent
) -> list[dict[str, Any]]:
    """Time every contender on the same rows; one dict each, `times_ours` relative to the first."""
    start = np.random.default_rng(0).integers(0, 2, (rows, width), dtype=np.uint8)
    expected = rollout(RULE, start, steps)
    every = contenders()
    runs: dict[int, Run] = {}
    for i, contender in enumerate(every):
        say(f"{contender.name}, {contender.output}: warming up")
        try:
            runs[i] = contender.build()
        except ImportError:
            continue
        contender.rows = _rows_to_time(contender, runs[i], start, steps)
        _check(contender, runs[i](start[: contender.rows], steps), expected[:, : contender.rows])
    for repeat in range(1, repeats + 1):
        say(f"round {repeat} of {repeats}")
        for i, run in runs.items():
            seconds, cpu_seconds = _timed(run, start[: every[i].rows], steps)
            every[i].seconds.append(seconds * rows / every[i].rows)
            every[i].cpu_seconds.append(cpu_seconds * rows / every[i].rows)
    return [_summary(contender, every[0], rows * width * steps, rows) for contender in every]


def _rows_to_time(contender: Contender, run: Run, start: Rows, steps: int) -> int:
    if not contender.rowwise:
        return len(start)
    seconds, _ = _timed(run, start[:1], steps)
    return len(start) if seconds * len(start) <= LONGEST else max(1, min(len(start), round(1 / seconds)))


def _timed(run: Run, rows: Rows, steps: int) -> tuple[float, float]:
    clock, cpu = perf_counter(), process_time()
    run(rows, steps)
    return perf_counter() - clock, process_time() - cpu


def _check(contender: Contender, found: Any, expected: Rows) -> None:
    wanted = expected if contender.output == "whole trajectory" else expected[-1]
    if not np.array_equal(np.asarray(found), wanted):
        raise AssertionError(f"{contender.name} ({contender.output}) disagrees with the table rollout")


def _summary(contender: Contender, ours: Contender, updates: int, rows: int) -> dict[str, Any]:
    row: dict[str, Any] = {"name": contender.name, "output": contender.output}
    if not contender.seconds:
        return row | {"version": None, "seconds": None, "note": INSTALL}
    seconds = statistics.median(contender.seconds)
    scaled = f"timed on {contender.rows} rows, scaled to {rows}" if contender.rows < rows else ""
    return row | {
        "version": metadata.version(contender.package),
        "seconds": seconds,
        "spread": (min(contender.seconds), max(contender.seconds)),
        "cpu_seconds": statistics.median(contender.cpu_seconds),
        "cells_per_second": updates / seconds,
        "times_ours": ratio(contender.seconds, ours.seconds),
        "times_ours_cpu": ratio(contender.cpu_seconds, ours.cpu_seconds),
        "note": scaled,
    }


def _bit_sliced(roll: Callable[[Rule, Any, int], Any]) -> Run:
    return lambda rows, steps: bitslice.unpack(roll(RULE, bitslice.pack(rows), steps), len(rows))


def _cax() -> Run:
    """Call the compiled system as its own example does, on the processor, whatever else there is."""
    jax, nnx, elementary = (import_module(name) for name in ("jax", "flax.nnx", "cax.cs.elementary"))
    jax.config.update("jax_platforms", "cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = elementary.Elementary.wolfram_code_from_rule_number(RULE.number)
        system = elementary.Elementary(wolfram_code=code, rngs=nnx.Rngs(0))

    def run(rows: Rows, steps: int) -> Rows:
        final = system(jax.numpy.asarray(rows[..., None], dtype=jax.numpy.float32), num_steps=steps)
        return np.asarray(final)[..., 0].astype(np.uint8)

    return run


def _cellpylib(memoize: bool) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = import_module("cellpylib")

    def apply_rule(cells: Any, _cell: int, _time: int) -> Any:
        return library.nks_rule(cells, RULE.number)

    def run(rows: Rows, steps: int) -> Rows:
        every = [library.evolve(row[None], timesteps=steps + 1, apply_rule=apply_rule, memoize=memoize) for row in rows]
        return np.stack(every, axis=1)

    return run
