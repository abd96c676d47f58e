"""What each trial of the tempered recipe measured, as plain data; tables and figures are made from that alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np

from hardgap.core.specs import Scale
from hardgap.report.statistics import rank_correlation
from hardgap.runs.store import Store
from hardgap.runs.summary import restarts
from hardgap.studies.rates import Rate, finished, rates
from hardgap.studies.tempered.beside_control import beside_control
from hardgap.studies.tempered.cliff import INFORMED, PUBLISHED
from hardgap.studies.tempered.forecast import PREDICTORS
from hardgap.studies.tempered.target import target
from hardgap.studies.tempered.wide import ROUTING
from hardgap.studies.trial import Arm, Trial
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.identify.completions import completions
from hardgap.worlds.automaton.identify.evidence import Evidence, every_row, rows_shown
from hardgap.worlds.automaton.rule import parse_rule

Data = dict[str, Any]
ROUTED = 0.9
"""Of visible cells right: a network that finds its neighbours gets there, one that does not stays below 60 %."""
UNROLLED = 4
"""Steps that the recipe unrolls, and so all that what is visible can testify to."""


def measure_trial(trial: Trial, scale: Scale, store: Store) -> Data:
    """The rates of every arm, and what belongs to this trial alone."""
    arms = trial.arms(scale)
    measured = rates(arms, store)
    data: Data = {
        "trial": trial.name,
        "claim": trial.claim,
        "scale": scale,
        "arms": [part.as_dict() for part in measured],
    }
    if trial.name in MORE:
        data |= MORE[trial.name](arms, measured, scale, store)
    return data


def _cliff(arms: list[Arm], measured: list[Rate], scale: Scale, store: Store) -> Data:
    """The share of hidden entries that what is visible determines, of the sets that were run and by size."""
    shares = [[_determined_share(run.gap, run.width) for run in finished(arm, store)] for arm in arms]
    width = arms[0].runs[0].width
    return {
        "determined": [fmean(share) if share else None for share in shares],
        "information": {rule: [(k, _information(rule, k, width)) for k in INFORMED] for rule in PUBLISHED},
    }


def _information(rule: str, k: int, width: int) -> float:
    """The mean over five random sets of k patterns."""
    parsed = parse_rule(rule)
    return fmean(_determined_share(Gap(parsed, draw_hidden(parsed, k, seed=seed)), width) for seed in range(5))


@cache
def _determined_share(gap: Gap, width: int) -> float:
    """Of the hidden entries, from every row of that width, as many steps on as the recipe unrolls."""
    return len(completions(_every_row_of(gap, width), limit=2).determined) / len(gap.hidden)


def _every_row_of(gap: Gap, width: int) -> Evidence:
    """What all rows of one width show; rows as wide as a window hold every window, and so show all there is."""
    if width > 2 * gap.rule.radius * UNROLLED:
        return every_row(gap, UNROLLED)
    rows = (np.arange(2**width)[:, None] >> np.arange(width) & 1).astype(np.uint8)
    return rows_shown(gap, rows, UNROLLED)


def _explain(arms: list[Arm], measured: list[Rate], scale: Scale, store: Store) -> Data:
    """The mean course of certainty, gradient and accuracy over the runs of each arm."""
    return {"courses": [_course(arm, store) for arm in arms]}


def _course(arm: Arm, store: Store) -> list[Data]:
    """Means over the arm's runs at each step; a run that stopped because it was solved keeps its last values."""
    curves = list(store.curves(run.id for run in arm.runs).values())
    if not curves:
        return []
    steps = sorted({point["step"] for curve in curves for point in curve})
    course = []
    for step in steps:
        points = [max((p for p in curve if p["step"] <= step), key=lambda p: p["step"]) for curve in curves]
        means = {key: fmean(point[key] for point in points) for key in ("holdout", "visible")}
        names = points[0]["detail"].get("saturation", ())
        logged = {name: fmean(point["detail"]["saturation"][name] for point in points) for name in names}
        course.append({"step": step} | means | logged)
    return course


def _wide(arms: list[Arm], measured: list[Rate], scale: Scale, store: Store) -> Data:
    """The course of each arm, how far it had found where to look after so many steps, when it had, and its restarts."""
    courses = [_course(arm, store) for arm in arms]
    routed = [next((p["step"] for p in course if p["visible"] >= ROUTED), None) for course in courses]
    early = [next((p["visible"] for p in course if p["step"] == ROUTING), None) for course in courses]
    again = [sorted({step for run in finished(arm, store) for step in restarts(store.curve(run.id))}) for arm in arms]
    return {"width": arms[0].runs[0].width, "courses": courses, "early": early, "routed": routed, "restarts": again}


def _forecast(arms: list[Arm], measured: list[Rate], scale: Scale, store: Store) -> Data:
    """Each predictor's rank correlation with steps to recovery, where one is chosen and where it is judged."""
    chosen_on, judged_on = _slowness(target.arms(scale), store), _slowness(arms, store)
    table = []
    for name, predictor in PREDICTORS.items():
        row: Data = {"predictor": name}
        for where, gaps in (("chosen on", chosen_on), ("judged on", judged_on)):
            values, steps = [predictor(gap) for gap, _ in gaps], [slowness for _, slowness in gaps]
            row[where] = {"n": len(gaps), "values": values, "steps": steps, **rank_correlation(values, steps)}
        table.append(row)
    known = [row for row in table if row["chosen on"]["rho"] is not None]
    best = max(known, key=lambda row: abs(row["chosen on"]["rho"]))["predictor"] if known else None
    return {"predictors": table, "chosen": best}


def _slowness(arms: list[Arm], store: Store) -> list[tuple[Gap, float]]:
    """Each gap with its mean steps to recovery, the budget standing in where a run has not recovered."""
    found = ((arm.runs[0].gap, finished(arm, store)) for arm in arms)
    return [(gap, fmean(s.lasting_step or r.budget.steps for r, s in runs.items())) for gap, runs in found if runs]


MORE: dict[str, Callable[[list[Arm], list[Rate], Scale, Store], Data]] = {
    "target": beside_control,
    "cliff": _cliff,
    "explain": _explain,
    "forecast": _forecast,
    "wide": _wide,
}


def progress(trial: Trial, scale: Scale, store: Store | None) -> tuple[int, int]:
    """Runs done and planned."""
    planned = {run.id for arm in trial.arms(scale) for run in arm.runs}
    rows = store.rows(planned) if store is not None else ()
    return sum(row.status == "done" for row in rows), len(planned)
