"""Bit-sliced rollouts against the plain ones, for every rule and every ragged size."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton import bitslice
from hardgap.worlds.automaton.rollout import rollout, step
from hardgap.worlds.automaton.rule import Rule, parse_rule


def rows_of(count: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (count, width), dtype=np.uint8)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1000])
@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_pack_and_unpack_are_exact(count, width):
    rows = rows_of(count, width)
    words = bitslice.pack(rows)
    assert words.shape == (width, -(-count // 64))
    assert words.dtype == np.uint64
    assert np.array_equal(bitslice.unpack(words, count), rows)


def test_a_row_is_a_bit_of_a_word():
    rows = np.zeros((130, 3), np.uint8)
    rows[0, 1] = rows[5, 0] = rows[63, 2] = rows[129, 2] = 1
    expected = np.zeros((3, 3), np.uint64)
    expected[1, 0], expected[0, 0] = 1, 1 << 5
    expected[2, 0], expected[2, 2] = 1 << 63, 1 << (129 - 128)
    assert np.array_equal(bitslice.pack(rows), expected)


def test_every_elementary_rule_for_some_steps():
    rows = rows_of(100, 11)
    words = bitslice.pack(rows)
    for number in range(256):
        rule = Rule(1, number)
        states = rollout(rule, rows, 3)
        assert np.array_equal(bitslice.unpack(bitslice.rollout(rule, words, 3), 100), states)
        assert np.array_equal(bitslice.unpack(bitslice.evolve(rule, words, 3), 100), states[-1])
        assert np.array_equal(bitslice.unpack(bitslice.evolve(rule, words, 1), 100), step(rule, rows))


@pytest.mark.parametrize("width", range(1, 10))
@pytest.mark.parametrize("text", ["110", "D", "G", "r3:0x1e2feb89414c343c1027c4d1c386bbc4"])
def test_every_row_up_to_width_nine(text, width):
    rows = (np.arange(2**width)[:, None] >> np.arange(width) & 1).astype(np.uint8)
    rule = parse_rule(text)
    found = bitslice.unpack(bitslice.evolve(rule, bitslice.pack(rows), 4), len(rows))
    assert np.array_equal(found, rollout(rule, rows, 4)[-1])


@settings(max_examples=60, deadline=None)
@given(
    number=st.integers(0, 2**32 - 1),
    count=st.integers(0, 200),
    width=st.integers(1, 12),
    steps=st.integers(0, 5),
)
@example(number=0, count=65, width=1, steps=1)
@example(number=2**32 - 1, count=65, width=2, steps=1)
@example(number=0xFF00FF00, count=3, width=1, steps=3)
def test_any_radius_two_rule(number, count, width, steps):
    rule, rows = Rule(2, number), rows_of(count, width, seed=number)
    words = bitslice.pack(rows)
    states = rollout(rule, rows, steps)
    assert np.array_equal(bitslice.unpack(bitslice.rollout(rule, words, steps), count), states)
    assert np.array_equal(bitslice.unpack(bitslice.evolve(rule, words, steps), count), states[-1])


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_any_radius_three_rule(number):
    rule, rows = Rule(3, number), rows_of(70, 9, seed=1)
    found = bitslice.unpack(bitslice.evolve(rule, bitslice.pack(rows), 3), 70)
    assert np.array_equal(found, rollout(rule, rows, 3)[-1])


def test_tiles_meet_without_a_seam(monkeypatch):
    rows, rule = rows_of(1000, 7), parse_rule("D")
    words = bitslice.pack(rows)
    whole = bitslice.evolve(rule, words, 5)
    monkeypatch.setattr(bitslice, "_TILE_BYTES", 3 * 8 * 7)
    assert np.array_equal(bitslice.evolve(rule, words, 5), whole)
    assert np.array_equal(bitslice.unpack(whole, 1000), rollout(rule, rows, 5)[-1])


def test_the_given_words_are_left_alone():
    words = bitslice.pack(rows_of(100, 5))
    before = words.copy()
    bitslice.evolve(Rule(1, 30), words, 0)[:] = 0
    bitslice.rollout(Rule(1, 30), words, 2)[:] = 0
    assert np.array_equal(words, before)


def test_leading_axes_are_kept():
    rows = rows_of(6 * 70, 5).reshape(2, 3, 70, 5)
    words = bitslice.pack(rows)
    assert words.shape == (2, 3, 5, 2)
    assert np.array_equal(bitslice.unpack(words, 70), rows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bitslice.pack(np.zeros(5, np.uint8)), "rows to pack need the shape [rows, width], not (5,)"),
        (lambda: bitslice.pack(np.full((2, 2), 3)), "rows must hold only 0 and 1, not values from 3 to 3"),
        (lambda: bitslice.pack(np.zeros((2, 0), np.uint8)), "rows need a width of at least 1"),
        (lambda: bitslice.unpack(np.zeros((3, 1), np.uint64), 65), "1 words hold up to 64 rows, not 65"),
        (lambda: bitslice.evolve(Rule(1, 30), np.zeros((3, 1), np.uint8), 1), "expected packed words [width, words]"),
        (lambda: bitslice.evolve(Rule(1, 30), np.zeros(3, np.uint64), 1), "not uint64 (3,)"),
        (lambda: bitslice.evolve(Rule(1, 30), np.zeros((3, 1), np.uint64), -1), "steps -1 is not possible"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(BadInput) as caught:
        call()
    assert message in str(caught.value)
