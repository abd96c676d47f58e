"""What a suite asks: gaps in groups that mean something, each determined by the very rows that a network trains on.

A *cell* of the suite is a group of rules and what similarity makes of the gap:

    wrong   a vote of the visible patterns gets no hidden entry right, whatever weights that fall with distance it has
    right   … it gets none wrong
    open    it depends on the weights, or on the entry

so that interpolation and computation are told apart by construction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.specs import Positive, Spec
from hardgap.core.wording import did_you_mean
from hardgap.theory.cube import Ints, rule_labels, shell_sums
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.linear import affine_form
from hardgap.worlds.automaton.rule import Rule, parse_rule

Group = Literal["paper", "linear", "one-sided", "nonlinear", "radius 2", "radius 3"]
GROUPS: tuple[Group, ...] = get_args(Group)
Similarity = Literal["wrong", "open", "right"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)
Part = Literal["public", "private"]
WIDTH, WIDER = 11, 21
ASKED_AT = (21, 101)
"""Widths at which a network that was trained at width 11 is asked, if it can be."""
STEPS = 4
"""Unrolled timesteps of both recipes, and so all that what is visible can testify to."""
SEEDS = 3
SUITES = ("v1",)


class SuiteGap(Spec):
    """A gap of a suite, and where it stands there."""

    rule: str
    hide: tuple[int, ...]
    group: Group
    similarity: Similarity
    width: Positive = WIDTH
    quick: bool = False
    part: Part = "public"

    @property
    def gap(self) -> Gap:
        return Gap(parse_rule(self.rule), self.hide)

    @property
    def key(self) -> str:
        """Rule, hidden patterns and width in a word: the same gap has the same key, in every card.

        >>> SuiteGap(rule="150", hide=(3,), group="paper", similarity="wrong").key
        '150:3@11'
        """
        return f"{self.rule}:{'.'.join(map(str, self.hide))}@{self.width}"

    @property
    def cell(self) -> tuple[Group, Similarity]:
        return self.group, self.similarity


@dataclass(frozen=True)
class Suite:
    """A version of the suite: its name and its public gaps."""

    name: str
    gaps: tuple[SuiteGap, ...]

    def asked(self, seed: int, *, quick: bool) -> tuple[SuiteGap, ...]:
        """All gaps of a run: the public ones, and those that a seed draws from the same cells."""
        from hardgap.suites.draw import private_gaps

        check_seed(seed)
        public = tuple(gap for gap in self.gaps if gap.quick or not quick)
        return (*public, *private_gaps(self.gaps, seed, quick=quick))


def check_seed(seed: int) -> None:
    """Refuse what no generator takes."""
    if seed < 0:
        raise BadInput(f"seed {seed}: a seed is not negative", of="seed")


@cache
def load_suite(name: str) -> Suite:
    """A suite by its name."""
    if name not in SUITES:
        raise BadInput(f"there is no suite {name!r}{did_you_mean(name, SUITES)}; there is {', '.join(SUITES)}")
    rows = json.loads((files("hardgap.suites") / f"{name}.json").read_text(encoding="utf-8"))
    return Suite(name, tuple(SuiteGap(**row) for row in rows))


def similarity_of(gap: Gap) -> Similarity:
    """What a vote of the visible patterns makes of all hidden ones, whichever weights that fall with distance it has.

    >>> [similarity_of(Gap(parse_rule(rule), (3,))) for rule in ("150", "255", "204")]
    ['wrong', 'right', 'open']
    """
    votes = ray_votes_of(gap)
    if not votes.any(axis=1).all():  # a tie at every distance says nothing
        return "open"
    return "wrong" if (votes <= 0).all() else "right" if (votes >= 0).all() else "open"


def ray_votes_of(gap: Gap) -> Ints:
    """Entry [i, j-1] is the vote on the i-th hidden pattern of what is visible up to distance j, positive if right.

    Every weighting that falls with distance is a mixture of these (`theory/similarity.py`).
    """
    labels, hidden = rule_labels(gap.rule), np.array(gap.hidden)
    visible = np.where(gap.hidden_table, 0, labels)
    return np.cumsum(labels[hidden, None] * shell_sums(visible)[hidden, 1:], axis=1)


def is_determined(gap: Gap, width: int) -> bool:
    """Whether the visible cells of the rows that a run trains on leave one table only, with each seed of the suite."""
    from hardgap.worlds.automaton.identify.completions import completions
    from hardgap.worlds.automaton.identify.evidence import rows_shown

    shown = (rows_shown(gap, _training_rows(width, seed), STEPS) for seed in range(SEEDS))
    return all(completions(evidence, limit=2).identified for evidence in shown)


@cache
def _training_rows(width: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    from hardgap.worlds.automaton.scales import base
    from hardgap.worlds.automaton.task import split_rows

    run = base("desk", "150", (0,))
    return np.unique(split_rows(width, run.train_rows, run.test_rows, seed)[0], axis=0)


def _depends_on(rule: Rule, cell: int) -> bool:
    """Whether a cell of the neighbourhood, counted from the right, ever matters."""
    patterns = np.arange(rule.patterns)
    return bool((rule.table[patterns] != rule.table[patterns ^ (1 << cell)]).any())


def _is_linear(rule: Rule) -> bool:
    return rule.radius == 1 and affine_form(rule) is not None


def _is_one_sided(rule: Rule) -> bool:
    return rule.radius == 1 and not _is_linear(rule) and not (_depends_on(rule, 0) and _depends_on(rule, 2))


def _is_wide(rule: Rule, radius: int) -> bool:
    """Whether it really is of this radius."""
    return rule.radius == radius and (_depends_on(rule, 0) or _depends_on(rule, 2 * radius))


BELONGS: dict[Group, Callable[[Rule], bool]] = {
    "linear": _is_linear,
    "one-sided": _is_one_sided,
    "nonlinear": lambda rule: rule.radius == 1 and not _is_linear(rule) and not _is_one_sided(rule),
    "radius 2": lambda rule: _is_wide(rule, 2),
    "radius 3": lambda rule: _is_wide(rule, 3),
}
"""Which rules a drawn group has; the paper's are named in the list."""
