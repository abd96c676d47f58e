"""Why is Rule 150 recovered less often here than published? Two guesses, each beside the main table's own runs.

Dropout, which the paper does not mention; and the number of steps, of which a desk run has fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from hardgap.core.specs import Budget, Scale
from hardgap.core.table import Table
from hardgap.nn.spec import EncoderSpec
from hardgap.report.statistics import same_rate_p, wilson
from hardgap.runs.summary import recovered_step
from hardgap.studies.main_table import FAILED_AT_FIRST, LONG_BY_PATTERN, seeds
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import interval, p_value, published_count, recovered
from hardgap.studies.published import Rate
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

DROPOUT = 0.1
"""The default of `nn.TransformerEncoderLayer`, with which most would write the paper's network."""
AS_LONG = Budget(steps=34_540, evaluate_every=157, stop_after_solved=3)
"""The paper's 220 epochs of 157 steps, an evaluation an epoch; desk runs have 12 steps for each of its epochs."""
PAPER = "paper, 220 epochs"
TABLES = "hardgap.studies.rule_150:beside_tables"


@study("dropout/rule-150", tables=TABLES, ours=True)
def with_dropout(scale: Scale) -> Iterator[Arm]:
    """Is Rule 150 recovered as often as published with dropout of 0.1, of which the paper says nothing?"""
    return _beside(scale, f"dropout {DROPOUT:g}", lambda run: run.but(model=EncoderSpec(dropout=DROPOUT)))


@study("steps/rule-150", tables=TABLES, ours=True)
def as_long(scale: Scale) -> Iterator[Arm]:
    """Is Rule 150 recovered as often as published in as many steps as the paper took, 34,540?"""
    if scale != "paper":  # whose runs have them
        yield from _beside(scale, f"{AS_LONG.steps:,} steps", lambda run: run.but(budget=AS_LONG))


def _beside(scale: Scale, way: str, change: Callable[[AutomatonRun], AutomatonRun]) -> Iterator[Arm]:
    """Of every pattern the main table's runs, then the same with a change."""
    for pattern in FAILED_AT_FIRST:
        published = Rate("per-pattern table", successes=LONG_BY_PATTERN[pattern], n=10)
        usual = base(scale, "150", (pattern,), epochs=220)
        for name, run in ((f"{usual.budget.steps:,} steps, no dropout", usual), (way, change(usual))):
            yield Arm({"pattern": pattern, "way": name}, tuple(seeds(run)), published)


def beside_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a pattern, and one for all patterns of which both ways have runs."""
    return [_table(result) for result in results if result.arms]


def _table(result: StudyResult) -> Table:
    usual, changed = (str(arm.labels["way"]) for arm in result.arms[:2])
    right = [PAPER, usual, changed, "Wilson, %", "found after steps, median", "p, of the two", "p, to paper"]
    title = f"Rule 150, {changed}, {result.scale} scale"
    return Table(title, ["hidden", *right], [*_rows(result)], right, ["Wilson, %"])


def _rows(result: StudyResult) -> Iterator[list[object]]:
    pairs = list(zip(result.arms[::2], result.arms[1::2], strict=True))
    for usual, changed in pairs:
        told = [published_count(usual), recovered(usual), recovered(changed), interval(changed.wilson, 0)]
        yield [f"pattern {usual.labels['pattern']}", *told, median_of(found_after([changed])), "", ""]
    if (both := in_both_ways(result)).usual[1]:
        shares = ["{}/{}".format(*count) for count in (both.paper, both.usual, both.changed)]
        ps = [p_value(same_rate_p(*other, *both.changed)) for other in (both.usual, both.paper)]
        yield ["all of these", *shares, interval(wilson(*both.changed), 0), median_of(both.found_after), *ps]


class BothWays(NamedTuple):
    """Recovered and all runs of the patterns of which both ways have some, and when the changed ones found theirs."""

    paper: tuple[int, int]
    usual: tuple[int, int]
    changed: tuple[int, int]
    found_after: list[int]


def in_both_ways(result: StudyResult) -> BothWays:
    """What the table sums up."""
    both = [pair for pair in zip(result.arms[::2], result.arms[1::2], strict=True) if all(arm.n for arm in pair)]
    usual, changed = [one for one, _ in both], [other for _, other in both]
    published = [arm.published.count for arm in usual if arm.published is not None and arm.published.count is not None]
    paper = sum(right for right, _ in published), sum(n for _, n in published)
    return BothWays(paper, _counted(usual), _counted(changed), found_after(changed))


def _counted(arms: Sequence[Measured]) -> tuple[int, int]:
    return sum(arm.recovered for arm in arms), sum(arm.n for arm in arms)


def found_after(arms: Sequence[Measured]) -> list[int]:
    """Of the runs that recover, the steps from which on they had the entry."""
    curves = (curve for arm in arms for curve in arm.curves)
    found = (recovered_step((point["step"], point["holdout"]) for point in curve) for curve in curves)
    return [step for step in found if step is not None]


def median_of(steps: Sequence[int]) -> str:
    """As it is printed; nothing if there is none."""
    return f"{median(steps):,.0f}" if steps else ""
