"""For any rule and hidden pattern, or set of them: which method is forced right, forced wrong, or undetermined.

What is not hidden is visible once. For every method the verdict is about *all* of its members: every tie-break,
every non-increasing weighting, every RBF width, every noise level, every tree.

* `right` / `wrong`: every member names the true / the other label;
* `never right`: every member names the other label or ties (and some tie);  `never wrong` likewise;
* `open`: members disagree, and `witness` names two of them.
* `unsettled`: neither shown nor excluded (kernel ridge on a few wide rules at most).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardgap.theory.cube import Ints, agreement, rule_labels, shell_sums
from hardgap.theory.kernel_ridge import UnsettledError, level_gaps, ridge_signs
from hardgap.theory.polynomials import signs_inside
from hardgap.theory.similarity import knn_vote_range, ray_votes
from hardgap.theory.trees import vote_extremes, vote_extremes_of_set
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

RIGHT, WRONG, OPEN = "right", "wrong", "open"
NEVER_RIGHT, NEVER_WRONG, TIE, UNSETTLED = "never right", "never wrong", "tie", "unsettled"


@dataclass(frozen=True)
class Verdict:
    """What a family of methods says about one hidden pattern."""

    verdict: str
    witness: str = ""


@dataclass(frozen=True)
class PatternVotes:
    """All verdicts about one hidden pattern, by method."""

    pattern: int
    text: str
    output: int
    methods: dict[str, Verdict]


def from_signs(signs: Iterable[int]) -> str:
    """The verdict for a family whose members vote with these signs, positive for the true label."""
    return {
        frozenset({1}): RIGHT,
        frozenset({-1}): WRONG,
        frozenset({0}): TIE,
        frozenset({0, 1}): NEVER_WRONG,
        frozenset({0, -1}): NEVER_RIGHT,
    }.get(frozenset(signs), OPEN)


def votes(rule: Rule) -> list[PatternVotes]:
    """Every pattern of the rule as the hidden one, in order.

    >>> [row.methods["3-NN"].verdict for row in votes(Rule(1, 30))]
    ['wrong', 'wrong', 'wrong', 'right', 'wrong', 'wrong', 'wrong', 'right']
    """
    labels = rule_labels(rule)
    shells, rays = agreement(labels)[:, 1:], ray_votes(labels)
    gaps, subcubes = level_gaps(labels), vote_extremes(labels)
    sizes = shell_sums(np.ones_like(labels))[0, 1:]
    return [
        _pattern_votes(rule, p, shells[p], sizes, rays[p], subcubes[p], {"GP / ridge": _ridge(gaps[p])})
        for p in range(rule.patterns)
    ]


def votes_of_set(gap: Gap) -> list[PatternVotes]:
    """All patterns of the gap hidden at once.

    Not kernel ridge: its answer for every width and noise comes from the spectrum of the whole cube (Theorem 4), which
    holds while a single point is missing.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> [row.methods["trees"].verdict for row in votes_of_set(Gap(parse_rule("150"), (0, 7)))]
    ['never right', 'never right']
    """
    labels, hidden = rule_labels(gap.rule), np.array(gap.hidden)
    visible = np.ones_like(labels)
    visible[hidden] = 0
    shells = labels[hidden, None] * shell_sums(labels * visible)[hidden, 1:]
    sizes, subcubes = shell_sums(visible)[hidden, 1:], vote_extremes_of_set(labels, hidden)
    return [
        _pattern_votes(gap.rule, p, shells[i], sizes[i], np.cumsum(shells[i]), subcubes[i])
        for i, p in enumerate(gap.hidden)
    ]


def _pattern_votes(
    rule: Rule, p: int, shells: Ints, sizes: Ints, rays: Ints, subcubes: Ints, ridge: dict[str, Verdict] | None = None
) -> PatternVotes:
    similar = {"similarity": _monotone(rays), "RBF vote": _completely_monotone(shells)}
    methods = _knn(shells, sizes) | similar | (ridge or {}) | {"trees": _trees(subcubes)}
    return PatternVotes(p, rule.pattern_text(p), int(rule.table[p]), methods)


def _knn(shells: Ints, sizes: Ints) -> dict[str, Verdict]:
    """Every odd k for radius 1; for wider rules 1, 3, 5, 7 and all points, if they are odd."""
    visible = int(sizes.sum())
    ks = range(1, visible + 1, 2) if len(shells) == 3 else (1, 3, 5, 7, visible)
    verdicts = {}
    for k in (k for k in ks if k <= visible and k % 2):
        low, high = knn_vote_range(shells, sizes, k)
        verdict = from_signs(np.sign([low, high]).tolist())
        verdicts[f"{k}-NN"] = Verdict(verdict, "depends on how ties in distance are broken" if verdict == OPEN else "")
    return verdicts


def _monotone(rays: Ints) -> Verdict:
    verdict = from_signs(np.sign(rays).tolist())
    if verdict != OPEN:
        return Verdict(verdict)
    return Verdict(OPEN, f"right with weight 1 up to distance {rays.argmax() + 1}, wrong up to {rays.argmin() + 1}")


def _completely_monotone(shells: Ints) -> Verdict:
    """Weights ∫ r^d dμ over (0, 1]: mixtures of the values of one polynomial on that interval."""
    found = signs_inside([0, *map(int, shells)])
    end = int(np.sign(shells.sum()))
    verdict = from_signs({*found, end})
    if verdict != OPEN:
        return Verdict(verdict)
    points = {end: Fraction(1)} | found
    return Verdict(OPEN, f"right at r = {points[1]}, wrong at r = {points[-1]}")


def _ridge(gaps: Ints) -> Verdict:
    try:
        found = ridge_signs(tuple(map(int, gaps)))
    except UnsettledError as unsettled:
        return Verdict(UNSETTLED, str(unsettled))
    if 1 not in found or -1 not in found:
        return Verdict(from_signs(found))
    right, wrong = ("r = {}, σ² = {}".format(*map(_short, found[sign])) for sign in (1, -1))
    return Verdict(OPEN, f"right at {right}, wrong at {wrong}")


def _short(number: Fraction) -> str:
    return str(number) if number.denominator < 10**4 else f"{float(number):.2g}"


def _trees(extremes: Ints) -> Verdict:
    verdict = from_signs(np.sign(extremes).tolist())
    return Verdict(verdict, "depends on the leaf" if verdict == OPEN else "")
