"""Criterion `rule` against its definition: roll every completion out and compare it where the truth is supervised."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.identify.completions import completions, enumerated, searched
from hardgap.worlds.automaton.identify.evidence import every_row, evolve, rows_shown
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import Rule, parse_rule


def every_state(width: int) -> np.ndarray:
    return (np.arange(1 << width)[:, None] >> np.arange(width) & 1).astype(np.uint8)


def agrees(gap: Gap, candidate: Rule, rows: np.ndarray, steps: int) -> bool:
    """The definition: the candidate's own rollout matches the true one at every supervised cell."""
    truth = gap.trajectory(rows, steps)
    return bool(((rollout(candidate, rows, steps)[1:] == truth.targets) | truth.hidden).all())


def by_definition(gap: Gap, rows: np.ndarray, steps: int) -> set[Rule]:
    tables = []
    for outputs in itertools.product([0, 1], repeat=len(gap.hidden)):
        table = gap.rule.table.copy()
        table[list(gap.hidden)] = outputs
        tables.append(Rule.from_table(table))
    return {candidate for candidate in tables if agrees(gap, candidate, rows, steps)}


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 255), st.integers(1, 254), st.sampled_from([(3, 1), (5, 2), (7, 3)]))
def test_every_row_is_all_rows_as_wide_as_the_window(number: int, mask: int, case: tuple[int, int]) -> None:
    width, steps = case
    gap = Gap(Rule(1, number), tuple(p for p in range(8) if mask >> p & 1))
    expected = by_definition(gap, every_state(width), steps)
    for engine in (enumerated, searched):
        got = engine(every_row(gap, steps), limit=300)
        assert got.complete
        assert set(got.fitting) == expected
        assert got.fitting[0] == gap.rule
        assert got.identified == (len(expected) == 1)
        assert all((p in got.determined) == all(r.table[p] == gap.rule.table[p] for r in expected) for p in gap.hidden)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 2), st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 3))
def test_given_rows_of_any_width_even_narrower_than_the_window(
    radius: int, number: int, width: int, steps: int
) -> None:
    rule = Rule(radius, number % (1 << 2 ** (2 * radius + 1)))
    gap = Gap(rule, draw_hidden(rule, 5, seed=number % 100))
    rows = np.random.default_rng(number).integers(0, 2, (3, width), dtype=np.uint8)
    expected = by_definition(gap, rows, steps)
    for engine in (enumerated, searched):
        got = engine(rows_shown(gap, rows, steps), limit=40)
        assert got.complete
        assert set(got.fitting) == expected


def test_both_engines_agree_beyond_one_chunk_of_completions() -> None:
    gap = Gap(parse_rule("G"), draw_hidden(parse_rule("G"), 15, seed=6))
    evidence = rows_shown(gap, np.random.default_rng(0).integers(0, 2, (2, 40), dtype=np.uint8), 2)
    tried, found = enumerated(evidence, limit=5000), searched(evidence, limit=5000)
    assert len(tried.fitting) > 1
    assert set(tried.fitting) == set(found.fitting)
    assert tried.determined == found.determined


@pytest.mark.parametrize("engine", [enumerated, searched])
def test_a_short_list_still_says_exactly_what_is_determined(engine: object) -> None:
    gap = Gap(parse_rule("G"), draw_hidden(parse_rule("G"), 12, seed=1))
    evidence = rows_shown(gap, np.random.default_rng(0).integers(0, 2, (1, 25), dtype=np.uint8), 2)
    full, short = engine(evidence, limit=5000), engine(evidence, limit=2)  # type: ignore[operator]
    assert full.complete
    assert not short.complete
    assert len(short.fitting) == 2
    assert short.determined == full.determined


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(["D", "G"]), st.integers(20, 31), st.integers(0, 999))
def test_a_witness_fits_and_hiding_more_or_seeing_less_never_helps(name: str, k: int, seed: int) -> None:
    rule = parse_rule(name)
    gap = Gap(rule, draw_hidden(rule, k, seed=seed))
    two, three = (completions(every_row(gap, steps), limit=2) for steps in (2, 3))
    assert set(two.determined) <= set(three.determined)
    rows = np.random.default_rng(seed).integers(0, 2, (20, 50), dtype=np.uint8)
    for found, steps in ((two, 2), (three, 3)):
        if found.witness:
            assert agrees(gap, found.witness, rows, steps)
            larger = Gap(rule, tuple({*gap.hidden, next(iter(gap.visible))})) if k < 31 else gap
            assert every_row(larger, steps).refutation(found.witness) is None


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize("name", ["150", "30", "D", "G"])
def test_if_one_output_is_never_seen_the_constant_rule_fits(name: str, output: int) -> None:
    rule = parse_rule(name)
    gap = Gap(rule, tuple(np.flatnonzero(rule.table != output).tolist()))
    constant = Rule(rule.radius, output * ((1 << rule.patterns) - 1))
    assert every_row(gap, 4).refutation(constant) is None
    assert not completions(every_row(gap, 4)).identified


@pytest.mark.parametrize("k", [8, 14, 16, 20, 22])
def test_rule_d_stays_determined_across_the_cliff_of_training(k: int) -> None:
    rule = parse_rule("D")
    assert all(completions(every_row(Gap(rule, draw_hidden(rule, k, seed=s)), 4)).identified for s in range(5))


def test_rule_g_has_a_gap_that_two_steps_leave_open_and_three_close() -> None:
    gap = Gap(parse_rule("G"), (4, 28, 31))
    found = completions(every_row(gap, 2))
    assert found.complete
    assert found.witness is not None
    assert found.determined == (28, 31)
    assert completions(every_row(gap, 3)).identified


def test_evolve_is_the_rollout_of_a_window() -> None:
    for rule, steps in ((Rule(1, 110), 3), (parse_rule("D"), 2), (Rule(3, 0x123456789ABCDEF0FEDCBA9876543210), 1)):
        width = 2 * rule.radius * steps + 1
        windows = np.arange(1 << width)
        cells = (windows[:, None] >> np.arange(width)[::-1] & 1).astype(np.uint8)
        assert np.array_equal(evolve(rule, windows, steps), rollout(rule, cells, steps)[-1][:, width // 2])


def test_what_cannot_be_asked_is_refused() -> None:
    gap = Gap(parse_rule("D"), (0,))
    with pytest.raises(BadInput, match="at most 6 steps"):
        every_row(gap, 7)
    with pytest.raises(BadInput, match="at most 15 steps"):
        rows_shown(gap, np.zeros((1, 5), dtype=np.uint8), 16)
    with pytest.raises(BadInput, match="steps 0"):
        every_row(gap, 0)
    with pytest.raises(BadInput, match="room for two"):
        completions(every_row(gap, 2), limit=1)
