"""Masks against a cell-by-cell oracle, draws of hidden sets, and every refusal."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap, Masking, check_hidden, draw_hidden
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import Rule, parse_rule


def slow_masks(rule: Rule, hidden: set[int], row: list[int], steps: int, masking: str) -> list[list[tuple[int, ...]]]:
    """For each step and cell: pattern, target, hidden, supervised; nothing vectorised, nothing shared."""
    reach, width, found = rule.radius, len(row), []
    for t in range(steps):
        cells = []
        for i in range(width):
            text = "".join(str(row[(i + d) % width]) for d in range(-reach, reach + 1))
            pattern = int(text, 2)
            target = (rule.number >> pattern) & 1
            silent = pattern in hidden and (masking == "every" or t == 0)
            cells.append((pattern, target, int(pattern in hidden), int(not silent)))
        found.append(cells)
        row = [cell[1] for cell in cells]
    return found


def assert_masks_agree(gap: Gap, rows: np.ndarray, steps: int) -> None:
    trajectory = gap.trajectory(rows, steps)
    fast = np.stack([trajectory.patterns, trajectory.targets, trajectory.hidden, trajectory.supervised], axis=-1)
    for index, row in enumerate(rows.tolist()):
        slow = slow_masks(gap.rule, set(gap.hidden), row, steps, gap.masking)
        assert fast[:, index].tolist() == [[list(cell) for cell in cells] for cells in slow]
    assert np.array_equal(trajectory.states[0], rows)


@pytest.mark.parametrize("masking", ["every", "first"])
@pytest.mark.parametrize("hidden", [(3,), (0,), (1, 6), (0, 1, 2, 3, 4, 5, 6)])
def test_masks_of_every_row_of_width_5(masking: Masking, hidden: tuple[int, ...]) -> None:
    rows = np.array(list(product((0, 1), repeat=5)), dtype=np.uint8)
    assert_masks_agree(Gap(Rule(1, 110), hidden, masking), rows, steps=3)


@given(st.data())
@settings(max_examples=60)
def test_masks_of_any_gap(data: st.DataObject) -> None:
    radius = data.draw(st.integers(1, 3), label="radius")
    patterns = 2 ** (2 * radius + 1)
    rule = Rule(radius, data.draw(st.integers(0, 2**patterns - 1), label="number"))
    hidden = data.draw(st.sets(st.integers(0, patterns - 1), min_size=1, max_size=patterns - 1), label="hidden")
    masking = data.draw(st.sampled_from(["every", "first"]), label="masking")
    width = data.draw(st.integers(1, 12), label="width")
    seed = data.draw(st.integers(0, 99), label="seed")
    rows = np.random.default_rng(seed).integers(0, 2, (3, width), dtype=np.uint8)
    assert_masks_agree(Gap(rule, tuple(hidden), masking), rows, steps=data.draw(st.integers(1, 4), label="steps"))


def test_the_mask_is_not_mirrored() -> None:
    # Pattern 3 is 011: in 0110… it stands at cell 1, not at cell 2 (where 110, pattern 6, stands).
    trajectory = Gap(parse_rule("110"), (3,)).trajectory(np.array([[0, 1, 1, 0, 0, 0]], dtype=np.uint8), 1)
    assert trajectory.hidden[0, 0].tolist() == [False, True, False, False, False, False]
    assert (~trajectory.supervised == trajectory.hidden).all()


@pytest.mark.parametrize("masking", ["every", "first"])
def test_a_decoy_is_wrong_about_everything_hidden_and_about_nothing_that_training_may_see(masking: Masking) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (40, 11), dtype=np.uint8)
    gap = Gap(parse_rule("30"), (2, 5), masking)
    decoy = gap.decoy()
    assert np.flatnonzero(decoy.rule.table != gap.rule.table).tolist() == [2, 5]
    assert (decoy.hidden, decoy.masking) == (gap.hidden, gap.masking)
    true, wrong = gap.trajectory(rows, 4), decoy.trajectory(rows, 4)
    assert np.array_equal(wrong.targets != true.targets, true.hidden)
    assert np.array_equal(wrong.states[0], true.states[0])
    assert np.array_equal(wrong.supervised, true.supervised)
    assert np.array_equal(wrong.patterns, patterns_of(wrong.states[:-1], 1))
    assert np.array_equal(true.targets, gap.trajectory(rows, 4).targets)


def test_a_gap_knows_its_visible_patterns_and_sorts_its_hidden_ones() -> None:
    gap = Gap(parse_rule("150"), (6, 1))
    assert gap.hidden == (1, 6)
    assert gap.visible == (0, 2, 3, 4, 5, 7)
    assert gap == Gap(parse_rule("150"), (1, 6))
    assert gap.describe() == "Rule 150, 2 of 8 patterns hidden"


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ((), "at least one pattern"),
        ((8,), "Rule 30 has patterns 0 to 7, not 8"),
        ((-1,), "Rule 30 has patterns 0 to 7, not -1"),
        ((2, 2), "a pattern is named twice"),
        (tuple(range(8)), "all 8 patterns"),
    ],
)
def test_what_makes_no_gap_is_refused(hidden: tuple[int, ...], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        check_hidden(parse_rule("30"), hidden)
    with pytest.raises(BadInput, match=words):
        Gap(parse_rule("30"), hidden)


@pytest.mark.parametrize("rule", ["D", "G"])
@pytest.mark.parametrize(("k", "ones"), [(8, 3), (8, 0), (14, 5), (1, 1)])
def test_a_draw_has_the_split_it_was_asked_for(rule: str, k: int, ones: int) -> None:
    parsed = parse_rule(rule)
    for seed in range(20):
        hidden = draw_hidden(parsed, k, seed=seed, ones=ones)
        assert check_hidden(parsed, hidden) == hidden
        assert (len(hidden), int(parsed.table[list(hidden)].sum())) == (k, ones)


def test_draws_depend_on_the_seed_and_on_nothing_else() -> None:
    rule = parse_rule("D")
    draws = [draw_hidden(rule, 8, seed=seed) for seed in range(50)]
    np.random.default_rng(7).random(3)
    assert draws == [draw_hidden(rule, 8, seed=seed) for seed in range(50)]
    assert len(set(draws)) > 45
    assert set().union(*draws) == set(range(32))


def test_the_hidden_sets_of_the_main_table_are_fixed() -> None:
    # Every measured run of Rules D and G depends on these draws.
    assert draw_hidden(parse_rule("D"), 8, seed=0, ones=3) == (1, 4, 12, 17, 18, 24, 27, 29)
    assert draw_hidden(parse_rule("G"), 8, seed=0, ones=3) == (1, 10, 14, 16, 17, 19, 26, 29)


@pytest.mark.parametrize(
    ("k", "ones", "words"),
    [
        (0, None, "k 0: Rule 30 can hide 1 to 7"),
        (8, None, "k 8: Rule 30 can hide 1 to 7"),
        (-2, None, "k -2: Rule 30 can hide 1 to 7"),
        (6, 5, "cannot hide 5 patterns with output 1: Rule 30 has 4"),
        (6, 1, "cannot hide 5 patterns with output 0: Rule 30 has 4"),
        (3, -1, "cannot hide -1 patterns with output 1"),
    ],
)
def test_impossible_draws_are_refused(k: int, ones: int | None, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        draw_hidden(parse_rule("30"), k, seed=0, ones=ones)
