"""How wide floating point lets the routing go."""

from __future__ import annotations

import pytest
import torch

from hardgap.theory.construction import construct
from hardgap.theory.limits import guaranteed_width, measured_limit, measured_mass, predicted_mass, routing_curve
from hardgap.theory.verification import check_rows, random_rows, routing
from hardgap.worlds.automaton.rule import Rule


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_the_prediction_is_a_lower_bound_and_not_far_off(dtype: torch.dtype) -> None:
    curve = routing_curve(dtype)
    assert all(point.measured >= point.predicted - 2 * torch.finfo(dtype).eps for point in curve)
    assert 0.75 * guaranteed_width(dtype) <= measured_limit(curve) <= 3 * guaranteed_width(dtype)
    assert not curve[-1].routed


def test_predictions_by_hand() -> None:
    assert predicted_mass(101, torch.float64) == pytest.approx(1 / (1 + 2 * 2.718281828459045**-30))
    assert predicted_mass(10**6, torch.float32) == 0
    assert guaranteed_width(torch.float64) == pytest.approx(1.4908e8, rel=1e-4)


@pytest.mark.parametrize(("dtype", "width"), [(torch.float16, 40), (torch.float32, 401)])
def test_the_window_sees_what_the_whole_network_does(dtype: torch.dtype, width: int) -> None:
    construction = construct(Rule(1, 30), width, dtype=dtype)
    assert routing(construction)[1].min() == pytest.approx(measured_mass(width, dtype).measured, abs=1e-3)
    assert check_rows(construction, random_rows(width, 2, seed=0)).exact


def test_half_precision_fails_in_the_whole_network_where_it_is_measured_to() -> None:
    assert not measured_mass(170, torch.float16).routed
    assert check_rows(construct(Rule(1, 150), 170, dtype=torch.float16), random_rows(170, 2, seed=0)).wrong > 0


def test_logits_that_are_not_numbers_are_wrong() -> None:
    overflowing = construct(Rule(1, 150), 300, dtype=torch.float16)  # its scores leave the range of half precision
    check = check_rows(overflowing, random_rows(300, 2, seed=0))
    assert (check.wrong > 0, check.exact) == (True, False)


@pytest.mark.slow
def test_a_row_of_two_thousand_cells_in_single_precision() -> None:
    assert check_rows(construct(Rule(1, 110), 2001), random_rows(2001, 2, seed=0)).exact
