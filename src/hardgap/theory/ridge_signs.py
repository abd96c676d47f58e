"""Which signs kernel ridge regression can have at a hidden point, over all its parameters.

By the spectrum (see `kernel_ridge`) the prediction has the sign of Σ_k D_k/(t^k + s), where t = (1-r)/(1+r) runs
over (0, 1) and s = σ²/(1+r)^n over all positive numbers: a polynomial in s whose coefficients are polynomials
in t. A sign is excluded by the tails or by all these coefficients; it is shown by a rational witness.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
from numpy.polynomial import polynomial as P

from hardgap.theory.kernel_ridge import tails
from hardgap.theory.polynomials import Poly, exact, signs_inside

_TS = tuple(Fraction(t) for t in ("1/3", "9/11", "1/19", "1/100", "3/5", "199/201", "1/1000", "1/10", "1/100000"))


class UnsettledError(RuntimeError):
    """Neither excluded nor shown; not seen for any rule of radius 1 nor for Rules D and G."""


@lru_cache(maxsize=4096)
def ridge_signs(gaps: tuple[int, ...]) -> dict[int, tuple[Fraction, Fraction]]:
    """The signs of y(p)·prediction over all 0 < r < 1 and σ² > 0, each with one (r, σ²) where it occurs.

    `gaps` is a row of `kernel_ridge.level_gaps`.
    """
    possible = set(np.sign(tails(np.array(gaps))).tolist()) - {0}
    if not possible:
        return {0: (Fraction(1, 2), Fraction(1))}
    columns = numerator(gaps)
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for t in _TS:
        for sign, s in signs_in_noise(columns, t).items():
            found.setdefault(sign, _parameters(t, s, n=len(gaps) - 1))
        if possible <= found.keys():
            return found
    if {sign for poly in columns for sign in signs_inside(poly)} - {0} <= found.keys():
        return found
    raise UnsettledError(f"signs {set(found)} shown, {possible - found.keys()} neither shown nor excluded for {gaps}")


def numerator(gaps: tuple[int, ...]) -> list[Poly]:
    """Σ_k D_k Π_{j≠k} (t^j + s): the coefficient of every power of s, as a polynomial in t."""
    n = len(gaps) - 1
    zero = exact([0])
    columns: list[Poly] = [zero] * (n + 1)
    for k in range(n + 1):
        term: list[Poly] = [exact([gaps[k]])]
        for j in (j for j in range(n + 1) if j != k):
            lifted, scaled = [zero, *term], [*(np.append([Fraction(0)] * j, c) for c in term), zero]
            term = [P.polyadd(a, b) for a, b in zip(lifted, scaled, strict=True)]
        columns = [P.polyadd(a, b) for a, b in zip(columns, term, strict=True)]
    return columns


def signs_in_noise(columns: list[Poly], t: Fraction) -> dict[int, Fraction]:
    """The signs at one t over all s > 0, each with an s. With s = u/(1-u) the range of u is (0, 1)."""
    n = len(columns) - 1
    poly = [Fraction(0)] * (n + 1)
    for m, column in enumerate(columns):
        coefficient = P.polyval(t, column)
        for j in range(n - m + 1):
            poly[m + j] += coefficient * comb(n - m, j) * (-1) ** j
    return {sign: u / (1 - u) for sign, u in signs_inside(poly).items()}


def _parameters(t: Fraction, s: Fraction, n: int) -> tuple[Fraction, Fraction]:
    r = (1 - t) / (1 + t)
    return r, s * (1 + r) ** n
