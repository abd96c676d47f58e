"""How gaps are drawn, cell by cell: the private part at run time from a seed, and once, from seed 1, the public part.

That one was written by `python -m hardgap.suites.draw src/hardgap/suites/v1.json`, and stays as it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from hardgap.suites.gaps import (
    BELONGS,
    GROUPS,
    SIMILARITIES,
    WIDER,
    Group,
    Similarity,
    SuiteGap,
    is_determined,
    similarity_of,
)
from hardgap.theory.cube import rule_labels
from hardgap.theory.similarity import ray_votes
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.rule import NAMED, Rule, parse_rule

PUBLIC_SEED, PUBLIC, PRIVATE = 1, 4, 2
"""Gaps of each cell in the whole suite."""
HIDDEN = {1: (1, 2, 1, 3), 2: (1, 4, 2, 6), 3: (1, 8, 4, 12)}
HIDDEN_OPEN = {1: (2, 1, 3, 4), 2: (8, 4, 12, 16), 3: (16, 8, 32, 64)}
"""How many patterns the gaps of a cell hide, in turn, by the rule's radius: up to half of them where similarity need
not be the same for all."""
ONE_SIDED: dict[Similarity, tuple[int, ...]] = {"wrong": (1,), "open": (2, 3, 4), "right": (1, 2, 3)}
"""Where a side never matters, determined gaps of other sizes are not in every cell."""
DRAWS = 20_000
DRAWN: tuple[Group, ...] = GROUPS[1:]


def draw_gap(
    group: Group, similarity: Similarity, k: int, rng: np.random.Generator, taken: Collection[str] = ()
) -> SuiteGap:
    """A determined gap of this cell with k hidden patterns, none that is taken: rules are drawn until one has such."""
    for _ in range(DRAWS):
        rule = _draw_rule(group, rng)
        pool = _pool(rule, similarity)
        if len(pool) < k:
            continue
        gap = Gap(rule, tuple(int(p) for p in rng.choice(pool, k, replace=False)))
        found = SuiteGap(rule=rule.spec, hide=gap.hidden, group=group, similarity=similarity)
        if found.key not in taken and similarity_of(gap) == similarity and is_determined(gap, found.width):
            return found
    raise AssertionError(f"no gap of {k} patterns was found: {group}, {similarity}")


def _draw_rule(group: Group, rng: np.random.Generator) -> Rule:
    radius = _radius(group)
    while True:
        rule = Rule.from_table(rng.integers(0, 2, 1 << (2 * radius + 1)))
        if BELONGS[group](rule) and rule.name not in NAMED:  # those are the paper's
            return rule


def _pool(rule: Rule, similarity: Similarity) -> list[int]:
    """Patterns that a gap of this kind may hide: alone, similarity makes the same of each."""
    if similarity == "open":
        return list(range(rule.patterns))
    votes = ray_votes(rule_labels(rule)) * (1 if similarity == "right" else -1)
    return [int(p) for p in np.flatnonzero((votes >= 0).all(axis=1) & votes.any(axis=1))]


def _radius(group: Group) -> int:
    return {"radius 2": 2, "radius 3": 3}.get(group, 1)


def cell_gaps(seed: int, number: int, taken: Iterable[str] = ()) -> Iterator[tuple[int, SuiteGap]]:
    """So many new gaps of every cell, each with its place in it: a pure function of the seed and of what is taken."""
    known = set(taken)
    for rank, (group, similarity) in enumerate(product(DRAWN, SIMILARITIES)):
        hidden = _hidden(group, similarity)
        for place in range(number):
            rng = np.random.default_rng([seed, rank, place])
            gap = draw_gap(group, similarity, hidden[(place + rank) % len(hidden)], rng, known)
            known.add(gap.key)
            yield place, gap


def _hidden(group: Group, similarity: Similarity) -> tuple[int, ...]:
    if group == "one-sided":
        return ONE_SIDED[similarity]
    return (HIDDEN_OPEN if similarity == "open" else HIDDEN)[_radius(group)]


def private_gaps(public: Iterable[SuiteGap], seed: int, *, quick: bool) -> list[SuiteGap]:
    """Two new gaps of every cell; in the quick part one a group, of another kind each, as the public part has it."""
    drawn = cell_gaps(seed, 1 if quick else PRIVATE, (gap.key for gap in public))
    found = [_at(gap, part="private", quick=quick) for _, gap in drawn]
    kinds = len(SIMILARITIES)
    return [gap for i, gap in enumerate(found) if i % kinds == i // kinds % kinds] if quick else found


def public_gaps() -> list[SuiteGap]:
    """The paper's own, then every cell; the first of each is in the quick part, and once more on wider rows."""
    alone = {"150": range(8), "30": (0, 3, 5), "106": (2, 6)}
    paper: list[tuple[str, tuple[int, ...]]] = [(rule, (p,)) for rule, patterns in alone.items() for p in patterns]
    paper += [(rule, draw_hidden(parse_rule(rule), 8, seed=1, ones=3)) for rule in ("D", "G")]
    quick = {"150:3@11", "30:5@11", "D"}
    own = [
        SuiteGap(rule=rule, hide=hide, group="paper", similarity=similarity_of(Gap(parse_rule(rule), hide)))
        for rule, hide in paper
    ]
    found = [_at(gap, quick=gap.key in quick or gap.rule in quick) for gap in own]
    drawn = [_at(gap, quick=place == 0) for place, gap in cell_gaps(PUBLIC_SEED, PUBLIC)]
    return found + drawn + [_at(gap, width=WIDER, quick=False) for gap in drawn if gap.quick]


def _at(gap: SuiteGap, **changes: object) -> SuiteGap:
    return gap.model_copy(update=changes)


def write_gaps(path: Path) -> None:
    rows = [gap.model_dump(mode="json", exclude={"part"}) for gap in public_gaps()]
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write_gaps(Path(sys.argv[1]))
