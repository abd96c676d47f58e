"""Stepping rows: every elementary rule and every short row against a definition written out cell by cell."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.rollout import patterns_of, rollout, step
from hardgap.worlds.automaton.rule import Rule, parse_rule


def slow_step(radius: int, number: int, row: str) -> str:
    """Look each neighbourhood up as text: the number in binary, read from the back."""
    outputs = format(number, f"0{2 ** (2 * radius + 1)}b")[::-1]
    width = len(row)
    around = ["".join(row[(i + d) % width] for d in range(-radius, radius + 1)) for i in range(width)]
    return "".join(outputs[int(text, 2)] for text in around)


def as_text(rows: np.ndarray) -> list[str]:
    return ["".join(map(str, row)) for row in rows.reshape(-1, rows.shape[-1]).tolist()]


def all_rows(width: int) -> np.ndarray:
    return (np.arange(2**width)[:, None] >> np.arange(width)[::-1] & 1).astype(np.uint8)


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_all_256_elementary_rules_on_every_row(width):
    rows = all_rows(width)
    texts = as_text(rows)
    for number in range(256):
        assert as_text(step(Rule(1, number), rows)) == [slow_step(1, number, row) for row in texts]


@pytest.mark.parametrize("width", range(1, 10))
@pytest.mark.parametrize("text", ["110", "30", "D", "G", "r3:0x1e2feb89414c343c1027c4d1c386bbc4"])
def test_every_row_up_to_width_nine(text, width):
    rule, rows = parse_rule(text), all_rows(width)
    assert as_text(step(rule, rows)) == [slow_step(rule.radius, rule.number, row) for row in as_text(rows)]


@st.composite
def rule_and_rows(draw):
    radius = draw(st.integers(1, 3))
    rule = Rule(radius, draw(st.integers(0, 2 ** (2 ** (2 * radius + 1)) - 1)))
    shape = draw(npst.array_shapes(min_dims=1, max_dims=4, max_side=12))
    return rule, draw(npst.arrays(np.uint8, shape, elements=st.integers(0, 1)))


@given(rule_and_rows(), st.integers(0, 4))
def test_any_rule_on_any_batch(case, steps):
    rule, rows = case
    states = rollout(rule, rows, steps)
    assert states.shape == (steps + 1, *rows.shape)
    assert states.dtype == np.uint8
    expected = as_text(rows)
    for state in states:
        assert as_text(state) == expected
        expected = [slow_step(rule.radius, rule.number, row) for row in expected]


@given(rule_and_rows())
def test_patterns_read_left_to_right(case):
    rule, rows = case
    patterns = patterns_of(rows, rule.radius)
    assert patterns.shape == rows.shape
    for text, found in zip(as_text(rows), patterns.reshape(-1, rows.shape[-1]).tolist(), strict=True):
        wrapped = [[text[(i + d) % len(text)] for d in range(-rule.radius, rule.radius + 1)] for i in range(len(text))]
        assert found == [int("".join(cells), 2) for cells in wrapped]


def test_rule_110_grows_to_the_left():
    row = np.array([0, 0, 0, 0, 1, 0])
    assert as_text(rollout(Rule(1, 110), row, 3)) == ["000010", "000110", "001110", "011010"]


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int32, np.int64, np.uint8, np.uint16])
def test_integer_and_boolean_rows_of_any_dtype(dtype):
    rows = all_rows(4).astype(dtype)
    expected = step(Rule(1, 30), all_rows(4))
    assert np.array_equal(step(Rule(1, 30), rows), expected)


def test_strided_and_empty_batches():
    rows = all_rows(6)
    assert np.array_equal(step(Rule(1, 30), rows[::3, ::2]), step(Rule(1, 30), rows[::3, ::2].copy()))
    assert np.array_equal(step(Rule(1, 30), rows.T), step(Rule(1, 30), rows.T.copy()))
    assert rollout(Rule(2, 30), rows[:0], 3).shape == (4, 0, 6)


def test_the_given_rows_are_left_alone():
    rows = all_rows(5)
    states = rollout(Rule(1, 30), rows, 2)
    states[:] = 7
    step(Rule(1, 255), rows)[:] = 7
    assert np.array_equal(rows, all_rows(5))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0.0, 1.0], "rows must hold integers or booleans, not float"),
        ([0, 2], "rows must hold only 0 and 1, not values from 0 to 2"),
        ([-1, 1], "rows must hold only 0 and 1, not values from -1 to 1"),
        (256, "rows need a width of at least 1, not shape ()"),
    ],
)
def test_rows_that_are_not_binary_are_refused(rows, message):
    for ask in (lambda r: step(Rule(1, 30), r), lambda r: patterns_of(r, 1), lambda r: rollout(Rule(1, 30), r, 1)):
        with pytest.raises(BadInput) as caught:
            ask(np.asarray(rows))
        assert message in str(caught.value)


def test_a_width_of_zero_is_refused():
    with pytest.raises(BadInput, match=r"rows need a width of at least 1, not shape \(3, 0\)"):
        step(Rule(1, 30), np.zeros((3, 0), np.uint8))


def test_a_negative_number_of_steps_is_refused():
    with pytest.raises(BadInput, match="steps -1 is not possible: give 0 or more"):
        rollout(Rule(1, 30), all_rows(3), -1)


def test_stepping_rows_imports_no_torch():
    code = (
        "import sys, numpy as np\n"
        "from hardgap.worlds.automaton import bitslice, rollout, rule\n"
        "rollout.rollout(rule.parse_rule('D'), np.eye(5, dtype=np.uint8), 3)\n"
        "assert not {'torch', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
