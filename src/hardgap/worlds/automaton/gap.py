"""The hard gap (paper §3.2): which entries of the rule are hidden, and where that silences the loss.

A hidden pattern is masked wherever it occurs in the *true* trajectory, at every timestep, so no output of
a hidden entry is ever a target. The leaky control masks it at the first step only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.core.wording import plural
from hardgap.worlds.automaton.rollout import patterns_of, rollout
from hardgap.worlds.automaton.rule import Rule

Masking = Literal["every", "first"]


@dataclass(frozen=True)
class Gap:
    """A rule with some of its truth-table entries hidden.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> Gap(parse_rule("150"), (3,)).describe()
    'Rule 150, pattern 011 hidden'
    """

    rule: Rule
    hidden: tuple[int, ...]
    masking: Masking = "every"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", check_hidden(self.rule, self.hidden))

    @property
    def visible(self) -> tuple[int, ...]:
        return tuple(p for p in range(self.rule.patterns) if p not in self.hidden)

    @property
    def hidden_table(self) -> NDArray[np.bool_]:
        """For each pattern, whether it is hidden."""
        table = np.zeros(self.rule.patterns, dtype=bool)
        table[list(self.hidden)] = True
        return table

    def describe(self) -> str:
        if len(self.hidden) == 1:
            return f"Rule {self.rule.name}, pattern {self.rule.pattern_text(self.hidden[0])} hidden"
        return f"Rule {self.rule.name}, {len(self.hidden)} of {self.rule.patterns} patterns hidden"

    def _repr_html_(self) -> str:
        from hardgap.worlds.automaton.display import gap_html

        return gap_html(self)

    def trajectory(self, rows: NDArray[np.uint8], steps: int) -> Trajectory:
        """The true rollout of `rows`, and at each step which cells are hidden and which are supervised."""
        states = rollout(self.rule, rows, steps)
        patterns = patterns_of(states[:-1], self.rule.radius).astype(np.uint8)
        hidden = self.hidden_table[patterns]
        supervised = ~hidden
        if self.masking == "first":
            supervised[1:] = True
        return Trajectory(states, patterns, hidden, supervised)

    def decoy(self) -> Gap:
        """This gap with the opposite of every hidden output (leak certificate).

        >>> from hardgap.worlds.automaton.rule import parse_rule
        >>> Gap(parse_rule("150"), (3,)).decoy().rule.table.tolist()
        [0, 1, 1, 1, 1, 0, 0, 1]
        """
        table = np.where(self.hidden_table, 1 - self.rule.table, self.rule.table)
        return _Decoy(Rule.from_table(table), self.hidden, self.masking, truth=self)


@dataclass(frozen=True)
class _Decoy(Gap):
    """Its rule answers wrongly wherever it is hidden, and so do its trajectories.

    What training may see is still the truth's: initial rows, visible targets and masks. A visible target depends on
    hidden outputs of the steps before it, and so does where a hidden pattern occurs: that is the evidence.
    """

    truth: Gap = field(kw_only=True)

    def trajectory(self, rows: NDArray[np.uint8], steps: int) -> Trajectory:
        flipped = self.truth.trajectory(rows, steps).with_flipped_hidden()
        patterns = patterns_of(flipped.states[:-1], self.rule.radius).astype(np.uint8)
        return replace(flipped, patterns=patterns)


@dataclass(frozen=True)
class Trajectory:
    """A batch of true rollouts. Index t of `patterns`, `hidden` and `supervised` is about `targets[t]`."""

    states: NDArray[np.uint8]  # [steps + 1, rows, width], the initial rows first
    patterns: NDArray[np.uint8]  # [steps, rows, width], the neighbourhood that produced each target
    hidden: NDArray[np.bool_]  # [steps, rows, width], whether that neighbourhood is a hidden pattern
    supervised: NDArray[np.bool_]  # [steps, rows, width], whether the loss may look at it

    @property
    def targets(self) -> NDArray[np.uint8]:
        return self.states[1:]

    def with_flipped_hidden(self) -> Trajectory:
        """The same supervision with the opposite of every target at a hidden cell.

        Only what the loss is compared with changes: the rows that start a rollout and the masks stay, so
        a leak-free training run cannot tell the difference (the leak certificate).
        """
        states = self.states.copy()
        states[1:] ^= self.hidden
        return replace(self, states=states)


def check_hidden(rule: Rule, hidden: Iterable[int]) -> tuple[int, ...]:
    """The hidden patterns in order, or `BadInput` if they make no gap in this rule."""
    patterns = sorted(hidden)
    last = rule.patterns - 1
    if not patterns:
        raise BadInput("at least one pattern must be hidden")
    for pattern in patterns:
        if not 0 <= pattern <= last:
            raise BadInput(f"Rule {rule.name} has patterns 0 to {last}, not {pattern}")
    if len(set(patterns)) < len(patterns):
        raise BadInput(f"a pattern is named twice in {', '.join(map(str, patterns))}")
    if len(patterns) == rule.patterns:
        raise BadInput(f"all {rule.patterns} patterns of Rule {rule.name} are hidden: nothing is left to learn from")
    return tuple(patterns)


def parse_hidden(rule: Rule, text: str) -> tuple[int, ...]:
    """Patterns with commas between, each as its number or as all its cells.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> parse_hidden(parse_rule("150"), "011, 5")
    (3, 5)
    """
    return check_hidden(rule, [rule.parse_pattern(part) for part in text.split(",")])


def draw_hidden(rule: Rule, k: int, *, seed: int, ones: int | None = None) -> tuple[int, ...]:
    """k patterns to hide, a pure function of the arguments; with `ones`, that many of them have output 1.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> rule = parse_rule("D")
    >>> hidden = draw_hidden(rule, 8, seed=0, ones=3)
    >>> len(hidden), int(rule.table[list(hidden)].sum())
    (8, 3)
    """
    if not 0 < k < rule.patterns:
        raise BadInput(f"k {k}: Rule {rule.name} can hide 1 to {rule.patterns - 1} patterns", of="k")
    if seed < 0:
        raise BadInput(f"seed {seed}: a seed is not negative")
    rng = np.random.default_rng([seed, k])
    if ones is None:
        return tuple(sorted(int(p) for p in rng.choice(rule.patterns, k, replace=False)))
    by_output = [np.flatnonzero(rule.table == output) for output in (0, 1)]
    wanted = (k - ones, ones)
    for output, count in enumerate(wanted):
        if not 0 <= count <= len(by_output[output]):
            there = f"Rule {rule.name} has {len(by_output[output])}"
            raise BadInput(f"cannot hide {plural(count, 'pattern')} with output {output}: {there}")
    drawn = [rng.choice(pool, count, replace=False) for pool, count in zip(by_output, wanted, strict=True)]
    return tuple(sorted(int(p) for p in np.concatenate(drawn)))
