"""What runs of Rule 150 that fail have learned (paper, limitation 3): is it a consistent alternative rule?

Read from the curves alone. A run computes an alternative rule if each visible pattern has its true output and the
hidden one the other, in 95 % of test cells or more. It is consistent if its free run, in which each rounded
prediction is the next input, has 95 % of the visible cells right at every one of four steps.

Paper is silent: with what the rule is consistent. With itself it is: that is the first of these two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hardgap.core.run import only
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.verdicts import NOT_RUN, Verdict, judge_majority, judge_statement
from hardgap.studies.main_table import rule_150_long, rule_150_short
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import span
from hardgap.studies.published import Found, Published
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.run import AutomatonRun

NEARLY = 0.95
TWO = 2
"""Of the eight patterns, says the paper."""
Failed = list[tuple[AutomatonRun, dict[str, Any]]]


def failed(found: Found) -> Failed:
    """The runs that do not recover their pattern, each with what was asked of it at its end."""
    assert isinstance(found, Measured)
    runs = zip(only(AutomatonRun, found.runs), found.curves, found.outcomes, strict=True)
    return [(run, curve[-1]["detail"]) for run, curve, recovered in runs if not recovered]


def is_flipped(run: AutomatonRun, end: dict[str, Any]) -> bool:
    """Whether it computes the rule with the hidden output, and no other, the wrong way round."""
    shares = enumerate(end["patterns"])
    return all(share <= 1 - NEARLY if pattern in run.hide else share >= NEARLY for pattern, share in shares)


def is_consistent(end: dict[str, Any]) -> bool:
    return float(min(end["rollout_visible"])) >= NEARLY


@dataclass(frozen=True)
class Alternative(Published):
    """That failed runs compute another rule."""

    def compare(self, found: Found) -> Verdict:
        runs = failed(found)
        flipped = sum(is_flipped(run, end) for run, end in runs)
        return judge_majority((flipped, len(runs)), True, f"{flipped} of {len(runs)} failed runs do")


@dataclass(frozen=True)
class Consistent(Published):
    """That such a rule agrees with all that is visible, for at least two patterns."""

    def compare(self, found: Found) -> Verdict:
        runs = failed(found)
        if not runs:
            return NOT_RUN
        agree = [run for run, end in runs if is_flipped(run, end) and is_consistent(end)]
        patterns = {run.hide for run in agree}
        return judge_statement(len(patterns) >= TWO, f"{len(agree)} of {len(runs)} failed runs agree")


@study("dynamics/alternative-rule", tables="hardgap.studies.alternative_rule:alternative_tables")
def alternative_rule(scale: Scale) -> Iterator[Arm]:
    """Where runs of Rule 150 fail, they find a consistent alternative rule, for two of the eight patterns."""
    for runs in (rule_150_short.runs(scale), rule_150_long.runs(scale)):
        for of, paper in (("an alternative rule", Alternative), ("consistent with what is visible", Consistent)):
            yield Arm({"steps": f"{runs[0].budget.steps:,}", "of": of}, tuple(runs), paper("Limitations"))


def alternative_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a statement and budget: how many of the failed runs are so, and how far free runs go wrong."""
    (result,) = results
    wrong = ["visible wrong at step 2, %", "at step 4, %"]
    columns = ["steps", "is it", "failed", "are", *wrong, "verdict"]
    title = f"What failed runs of Rule 150 have learned, {result.scale} scale"
    return [Table(title, columns, [_row(arm) for arm in result.arms], ["steps", *columns[2:6]], detail=wrong)]


def _row(arm: Measured) -> list[object]:
    runs = failed(arm)
    is_first = isinstance(arm.published, Alternative)
    are = sum(is_flipped(run, end) and (is_consistent(end) or is_first) for run, end in runs)
    wrong = [span([100 * (1 - end["rollout_visible"][step]) for _, end in runs]) if runs else "" for step in (1, 3)]
    return [*arm.labels.values(), f"{len(runs)}/{arm.n}", are, *wrong, arm.comparison.verdict]
