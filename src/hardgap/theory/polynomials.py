"""Exact signs of a polynomial on the unit interval.

A polynomial is an array of rational coefficients, constant term first: NumPy's own functions on polynomials compute
with Python's fractions exactly. Roots are counted with Sturm's theorem, so the answers are about every real number in
the interval and not about a grid.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as P
from numpy.typing import NDArray

Poly = NDArray[Any]  # of Fractions


def exact(coefficients: Iterable[Any]) -> Poly:
    """The coefficients as fractions, without zero leading terms."""
    found: Poly = P.polytrim(np.array([Fraction(c) for c in coefficients], dtype=object))
    return found


def signs_inside(coefficients: Iterable[Any]) -> dict[int, Fraction]:
    """The signs that the polynomial takes on stretches of (0, 1), each with a rational point where it does.

    Isolated roots are not reported, only the signs between them; the zero polynomial answers {0: 1/2}.

    >>> signs_inside([-1, 2])  # 2x - 1 changes sign at 1/2
    {-1: Fraction(1, 3), 1: Fraction(2, 3)}
    >>> signs_inside([0, 3, -3, 1])  # 1 - (1-x)^3
    {1: Fraction(1, 2)}
    """
    poly = exact(coefficients)
    if not poly.any():
        return {0: Fraction(1, 2)}
    open_part = _without_roots_at_ends(poly)
    chain = _sturm_chain(open_part)
    intervals = _isolate(chain, Fraction(0), Fraction(1))
    points = [end for interval in intervals for end in interval] or [_between(open_part, Fraction(0), Fraction(1))]
    signs: dict[int, Fraction] = {}
    for point in points:
        signs.setdefault(1 if P.polyval(point, poly) > 0 else -1, point)
    return signs


def _without_roots_at_ends(poly: Poly) -> Poly:
    while poly[0] == 0:
        poly = poly[1:]
    while poly.sum() == 0:
        poly = P.polydiv(poly, exact([-1, 1]))[0]
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
    while P.polyval(point := low + (high - low) / parts, poly) == 0:
        parts += 1
    return point


def _sturm_chain(poly: Poly) -> list[Poly]:
    """Sturm's chain; dividing by its last entry removes repeated roots without moving any."""
    chain = [_primitive(poly), _primitive(P.polyder(poly))]
    while chain[-1].any():
        chain.append(_primitive(-P.polydiv(chain[-2], chain[-1])[1]))
    chain.pop()
    return [P.polydiv(p, chain[-1])[0] for p in chain]


def _changes(chain: list[Poly], x: Fraction) -> int:
    signs = [v > 0 for poly in chain if (v := P.polyval(x, poly)) != 0]
    return sum(a != b for a, b in pairwise(signs))


def _primitive(poly: Poly) -> Poly:
    """The same polynomial over a positive constant, with small integer coefficients."""
    scale = lcm(*(c.denominator for c in poly))
    shared = gcd(*(int(c * scale) for c in poly)) or 1
    return poly * scale / shared
