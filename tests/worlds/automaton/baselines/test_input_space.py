"""Truth-table interpolation: provably wrong on Rule 150, and well behaved on every other gap."""

from __future__ import annotations

import numpy as np
import pytest

from hardgap.worlds.automaton.baselines.input_space import pattern_bits, predict_hidden
from hardgap.worlds.automaton.baselines.methods import FOREST, METHODS
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule, parse_rule

QUICK = [method for method in METHODS if method is not FOREST]


def test_bits_of_a_pattern_read_left_to_right() -> None:
    assert pattern_bits(parse_rule("110"))[6].tolist() == [1, 1, 0]
    assert pattern_bits(parse_rule("D"))[3].tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("pattern", range(8))
def test_every_method_is_wrong_on_every_hidden_entry_of_rule_150(pattern: int) -> None:
    rule = parse_rule("150")
    answers = predict_hidden(Gap(rule, (pattern,)), seed=pattern)
    assert answers == {method.name: [1 - int(rule.table[pattern])] for method in METHODS}


@pytest.mark.parametrize("radius", [1, 2])
def test_parity_of_any_radius_defeats_every_method(radius: int) -> None:
    formula = " ^ ".join(["C", *(f"{side}{i}" for side in "LR" for i in range(1, radius + 1))])
    rule = parse_rule(formula)
    for pattern in (0, 3, rule.patterns - 1):
        answers = predict_hidden(Gap(rule, (pattern,)), QUICK)
        assert {a[0] for a in answers.values()} == {1 - int(rule.table[pattern])}


def test_a_rule_that_similarity_can_fill_is_filled() -> None:
    """The methods are not simply wrong about everything: copying the centre cell is smooth enough."""
    rule = parse_rule("C")
    answers = predict_hidden(Gap(rule, (0,)), QUICK)
    assert all(answers[name] == [0] for name in ("KNN", "GP", "RBF SVM", "KRR"))


@pytest.mark.parametrize("number", [0, 255, 204, 30])
@pytest.mark.parametrize("hidden", [(0,), (1, 2, 4, 7), (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5, 6)])
def test_any_rule_and_any_hidden_set_gets_an_answer(number: int, hidden: tuple[int, ...]) -> None:
    rule = Rule(1, number)
    answers = predict_hidden(Gap(rule, hidden), QUICK)
    assert all(len(answer) == len(hidden) and set(answer) <= {0, 1} for answer in answers.values())
    if np.ptp(rule.table) == 0:
        assert all(answer == rule.table[list(hidden)].tolist() for answer in answers.values())
