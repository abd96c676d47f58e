"""Linear probes (Appendix B): which bits can a linear classifier read at each level of the network?

One logistic regression a level and a bit, shared by all positions, trained on half of the distinct rows and
tested on the other half. The bits are the cells of the neighbourhood, the rule's output, and the parity of the
whole neighbourhood where that is another function.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hardgap.nn.hooks import as_cells, level_values, levels
from hardgap.worlds.automaton.circuits.cells import Finding, Truth, share, truth_of
from hardgap.worlds.automaton.gap import Gap

MOST_CELLS = 6_000
"""Cells that probes are trained and tested on; a linear probe has a few dozen weights."""


@dataclass(frozen=True)
class Reading:
    """How well one bit is read at one level.

    accuracy   on unseen rows, all cells
    transfer   on the hidden cells of unseen rows, by a probe trained on visible cells alone (output only)
    untrained  the same as `accuracy` in the network before training, where one is given: what the random
               features of this architecture let a probe read anyway
    """

    level: str
    title: str
    bit: str
    accuracy: float
    transfer: float | None = None
    untrained: float | None = None


@dataclass(frozen=True)
class Probes(Finding):
    """All readings, and for each bit the accuracy of always answering its more common value."""

    readings: tuple[Reading, ...]
    majority: dict[str, float]


def linear_probes(model: nn.Module, gap: Gap, rows: NDArray[np.uint8], *, untrained: nn.Module | None = None) -> Probes:
    """Train and test a probe for every bit at every level; `untrained` is the control."""
    rows = _distinct(rows)[: max(4, MOST_CELLS // rows.shape[1])]
    truth, half = truth_of(gap, rows), len(rows) // 2
    bits = bits_of(gap, truth)
    titles = levels(model, rows.shape[1])
    trained = level_values(model, as_cells(model, rows))
    control = level_values(untrained, as_cells(untrained, rows)) if untrained is not None else {}
    readings = []
    for level, values in trained.items():
        for bit, target in bits.items():
            readings.append(
                Reading(
                    level,
                    titles[level],
                    bit,
                    _tested(values, target, half),
                    _transfer(values, target, truth, half) if bit.startswith("output") else None,
                    _tested(control[level], target, half) if level in control else None,
                )
            )
    majority = {bit: float(max(target[half:].mean(), 1 - target[half:].mean())) for bit, target in bits.items()}
    return Probes(tuple(readings), majority)


def _distinct(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each row once, in the order given: where there are few rows in all, repeats would leak into the test half."""
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


def bits_of(gap: Gap, truth: Truth) -> dict[str, NDArray[np.bool_]]:
    """The bits that are probed for, [rows, cells] each."""
    cells = gap.rule.cells
    bits = {cell: (truth.patterns >> (len(cells) - 1 - i)) & 1 == 1 for i, cell in enumerate(cells)}
    parity = np.bitwise_count(truth.patterns) % 2 == 1
    output = truth.targets == 1
    if (gap.rule.table == np.bitwise_count(np.arange(gap.rule.patterns)) % 2).all():
        return bits | {"output (XOR)": output}
    return bits | {"output": output, "XOR": parity}


def _tested(values: NDArray[np.float32], target: NDArray[np.bool_], half: int) -> float:
    """Train on the first half of the rows, test on the second."""
    size = values.shape[-1]
    answers = _probe(values[:half].reshape(-1, size), target[:half].ravel(), values[half:].reshape(-1, size))
    return float((answers == target[half:].ravel()).mean())


def _transfer(values: NDArray[np.float32], target: NDArray[np.bool_], truth: Truth, half: int) -> float | None:
    """Train on the visible cells of the first half, test on the hidden cells of the second."""
    seen, asked = ~truth.hidden[:half], truth.hidden[half:]
    if not asked.any():
        return None
    return share(_probe(values[:half][seen], target[:half][seen], values[half:][asked]) == target[half:][asked])


def _probe(values: NDArray[np.float32], target: NDArray[np.bool_], asked: NDArray[np.float32]) -> NDArray[np.bool_]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if target.all() or not target.any():
        return np.full(len(asked), bool(target[0]))
    mean, scale = values.mean(axis=0, dtype=np.float64), values.std(axis=0, dtype=np.float64) + 1e-6
    # Newton's method needs a handful of steps for these few dimensions, also where the bit is separable.
    probe = LogisticRegression(C=10.0, solver="newton-cholesky", max_iter=200)
    with warnings.catch_warnings():
        # Where all cells are classified with near certainty the Hessian vanishes; then the probe is good enough.
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit((values - mean) / scale, target)
    answers: NDArray[np.bool_] = probe.predict((asked - mean) / scale)
    return answers
