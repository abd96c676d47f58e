"""Kernel machines beyond the paper's theorems: anything that fits the visible points, and RBF SVMs.

The paper's conclusion says "provably" of RBF support vector machines, but proves nothing about them. Two
statements close that hole; docs/theory.md has the proofs, here are their exact checks.

* **Annihilator.** For q ≠ p, Σ_x y(p)y(x) r^(d(p,x)+d(x,q)) = 0. So every f = Σ_q v_q r^d(·,q) over visible q has
  y(p)f(p) = -Σ_q r^d(p,q) y(q)f(q): if it fits the visible labels, it is wrong at p.
* **SVM.** With a bias and box constraint C, every optimal solution is wrong at p, for every r and C, n ≥ 2. The
  dual optimum is unique and so constant on shells around p, which leaves n multipliers; the Karush-Kuhn-
  Tucker conditions are solved by listing which shells are at 0, free, or at C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from numpy.polynomial import polynomial as P

from hardgap.theory.cube import Ints, LabelFamily, dimension, parity
from hardgap.theory.kernel_ridge import shell_kernel
from hardgap.theory.polynomials import exact, signs_inside
from hardgap.theory.statement import Statement


def annihilator(labels: Ints, p: int, q: int) -> Ints:
    """Coefficients, by power of r, of Σ_x y(p)y(x) r^(d(p,x)+d(x,q))."""
    x = np.arange(labels.size)
    powers = np.bitwise_count(x ^ p).astype(np.int64) + np.bitwise_count(x ^ q)
    weights = (labels[p] * labels).astype(np.float64)  # integers below 2^53: exact
    return np.bincount(powers, weights, minlength=2 * dimension(labels) + 1).astype(np.int64)


def fits_visible_so_wrong(labels: LabelFamily = parity, max_n: int = 12) -> Statement:
    # All pairs up to n = 5; beyond, one q a distance: parity around p is invariant under permuting bits.
    pairs = [(n, p, q) for n in range(1, 6) for p in range(1 << n) for q in range(1 << n) if p != q]
    pairs += [(n, 0, (1 << d) - 1) for n in range(6, max_n + 1) for d in range(1, n + 1)]
    tables = {n: labels(n) for n in range(1, max_n + 1)}
    broken = [(n, p, q) for n, p, q in pairs if annihilator(tables[n], p, q).any()]
    return Statement(
        name="Kernel machines",
        claim="any Σ v_q r^d(·,q) over visible q that fits every visible label is wrong at p, however it was found",
        cases=f"the identity behind it, as a polynomial in r, for {len(pairs):,} pairs (p, q), n = 1 … {max_n}",
        as_far_as=f"n = {max_n}",
        holds=not broken,
        detail=f"identity broken at (n, p, q) = {broken[0]}" if broken else "also an SVM without bias",
        published=False,
    )


@dataclass(frozen=True)
class SvmSolution:
    """Multipliers by shell (distance 1 … n), and y(p)·f(p) for the smallest and largest optimal bias."""

    multipliers: tuple[Fraction, ...]
    at_hidden: tuple[Fraction, Fraction]


def solve_svm(n: int, r: Fraction, box: Fraction) -> SvmSolution:
    """The soft-margin SVM with bias on parity without p, exactly. Labels are relative to y(p): (-1)^d."""
    kernel = shell_kernel(n, r)
    for state in product((0, 1, 2), repeat=n):  # 0: at zero, 1: free, 2: at the box
        if solution := _candidate(n, kernel, box, state):
            return solution
    raise AssertionError("a convex problem has an optimum")


def _candidate(n: int, kernel: list[list[Fraction]], box: Fraction, state: tuple[int, ...]) -> SvmSolution | None:
    """The solution with these shells at their bounds, if it satisfies every condition."""
    signs = [(-1) ** d for d in range(1, n + 1)]
    free = [i for i, s in enumerate(state) if s == 1]
    fixed = [box if s == 2 else Fraction(0) for s in state]
    # Unknowns: the free multipliers, then the bias. Equations: margin 1 on free shells, Σ labels·multipliers = 0.
    rows = [[signs[i] * signs[j] * kernel[i + 1][j + 1] for j in free] + [Fraction(signs[i])] for i in free]
    right = [1 - signs[i] * _score(kernel, i + 1, fixed, signs) for i in free]
    balance = [comb(n, i + 1) * signs[i] for i in range(n)]
    rows.append([Fraction(balance[j]) for j in free] + [Fraction(0)])
    right.append(-sum((balance[i] * fixed[i] for i in range(n)), Fraction(0)))
    if free:
        solved = _eliminate(rows, right)
        if solved is None:
            return None
        for i, multiplier in zip(free, solved, strict=False):
            fixed[i] = multiplier
    elif right[0] != 0:
        return None
    return _if_optimal(kernel, fixed, signs, state) if all(0 <= m <= box for m in fixed) else None


def _score(kernel: list[list[Fraction]], d: int, multipliers: list[Fraction], signs: list[int]) -> Fraction:
    return sum((m * s * k for m, s, k in zip(multipliers, signs, kernel[d][1:], strict=True)), Fraction(0))


def _if_optimal(
    kernel: list[list[Fraction]], multipliers: list[Fraction], signs: list[int], state: tuple[int, ...]
) -> SvmSolution | None:
    """The solution, if some bias gives margin 1 on free shells, at least 1 at zero and at most 1 at the box.

    With a free shell there is one such bias, else it is only confined to an interval.
    """
    lows: list[Fraction] = []
    highs: list[Fraction] = []
    for i, (sign, s) in enumerate(zip(signs, state, strict=True)):
        limit = sign - _score(kernel, i + 1, multipliers, signs)
        if s == 1 or (s == 0) == (sign == 1):
            lows.append(limit)
        if s == 1 or (s == 0) != (sign == 1):
            highs.append(limit)
    if not lows or not highs or max(lows) > min(highs):
        return None
    hidden = _score(kernel, 0, multipliers, signs)
    return SvmSolution(tuple(multipliers), (hidden + max(lows), hidden + min(highs)))


def _eliminate(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Gauss-Jordan elimination; None if singular."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(len(table)):
        pivot = next((i for i in range(column, len(table)) if table[i][column] != 0), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        head = table[column][column]
        table[column] = [value / head for value in table[column]]
        for i, row in enumerate(table):
            if i != column and row[column] != 0:
                factor = row[column]
                table[i] = [a - factor * b for a, b in zip(row, table[column], strict=True)]
    return [row[-1] for row in table]


def svm_grid(max_n: int) -> Iterator[tuple[int, Fraction, Fraction]]:
    """(n, r, C) on both sides of, and inside, the narrow range where C · (1-r)^n is just above 1."""
    for n in range(2, max_n + 1):
        for r in (Fraction(1, 50), Fraction(1, 3), Fraction(9, 10)):
            smallest = (1 - r) ** n
            edge = Fraction(2**n, 2**n - 1)
            for level in (Fraction(1, 100), Fraction(1, 2), Fraction(1), (1 + edge) / 2, edge, Fraction(100)):
                yield n, r, level / smallest


def svm_wrong(max_exact_n: int = 4, max_n: int = 12) -> Statement:
    solved = [(case, solve_svm(*case)) for case in svm_grid(max_exact_n)]
    right = [case for case, solution in solved if solution.at_hidden[1] >= 0]
    not_all_support = [(n, d) for n in range(2, max_n + 1) for d in range(1, n + 1, 2) if not _supports(n, d)]
    not_bounded = [n for n in range(2, max_n + 1) if not _middle_bound(n)]
    return Statement(
        name="RBF SVM",
        claim="n ≥ 2: the RBF support vector machine with bias is wrong at p, for every γ > 0 and C > 0",
        cases=f"every r and C by bounds, n ≤ {max_n}; {len(solved)} optima solved exactly, n ≤ {max_exact_n}",
        as_far_as=f"n = {max_n}",
        holds=not right and not not_all_support and not not_bounded,
        detail=f"right at {right[:2]}, bounds fail at {not_all_support[:2]} {not_bounded[:2]}"
        if right or not_all_support or not_bounded
        else "the paper says 'provably' without a theorem; this is one",
        published=False,
    )


def _supports(n: int, d: int) -> bool:
    """Whether every odd shell supports the hard margin: (1-r^d)·2^(n-1) - (1-r)^n > 0 on all of (0, 1).

    On even shells the multiplier is (1-r^d) times a positive number, so nothing is to be checked.
    """
    left = np.zeros(d + 1)
    left[[0, d]] = 2 ** (n - 1), -(2 ** (n - 1))
    return set(signs_inside(P.polysub(left, P.polypow([1, -1], n)))) == {1}


def _middle_bound(n: int) -> bool:
    """Whether 4L - 4L²·(1-2^(1-n)) - (2^(n-1)-1)·(L-1)² > 0 for 1 ≤ L ≤ 2ⁿ/(2ⁿ-1), with L = C·(1-r)^n.

    It bounds -4L · y(p)f(p) from below where the multipliers may be cut off just above 1/(1-r)^n.
    """
    step = Fraction(1, 2**n - 1)
    level, excess = exact([1, step]), exact([0, step])  # L and L - 1 as polynomials in t, 0 ≤ t ≤ 1
    cut = -4 * (1 - Fraction(2, 2**n))
    squares = cut * P.polymul(level, level) + (1 - 2 ** (n - 1)) * P.polymul(excess, excess)
    poly = P.polyadd(4 * level, squares)
    return set(signs_inside(poly)) == {1} and poly[0] > 0 and sum(poly) > 0
