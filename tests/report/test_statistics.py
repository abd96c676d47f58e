"""Intervals against hand-computed values."""

import math

import pytest

from hardgap.report.statistics import holm, mean_interval, ratio_interval, same_rate_p, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (8, 80), (47, 60), (10, 10)])
def test_wilson_is_the_textbook_formula(successes: int, n: int) -> None:
    z, rate = 1.959963984540054, successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    assert wilson(successes, n) == pytest.approx((max(0.0, centre - half), min(1.0, centre + half)), abs=1e-12)


def test_mean_interval_of_known_values() -> None:
    low, high = mean_interval([0.5, 0.6, 0.7]) or (0, 0)  # t(0.975, 2) = 4.3027, standard error 0.057735
    assert (low, high) == pytest.approx((0.6 - 0.24841, 0.6 + 0.24841), abs=1e-4)


def test_one_value_has_no_interval_and_equal_values_a_point() -> None:
    assert mean_interval([0.7]) is None
    assert mean_interval([]) is None
    assert mean_interval([1.0, 1.0, 1.0]) == (1.0, 1.0)


def test_an_interval_stays_a_share() -> None:
    assert mean_interval([0.0, 1.0]) == (0.0, 1.0)


def test_fishers_test_tells_ten_of_ten_from_none_of_ten_but_not_from_nine() -> None:
    assert same_rate_p(10, 10, 0, 10) < 1e-4
    assert same_rate_p(10, 10, 9, 10) == 1.0


def test_holms_correction_keeps_the_order_and_multiplies_by_what_is_left() -> None:
    assert holm([0.04, 0.001, 0.03, 0.9]) == pytest.approx([0.09, 0.004, 0.09, 0.9])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_interval_of_a_ratio_draws_within_groups() -> None:
    """Groups far apart, each without spread, leave nothing open; the same values in one group leave much."""
    apart, even = [[0.2] * 3, [0.8] * 3], [[0.5] * 3]
    assert ratio_interval(even, apart) == pytest.approx((1.0, 1.0))
    low, high = ratio_interval(even, [[0.2] * 3 + [0.8] * 3])
    assert low < 0.8 < 1.2 < high
    assert ratio_interval(even, [[0.2] * 3 + [0.8] * 3]) == (low, high)  # always the same draws


def test_a_group_counts_by_how_many_it_has() -> None:
    low, high = ratio_interval([[0.4, 0.4]], [[0.1, 0.1, 0.1], [0.3]])
    assert (low, high) == pytest.approx((0.375, 0.375))  # 0.15 of 0.4
