"""Exact signs of a polynomial on the unit interval.

A polynomial is a sequence of rational coefficients, constant term first. Roots are counted with Sturm's
theorem, so the answers are about every real number in the interval and not about a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

Poly = list[Fraction]
Number = int | Fraction


def trimmed(coefficients: Sequence[Number]) -> Poly:
    """The same polynomial without zero leading terms; the zero polynomial is the empty list."""
    poly = [Fraction(c) for c in coefficients]
    while poly and poly[-1] == 0:
        poly.pop()
    return poly


def value(poly: Sequence[Number], x: Fraction) -> Fraction:
    total = Fraction(0)
    for coefficient in reversed(poly):
        total = total * x + coefficient
    return total


def product(a: Sequence[Number], b: Sequence[Number]) -> Poly:
    result = [Fraction(0)] * max(len(a) + len(b) - 1, 0)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            result[i + j] += left * right
    return trimmed(result)


def total(*polys: Sequence[Number]) -> Poly:
    result = [Fraction(0)] * max(map(len, polys), default=0)
    for poly in polys:
        for i, coefficient in enumerate(poly):
            result[i] += coefficient
    return trimmed(result)


def signs_inside(coefficients: Sequence[Number]) -> dict[int, Fraction]:
    """The signs that the polynomial takes on stretches of (0, 1), each with a rational point where it does.

    Isolated roots are not reported, only the signs between them; the zero polynomial answers {0: 1/2}.

    >>> signs_inside([-1, 2])  # 2x - 1 changes sign at 1/2
    {-1: Fraction(1, 3), 1: Fraction(2, 3)}
    >>> signs_inside([0, 3, -3, 1])  # 1 - (1-x)^3
    {1: Fraction(1, 2)}
    """
    poly = trimmed(coefficients)
    if not poly:
        return {0: Fraction(1, 2)}
    open_part = _without_roots_at_ends(poly)
    chain = _sturm_chain(open_part)
    intervals = _isolate(chain, Fraction(0), Fraction(1))
    points = [end for interval in intervals for end in interval] or [_between(open_part, Fraction(0), Fraction(1))]
    signs: dict[int, Fraction] = {}
    for point in points:
        signs.setdefault(1 if value(poly, point) > 0 else -1, point)
    return signs


def _without_roots_at_ends(poly: Poly) -> Poly:
    while value(poly, Fraction(0)) == 0:
        poly = poly[1:]
    while value(poly, Fraction(1)) == 0:
        poly = _quotient(poly, [Fraction(-1), Fraction(1)])
    return poly


def _isolate(chain: list[Poly], low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Intervals inside (0, 1), in order, each around exactly one root; no end is a root."""
    roots = _changes(chain, low) - _changes(chain, high)
    if roots == 0:
        return []
    if roots == 1 and low > 0 and high < 1:
        return [(low, high)]
    middle = _between(chain[0], low, high)
    return _isolate(chain, low, middle) + _isolate(chain, middle, high)


def _between(poly: Poly, low: Fraction, high: Fraction) -> Fraction:
    """A point strictly inside that is not a root: the middle, a third, …"""
    parts = 2
    while value(poly, point := low + (high - low) / parts) == 0:
        parts += 1
    return point


def _sturm_chain(poly: Poly) -> list[Poly]:
    """Sturm's chain; dividing by its last entry removes repeated roots without moving any."""
    chain = [_primitive(poly), _primitive(_derivative(poly))]
    while chain[-1]:
        chain.append(_primitive([-c for c in _divide(chain[-2], chain[-1])[1]]))
    chain.pop()
    return [_quotient(p, chain[-1]) for p in chain]


def _changes(chain: list[Poly], x: Fraction) -> int:
    signs = [v > 0 for poly in chain if (v := value(poly, x)) != 0]
    return sum(a != b for a, b in pairwise(signs))


def _derivative(poly: Poly) -> Poly:
    return trimmed([i * c for i, c in enumerate(poly)][1:])


def _divide(a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """Quotient and remainder."""
    quotient, rest = [Fraction(0)] * max(len(a) - len(b) + 1, 0), list(a)
    for shift in reversed(range(len(quotient))):
        factor = quotient[shift] = rest[shift + len(b) - 1] / b[-1]
        for i, c in enumerate(b):
            rest[shift + i] -= factor * c
    return quotient, trimmed(rest)


def _quotient(a: Poly, b: Poly) -> Poly:
    return trimmed(_divide(a, b)[0])


def _primitive(poly: Poly) -> Poly:
    """The same polynomial over a positive constant, with small integer coefficients."""
    if not poly:
        return poly
    scale = lcm(*(c.denominator for c in poly))
    shared = gcd(*(int(c * scale) for c in poly))
    return [c * scale / shared for c in poly]
