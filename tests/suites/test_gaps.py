"""v1 is what its page says: every gap determined by the rows that are trained on, similarity forced as labelled."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.suites.draw import DRAWN, cell_gaps, private_gaps
from hardgap.suites.gaps import (
    BELONGS,
    GROUPS,
    SIMILARITIES,
    SuiteGap,
    is_determined,
    load_suite,
    similarity_of,
)
from hardgap.theory.votes import NEVER_RIGHT, NEVER_WRONG, OPEN, RIGHT, WRONG, votes
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

V1 = load_suite("v1")
QUICK = [gap for gap in V1.gaps if gap.quick]


@pytest.mark.parametrize("gap", QUICK, ids=lambda gap: gap.key[:40])
def test_a_quick_gap_is_determined_by_what_each_seed_trains_on(gap: SuiteGap) -> None:
    assert is_determined(gap.gap, gap.width)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [gap for gap in V1.gaps if not gap.quick], ids=lambda gap: gap.key[:40])
def test_every_gap_is_determined_by_what_each_seed_trains_on(gap: SuiteGap) -> None:
    assert is_determined(gap.gap, gap.width)


def test_what_is_not_determined_would_be_noticed() -> None:
    assert not is_determined(Gap(Rule(1, 0), (0,)), 11)


def test_every_gap_is_what_it_is_labelled_as() -> None:
    for gap in V1.gaps:
        assert similarity_of(gap.gap) == gap.similarity
        assert gap.group == "paper" or BELONGS[gap.group](gap.gap.rule)


def test_what_similarity_must_say_is_what_the_theory_says() -> None:
    """All 2,048 gaps of one pattern, against the theory's own verdicts."""
    said = {WRONG: "wrong", NEVER_RIGHT: "wrong", RIGHT: "right", NEVER_WRONG: "right", OPEN: "open"}
    for rule in (Rule(1, number) for number in range(0, 256, 5)):
        for row in votes(rule):
            assert similarity_of(Gap(rule, (row.pattern,))) == said[row.methods["similarity"].verdict]


def test_no_gap_is_asked_twice_and_every_cell_is_there() -> None:
    keys = [gap.key for gap in V1.gaps]
    assert len(keys) == len(set(keys)) == 90
    cells = Counter(gap.cell for gap in V1.gaps if gap.group != "paper" and gap.width == 11)
    assert cells == {(group, kind): 4 for group in DRAWN for kind in SIMILARITIES}
    assert {gap.group for gap in QUICK} == set(GROUPS)
    assert sum(gap.width == 21 for gap in V1.gaps) == 15


def test_the_private_part_is_drawn_from_its_seed_and_from_the_public_cells() -> None:
    drawn = private_gaps(V1.gaps, 7, quick=True)
    assert drawn == private_gaps(V1.gaps, 7, quick=True) != private_gaps(V1.gaps, 8, quick=True)
    public = {gap.key: gap for gap in V1.gaps}
    assert not public.keys() & {gap.key for gap in drawn}
    assert [gap.group for gap in drawn] == list(DRAWN)
    assert {gap.similarity for gap in drawn} == set(SIMILARITIES)
    assert all(gap.part == "private" and is_determined(gap.gap, gap.width) for gap in drawn)
    sizes = {gap.cell: len(gap.hide) for gap in QUICK if gap.group != "paper"}
    assert all(sizes[gap.cell] == len(gap.hide) for gap in drawn)  # the same distribution, cell by cell


@pytest.mark.slow
def test_the_public_part_is_a_draw_like_any_other() -> None:
    paper = [gap.key for gap in V1.gaps if gap.group == "paper"]
    drawn = [gap.key for gap in V1.gaps if gap.group != "paper" and gap.width == 11]
    assert [gap.key for _, gap in cell_gaps(1, 4, paper)] == drawn


@pytest.mark.slow
def test_more_than_half_hidden_is_often_determined_too() -> None:
    """What docs/suite.md says of v1's choice to hide at most half."""
    found = {}
    for radius, k in ((1, 5), (1, 6), (2, 24)):
        rng = np.random.default_rng([radius, k])
        rules = (Rule.from_table(rng.integers(0, 2, 1 << (2 * radius + 1))) for _ in range(100))
        gaps = (Gap(rule, tuple(int(p) for p in rng.choice(rule.patterns, k, replace=False))) for rule in rules)
        found[radius, k] = sum(is_determined(gap, 11) for gap in gaps)
    assert found == {(1, 5): 49, (1, 6): 31, (2, 24): 97}


def test_a_suite_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="there is no suite 'v2'; there is v1"):
        load_suite("v2")
