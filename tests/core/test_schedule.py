"""Temperatures and learning rates at the steps where an off-by-one would show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardgap.core.loop import learning_rate_at
from hardgap.core.specs import Optimiser
from hardgap.worlds.automaton.regime import Temperature, temperature_at


def test_a_linear_temperature_starts_ends_and_stays() -> None:
    spec = Temperature(start=4.0, end=1.0, over=10)
    assert [temperature_at(spec, step) for step in (0, 1, 5, 9, 10, 11, 10**9)] == pytest.approx(
        [4.0, 3.7, 2.5, 1.3, 1.0, 1.0, 1.0]
    )


def test_a_cosine_temperature_is_slow_at_both_ends() -> None:
    spec = Temperature(start=4.0, end=1.0, over=10, shape="cosine")
    assert temperature_at(spec, 0) == 4.0
    assert temperature_at(spec, 5) == pytest.approx(2.5)
    assert temperature_at(spec, 1) == pytest.approx(4 - 3 * (1 - math.cos(math.pi / 10)) / 2)
    assert temperature_at(spec, 10) == 1.0
    assert temperature_at(spec, 1) > temperature_at(Temperature(start=4.0, end=1.0, over=10), 1)


def test_a_constant_temperature_needs_no_time() -> None:
    assert {temperature_at(Temperature(start=3.0, end=3.0), step) for step in (0, 1, 100)} == {3.0}
    assert {temperature_at(Temperature(), step) for step in (0, 1, 100)} == {1.0}


@given(
    st.floats(0.01, 100), st.floats(0.01, 100), st.integers(1, 500), st.sampled_from(["linear", "cosine"]), st.data()
)
def test_a_temperature_never_leaves_its_ends(
    start: float, end: float, over: int, shape: str, data: st.DataObject
) -> None:
    spec = Temperature(start=start, end=end, over=over, shape=shape)
    found = temperature_at(spec, data.draw(st.integers(0, 2 * over)))
    assert min(start, end) * (1 - 1e-9) <= found <= max(start, end) * (1 + 1e-9)


def test_the_paper_keeps_its_learning_rate() -> None:
    assert {learning_rate_at(Optimiser(), step, 100) for step in range(100)} == {1e-3}


def test_a_linear_schedule_goes_down_to_its_last_step() -> None:
    spec = Optimiser(learning_rate=1.0, schedule="linear")
    assert [learning_rate_at(spec, step, 4) for step in range(4)] == pytest.approx([1.0, 0.75, 0.5, 0.25])


def test_a_cosine_schedule_is_half_way_at_half_time() -> None:
    spec = Optimiser(learning_rate=2.0, schedule="cosine")
    assert [learning_rate_at(spec, step, 4) for step in (0, 2, 4)] == pytest.approx([2.0, 1.0, 0.0])


def test_warmup_rises_from_the_first_step_and_multiplies_the_schedule() -> None:
    spec = Optimiser(learning_rate=1.0, warmup=4)
    assert [learning_rate_at(spec, step, 100) for step in range(6)] == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])
    both = Optimiser(learning_rate=1.0, warmup=2, schedule="linear")
    assert [learning_rate_at(both, step, 4) for step in range(4)] == pytest.approx([0.5, 0.75, 0.5, 0.25])
