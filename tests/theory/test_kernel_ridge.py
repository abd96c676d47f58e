"""Theorem 4 by two independent routes, and the exact arithmetic they stand on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.theory import kernel_ridge
from hardgap.theory.cube import LabelFamily, parity
from hardgap.theory.kernel_ridge import ridge_signs


def test_both_routes_hold_for_parity() -> None:
    assert kernel_ridge.theorem_4_spectrum().holds
    assert kernel_ridge.theorem_4_solved(max_full_n=3, max_n=8).holds
    assert kernel_ridge.mean_removed().holds


def test_both_routes_fail_when_falsified(falsified: LabelFamily) -> None:
    assert not kernel_ridge.theorem_4_spectrum(falsified).holds
    assert not kernel_ridge.theorem_4_solved(falsified, max_full_n=3, max_n=3).holds


def test_zero_one_targets_are_a_trap() -> None:
    statement = kernel_ridge.zero_one_labels()
    assert statement.verdict == "does not extend"
    assert "p = 0, 3, 5, 6" in statement.detail


@given(
    st.integers(1, 5),
    st.fractions("1/50", "49/50", max_denominator=50),
    st.fractions("1/100", 10, max_denominator=100),
)
@settings(max_examples=25, deadline=None)
def test_exact_prediction_agrees_with_floating_point(n: int, r: Fraction, noise: Fraction) -> None:
    y, points = parity(n), np.arange(1 << n)
    kernel = float(r) ** np.bitwise_count(points[:, None] ^ points)
    weights = np.linalg.solve(kernel[1:, 1:] + float(noise) * np.eye(len(y) - 1), y[1:])
    numerical = y[0] * kernel[0, 1:] @ weights
    assert float(kernel_ridge.shell_prediction(n, r, noise)) == pytest.approx(numerical, rel=1e-6)
    assert kernel_ridge.shell_prediction(n, r, noise) == kernel_ridge.closed_form(n, r, noise)


@given(st.integers(0, 255), st.integers(0, 7))
@settings(max_examples=40, deadline=None)
def test_signs_over_all_parameters_are_shown_or_excluded(number: int, p: int) -> None:
    y = np.array([1 - 2 * (number >> q & 1) for q in range(8)])
    found = ridge_signs(tuple(kernel_ridge.level_gaps(y)[p].tolist()))
    for sign, (r, noise) in found.items():
        exact = kernel_ridge.solved_prediction(y, p, r, noise)
        assert (exact > 0) - (exact < 0) == sign
    for r, noise in kernel_ridge.GRID:
        exact = kernel_ridge.solved_prediction(y, p, r, noise)
        assert (exact > 0) - (exact < 0) in found
