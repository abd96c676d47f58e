"""Criterion `rule` of identifiability: which completions of the rule's table agree with everything that is visible?

A *completion* agrees with the true rule on the visible patterns and gives any output to the hidden ones. It fits the
evidence if its own rollout from the initial row, with its own mistakes fed back, matches the true rollout at every
supervised cell. This asks nothing of the rule: it need not be linear, any radius and any hidden set will do.

Two exact engines answer. `enumerated` tries all 2^k completions, dropping those that a few windows refute before it
looks at the next few. `searched` lets a SAT solver propose a completion, refutes it by simulation, and hands the
refuting windows back as clauses, until no completion is left or one fits: 2 to 60 rounds, also at k = 31.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.cones import Cones
from hardgap.worlds.automaton.identify.evidence import Evidence, Windows
from hardgap.worlds.automaton.rule import Rule

# Below this many hidden patterns trying everything is as quick as starting a solver.
ENUMERATE_UP_TO = 6
_CHUNK = 1 << 14  # completions tried together
_LOOK = 32  # windows looked at before the refuted completions are dropped for the first time


@dataclass(frozen=True)
class Completions:
    """The completions that fit, the true rule first. `complete` says that the list has them all."""

    gap: Gap
    fitting: tuple[Rule, ...]
    complete: bool
    determined: tuple[int, ...]  # the hidden patterns that have the true output in every completion that fits

    @property
    def identified(self) -> bool:
        """Whether the true rule is the only completion that fits."""
        return len(self.determined) == len(self.gap.hidden)

    @property
    def witness(self) -> Rule | None:
        """A second completion that fits, which proves that what is visible does not determine the rule."""
        return self.fitting[1] if len(self.fitting) > 1 else None


def completions(evidence: Evidence, *, limit: int = 16) -> Completions:
    """Find the completions that fit, at most `limit` of them by name; what is determined is exact all the same.

    >>> from hardgap.worlds.automaton.identify.evidence import every_row
    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> completions(every_row(Gap(parse_rule("150"), (0,)), steps=1)).witness.name
    '151'
    >>> completions(every_row(Gap(parse_rule("150"), (0,)), steps=2)).identified
    True
    """
    if limit < 2:
        raise BadInput(f"limit {limit}: a witness needs room for two completions")
    find = enumerated if len(evidence.gap.hidden) <= ENUMERATE_UP_TO else searched
    return find(evidence, limit=limit)


def enumerated(evidence: Evidence, *, limit: int = 16) -> Completions:
    """Try all 2^k completions: 0.6 s for 2^18 at two steps, on one idle core."""
    gap = evidence.gap
    fitting: list[NDArray[np.uint8]] = []
    differs = np.zeros(gap.rule.patterns, dtype=bool)
    count = 0
    for tables in _all_tables(gap):
        left = _unrefuted(evidence, tables)
        differs |= (left != gap.rule.table).any(axis=0)
        wrong = left[(left != gap.rule.table).any(axis=1)]
        fitting.extend(wrong[: limit - 1 - len(fitting)])
        count += len(left)
    rules = (gap.rule, *(Rule.from_table(table) for table in fitting))
    determined = tuple(p for p in gap.hidden if not differs[p])
    return Completions(gap, rules, len(rules) == count, determined)


def searched(evidence: Evidence, *, limit: int = 16) -> Completions:
    """Search by refutation with a SAT solver."""
    gap = evidence.gap
    with closing(Cones(gap)) as cones:
        cones.forbid(gap.rule)
        others: list[Rule] = []
        while len(others) < limit - 1 and (other := _search(evidence, cones)) is not None:
            others.append(other)
            cones.forbid(other)
        complete = len(others) < limit - 1 or _search(evidence, cones) is None
        seen = {p for p in gap.hidden for other in others if other.table[p] != gap.rule.table[p]}
        if not complete:
            seen |= _further_differences(evidence, cones, seen)
    return Completions(gap, (gap.rule, *others), complete, tuple(p for p in gap.hidden if p not in seen))


def _search(evidence: Evidence, cones: Cones, wrong_at: int | None = None) -> Rule | None:
    """A completion that fits and is not forbidden yet, wrong at the given pattern; None if there is none."""
    while (candidate := cones.propose(wrong_at)) is not None:
        refutation = evidence.refutation(candidate)
        if refutation is None:
            return candidate
        for window, target in zip(refutation.windows.tolist(), refutation.targets.tolist(), strict=True):
            cones.require(refutation.steps, window, bool(target))
    return None


def _further_differences(evidence: Evidence, cones: Cones, seen: set[int]) -> set[int]:
    """The patterns beyond `seen` that some completion that fits has wrong."""
    gap, found = evidence.gap, set[int]()
    for pattern in gap.hidden:
        if pattern in seen | found:
            continue
        other = _search(evidence, cones, wrong_at=pattern)
        if other is not None:
            found |= {p for p in gap.hidden if other.table[p] != gap.rule.table[p]}
    return found


def _all_tables(gap: Gap) -> Iterator[NDArray[np.uint8]]:
    """Every completion's table, `[n, patterns]`, some at a time."""
    k = len(gap.hidden)
    for start in range(0, 1 << k, _CHUNK):
        choices = np.arange(start, min(start + _CHUNK, 1 << k))
        tables = np.tile(gap.rule.table, (len(choices), 1))
        tables[:, list(gap.hidden)] = choices[:, None] >> np.arange(k) & 1
        yield tables


def _unrefuted(evidence: Evidence, tables: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Those of the tables that no window refutes, looking further at once the fewer they are."""
    gap = evidence.gap
    for depth in evidence.depths:
        start, look = 0, _LOOK
        while start < len(depth.windows):
            if (tables == gap.rule.table).all():  # also if there are none: the truth is never refuted
                return tables
            some = slice(start, start + look)
            got = _evolve_each(tables, depth.windows[some], gap.rule.radius, depth.steps)
            tables = tables[(got == depth.targets[some]).all(axis=1)]
            start, look = some.stop, min(2 * look, max(_LOOK, _CHUNK * _LOOK // max(1, len(tables))))
    return tables


def _evolve_each(tables: NDArray[np.uint8], windows: Windows, radius: int, steps: int) -> Windows:
    """The centre of each window after `steps` steps of each table, `[tables, windows]`."""
    mask, states = tables.shape[1] - 1, np.tile(windows, (len(tables), 1))
    for left in range(steps - 1, -1, -1):
        after = np.zeros_like(states)
        for cell in range(2 * radius * left + 1):
            after |= np.take_along_axis(tables, states >> cell & mask, axis=1).astype(np.int64) << cell
        states = after
    return states
