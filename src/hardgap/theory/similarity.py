"""Votes by similarity: Theorems 1 and 2 of the paper, the RBF corollary, and nearest neighbours.

The hidden point is p, the visible ones all others. A vote is S(p) = Σ w(d(p,q)) y(q). What is compared with
zero is always y(p)·S(p): negative means that the vote names the wrong label.

Two families of weights are settled by their extreme members, because the vote is linear in the weights:

* non-increasing weights are non-negative mixtures of "1 up to distance j, then 0" (n extreme rays);
* completely monotone weights are mixtures of r^d with r in (0, 1], so the vote is a mixture of the values of
  one polynomial in r, and its sign on all of (0, 1] follows from its Bernstein coefficients.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, lcm

import numpy as np

from hardgap.theory.cube import Ints, LabelFamily, agreement, dimension, parity, popcounts
from hardgap.theory.statement import Statement

MAX_N = 12


def ray_votes(labels: Ints) -> Ints:
    """Entry [p, j-1] is y(p)·S(p) for the extreme weights that are 1 up to distance j and 0 beyond.

    >>> ray_votes(parity(3))[0].tolist()  # weights (1,0,0), (1,1,0), (1,1,1)
    [-3, 0, -1]
    """
    return np.cumsum(agreement(labels)[:, 1:], axis=1)


def knn_vote_range(shells: Ints, sizes: Ints, k: int) -> tuple[int, int]:
    """The lowest and highest y(p)·vote of k nearest neighbours, over every way to break ties in distance.

    `shells[d-1]` is the vote of the shell at distance d and `sizes[d-1]` its number of visible points.
    """
    inside = int(np.searchsorted(np.cumsum(sizes), k, side="right"))
    vote = int(shells[:inside].sum())
    left = k - int(sizes[:inside].sum())
    if left == 0:
        return vote, vote
    size, agree = int(sizes[inside]), int(sizes[inside] + shells[inside]) // 2
    most, least = min(agree, left), max(0, left - (size - agree))
    return vote + 2 * least - left, vote + 2 * most - left


def knn_right(n: int) -> list[int]:
    """The odd k for which k nearest neighbours name the hidden label of n-bit parity *correctly*.

    >>> knn_right(3), knn_right(4)
    ([], [9, 11])
    """
    shells = agreement(parity(n))[0, 1:]
    sizes = np.array([comb(n, d) for d in range(1, n + 1)])
    return [k for k in range(1, 1 << n, 2) if knn_vote_range(shells, sizes, k)[0] > 0]


def bernstein_coefficients(labels: Ints) -> Ints:
    """Entry [p, j] is the j-th Bernstein coefficient on [0, 1] of the vote with weights r^d, times a constant.

    All non-positive and the last one negative means: the vote is wrong for every r in (0, 1].
    """
    n = dimension(labels)
    scale = lcm(*(comb(n, d) for d in range(n + 1)))
    basis = [[comb(j, d) * scale // comb(n, d) for j in range(n + 1)] for d in range(1, n + 1)]
    coefficients: Ints = agreement(labels)[:, 1:] @ np.array(basis, dtype=np.int64)
    return coefficients


def parity_distance_identity(labels: LabelFamily = parity, max_n: int = MAX_N) -> Statement:
    broken = [n for n in range(1, max_n + 1) if not _flips_with_distance(labels(n))]
    return Statement(
        name="Parity-distance identity",
        claim="y(q) = y(p) · (-1)^d(p,q) for all points p and q",
        cases=f"all {sum(4**n for n in range(1, max_n + 1)):,} pairs, n = 1 … {max_n}",
        as_far_as=f"n = {max_n}",
        holds=not broken,
        detail=f"broken for n = {broken}" if broken else "no exception",
    )


def _flips_with_distance(labels: Ints) -> bool:
    points, distances = np.arange(labels.size), popcounts(dimension(labels))
    signs = (1 - 2 * (distances & 1)).astype(np.int8)
    small = labels.astype(np.int8)
    return all(np.array_equal(small[points ^ p], small[p] * signs) for p in points.tolist())


def theorem_1(labels: LabelFamily = parity) -> Statement:
    votes = ray_votes(labels(3))
    worst = votes.max(axis=0)
    return Statement(
        name="Theorem 1 (votes)",
        claim="n = 3: no non-negative, non-increasing weights give a vote for the hidden label: y(p)S(p) ≤ 0",
        cases=f"{votes.shape[0]} hidden points × {votes.shape[1]} extreme rays of the cone of weights",
        holds=bool((votes <= 0).all()),
        detail=f"y(p)S(p) at most {', '.join(map(str, worst))} on the rays (1,0,0), (1,1,0), (1,1,1)",
    )


def theorem_1_strict(labels: LabelFamily = parity) -> Statement:
    """The main text says "forced away"; on one ray the vote is only a tie."""
    return Statement(
        name="Result 1 (votes, n = 3)",
        claim="n = 3: every non-increasing, non-zero weighting names the wrong label",
        cases="8 hidden points × 3 extreme rays",
        holds=bool((ray_votes(labels(3)) < 0).all()),
        detail="w = (1,1,0) ties exactly, and only multiples of it do: a tie-break may then be right",
        expected=False,
    )


def theorem_1_knn(labels: LabelFamily = parity) -> Statement:
    y = labels(3)
    choices = [(p, k, vote) for p in range(8) for k in (1, 3, 5, 7) for vote in _all_knn_votes(y, p, k)]
    right = [(p, k) for p, k, vote in choices if vote > 0]
    return Statement(
        name="Theorem 1 (k-NN)",
        claim="n = 3: k nearest neighbours are wrong for k = 1, 3, 5, 7, however ties in distance are broken",
        cases=f"{len(choices)} choices of neighbours: 8 hidden points, 4 k, every tie-break",
        holds=not right,
        detail=f"right for (p, k) in {right[:4]}" if right else "largest vote for the hidden label: -1",
    )


def _all_knn_votes(labels: Ints, p: int, k: int) -> list[int]:
    """y(p)·vote of every admissible set of k nearest neighbours, by listing the sets."""
    n = dimension(labels)
    shells = [[q for q in range(1 << n) if (p ^ q).bit_count() == d] for d in range(1, n + 1)]
    nearer: list[int] = []
    for shell in shells:
        if len(nearer) + len(shell) > k:
            chosen = combinations(shell, k - len(nearer))
            return [int(labels[p] * labels[[*nearer, *extra]].sum()) for extra in chosen]
        nearer += shell
    return [int(labels[p] * labels[nearer].sum())]


def result_1_any_n(max_n: int = MAX_N) -> Statement:
    """§3.3 speaks of held-out parity in general; beyond three bits monotone votes and k-NN can be right."""
    first = {n: knn_right(n) for n in range(1, max_n + 1)}
    best = {n: int(ray_votes(parity(n)).max()) for n in first}
    wrong = [n for n in first if first[n] or best[n] > 0]
    return Statement(
        name="Result 1 (votes, any n)",
        claim="parity on n bits: k-NN for odd k and every non-increasing weighting fail",
        cases=f"n = 1 … {max_n}: every odd k, every extreme ray",
        holds=not wrong,
        detail=f"true for n ≤ 3 only; n = 4: weights (1,1,0,0) vote +{best.get(4)}, 9-NN and 11-NN are right;"
        f" n = 5: k = {first.get(5, [])[0]} … {first.get(5, [])[-1]} is right",
        expected=False,
    )


def theorem_2(labels: LabelFamily = parity, max_n: int = MAX_N) -> Statement:
    sizes = range(1, max_n + 1)
    failing = [n for n in sizes if not _wrong_for_every_r(labels(n))]
    identity = [n for n in sizes if not _is_one_minus_r_power(labels(n))]
    return Statement(
        name="Theorem 2",
        claim="any n: weights ∫ r^d dμ(r) with μ((0,1]) > 0 give y(p)S(p) < 0",
        cases=f"every p and every r in (0,1] (Bernstein coefficients), n = 1 … {max_n}",
        as_far_as=f"n = {max_n}",
        holds=not failing and not identity,
        detail=f"not wrong for every r at n = {failing}, identity broken at n = {identity}"
        if failing or identity
        else "y(p)S(p) = (1-r)^n - 1 coefficient by coefficient; Bernstein coefficients: 0, then equal and negative",
    )


def _wrong_for_every_r(labels: Ints) -> bool:
    coefficients = bernstein_coefficients(labels)
    return bool((coefficients <= 0).all() and (coefficients[:, -1] < 0).all())


def _is_one_minus_r_power(labels: Ints) -> bool:
    n = dimension(labels)
    binomial = np.array([(-1) ** d * comb(n, d) for d in range(1, n + 1)])
    return bool((agreement(labels)[:, 1:] == binomial).all())


def corollary_rbf(labels: LabelFamily = parity, max_n: int = MAX_N) -> Statement:
    different = [n for n in range(1, max_n + 1) if not _euclid_is_hamming(n)]
    failing = [n for n in range(1, max_n + 1) if not _wrong_for_every_r(labels(n))]
    return Statement(
        name="Corollary (RBF)",
        claim="exp(-γ|x-q|²) = r^d(x,q) with r = exp(-γ) in (0,1), so an RBF vote is wrong for every γ > 0",
        cases=f"|x-q|² = d(x,q) on all pairs, n = 1 … {max_n}; every r in (0,1)",
        as_far_as=f"n = {max_n}",
        holds=not different and not failing,
        detail=f"distance differs at n = {different}, vote not wrong at n = {failing}"
        if different or failing
        else "no exception",
    )


def _euclid_is_hamming(n: int) -> bool:
    """Whether Σ (x_i - q_i)² counts the differing bits, for every pair of points."""
    points = np.arange(1 << n, dtype=np.uint16)
    bits = (points[:, None] >> np.arange(n) & 1).astype(np.float32)  # sums of at most 12 ones: exact
    ones = bits.sum(1)
    squares = ones[:, None] + ones - 2 * bits @ bits.T
    return bool((squares == np.bitwise_count(points[:, None] ^ points)).all())
