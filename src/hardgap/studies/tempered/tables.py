"""The studies of the tempered recipe as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.studies.measure import Measured, StudyResult, each
from hardgap.studies.numbers import interval, mean, p_value, published_count, recovered, span
from hardgap.studies.study import words
from hardgap.studies.tempered.wide import WIDTH
from hardgap.worlds.automaton.run import AutomatonRun


@each
def arms_table(result: StudyResult) -> Table:
    shown = [arm for arm in result.arms if arm.n] or result.arms
    given = ["its steps, at most"] if len({_given(arm) for arm in shown}) > 1 else []
    right = ["paper, 50 epochs", *given, "recovered", "Wilson, %", "solved", "median steps", "restarted"]
    rows: list[list[object]] = []
    for arm in shown:
        paper, *ours = _counts(arm)
        told = [paper, *(_given(arm) for _ in given), *ours, f"{arm.solved}/{arm.n}", _median(arm)]
        rows.append([*_name(arm), *told, arm.restarted or ""])
    detail = ["Wilson, %", "median steps", "solved", "paper, 50 epochs"]
    return _without_empty(Table(_title(result), ["factor", "value", *right], rows, right, detail))


def _without_empty(table: Table) -> Table:
    """The same without columns that have nothing in any row, if there are rows."""
    if not table.rows:
        return table
    kept = [place for place in range(len(table.columns)) if any(row[place] != "" for row in table.rows)]
    columns = [table.columns[place] for place in kept]
    right, detail = ([name for name in names if name in columns] for names in (table.right, table.detail))
    return replace(
        table, columns=columns, rows=[[row[p] for p in kept] for row in table.rows], right=right, detail=detail
    )


@each
def target_table(result: StudyResult) -> Table:
    detail = ["Wilson, %", "p against T = 1, same seeds", "median steps", "slowest"]
    right = ["paper, 50 epochs", "T = 1", "its steps, at most", "tempered", *detail, "restarted"]
    rows: list[list[object]] = []
    for row in result.more["beside"]:
        arm, control = row["arm"], row["control"]
        paper, *ours = _counts(arm)
        told = [paper, recovered(control), span(row["control_steps"], ","), *ours, p_value(row["p"], digits=1)]
        slowest = max(arm.steps) if arm.steps else ""
        rows.append([*_name(arm), *told, _median(arm), slowest, arm.restarted or ""])
    return Table(_title(result), ["rule", "hidden", *right], rows, right, [*detail, "its steps, at most"])


@each
def cliff_table(result: StudyResult) -> Table:
    right = ["hidden of 32", "paper", "T = 1", "tempered", "mean holdout, %", "determined, %"]
    untempered = {(a.labels["rule"], a.labels["k"]): a for a in result.arms if a.labels["way"] == "T = 1"}
    rows: list[list[object]] = []
    for arm, share in zip(result.arms, result.more["determined"], strict=True):
        if arm.labels["way"] == "tempered":
            rule, k, _ = words(arm.labels)
            beside = untempered.get((arm.labels["rule"], arm.labels["k"]))
            known = "" if share is None else f"{100 * share:.0f}"
            shares = [recovered(beside) if beside else "", recovered(arm), mean(arm.holdout)]
            rows.append([rule, k, published_count(arm), *shares, known])
    return Table(_title(result), ["rule", *right], rows, right)


@each
def forecast_table(result: StudyResult) -> Table:
    columns = ["predictor, from the gap alone", "rho where chosen (150, 30, 106)", "rho where judged (new rules)", "p"]
    rows: list[list[object]] = []
    for row in result.more["predictors"]:
        chosen, judged = row["chosen on"], row["judged on"]
        best = row["predictor"] == result.more["chosen"]
        p = p_value(judged["p"]) if best else ""
        rows.append([row["predictor"] + (" (chosen)" if best else ""), _rho(chosen), _rho(judged), p])
    return Table(_title(result), columns, rows, columns[1:], columns[1:2])


@each
def wide_table(result: StudyResult) -> Table:
    visible = ["visible after 1,000 steps, %", "90 % of visible at"]
    right = ["paper, 7,850 steps", *visible, "recovered", "holdout at the end, %", "solved at", "restarted"]
    more, rows = result.more, list[list[object]]()
    for arm, early, routed in zip(result.arms, more["early"], more["routed"], strict=True):
        if not arm.n and any(other.n for other in result.arms):
            continue
        told = [published_count(arm), percent(early), routed, recovered(arm), mean(arm.holdout), _median(arm)]
        rows.append([way_of(arm), f"pattern {arm.labels['pattern']}", *told, arm.restarted or ""])
    detail = ["holdout at the end, %", "solved at", *visible, "paper, 7,850 steps"]
    return Table(_title(result), ["factor", "hidden", *right], rows, right, detail)


def way_of(arm: Measured) -> str:
    """How an arm of `wide` was trained, or which way to route it tries."""
    labels = arm.labels
    return str(labels.get("way") or f"routing: {labels['routing']}, learning rate {labels['learning rate']:g}")


def _name(arm: Measured) -> tuple[str, str]:
    """What varies, and the rest of what sets an arm apart."""
    first, *rest = words(arm.labels)
    return first, ", ".join(rest)


def _title(result: StudyResult) -> str:
    widths = {run.width for arm in result.study.arms(result.scale) for run in arm.runs if isinstance(run, AutomatonRun)}
    where = f"rows of {WIDTH} cells" if widths == {WIDTH} else f"{result.scale} scale"  # such rows are at no scale
    return f"{result.name.partition('/')[2]}, {where}: {result.study.claim.rstrip('.')}"


def _given(arm: Measured) -> str:
    """The most steps that its runs may take."""
    return span((run.budget.steps for run in arm.runs), ",") if arm.runs else ""


def _counts(arm: Measured) -> tuple[str, str, str]:
    """Of the paper, of ours, and the interval of ours."""
    return published_count(arm), recovered(arm), interval(arm.wilson, 0)


def _rho(found: dict[str, Any]) -> str:
    if found["rho"] is None:
        return ""
    return f"{found['rho']:+.2f} [{found['low']:+.2f} to {found['high']:+.2f}], n = {found['n']}"


def _median(arm: Measured) -> str:
    return "" if arm.median_steps is None else f"{arm.median_steps:.0f}"
