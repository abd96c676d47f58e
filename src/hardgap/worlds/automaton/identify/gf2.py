"""The rank of linear systems over GF(2), 64 unknowns to a machine word, many systems at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput

Words = NDArray[np.uint64]


def rank(systems: NDArray[Any]) -> NDArray[np.int64]:
    """How many independent equations each system `[..., M, N]` of 0 and 1 has; the time grows with N.

    A row is an equation and a column an unknown. Equations of all zeros change nothing: they pad a batch of unequal
    systems.

    >>> rank(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])).item()
    2
    """
    *batch, count, unknowns = systems.shape
    words = pack(systems).reshape(math.prod(batch), count, -(-unknowns // 64))
    free = np.ones(words.shape[:2], dtype=bool)  # equations not yet solved for an unknown
    every = np.arange(len(words))
    for unknown in range(unknowns if count else 0):
        has = (words[:, :, unknown // 64] >> np.uint64(unknown % 64) & np.uint64(1)).astype(bool) & free
        pivot = has.argmax(axis=1)
        free[every, pivot] &= ~has[every, pivot]
        has[every, pivot] = False
        # Words are all ones where the pivot equation is to be added, so that no branch is needed.
        add = np.where(has, ~np.uint64(0), np.uint64(0))
        words ^= add[:, :, None] & words[every, pivot][:, None, :]
    return np.asarray((~free).sum(axis=1).reshape(batch))


def pack(systems: NDArray[Any]) -> Words:
    """Pack `[..., N]` of 0 and 1 into `[..., ceil(N / 64)]` words; unknown `j` is bit `j % 64` of word `j // 64`."""
    if systems.dtype.kind not in "biu" or (systems.size and not 0 <= systems.min() <= systems.max() <= 1):
        raise BadInput("a system over GF(2) holds only 0 and 1, as integers or booleans")
    raw = np.packbits(systems.astype(np.uint8, copy=False), axis=-1, bitorder="little")
    fill = -raw.shape[-1] % 8
    padded = np.pad(raw, [(0, 0)] * (raw.ndim - 1) + [(0, fill)])
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64, copy=False)
