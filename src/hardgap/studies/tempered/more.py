"""What belongs to one study of the tempered recipe alone, from its arms and the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from hardgap.core.run import only
from hardgap.report.statistics import rank_correlation, same_rate_p
from hardgap.runs.store import Store
from hardgap.runs.summary import SUCCESS, restarts
from hardgap.studies.identifiability import determined_share
from hardgap.studies.measure import Measured, StudyResult, measured, pooled
from hardgap.studies.study import Labels, limited
from hardgap.studies.tempered.cliff import HIDDEN, INFORMED
from hardgap.studies.tempered.forecast import PREDICTORS
from hardgap.studies.tempered.target import control
from hardgap.studies.tempered.target import target as target_study
from hardgap.studies.tempered.wide import ROUTING
from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

Data = dict[str, Any]
ROUTED = 0.9
"""Of visible cells right: a network that finds its neighbours gets there, one that does not stays below 60 %."""


def target(result: StudyResult, store: Store, kept: Path) -> Data:
    """Each arm beside its control, T = 1 on the same gaps and seeds; then each rule as a whole, and all three."""
    seeds = max(arm.planned for arm in result.arms)
    arms = limited(control, seeds).arms(result.scale)
    others, lengths = measured(arms, store), [arm.runs[0].budget.steps for arm in arms]
    rows = [_beside(arm, other, [steps]) for arm, other, steps in zip(result.arms, others, lengths, strict=True)]
    for labels, places in _wholes(result.arms):
        ours, theirs = ([side[place] for place in places] for side in (result.arms, others))
        row = _beside(pooled(ours, labels), pooled(theirs, labels), sorted({lengths[place] for place in places}))
        rows.append(row | {"p": _same_seeds_p(zip(ours, theirs, strict=True))})
    return {"beside": rows}


def _wholes(arms: Iterable[Measured]) -> list[tuple[Labels, list[int]]]:
    """The places of the arms that are taken together: each rule's, and all."""
    rules = [arm.labels["rule"] for arm in arms]
    groups: list[tuple[Labels, list[int]]] = [
        ({"rule": rule, "hidden": "all"}, [place for place, one in enumerate(rules) if one == rule])
        for rule in dict.fromkeys(rules)
    ]
    return [*groups, ({"rules": "all three rules", "hidden": "all"}, list(range(len(rules))))]


def _beside(arm: Measured, other: Measured, steps: list[int]) -> Data:
    return {"arm": arm, "control": other, "control_steps": steps, "p": None}


def _same_seeds_p(pairs: Iterable[tuple[Measured, Measured]]) -> float | None:
    """Fisher's exact test over the seeds that both sides of an arm have finished."""
    both = []
    for arm, other in pairs:
        ours, theirs = _outcomes(arm), _outcomes(other)
        both += [(ours[seed], theirs[seed]) for seed in ours.keys() & theirs.keys()]
    return same_rate_p(sum(o for o, _ in both), len(both), sum(t for _, t in both), len(both)) if both else None


def _outcomes(arm: Measured) -> dict[int, bool]:
    """Whether each finished seed recovered."""
    return {run.seed: end >= SUCCESS for run, end in zip(arm.runs, arm.holdout, strict=True)}


def cliff(result: StudyResult, store: Store, kept: Path) -> Data:
    """The share of hidden entries that what is visible determines, of the sets that were run and by size."""
    shares = [[determined_share(run.gap, run.width) for run in only(AutomatonRun, arm.runs)] for arm in result.arms]
    width = only(AutomatonRun, result.study.runs(result.scale))[0].width
    return {
        "determined": [fmean(share) if share else None for share in shares],
        "information": {rule: [(k, _information(rule, k, width)) for k in INFORMED] for rule in HIDDEN},
    }


def _information(rule: str, k: int, width: int) -> float:
    """The mean over five random sets of k patterns."""
    parsed = parse_rule(rule)
    return fmean(determined_share(Gap(parsed, draw_hidden(parsed, k, seed=seed)), width) for seed in range(5))


def explain(result: StudyResult, store: Store, kept: Path) -> Data:
    """The mean course of certainty, gradient and accuracy over the runs of each arm."""
    return {"courses": [_course(arm) for arm in result.arms]}


def _course(arm: Measured) -> list[Data]:
    """Means over the arm's runs at each step; a run that stopped because it was solved keeps its last values."""
    steps = sorted({point["step"] for curve in arm.curves for point in curve})
    course = []
    for step in steps:
        points = [max((p for p in curve if p["step"] <= step), key=lambda p: p["step"]) for curve in arm.curves]
        means = {key: fmean(point[key] for point in points) for key in ("holdout", "visible")}
        names = points[0]["detail"].get("saturation", ())
        logged = {name: fmean(point["detail"]["saturation"][name] for point in points) for name in names}
        course.append({"step": step} | means | logged)
    return course


def wide(result: StudyResult, store: Store, kept: Path) -> Data:
    """The course of each arm, how far it had found where to look after so many steps, when it had, and its restarts."""
    courses = [_course(arm) for arm in result.arms]
    routed = [next((p["step"] for p in course if p["visible"] >= ROUTED), None) for course in courses]
    early = [next((p["visible"] for p in course if p["step"] == ROUTING), None) for course in courses]
    width = only(AutomatonRun, result.study.runs(result.scale))[0].width
    again = [sorted({step for curve in arm.curves for step in restarts(curve)}) for arm in result.arms]
    return {"width": width, "courses": courses, "early": early, "routed": routed, "restarts": again}


def forecast(result: StudyResult, store: Store, kept: Path) -> Data:
    """Each predictor's rank correlation with steps to recovery, where one is chosen and where it is judged."""
    chosen_on, judged_on = _slowness(measured(target_study.arms(result.scale), store)), _slowness(result.arms)
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


def _slowness(arms: Iterable[Measured]) -> list[tuple[Gap, float]]:
    """Each gap with its mean steps to recovery, the budget standing in where a run has not recovered."""
    return [(only(AutomatonRun, arm.runs)[0].gap, fmean(_steps_to_recovery(arm))) for arm in arms if arm.n]


def _steps_to_recovery(arm: Measured) -> list[int]:
    return [s.lasting_step or run.budget.steps for run, s in zip(arm.runs, arm.summaries, strict=True)]
