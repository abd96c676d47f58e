"""Dropout, which the paper does not mention: is it why Rule 150 is recovered less often here than published?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.nn.spec import EncoderSpec
from hardgap.report.statistics import same_rate_p, wilson
from hardgap.studies.main_table import FAILED_AT_FIRST, LONG_BY_PATTERN, seeds
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import interval, p_value, published_count, recovered
from hardgap.studies.published import Rate
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.scales import base

DROPOUT = 0.1
"""The default of `nn.TransformerEncoderLayer`, with which most would write the paper's network."""


@study("dropout/rule-150", tables="hardgap.studies.dropout:dropout_tables", ours=True)
def rule_150(scale: Scale) -> Iterator[Arm]:
    """Is Rule 150 recovered as often as published with dropout of 0.1, of which the paper says nothing?"""
    for pattern in FAILED_AT_FIRST:
        published = Rate("per-pattern table", successes=LONG_BY_PATTERN[pattern], n=10)
        for share in (0.0, DROPOUT):
            run = base(scale, "150", (pattern,), epochs=220).but(model=EncoderSpec(dropout=share))
            yield Arm({"pattern": pattern, "dropout": share}, tuple(seeds(run)), published)


def dropout_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a pattern, and one for all patterns of which both ways have runs."""
    right = ["paper, 220 epochs", "no dropout", f"dropout {DROPOUT:g}", "Wilson, %", "p"]
    found = [(f"Rule 150 with dropout, {result.scale} scale", [*_rows(result)]) for result in results]
    return [Table(title, ["hidden", *right], rows, right, ["Wilson, %"]) for title, rows in found]


def _rows(result: StudyResult) -> Iterator[list[object]]:
    pairs = list(zip(result.arms[::2], result.arms[1::2], strict=True))
    for without, with_it in pairs:
        told = [published_count(without), recovered(without), recovered(with_it), interval(with_it.wilson, 0), ""]
        yield [f"pattern {without.labels['pattern']}", *told]
    both = [pair for pair in pairs if all(arm.n for arm in pair)]
    if both:
        counts = [(sum(arm.recovered for arm in way), sum(arm.n for arm in way)) for way in zip(*both, strict=True)]
        paper = _published([without for without, _ in both])
        shares = ["{}/{}".format(*count) for count in (paper, *counts)]
        yield ["all of these", *shares, interval(wilson(*counts[1]), 0), p_value(same_rate_p(*counts[0], *counts[1]))]


def _published(arms: Sequence[Measured]) -> tuple[int, int]:
    counts = [arm.published.count for arm in arms if arm.published is not None and arm.published.count is not None]
    return sum(right for right, _ in counts), sum(n for _, n in counts)
