"""The tree lemma, its conventions, and what a bootstrap does to it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hardgap.theory import trees
from hardgap.theory.cube import LabelFamily, parity, rule_labels
from hardgap.worlds.automaton.rule import parse_rule


def test_lemma_holds_on_every_subcube() -> None:
    assert trees.lemma_trees().holds
    assert trees.lemma_trees().detail == "every leaf is wrong by exactly one vote"


def test_lemma_fails_when_falsified(falsified: LabelFamily) -> None:
    assert not trees.lemma_trees(falsified, max_n=5).holds


def test_a_fixed_default_label_can_be_right() -> None:
    assert trees.lemma_constant_fallback().verdict == "does not extend"


def test_scikit_learn_agrees_and_would_notice() -> None:
    assert trees.scikit_learn_agrees(sizes=(3,)).holds
    assert not trees.scikit_learn_agrees(lambda n: rule_labels(parse_rule("30")), sizes=(3,)).holds


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5])
def test_scikit_learn_agrees_on_wider_neighbourhoods(n: int) -> None:
    assert trees.scikit_learn_agrees(sizes=(n,)).holds


def test_bootstrapped_forests_are_not_always_wrong() -> None:
    statement = trees.lemma_bootstrapped_forests()
    assert statement.verdict == "does not hold as written"
    assert "63927/823543" in statement.detail
    assert trees.lemma_full_support().holds


def test_the_exact_chance_is_what_scikit_learn_shows() -> None:
    from sklearn.ensemble import RandomForestClassifier

    points = [[q >> i & 1 for i in range(3)] for q in range(8)]
    forest = RandomForestClassifier(800, random_state=0).fit(points[1:], parity(3)[1:])
    right = sum(tree.predict([points[0]])[0] == list(forest.classes_).index(1) for tree in forest.estimators_)
    chance = trees.bootstrapped_tree_right(parity(3), 0)
    spread = float(chance * (1 - chance) / 800) ** 0.5
    assert abs(right / 800 - float(chance)) < 4 * spread


def test_draws_that_hit_every_point() -> None:
    assert [trees.onto(3, size) for size in range(1, 5)] == [1, 6, 6, 0]
    assert trees.forest_right(Fraction(1, 2), 3) == Fraction(1, 2)
