"""Label families that are not parity: every statement about parity must fail on them."""

from __future__ import annotations

import numpy as np
import pytest

from hardgap.theory.cube import Ints, LabelFamily, parity, popcounts


def conjunction(n: int) -> Ints:
    """AND of all bits: -1 (output 1) at the last point only."""
    labels = np.ones(1 << n, dtype=np.int64)
    labels[-1] = -1
    return labels


def majority(n: int) -> Ints:
    return np.where(2 * popcounts(n) > n, -1, 1)


def almost_parity(n: int) -> Ints:
    """Parity with the label of one point turned over, from three bits on."""
    labels = parity(n).copy()
    if n >= 3:
        labels[5] *= -1
    return labels


@pytest.fixture(params=[conjunction, majority, almost_parity], ids=lambda family: family.__name__)
def falsified(request: pytest.FixtureRequest) -> LabelFamily:
    """Labels for which the statements about parity are false."""
    family: LabelFamily = request.param
    return family


@pytest.fixture(autouse=True, scope="session")
def _single(one_thread: None) -> None:
    """Everything here runs on one thread."""
