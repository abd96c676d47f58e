"""How many patterns can be hidden before information itself is lost, whichever they are?

Hiding more never helps: a completion that fits a hidden set fits every larger one, since its freedom grows and the
evidence shrinks. So the sets that are identified are closed under taking subsets, and the smallest set that is not
can be found exactly without trying all 2^32. Keep a list of maximal identified sets. Whatever is not identified must
reach outside each of them; propose a smallest set that does (a minimum hitting set, by MaxSAT). If it is not
identified, it is a smallest one. If it is, grow it until it is maximal and add it to the list.

Until then, the size of every proposal is a proof: all smaller hidden sets are identified.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pysat.examples.rc2 import RC2  # type: ignore[import-untyped]
from pysat.formula import WCNF  # type: ignore[import-untyped]

from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.completions import completions
from hardgap.worlds.automaton.identify.evidence import every_row
from hardgap.worlds.automaton.rule import Rule


@dataclass(frozen=True)
class Frontier:
    """Every hidden set of fewer than `size` patterns is identified; `lost` is one of that size that is not.

    `lost` is None if the search was stopped before it found one (or if there is none): `size` then still holds.
    """

    size: int
    lost: tuple[int, ...] | None
    rounds: int


def smallest_lost(
    rule: Rule, steps: int, *, both_outputs_seen: bool = False, rounds: int = 1000, seed: int = 0
) -> Frontier:
    """Find a smallest hidden set that `steps` visible steps of every row do not determine.

    Hiding all patterns with the same output is a trivial way to lose: the constant rule then fits everything that
    is visible. `both_outputs_seen` leaves those sets out.

    >>> smallest_lost(Rule(1, 150), steps=2).size
    4
    """
    rng, looked = np.random.default_rng(seed), min(2, steps)
    with RC2(_not_empty(rule, both_outputs_seen)) as proposals:
        for done in range(1, rounds + 1):
            model = proposals.compute()
            if model is None:
                return Frontier(rule.patterns, None, done)
            hidden = frozenset(literal - 1 for literal in model if 0 < literal <= rule.patterns)
            # What fewer steps determine stays determined: look further only when they no longer do.
            while not is_identified(rule, hidden, looked):
                if looked == steps:
                    return Frontier(len(hidden), tuple(sorted(hidden)), done)
                looked += 1
            maximal = _grown(rule, hidden, looked, rng)
            proposals.add_clause([p + 1 for p in range(rule.patterns) if p not in maximal])
    return Frontier(len(hidden), None, rounds)


def is_identified(rule: Rule, hidden: frozenset[int], steps: int) -> bool:
    """Whether the true rule is the only completion that fits."""
    return completions(every_row(Gap(rule, tuple(hidden)), steps), limit=2).identified


def _grown(rule: Rule, hidden: frozenset[int], steps: int, rng: np.random.Generator) -> frozenset[int]:
    """Add patterns, in random order, as long as the set stays identified."""
    for pattern in rng.permutation(rule.patterns).tolist():
        larger = hidden | {pattern}
        if len(larger) < rule.patterns and is_identified(rule, larger, steps):
            hidden = larger
    return hidden


def _not_empty(rule: Rule, both_outputs_seen: bool) -> WCNF:
    """Variable p + 1 says that pattern p is hidden; few is preferred."""
    formula = WCNF()
    formula.append([p + 1 for p in range(rule.patterns)])
    formula.append([-(p + 1) for p in range(rule.patterns)])
    for pattern in range(rule.patterns):
        formula.append([-(pattern + 1)], weight=1)
    if both_outputs_seen:
        for output in np.unique(rule.table):
            formula.append([-(p + 1) for p in np.flatnonzero(rule.table == output).tolist()])
    return formula
