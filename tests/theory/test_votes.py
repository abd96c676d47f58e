"""Verdicts for any rule: the published column, the guarantee for parity, and every witness checked."""

from __future__ import annotations

from collections import Counter

import pytest

from hardgap.automata.rule import Rule, parse_rule
from hardgap.theory.cube import rule_labels
from hardgap.theory.trees import estimators, wrong_everywhere
from hardgap.theory.votes import votes

# Paper, table of Rule 30 with hard unrolling, column "3-NN vote", patterns 0 to 7.
PUBLISHED = ["wrong", "wrong", "wrong", "correct", "wrong", "wrong", "wrong", "correct"]


def test_reproduces_the_published_column_for_rule_30() -> None:
    ours = [row.methods["3-NN"].verdict for row in votes(parse_rule("30"))]
    assert ours == [word.replace("correct", "right") for word in PUBLISHED]


def test_the_other_methods_are_not_all_wrong_where_3_nn_is() -> None:
    rows = votes(parse_rule("30"))
    assert [row.pattern for row in rows if row.methods["trees"].verdict == "wrong"] == [0, 4]
    assert [row.pattern for row in rows if row.methods["RBF vote"].verdict == "wrong"] == [0, 1, 2, 4, 5, 6]
    assert rows[1].methods["1-NN"].witness == "depends on how ties in distance are broken"


@pytest.mark.parametrize("number", [150, 105])
def test_parity_is_wrong_throughout(number: int) -> None:
    for row in votes(Rule(1, number)):
        verdicts = {name: method.verdict for name, method in row.methods.items()}
        assert verdicts.pop("similarity") == "never right"  # one ray ties
        assert set(verdicts.values()) == {"wrong"}


def test_constant_rules_are_right_throughout() -> None:
    for row in votes(Rule(1, 0)):
        assert {method.verdict for method in row.methods.values()} == {"right"}


def test_symmetries_do_not_change_verdicts() -> None:
    def tally(rule: Rule) -> Counter[tuple[str, ...]]:
        return Counter(tuple(m.verdict for m in row.methods.values()) for row in votes(rule))

    for number in (30, 54, 106, 110):
        tallies = [tally(rule) for rule in Rule(1, number).equivalence_class()]
        assert all(other == tallies[0] for other in tallies)


@pytest.mark.parametrize("name", ["30", "110", "232"])
def test_forced_verdicts_bind_scikit_learn(name: str) -> None:
    rule = parse_rule(name)
    rows, labels = votes(rule), rule_labels(rule)
    for kind, column in (("tree, gini, best, depth 3", "trees"), ("GP", "GP / ridge"), ("3-NN", "3-NN")):
        wrong = wrong_everywhere(estimators(3)[kind], labels)
        for row in rows:
            if row.methods[column].forced:
                assert wrong[row.pattern] == (row.methods[column].verdict == "wrong"), (kind, row)


def test_wider_parity_loses_only_the_monotone_guarantee() -> None:
    rows = votes(parse_rule("L2 ^ L1 ^ C ^ R1 ^ R2"))
    verdicts = Counter((name, row.methods[name].verdict) for row in rows for name in row.methods)
    assert verdicts["similarity", "open"] == 32
    assert verdicts["RBF vote", "wrong"] == verdicts["GP / ridge", "wrong"] == verdicts["trees", "wrong"] == 32
    assert "distance 2" in rows[0].methods["similarity"].witness


@pytest.mark.slow
def test_every_elementary_rule_is_settled() -> None:
    verdicts = Counter(row.methods["GP / ridge"].verdict for n in range(256) for row in votes(Rule(1, n)))
    assert verdicts == {"open": 1024, "right": 512, "wrong": 512}
    everything = [m.verdict for n in range(256) for row in votes(Rule(1, n)) for m in row.methods.values()]
    assert "unsettled" not in everything
