"""The studies of the tempered recipe as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from hardgap.core.table import Table
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.study import words

Tables = Callable[[Sequence[StudyResult]], list[Table]]


def each(table: Callable[[StudyResult], Table]) -> Tables:
    """One table a study."""
    return lambda results: [table(result) for result in results]


@each
def arms_table(result: StudyResult) -> Table:
    shown = [arm for arm in result.arms if arm.n] or result.arms
    again = ["restarted"] if any(arm.restarted for arm in shown) else []
    given = ["its steps, at most"] if len({_given(arm) for arm in shown}) > 1 else []
    right = ["paper, 50 epochs", *given, "recovered", "Wilson, %", "solved", "median steps", *again]
    rows = [
        [*_name(arm), _paper(arm), *(_given(arm) for _ in given), _share(arm), _wilson(arm), f"{arm.solved}/{arm.n}",
         _median(arm), *(arm.restarted or "" for _ in again)]
        for arm in shown
    ]  # fmt: skip
    detail = ["Wilson, %", "median steps", "solved", "paper, 50 epochs"]
    return Table(_title(result), ["factor", "value", *right], rows, right, detail)


@each
def target_table(result: StudyResult) -> Table:
    detail = ["Wilson, %", "p against T = 1, same seeds", "median steps", "slowest"]
    right = ["paper, 50 epochs", "T = 1", "its steps, at most", "tempered", *detail, "restarted"]
    rows: list[list[object]] = []
    for row in result.more["beside"]:
        arm, control = row["arm"], row["control"]
        told = [_paper(arm), _share(control), _steps(row["control_steps"]), _share(arm), _wilson(arm), _p(row["p"])]
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
            mean = f"{100 * fmean(arm.holdout):.1f}" if arm.n else ""
            known = "" if share is None else f"{100 * share:.0f}"
            rows.append([rule, k, _paper(arm), _share(beside) if beside else "", _share(arm), mean, known])
    return Table(_title(result), ["rule", *right], rows, right)


@each
def forecast_table(result: StudyResult) -> Table:
    columns = ["predictor, from the gap alone", "rho where chosen (150, 30, 106)", "rho where judged (new rules)", "p"]
    rows: list[list[object]] = []
    for row in result.more["predictors"]:
        chosen, judged = row["chosen on"], row["judged on"]
        best = row["predictor"] == result.more["chosen"]
        p = f"{judged['p']:.2g}" if best and judged["p"] is not None else ""
        rows.append([row["predictor"] + (" (chosen)" if best else ""), _rho(chosen), _rho(judged), p])
    return Table(_title(result), columns, rows, columns[1:], columns[1:2])


@each
def wide_table(result: StudyResult) -> Table:
    visible = ["visible after 1,000 steps, %", "90 % of visible at"]
    right = ["paper, 7,850 steps", *visible, "recovered", "holdout at the end, %", "solved at", "restarted"]
    more, rows = result.more, list[list[object]]()
    for arm, early, routed in zip(result.arms, more["early"], more["routed"], strict=True):
        end = f"{100 * arm.holdout[0]:.1f}" if arm.n else ""
        seen = ["" if early is None else f"{100 * early:.1f}", "" if routed is None else routed]
        pattern = f"pattern {arm.labels['pattern']}"
        rows.append([way_of(arm), pattern, _paper(arm), *seen, _share(arm), end, _median(arm), arm.restarted or ""])
    title = f"wide, rows of {more['width']} cells: {result.study.claim.rstrip('.')}"  # at no scale: see the study
    detail = ["holdout at the end, %", "solved at", *visible, "paper, 7,850 steps"]
    return Table(title, ["factor", "hidden", *right], rows, right, detail)


def way_of(arm: Measured) -> str:
    """How an arm of `wide` was trained, or which way to route it tries."""
    labels = arm.labels
    return str(labels.get("way") or f"routing: {labels['routing']}, learning rate {labels['learning rate']:g}")


def _name(arm: Measured) -> tuple[str, str]:
    """What varies, and the rest of what sets an arm apart."""
    first, *rest = words(arm.labels)
    return first, ", ".join(rest)


def _title(result: StudyResult) -> str:
    return f"{result.name.partition('/')[2]}, {result.scale} scale: {result.study.claim.rstrip('.')}"


def _steps(length: list[int]) -> str:
    """One number, or the fewest and the most."""
    return " to ".join(f"{number:,}" for number in dict.fromkeys((length[0], length[-1])))


def _given(arm: Measured) -> str:
    """The most steps that its runs may take."""
    return _steps(sorted({run.budget.steps for run in arm.runs})) if arm.runs else ""


def _p(p: float | None) -> str:
    """As short as a p-value is read."""
    return "" if p is None else f"{p:.1g}"


def _rho(found: dict[str, Any]) -> str:
    if found["rho"] is None:
        return ""
    return f"{found['rho']:+.2f} [{found['low']:+.2f} to {found['high']:+.2f}], n = {found['n']}"


def _paper(arm: Measured) -> str:
    return "" if arm.published is None or arm.published.count is None else "{}/{}".format(*arm.published.count)


def _share(arm: Measured) -> str:
    return f"{arm.recovered}/{arm.n}" + (f" of {arm.planned}" if arm.n < arm.planned else "")


def _wilson(arm: Measured) -> str:
    return "" if arm.wilson is None else "{:.0f} to {:.0f}".format(*(100 * end for end in arm.wilson))


def _median(arm: Measured) -> str:
    return "" if arm.median_steps is None else f"{arm.median_steps:.0f}"
