"""Ours: an atlas of every gap of one pattern in the 256 elementary rules, and why determined ones are missed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hardgap.core.specs import Scale
from hardgap.studies.atlas.forecast import every_rule, images
from hardgap.studies.kept import kept_file
from hardgap.studies.study import Arm, Labels, study
from hardgap.worlds.automaton.recipes import ROUNDED, tempered, until_first_solved
from hardgap.worlds.automaton.rule import Rule
from hardgap.worlds.automaton.run import AutomatonRun

MISSED: dict[int, tuple[int, ...]] = {
    1: (1,), 5: (2,), 7: (2,), 8: (2, 7), 19: (5,), 22: (2,), 25: (3,), 26: (0, 3), 27: (4, 5), 28: (0, 4), 32: (1, 4),
    36: (2,), 38: (2,), 40: (3, 5), 41: (3,), 42: (7,), 44: (5,), 46: (7,), 47: (5,), 49: (1,), 54: (2,), 56: (3,),
    66: (5, 6), 67: (7,), 72: (2, 3, 6, 7), 78: (0,), 88: (4,), 99: (4,), 105: (1,), 108: (5,), 114: (6,), 121: (2,),
    124: (7,), 128: (3,), 130: (7,), 132: (7,), 138: (1, 5), 149: (6,), 156: (0, 4, 6, 7), 159: (5, 6), 172: (6,),
    176: (6,), 179: (0,), 200: (3,), 206: (1,), 216: (5,), 231: (0,), 248: (3,), 249: (3,),
}  # fmt: skip
"""The determined gaps that the atlas's run did not recover: of a gap and its images, which are one problem, those of
the first rule of which one was missed."""
SEEDS = range(3)
"""The first is the atlas's own."""
RECIPE, IMAGES = "the recipe", "its images"
SHARES = {RECIPE: 0.0, "3 of 10 rounded": ROUNDED}


def every_gap() -> Iterator[tuple[Rule, int]]:
    """All 2,048, one rule of each class first: a rule, its mirror image and their complements."""
    for rule in sorted(every_rule(), key=lambda rule: rule != rule.equivalence_class()[0]):
        yield from ((rule, pattern) for pattern in range(rule.patterns))


def missed_gaps() -> list[tuple[Rule, int]]:
    return [(Rule(1, number), pattern) for number, patterns in MISSED.items() for pattern in patterns]


@study(
    "atlas",
    tables="hardgap.studies.atlas.cells:atlas_tables",
    figure="hardgap.studies.atlas.figure:atlas_figure",
    ours=True,
)
def atlas(scale: Scale) -> Iterator[Arm]:
    """One recipe recovers nearly every determined gap of one pattern in the 256 elementary rules."""
    for rule, pattern in every_gap():
        yield Arm({"rule": str(rule.number), "pattern": pattern}, (atlas_run(scale, rule.number, pattern),))


def atlas_run(scale: Scale, rule: int, pattern: int, rounded: float = 0.0) -> AutomatonRun:
    """The tempered recipe as far as the first solved evaluation; a share of what is fed back may be rounded."""
    run = until_first_solved(tempered(scale, str(rule), (pattern,)))
    return run.but(unrolling=run.unrolling.model_copy(update={"rounded": rounded}))


@study("atlas/missed", tables="hardgap.studies.atlas.missed:missed_tables", ours=True)
def missed(scale: Scale) -> Iterator[Arm]:
    """Why is a determined gap missed? Other seeds recover it, or rounding some of what is fed back does, or neither.

    A network that passes on what it knows in graded values has no need of the rule. Rounding takes these away.
    """
    for rule, pattern in missed_gaps():
        labels: Labels = {"rule": str(rule.number), "pattern": pattern}
        for way, share in SHARES.items():
            runs = tuple(atlas_run(scale, rule.number, pattern, share).but(seed=seed) for seed in SEEDS)
            yield Arm({**labels, "way": way}, runs)
        _, *others = images(rule, pattern)
        yield Arm({**labels, "way": IMAGES}, tuple(atlas_run(scale, image.number, place) for image, place in others))


@study(
    "atlas/opened",
    tables="hardgap.studies.atlas.opened:opened_tables",
    prepare="hardgap.studies.atlas.opened:open_missed",
    folder="opened",
    ours=True,
)
def opened(scale: Scale) -> Iterator[Arm]:
    """What does a network compute that misses a determined gap, as every seed does?"""
    for rule, pattern in missed_gaps():
        compute = partial(kept_file, name=opened_file(opened_run(scale, rule, pattern).id))
        yield Arm({"rule": str(rule.number), "pattern": pattern}, (), None, compute)


def opened_run(scale: Scale, rule: Rule, pattern: int) -> AutomatonRun:
    """Of each gap that three seeds miss, the second seed's network is opened."""
    return atlas_run(scale, rule.number, pattern).but(seed=SEEDS[1])


def opened_file(run_id: str) -> str:
    return f"opened-{run_id}.json"
