"""Criterion `strict` against its definition: every course that a row could have taken, listed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.identify.linear import paper_systems
from hardgap.worlds.automaton.identify.next_step import next_step_cells
from hardgap.worlds.automaton.identify.strict import strict_cells
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import Rule, parse_rule


def every_state(width: int) -> np.ndarray:
    return (np.arange(1 << width)[:, None] >> np.arange(width) & 1).astype(np.uint8)


def courses(gap: Gap, row: np.ndarray, steps: int, mask: bool = False) -> np.ndarray:
    """All `[courses, steps + 1, W]` that agree with what is visible, built step by step."""
    truth, found = gap.trajectory(row[None], steps), [row[None]]
    for t in range(steps):
        found = [
            np.vstack([course, after])
            for course in found
            for after in itertools.product(*_next(gap, course[-1], truth.hidden[t, 0], truth.states[t + 1, 0], mask))
        ]
    return np.array(found, dtype=np.uint8)


def _next(gap: Gap, before: np.ndarray, hidden: np.ndarray, states: np.ndarray, mask: bool) -> list[tuple[int, ...]]:
    """What each cell can be; nothing where the neighbourhood contradicts what is visible."""
    options: list[tuple[int, ...]] = []
    for pattern, unsupervised, state in zip(patterns_of(before, gap.rule.radius), hidden, states, strict=True):
        output, free = int(gap.rule.table[pattern]), bool(gap.hidden_table[pattern])
        if unsupervised:
            options.append((0, 1) if free else () if mask else (output,))
        else:
            options.append((output,) if not free and output == state else ())
    return options


def known_by_listing(gap: Gap, row: np.ndarray, steps: int, mask: bool = False) -> np.ndarray:
    found = courses(gap, row, steps, mask)[:, 1:-1]
    return gap.trajectory(row[None], steps).hidden[:-1, 0] & (found == found[0]).all(axis=0)


@pytest.mark.parametrize("name", ["150", "90", "30"])
def test_three_steps_determine_every_first_hidden_cell_where_the_next_step_alone_leaves_some(name: str) -> None:
    """Exhaustive: every row of width 9 but that of zeros."""
    gap, rows = Gap(parse_rule(name), (0,)), every_state(9)[1:]
    two, three, near = strict_cells(gap, rows, 2), strict_cells(gap, rows, 3), next_step_cells(gap, rows, 3)
    assert [int(found.known[0].sum()) for found in (two, near, three)] == [540, 540, 567]
    assert three.unknown[0].sum() == 567
    for row, known in zip(rows, three.known.swapaxes(0, 1), strict=True):
        assert np.array_equal(known, known_by_listing(gap, row, 3))


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("hidden", [(0,), (7,), (2,), (0, 5), (3, 6)])
@pytest.mark.parametrize("name", ["150", "30", "106", "110"])
def test_every_row_of_six_cells_agrees_with_listing_its_courses(name: str, hidden: tuple[int, ...], mask: bool) -> None:
    gap, rows, steps = Gap(parse_rule(name), hidden), every_state(6), 4 if len(hidden) == 1 else 3
    got = strict_cells(gap, rows, steps, mask=mask)
    for row, known in zip(rows, got.known.swapaxes(0, 1), strict=True):
        assert np.array_equal(known, known_by_listing(gap, row, steps, mask))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 2), st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 4), st.booleans())
def test_any_rule_any_width_agrees_with_listing(radius: int, number: int, width: int, hide: int, mask: bool) -> None:
    rule = Rule(radius, number % (1 << 2 ** (2 * radius + 1)))
    gap = Gap(rule, draw_hidden(rule, hide, seed=number % 100))
    row = np.random.default_rng(number).integers(0, 2, width, dtype=np.uint8)
    got = strict_cells(gap, row[None], 3, mask=mask)
    assert np.array_equal(got.known[:, 0], known_by_listing(gap, row, 3, mask))


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(["150", "30", "106", "D"]), st.integers(0, 2**32 - 1))
def test_more_evidence_never_determines_less(name: str, seed: int) -> None:
    rule = parse_rule(name)
    gap = Gap(rule, draw_hidden(rule, 2, seed=seed % 1000))
    rows = np.random.default_rng(seed).integers(0, 2, (4, 31), dtype=np.uint8)
    three, four, masked = strict_cells(gap, rows, 3), strict_cells(gap, rows, 4), strict_cells(gap, rows, 4, mask=True)
    assert (next_step_cells(gap, rows, 4).known <= four.known).all()
    assert (three.known <= four.known[:2]).all()
    assert (four.known <= masked.known).all()


@pytest.mark.parametrize("steps", [2, 3, 4])
@pytest.mark.parametrize("pattern", [0, 2, 7])
def test_rule_150_needs_no_assumption_for_what_the_paper_counts(pattern: int, steps: int) -> None:
    """Elimination carries XOR through hidden cells; without, the same rows have all of step 1 determined."""
    gap = Gap(parse_rule("150"), (pattern,))
    rows = np.random.default_rng(0).integers(0, 2, (200, 101), dtype=np.uint8)
    exact = strict_cells(gap, rows, steps)
    assert np.array_equal(paper_systems(gap, rows, steps).identified, (exact.known == exact.unknown)[0].all(axis=1))
