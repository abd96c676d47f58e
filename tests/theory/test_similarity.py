"""Theorems 1 and 2 hold for parity, and the same checks fail for any other labels."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.theory import similarity
from hardgap.theory.cube import LabelFamily, agreement, parity, shell_sums, subcube_votes

CHECKS = [
    similarity.parity_distance_identity,
    similarity.theorem_1,
    similarity.theorem_1_knn,
    similarity.theorem_2,
    similarity.corollary_rbf,
]


@pytest.mark.parametrize("check", CHECKS)
def test_holds_for_parity(check) -> None:  # type: ignore[no-untyped-def]
    assert check().holds


@pytest.mark.parametrize("check", CHECKS)
def test_fails_when_falsified(check, falsified: LabelFamily) -> None:  # type: ignore[no-untyped-def]
    statement = check(falsified)
    assert not statement.holds
    assert statement.surprising


def test_what_does_not_hold_as_written_is_recorded() -> None:
    assert similarity.theorem_1_strict().verdict == "does not hold as written"
    assert similarity.result_1_any_n().verdict == "does not hold as written"
    assert similarity.result_1_any_n(max_n=5).detail.endswith("n = 5: k = 11 … 19 is right")


def test_nearest_neighbours_beyond_three_bits() -> None:
    assert [similarity.knn_right(n) for n in (1, 2, 3, 4)] == [[], [], [], [9, 11]]
    assert similarity.knn_right(5) == [11, 13, 15, 17, 19]


@given(st.integers(0, 2**16 - 1), st.integers(0, 15), st.integers(1, 15))
@settings(max_examples=60, deadline=None)
def test_tie_breaks_are_bounded_exactly(table: int, p: int, k: int) -> None:
    y = np.array([1 - 2 * (table >> q & 1) for q in range(16)])
    sizes = np.array([comb(4, d) for d in range(1, 5)])
    low, high = similarity.knn_vote_range(agreement(y)[p, 1:], sizes, k)
    listed = _votes_by_listing(y, p, k)
    assert (low, high) == (min(listed), max(listed))


def _votes_by_listing(y: np.ndarray, p: int, k: int) -> list[int]:
    others = sorted((q for q in range(16) if q != p), key=lambda q: (p ^ q).bit_count())
    edge = (p ^ others[k - 1]).bit_count()
    nearer = [q for q in others if (p ^ q).bit_count() < edge]
    shell = [q for q in others if (p ^ q).bit_count() == edge]
    return [int(y[p] * y[[*nearer, *extra]].sum()) for extra in combinations(shell, k - len(nearer))]


@pytest.mark.parametrize("n", [1, 3, 5])
def test_sums_over_shells_and_subcubes_against_listing(n: int) -> None:
    values = np.random.default_rng(n).integers(-5, 6, 1 << n)
    distance = np.bitwise_count(np.arange(1 << n)[:, None] ^ np.arange(1 << n))
    for d in range(n + 1):
        assert np.array_equal(shell_sums(values)[:, d], (values * (distance == d)).sum(1))
    y = np.where(values > 0, 1, -1)
    votes = subcube_votes(y, np.arange(1 << n))
    for p in range(1 << n):
        for free in range(1 << n):
            inside = [q for q in range(1 << n) if (p ^ q) & ~free == 0 and q != p]
            assert votes[p, free] == y[p] * y[inside].sum()


def test_a_mixture_of_rays_is_as_wrong_as_its_rays() -> None:
    weights = np.sort(np.random.default_rng(0).random((500, 3)))[:, ::-1]
    direct = weights @ agreement(parity(3))[:, 1:].T
    increments = -np.diff(weights, axis=1, append=0)
    assert np.allclose(direct, increments @ similarity.ray_votes(parity(3)).T)
    assert (direct <= 1e-12).all()
