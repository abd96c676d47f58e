"""The polynomial and the recovered rule, on functions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hardgap.nn.encoder import Encoder
from hardgap.worlds.automaton.circuits.polynomial import PARITY_SHARE, fit_polynomial, moebius, polynomial_of
from hardgap.worlds.automaton.circuits.recovered import recover_rule
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

from .conftest import XOR, Nameless, built

# Appendix B of the paper, in the order of its table: c0, L, C, R, LC, LR, CR, LCR.
PUBLISHED = {
    4444: [-5.89, 11.82, 7.13, 11.63, -19.28, -23.60, -18.91, 42.88],
    456: [-6.50, 12.59, 8.26, 12.91, -20.39, -25.27, -21.11, 46.14],
}
TABLE_ORDER = [0b000, 0b100, 0b010, 0b001, 0b110, 0b101, 0b011, 0b111]


def test_the_constructed_xor_has_the_coefficients_of_xor(xor: Encoder, rows: NDArray[np.uint8]) -> None:
    found = fit_polynomial(xor, XOR, rows, contexts=54)
    assert found.structure == "XOR"
    assert [term.name for term in found.terms] == ["1", "L1", "C", "R1", "L1·C", "L1·R1", "C·R1", "L1·C·R1"]
    expected = [-10, 20, 20, 20, -40, -40, -40, 80]  # logits are ±10
    assert [term.coefficient for term in found.terms] == pytest.approx(expected, abs=0.01)
    assert max(term.spread for term in found.terms) < 0.01
    assert found.explained == pytest.approx(1.0)
    assert found.degree_shares == pytest.approx((0, 0, 1), abs=1e-6)


def _within(patterns: int) -> NDArray[np.bool_]:
    """[monomial, pattern]: whether all cells of the monomial are 1 in the pattern."""
    every = np.arange(patterns)
    return (every[:, None] & every) == every[:, None]


@pytest.mark.parametrize("seed", PUBLISHED)
def test_the_published_coefficients_are_recognised_as_xor(seed: int) -> None:
    coefficients = np.zeros(8)
    coefficients[TABLE_ORDER] = PUBLISHED[seed]
    found = polynomial_of((coefficients @ _within(8))[None], Rule(1, 150))
    assert found.structure == "XOR"
    assert found.parity_share > 0.93
    assert [term.coefficient for term in found.terms] == pytest.approx(PUBLISHED[seed])


@pytest.mark.parametrize("pattern", range(8))
def test_one_wrong_output_is_not_xor(pattern: int) -> None:
    logits = 10.0 * (2 * Rule(1, 150 ^ (1 << pattern)).table.astype(float) - 1)
    found = polynomial_of(logits[None], Rule(1, 150))
    assert found.structure == "another function"
    assert found.parity_share < PARITY_SHARE
    assert found.signs_right == 7


@pytest.mark.parametrize(("number", "structure"), [(110, "the rule, not XOR"), (105, "XNOR"), (150, "XOR")])
def test_structures_are_told_apart(number: int, structure: str) -> None:
    logits = 2 * Rule(1, number).table.astype(float) - 1
    assert polynomial_of(logits[None], Rule(1, number)).structure == structure


def test_an_additive_function_has_only_degree_one() -> None:
    """Mean logit L + 2C + 4R: coefficients in the order of the cells, so a left–right swap shows."""
    patterns = np.arange(8)
    logits = ((patterns >> 2) & 1) + 2.0 * ((patterns >> 1) & 1) + 4.0 * (patterns & 1)
    found = polynomial_of(logits[None], Rule(1, 150))
    assert [term.coefficient for term in found.terms] == pytest.approx([0, 1, 2, 4, 0, 0, 0, 0])
    assert found.degree_shares == pytest.approx((1, 0, 0))


@given(st.lists(st.floats(-50, 50), min_size=32, max_size=32))
def test_a_polynomial_gives_back_its_values(values: list[float]) -> None:
    assert moebius(values) @ _within(32) == pytest.approx(values, abs=1e-9)


def test_spread_and_fit_error_measure_what_the_context_adds(rows: NDArray[np.uint8]) -> None:
    """Logits that differ by ±1 with the context: the constant term spreads by 1, the others do not."""
    logits = 10.0 * (2 * Rule(1, 150).table.astype(float) - 1) + np.array([[1.0], [-1.0]])
    found = polynomial_of(logits, Rule(1, 150))
    assert found.terms[0].spread == pytest.approx(1.0)
    assert max(term.spread for term in found.terms[1:]) == pytest.approx(0.0)
    assert found.rmse == pytest.approx(1.0)
    assert found.explained == pytest.approx(100 / 101)


@pytest.mark.parametrize("number", [30, 110, 151, 184])
def test_the_recovered_rule_is_the_one_that_was_built_in(number: int, rows: NDArray[np.uint8]) -> None:
    found = recover_rule(built(number), XOR, rows, contexts=54)
    assert found.rule == str(number)
    assert found.local
    assert [entry.pattern for entry in found.wrong] == [p for p in range(8) if (number ^ 150) >> p & 1]
    assert found.outside == 0.0
    assert [entry.hidden for entry in found.entries] == [p == 2 for p in range(8)]


def test_influence_tells_left_from_right(rows: NDArray[np.uint8]) -> None:
    influence = recover_rule(built(170), XOR, rows, contexts=9).influence
    assert influence == {offset: float(offset == 1) for offset in range(-4, 5)}


def test_a_wider_rule_is_not_local_at_radius_1(rows: NDArray[np.uint8]) -> None:
    wider = Nameless(Rule.from_table([(p >> 4) & 1 for p in range(32)]))  # copies the cell two to the left
    found = recover_rule(wider, XOR, rows, contexts=90)
    assert not found.local
    assert found.outside == found.influence[-2] == 1.0
    assert all(0.3 < entry.low < entry.high for entry in found.entries)


def test_radius_2_has_thirty_two_terms(rows: NDArray[np.uint8]) -> None:
    gap = Gap(Rule(2, 0x12345678), (3,))
    found = fit_polynomial(Nameless(gap.rule), gap, rows, contexts=18)
    assert len(found.terms) == 32
    assert found.terms[-1].cells == ("L2", "L1", "C", "R1", "R2")
    assert len(found.degree_shares) == 5
    assert found.signs_right == 32
