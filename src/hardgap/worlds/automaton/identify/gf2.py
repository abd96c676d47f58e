"""Linear systems over GF(2), 64 unknowns to a machine word, many systems at once.

A system is a matrix of 0 and 1, one row an equation and one column an unknown; the arrays are `[..., M, N]`, so a
batch of systems of equal shape is eliminated together. Equations of all zeros are allowed and change nothing: they
pad a batch of unequal systems.

Bit `j % 64` of word `j // 64` of a packed equation is the coefficient of unknown `j`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput

Bits = NDArray[np.uint8]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Reduced:
    """A batch of systems after Gauss–Jordan elimination.

    Equations stay where they were: `pivots[..., j]` is the equation that is solved for unknown `j`, or -1 if `j`
    is free. No pivot unknown occurs in any other equation.
    """

    equations: Bits  # [..., M, N]
    pivots: NDArray[np.int64]  # [..., N]

    @property
    def rank(self) -> NDArray[np.int64]:
        """How many independent equations there are, `[...]`."""
        return np.asarray((self.pivots >= 0).sum(axis=-1))

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Which unknowns have the same value in every solution, `[..., N]`.

        Those solved for by an equation that mentions no other unknown.
        """
        alone = self.equations.sum(axis=-1, dtype=np.int64) == 1
        return np.take_along_axis(_with_empty(alone[..., None]), self.pivots[..., None], axis=-2)[..., 0]

    @property
    def rref(self) -> Bits:
        """The reduced row echelon form: pivot equations first, in the order of their unknowns, `[..., M, N]`."""
        count = self.equations.shape[-2]
        solved_first = np.argsort(self.pivots < 0, axis=-1, kind="stable")
        order = np.take_along_axis(self.pivots, solved_first, axis=-1)[..., :count, None]
        echelon = np.take_along_axis(_with_empty(self.equations), order, axis=-2)
        missing = count - echelon.shape[-2]
        return np.pad(echelon, [(0, 0)] * (echelon.ndim - 2) + [(0, missing), (0, 0)])


def pack(systems: NDArray[Any]) -> Words:
    """Pack `[..., N]` of 0 and 1 into `[..., ceil(N / 64)]` words."""
    _check(systems)
    raw = np.packbits(systems.astype(np.uint8, copy=False), axis=-1, bitorder="little")
    fill = -raw.shape[-1] % 8
    padded = np.pad(raw, [(0, 0)] * (raw.ndim - 1) + [(0, fill)])
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, unknowns: int) -> Bits:
    """Undo `pack`."""
    raw = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(raw, axis=-1, count=unknowns, bitorder="little")


def reduce(systems: NDArray[Any]) -> Reduced:
    """Eliminate `[..., M, N]` systems; the time grows with N, each unknown being one vectorised pass.

    >>> reduce(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])).rank.item()
    2
    """
    *batch, count, unknowns = systems.shape
    words = pack(systems).reshape(math.prod(batch), count, -(-unknowns // 64))
    pivots = np.full((len(words), unknowns), -1, dtype=np.int64)
    free = np.ones(words.shape[:2], dtype=bool)  # equations not yet solved for an unknown
    every = np.arange(len(words))
    for unknown in range(unknowns if count else 0):
        has = (words[:, :, unknown // 64] >> np.uint64(unknown % 64) & np.uint64(1)).astype(bool)
        pivot = (has & free).argmax(axis=1)
        found = (has & free)[every, pivot]
        has[every, pivot] = False
        # Words are all ones where the pivot equation is to be added, so that no branch is needed.
        add = np.where(has & found[:, None], ~np.uint64(0), np.uint64(0))
        words ^= add[:, :, None] & words[every, pivot][:, None, :]
        pivots[found, unknown] = pivot[found]
        free[every[found], pivot[found]] = False
    return Reduced(unpack(words, unknowns).reshape(*batch, count, unknowns), pivots.reshape(*batch, unknowns))


def solve(matrix: NDArray[Any], values: NDArray[Any]) -> Bits | None:
    """Return one solution of `matrix @ x = values`, free unknowns at 0, or None if there is none.

    >>> solve(np.array([[1, 1, 0], [0, 1, 1]]), np.array([1, 0])).tolist()
    [1, 0, 0]
    """
    unknowns = matrix.shape[1]
    reduced = reduce(np.concatenate([matrix, values[:, None]], axis=1))
    if reduced.pivots[unknowns] >= 0:
        return None
    solved = reduced.pivots[:unknowns] >= 0
    solution = np.zeros(unknowns, dtype=np.uint8)
    solution[solved] = reduced.equations[reduced.pivots[:unknowns][solved], unknowns]
    return solution


def _check(systems: NDArray[Any]) -> None:
    if systems.dtype.kind not in "biu" or (systems.size and not 0 <= systems.min() <= systems.max() <= 1):
        raise BadInput("a system over GF(2) holds only 0 and 1, as integers or booleans")


def _with_empty(equations: NDArray[Any]) -> NDArray[Any]:
    """Append an equation of zeros, which is what the pivot -1 of a free unknown then points at."""
    return np.concatenate(
        [equations, np.zeros_like(equations, shape=(*equations.shape[:-2], 1, equations.shape[-1]))], -2
    )
