"""Rule 150 in another way: on one side the main table's own runs, on the other theirs with one change."""

from __future__ import annotations

from typing import Any

import pytest

from hardgap.studies.main_table import rule_150_long
from hardgap.studies.main_table_document import steps_words
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.rule_150 import AS_LONG, DROPOUT, as_long, beside_tables, with_dropout
from hardgap.studies.study import Study
from hardgap.worlds.automaton.scales import base

IN_WORDS = {with_dropout.name: f"dropout {DROPOUT}", as_long.name: ""}


def ended(*shares: float) -> tuple[list[dict[str, Any]], ...]:
    return tuple([{"step": 2640, "visible": 1.0, "holdout": share, "detail": {}}] for share in shares)


@pytest.mark.parametrize("study", [with_dropout, as_long], ids=lambda study: study.name)
def test_the_one_side_is_the_main_tables_own_runs(study: Study) -> None:
    arms = study.arms("desk")
    usual, changed = ({run.id for arm in arms[way::2] for run in arm.runs} for way in (0, 1))
    assert usual == {run.id for run in rule_150_long.runs("desk")}
    assert not usual & changed
    assert all(IN_WORDS[study.name] in run.describe() for arm in arms[1::2] for run in arm.runs)


def test_as_long_is_as_long_as_at_the_papers_scale() -> None:
    paper = base("paper", "150", (3,), epochs=220).budget
    assert (AS_LONG.steps, AS_LONG.evaluate_every) == (paper.steps, paper.evaluate_every)
    assert as_long.arms("paper")[0].runs == ()


def test_what_more_steps_change_is_said_in_numbers() -> None:
    """Three of four recover in the end, two of them late, where one of four does in fewer steps."""
    late = [[{"step": step, "visible": 1.0, "holdout": share, "detail": {}} for step, share in curve] for curve in (
        [(157, 0.0), (314, 1.0)], [(157, 0.9), (2512, 0.0), (9420, 0.8)], [(157, 0.0), (20410, 0.7)], [(34540, 0.6)],
    )]  # fmt: skip
    arms = tuple(
        Measured(arm.labels, len(arm.runs), arm.runs[: len(ends)], tuple(ends), arm.published)
        for arm, ends in zip(as_long.arms("desk")[:2], (ended(1.0, 0.6, 0.0, 0.0), late), strict=True)
    )
    result = StudyResult(as_long, "desk", arms)
    (table,) = beside_tables([result])
    assert table.rows[0][4:6] == ["30 to 95", "9,420"]
    said = " ".join(steps_words(result).split())
    assert "3 of 4 desk runs recover (95 % interval 30 to 95 %; paper: 3 of 10, p = 0.24), against 1 of 4 in" in said
    assert "2 of these 3 found the entry only after step 2,640, half of all after step 9,420." in said


def test_only_patterns_that_both_ways_have_are_summed_up() -> None:
    """Of pattern 0 two of four and four of four recover, of pattern 1 only one way is measured."""
    curves = [ended(1.0, 0.7, 0.6, 0.0), ended(1.0, 1.0, 1.0, 0.8), ended(1.0), *[()] * 9]
    arms = tuple(
        Measured(arm.labels, len(arm.runs), arm.runs[: len(ends)], ends, arm.published)
        for arm, ends in zip(with_dropout.arms("desk"), curves, strict=True)
    )
    (table,) = beside_tables([StudyResult(with_dropout, "desk", arms)])
    assert table.columns[2:4] == ["2,640 steps, no dropout", "dropout 0.1"]
    assert table.rows[0] == ["pattern 0", "3/10", "2/4 of 10", "4/4 of 10", "51 to 100", "2,640", "", ""]
    assert table.rows[-1] == ["all of these", "3/10", "2/4", "4/4", "51 to 100", "2,640", "0.43", "0.07"]
    assert beside_tables([StudyResult(with_dropout, "desk", ())]) == []
