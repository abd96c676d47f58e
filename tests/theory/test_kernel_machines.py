"""SVMs: the exact optimum, the bounds of the proof, and scikit-learn."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from hardgap.theory import kernel_machines
from hardgap.theory.cube import LabelFamily, parity


def test_statements_hold() -> None:
    assert kernel_machines.fits_visible_so_wrong().holds
    assert kernel_machines.svm_wrong(max_exact_n=3).holds


def test_the_identity_is_special_to_parity(falsified: LabelFamily) -> None:
    assert not kernel_machines.fits_visible_so_wrong(falsified).holds


@pytest.mark.parametrize("case", list(kernel_machines.svm_grid(3)))
def test_exact_optimum_is_scikit_learns(case: tuple[int, Fraction, Fraction]) -> None:
    from sklearn.svm import SVC

    n, r, box = case
    points = ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(float)
    svm = SVC(gamma=-log(r), C=float(box), tol=1e-9).fit(points[1:], parity(n)[1:])
    low, high = map(float, kernel_machines.solve_svm(*case).at_hidden)
    found = svm.decision_function(points[:1])[0]
    assert low - 1e-3 * (1 + abs(low)) <= found <= high + 1e-3 * (1 + abs(high))
    assert high < 0


@pytest.mark.parametrize("case", list(kernel_machines.svm_grid(3)))
def test_the_bound_of_the_proof_is_a_bound(case: tuple[int, Fraction, Fraction]) -> None:
    n, r, box = case
    solution, level = kernel_machines.solve_svm(*case), (1 - r) ** n * box
    sizes = [1]
    for d in range(1, n + 1):
        sizes.append(sizes[-1] * (n - d + 1) // d)
    parts = [m / box for m in solution.multipliers]
    bound = -sum(size * (1 - a) * (1 - level * a) for size, a in zip(sizes[1:], parts, strict=True))
    assert solution.at_hidden[1] <= bound


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("r", [Fraction(1, 50), Fraction(1, 3), Fraction(9, 10)])
def test_the_hard_margin_in_closed_form(n: int, r: Fraction) -> None:
    smallest, small = (1 - r) ** n, ((1 - r) / 2) ** n
    solution = kernel_machines.solve_svm(n, r, 100 / smallest)
    expected = [(1 - r**d - (2 * small if d % 2 else 0)) / smallest / (1 - small) for d in range(1, n + 1)]
    assert solution.multipliers == tuple(expected)
    assert solution.at_hidden[0] == solution.at_hidden[1] == 1 - (1 + r) ** n / (1 - small)


def test_fitting_the_visible_labels_forces_the_error() -> None:
    rng, n = np.random.default_rng(3), 4
    points, y = np.arange(1 << n), parity(n)
    for r in (0.2, 0.6):
        kernel = r ** np.bitwise_count(points[:, None] ^ points[1:])
        for margins in rng.random((50, len(points) - 1)) + 0.01:
            fitted = np.linalg.solve(kernel[1:], margins * y[1:])  # any function with these visible margins
            assert y[0] * (kernel[0] @ fitted) < 0
