"""Verdicts for any rule: the published column, the guarantee for parity, and every witness checked."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from hardgap.theory.cube import rule_labels
from hardgap.theory.trees import estimators, wrong_everywhere
from hardgap.theory.votes import from_signs, votes, votes_of_set
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule, parse_rule

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
            if row.methods[column].verdict in ("right", "wrong"):
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


# Several patterns hidden at once


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


def listed(rule: Rule, hidden: tuple[int, ...], p: int) -> dict[str, str]:
    """The verdicts about p by listing every choice of neighbours, every extreme weighting and every subcube."""
    label = {q: 1 if rule.table[q] == rule.table[p] else -1 for q in range(8) if q not in hidden}
    near = sorted(label, key=lambda q: (q ^ p).bit_count())
    found = {}
    for k in range(1, len(near) + 1, 2):
        last = (near[k - 1] ^ p).bit_count()
        sure = [q for q in near if (q ^ p).bit_count() < last]
        ties = [q for q in near if (q ^ p).bit_count() == last]
        chosen = combinations(ties, k - len(sure))
        found[f"{k}-NN"] = from_signs(sign(sum(label[q] for q in (*sure, *extra))) for extra in chosen)
    rays = [sum(label[q] for q in near if (q ^ p).bit_count() <= reach) for reach in (1, 2, 3)]
    found["similarity"] = from_signs(map(sign, rays))
    leaves = [[label[q] for q in near if (q ^ p) & ~free == 0] for free in range(8)]
    extremes = [sum(leaf) for leaf in leaves if leaf]
    found["trees"] = from_signs({sign(min(extremes)), sign(max(extremes))})
    return found


@pytest.mark.parametrize("number", [150, 30, 110])
def test_verdicts_about_every_hidden_set_agree_with_listing_all_choices(number: int) -> None:
    rule = Rule(1, number)
    for size in range(1, 8):
        for hidden in combinations(range(8), size):
            for row in votes_of_set(Gap(rule, hidden)):
                verdicts = {name: method.verdict for name, method in row.methods.items()}
                votes_at = [_rbf_vote(rule, hidden, row.pattern, r / 40) for r in range(1, 41)]
                settled = {"right": {1}, "wrong": {-1}, "never right": {0, -1}, "never wrong": {0, 1}, "tie": {0}}
                assert set(map(sign, votes_at)) <= settled.get(verdicts.pop("RBF vote"), {-1, 0, 1})
                assert verdicts == listed(rule, hidden, row.pattern)


def _rbf_vote(rule: Rule, hidden: tuple[int, ...], p: int, r: float) -> float:
    agrees = {q: 1 if rule.table[q] == rule.table[p] else -1 for q in range(8) if q not in hidden}
    return round(sum(vote * r ** (q ^ p).bit_count() for q, vote in agrees.items()), 12)


@pytest.mark.parametrize("name", ["30", "D"])
def test_a_set_of_one_is_what_each_pattern_alone_is(name: str) -> None:
    rule = parse_rule(name)
    for alone in votes(rule)[:12]:
        (as_set,) = votes_of_set(Gap(rule, (alone.pattern,)))
        assert as_set.methods == {key: value for key, value in alone.methods.items() if key != "GP / ridge"}


def test_ties_are_named_only_where_they_decide() -> None:
    for rule in (30, 110, 150):
        for row in votes(Rule(1, rule)):
            for verdict in (one for name, one in row.methods.items() if name.endswith("-NN")):
                assert bool(verdict.witness) == (verdict.verdict == "open")
