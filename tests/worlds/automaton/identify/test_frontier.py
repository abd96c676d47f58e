"""The smallest hidden set that loses information, against trying every set."""

from __future__ import annotations

import pytest

from hardgap.worlds.automaton.identify.frontier import is_identified, smallest_lost
from hardgap.worlds.automaton.rule import Rule, parse_rule


@pytest.mark.parametrize(("number", "steps"), [(150, 2), (30, 2), (106, 3), (110, 2), (204, 2), (0, 2)])
def test_agrees_with_trying_every_hidden_set(number: int, steps: int) -> None:
    rule = Rule(1, number)
    subsets = [frozenset(p for p in range(8) if mask >> p & 1) for mask in range(1, 255)]
    lost = {hidden for hidden in subsets if not is_identified(rule, hidden, steps)}
    found = smallest_lost(rule, steps)
    assert found.size == min(map(len, lost))
    assert frozenset(found.lost or ()) in lost


def test_the_trivial_sets_can_be_left_out() -> None:
    rule = parse_rule("150")
    even, odd = frozenset({0, 3, 5, 6}), frozenset({1, 2, 4, 7})
    found = smallest_lost(rule, 4)
    assert frozenset(found.lost or ()) in (even, odd)
    assert smallest_lost(rule, 4, both_outputs_seen=True).size > 4


def test_a_search_that_is_stopped_early_still_proves_a_bound() -> None:
    found = smallest_lost(parse_rule("D"), 2, rounds=6)
    assert found.lost is None
    assert 1 < found.size <= 7
