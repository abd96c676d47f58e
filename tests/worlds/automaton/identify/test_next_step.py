"""Criterion `next-step`, against trying every state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.identify.next_step import next_step_cells
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import Rule, parse_rule


@st.composite
def gaps(draw: st.DrawFn) -> Gap:
    radius = draw(st.sampled_from([1, 1, 2]))
    patterns = 2 ** (2 * radius + 1)
    rule = Rule(radius, draw(st.integers(0, 2**patterns - 1)))
    return Gap(rule, draw_hidden(rule, draw(st.integers(1, patterns - 1)), seed=draw(st.integers(0, 99))))


def known_by_trying_everything(gap: Gap, row: np.ndarray, mask: bool) -> np.ndarray:
    truth = gap.trajectory(row[None], 2)
    states = (np.arange(1 << len(row))[:, None] >> np.arange(len(row)) & 1).astype(np.uint8)
    patterns, hidden, shown = patterns_of(states, gap.rule.radius), truth.hidden[:, 0], ~truth.hidden[1, 0]
    same = ~gap.hidden_table[patterns] & (gap.rule.table[patterns] == truth.states[2, 0])
    fits = ((states == truth.states[1, 0]) | hidden[0]).all(axis=1) & (same | ~shown).all(axis=1)
    if mask:
        fits &= (gap.hidden_table[patterns] | shown).all(axis=1)
    return hidden[0] & (states[fits] == states[fits][0]).all(axis=0)


@settings(deadline=None, max_examples=120)
@given(gaps(), st.integers(1, 9), st.integers(0, 2**32 - 1), st.booleans())
def test_walks_agree_with_trying_every_state(gap: Gap, width: int, seed: int, mask: bool) -> None:
    rows = np.random.default_rng(seed).integers(0, 2, (5, width), dtype=np.uint8)
    got = next_step_cells(gap, rows, 2, mask=mask)
    for row, known in zip(rows, got.known[0], strict=True):
        assert known.tolist() == known_by_trying_everything(gap, row, mask).tolist()


@settings(deadline=None, max_examples=30)
@given(gaps(), st.integers(0, 2**32 - 1))
def test_the_mask_is_evidence_and_each_step_stands_alone(gap: Gap, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 2, (5, 21), dtype=np.uint8)
    longer, shorter = next_step_cells(gap, rows, 4), next_step_cells(gap, rows, 2)
    assert np.array_equal(longer.known[0], shorter.known[0])
    assert (longer.known <= next_step_cells(gap, rows, 4, mask=True).known).all()


def test_an_entry_is_read_off_where_one_of_its_cells_is_determined() -> None:
    gap = Gap(parse_rule("150"), (0, 2))
    got = next_step_cells(gap, np.random.default_rng(0).integers(0, 2, (30, 31), dtype=np.uint8), 3)
    for row in range(30):
        seen = {int(p) for p in got.patterns[:, row][got.known[:, row]]}
        assert [p in seen for p in gap.hidden] == got.entries[row].tolist()


def test_one_step_determines_nothing_and_none_is_refused() -> None:
    gap, rows = Gap(parse_rule("30"), (3,)), np.ones((2, 7), dtype=np.uint8)
    rows[:, 2] = 0
    assert not next_step_cells(gap, rows, 1).identified.any()
    with pytest.raises(BadInput, match="steps 0"):
        next_step_cells(gap, rows, 0)
