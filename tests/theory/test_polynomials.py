"""Signs on (0, 1) against polynomials whose roots are known."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import polynomial as P

from hardgap.theory.polynomials import exact, signs_inside

ROOTS = st.lists(st.fractions(-1, 2, max_denominator=12), max_size=5)


@given(ROOTS, st.sampled_from([-1, 1]))
@settings(max_examples=150, deadline=None)
def test_signs_follow_from_the_roots(roots: list[Fraction], leading: int) -> None:
    poly = reduce(P.polymul, (exact([-root, 1]) for root in roots), exact([leading]))
    inner = sorted({root for root in roots if 0 < root < 1})
    cuts = [Fraction(0), *inner, Fraction(1)]
    middles = [(a + b) / 2 for a, b in pairwise(cuts)]
    expected = {1 if P.polyval(x, poly) > 0 else -1 for x in middles}
    found = signs_inside(poly)
    assert set(found) == expected
    for sign, point in found.items():
        assert 0 < point < 1
        assert (P.polyval(point, poly) > 0) == (sign > 0)


@pytest.mark.parametrize(
    ("coefficients", "signs"),
    [([0, 0], {0}), ([1, -4, 4], {1}), ([-2, 0, 4], {-1, 1}), ([0, 1, -1], {1}), ([3], {1}), ([0, -1], {-1})],
)
def test_touching_ends_and_double_roots(coefficients: list[int], signs: set[int]) -> None:
    assert set(signs_inside(coefficients)) == signs
