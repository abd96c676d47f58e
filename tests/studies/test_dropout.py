"""Rule 150 with and without dropout: on one side the main table's own runs; what both have is summed up."""

from __future__ import annotations

from typing import Any

from hardgap.studies.dropout import DROPOUT, dropout_tables, rule_150
from hardgap.studies.main_table import rule_150_long
from hardgap.studies.measure import Measured, StudyResult


def ended(*shares: float) -> tuple[list[dict[str, Any]], ...]:
    return tuple([{"step": 2640, "visible": 1.0, "holdout": share, "detail": {}}] for share in shares)


def test_without_dropout_they_are_the_main_tables_own_runs() -> None:
    arms = rule_150.arms("desk")
    without, with_it = ({run.id for arm in arms[way::2] for run in arm.runs} for way in (0, 1))
    assert without == {run.id for run in rule_150_long.runs("desk")}
    assert not without & with_it
    assert all(f"dropout {DROPOUT}" in run.describe() for arm in arms[1::2] for run in arm.runs)


def test_only_patterns_that_both_ways_have_are_summed_up() -> None:
    """Of pattern 0 two of four and four of four recover, of pattern 1 only one way is measured."""
    curves = [ended(1.0, 0.7, 0.6, 0.0), ended(1.0, 1.0, 1.0, 0.8), ended(1.0), *[()] * 9]
    arms = tuple(
        Measured(arm.labels, len(arm.runs), arm.runs[: len(ends)], ends, arm.published)
        for arm, ends in zip(rule_150.arms("desk"), curves, strict=True)
    )
    (table,) = dropout_tables([StudyResult(rule_150, "desk", arms)])
    assert table.rows[0] == ["pattern 0", "3/10", "2/4 of 10", "4/4 of 10", "51 to 100", ""]
    assert table.rows[-1] == ["all of these", "3/10", "2/4", "4/4", "51 to 100", "0.43"]
    (nothing,) = dropout_tables([StudyResult(rule_150, "desk", ())])
    assert nothing.rows == []
