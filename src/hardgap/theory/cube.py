"""Sums over the Boolean cube: shells around every point, subcubes through every point, Fourier levels.

Everything is an integer, so that a comparison with zero is exact. A point of the cube is a pattern index;
its neighbours are reached by flipping bits, so left and right play no role here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.worlds.automaton.rule import Rule, halves

Ints = NDArray[np.int64]
LabelFamily = Callable[[int], Ints]  # from the number of coordinates to the ±1 label of every point


def parity(n: int) -> Ints:
    """The label of every point of the n-cube under XOR: +1 for even points, as in paper §3.3.

    >>> parity(2).tolist()
    [1, -1, -1, 1]
    """
    return 1 - 2 * (popcounts(n) & 1)


def rule_labels(rule: Rule) -> Ints:
    """A rule's output as a label: +1 for 0 and -1 for 1, the paper's `(-1)^f`."""
    return 1 - 2 * rule.table.astype(np.int64)


def popcounts(n: int) -> Ints:
    """The number of ones in 0 … 2ⁿ-1."""
    return np.bitwise_count(np.arange(1 << n)).astype(np.int64)


def dimension(labels: NDArray[Any]) -> int:
    """The number of coordinates of the cube that the labels live on."""
    return int(labels.size).bit_length() - 1


def shell_sums(values: Ints) -> Ints:
    """Entry [p, d] is the sum of `values` over all points at Hamming distance d from p.

    >>> shell_sums(np.array([1, 2, 3, 4]))[0].tolist()
    [1, 5, 4]
    """
    n = dimension(values)
    sums = np.zeros((values.size, n + 1), dtype=np.int64)
    sums[:, 0] = values
    points = np.arange(values.size)
    for bit in range(n):
        sums[:, 1:] += sums[points ^ (1 << bit), :-1]
    return sums


def agreement(labels: Ints) -> Ints:
    """Entry [p, d] is the vote for p's own label of the points at distance d: y(p) · Σ y(q).

    For parity this is (-1)^d times the size of the shell, at every p.
    """
    return labels[:, None] * shell_sums(labels)


def subcube_votes(labels: Ints, points: Ints) -> NDArray[np.int16]:
    """Entry [i, F] is the vote for points[i]'s own label in the subcube through it whose free bits are F.

    The point itself does not vote: it is hidden. F = 0 is the subcube without any other point.
    """
    around = _around(labels, points)
    around[:, 0] = 0
    votes: NDArray[np.int16] = labels[points].astype(np.int16)[:, None] * _subcube_sums(around)
    return votes


def subcube_votes_of_set(labels: Ints, hidden: Ints) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """The same with all of `hidden` hidden at once, and how many points vote in each subcube."""
    visible = np.ones_like(labels)
    visible[hidden] = 0
    votes = labels[hidden].astype(np.int16)[:, None] * _subcube_sums(_around(labels * visible, hidden))
    return votes, _subcube_sums(_around(visible, hidden))


def _around(values: Ints, points: Ints) -> NDArray[np.int16]:
    """Entry [i, D] is the value of the point that differs from points[i] in the bits D."""
    around: NDArray[np.int16] = values[points[:, None] ^ np.arange(values.size)].astype(np.int16)
    return around


def _subcube_sums(around: NDArray[np.int16]) -> NDArray[np.int16]:
    """Entry [i, F] is the sum over all D within F."""
    for low, high in halves(around):
        high += low
    return around


def walsh(values: Ints) -> Ints:
    """The Walsh-Hadamard transform: entry S is the sum of values(x) · (-1)^|x∧S|."""
    result = values.copy()
    for low, high in halves(result):
        low[:], high[:] = low + high, low - high
    return result


def level_energies(labels: Ints) -> Ints:
    """Entry [p, k] is what Fourier level k contributes to the label of p, times y(p) and times 2ⁿ.

    That is y(p) · Σ_{|S|=k} Y(S) (-1)^|p∧S| with Y = walsh(labels); row p sums to 2ⁿ. Parity has all of its
    weight at level n.
    """
    n, level, spectrum = dimension(labels), popcounts(dimension(labels)), walsh(labels)
    parts = [labels * walsh(np.where(level == k, spectrum, 0)) for k in range(n + 1)]
    return np.stack(parts, axis=1)
