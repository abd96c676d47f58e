"""One hidden pattern at a time (paper, Appendix D, "Per-pattern holdout accuracy for radius-1 rules"): four columns.

At desk scale Rules 30 and 106 are read off the runs of `tempered/control`, whose budget alone is longer: their curves
are cut at the last step of 50 epochs. Up to there they are the shorter runs, evaluation by evaluation. A run that was
solved three times in a row before that step has stopped in both, and counts with its last evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.studies.identifiability import TRAINED_50, TRAINED_150_220
from hardgap.studies.main_table import SEEDS
from hardgap.studies.measure import Measured, StudyResult, pooled
from hardgap.studies.numbers import interval, mean, p_value, published_count, recovered
from hardgap.studies.published import Rate
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.recipes import tempered, untempered
from hardgap.worlds.automaton.scales import base

SHOWN: dict[str, Any] = {
    "tables": "hardgap.studies.per_pattern:pattern_tables",
    "figure": "hardgap.studies.per_pattern_figure:pattern_figure",
}
WHERE = "Per-pattern holdout accuracy"
JUDGED = (
    "(Rows are judged one by one and corrected together. The last judges all patterns at once: it can differ alone.)"
)


def _fifty(scale: Scale, rule: str) -> Iterator[Arm]:
    for pattern, successes in enumerate(TRAINED_50[rule]):
        short = base(scale, rule, (pattern,))
        cut = scale == "desk" and rule != "150"
        run = untempered(tempered(scale, rule, (pattern,))) if cut else short
        runs = tuple(run.but(seed=seed) for seed in SEEDS)
        published = Rate(WHERE, successes=successes, n=10)
        yield Arm({"pattern": pattern}, runs, published, until=short.budget.steps if cut else None)


@study("per-pattern/rule-150", **SHOWN)
def rule_150(scale: Scale) -> Iterator[Arm]:
    """In 50 epochs no pattern of Rule 150 but 2 and 5 is ever recovered, and these in 4 runs of 10 each."""
    return _fifty(scale, "150")


@study("per-pattern/rule-30", **SHOWN)
def rule_30(scale: Scale) -> Iterator[Arm]:
    """In 50 epochs patterns 3 and 6 of Rule 30 are always recovered, pattern 4 never."""
    return _fifty(scale, "30")


@study("per-pattern/rule-106", **SHOWN)
def rule_106(scale: Scale) -> Iterator[Arm]:
    """In 50 epochs patterns 0, 1 and 5 of Rule 106 are always recovered, pattern 2 never."""
    return _fifty(scale, "106")


@study("per-pattern/rule-150-long", **SHOWN)
def rule_150_long(scale: Scale) -> Iterator[Arm]:
    """In 220 epochs patterns 1, 3, 4 and 6 of Rule 150 are always recovered, 0 and 7 sometimes."""
    for pattern, successes in enumerate(TRAINED_150_220):
        run = base(scale, "150", (pattern,), epochs=220)
        published = None if successes is None else Rate(WHERE, successes=successes, n=10)
        yield Arm({"pattern": pattern}, tuple(run.but(seed=seed) for seed in SEEDS), published)


def pattern_tables(results: Sequence[StudyResult]) -> list[Table]:
    """All columns side by side, then each with its verdicts.

    A pattern is judged by itself, among all rows of these tables; the last row judges all patterns of a column at once,
    as `main/rule-150-short` does. So the same runs can differ there while no single pattern is told apart.
    """
    return [_together(results), *map(_verdicts, results)]


def column(name: str) -> str:
    """
    >>> column("per-pattern/rule-150-long")
    '150, 220 epochs'
    """
    _, rule, *long = name.partition("/")[2].split("-")
    return f"{rule}, {'220' if long else '50'} epochs"


def overall(result: StudyResult) -> Measured:
    """The patterns of which the paper has a count, as one, judged alone; that single ones differ shows in it."""
    counted = [(arm, arm.published.count) for arm in result.arms if arm.published and arm.published.count]
    successes = {int(arm.labels["pattern"]): count for arm, (count, _) in counted}
    total = Rate(WHERE, successes=sum(successes.values()), n=10 * len(successes), by_pattern=successes)
    return replace(pooled((arm for arm, _ in counted), {"pattern": "overall, alone"}), published=total)


def _together(results: Sequence[StudyResult]) -> Table:
    """A row a pattern: published and measured of every column."""
    columns = [column(one.name) for one in results]
    arms = [(*one.arms, overall(one)) for one in results]
    rows = [[row[0].labels["pattern"], *(" → ".join(counts(arm)) for arm in row)] for row in zip(*arms, strict=True)]
    title = f"Seeds of ten that recover the hidden pattern: published → measured at {results[0].scale} scale"
    return Table(title, ["hidden", *columns], rows, right=columns)


def counts(arm: Measured) -> tuple[str, str]:
    """Runs that recover of all runs: published and measured."""
    return published_count(arm) or "–", recovered(arm)


def _verdicts(result: StudyResult) -> Table:
    rows = [[arm.labels["pattern"], *counts(arm), *compared(arm)] for arm in (*result.arms, overall(result))]
    title = f"Rule {column(result.name)}: {result.study.claim} {JUDGED}"
    return Table(
        title, ["hidden", "published", "measured", *COMPARED], rows, ["published", "measured", *NUMBERS], DETAIL
    )


COMPARED = ["success rate, Wilson %", "verdict", "why", "p", "mean %"]
NUMBERS = ["success rate, Wilson %", "p", "mean %"]
DETAIL = ["why", "success rate, Wilson %", "p", "mean %"]
"""What stands beside two counts; which of it are numbers; which is left out where there is little room."""


def compared(arm: Measured) -> tuple[str, str, str, str, str]:
    """The interval of the success rate, the verdict, what is to be said beside it, p, and the mean holdout accuracy."""
    found = arm.comparison
    return interval(arm.wilson, 0), found.verdict, found.note, p_value(found.p), mean(arm.holdout)
