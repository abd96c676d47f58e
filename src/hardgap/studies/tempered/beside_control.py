"""The target beside its control: the same gaps and seeds at T = 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hardgap.core.specs import Scale
from hardgap.report.statistics import same_rate_p
from hardgap.runs.store import Store
from hardgap.runs.summary import SUCCESS
from hardgap.studies.rates import Rate, pooled, rates
from hardgap.studies.tempered.target import control
from hardgap.studies.trial import Arm

Data = dict[str, Any]
Outcomes = dict[int, bool]


def beside_control(arms: list[Arm], measured: list[Rate], scale: Scale, store: Store) -> Data:
    """The control on the same seeds with its steps, and each rule as a whole."""
    others = [_on_seeds_of(arm, other) for arm, other in zip(arms, control.arms(scale), strict=True)]
    beside, steps = rates(others, store), [other.runs[0].budget.steps for other in others]
    ours = [_outcomes(arm, part) for arm, part in zip(arms, measured, strict=True)]
    theirs = [_outcomes(other, part) for other, part in zip(others, beside, strict=True)]
    groups = _groups(arms)
    return {
        "control": [part.as_dict() for part in beside],
        "control_steps": steps,
        "whole": [pooled((measured[i] for i in group), *name).as_dict() for name, group in groups.items()],
        "control_whole": [pooled((beside[i] for i in group), *name).as_dict() for name, group in groups.items()],
        "control_whole_steps": [sorted({steps[i] for i in group}) for group in groups.values()],
        "p_against_control": [_same_seeds_p([(ours[i], theirs[i]) for i in group]) for group in groups.values()],
    }


def _on_seeds_of(arm: Arm, other: Arm) -> Arm:
    """The runs of `other` whose seeds occur in `arm`."""
    seeds = {run.seed for run in arm.runs}
    return replace(other, runs=tuple(run for run in other.runs if run.seed in seeds))


def _outcomes(arm: Arm, part: Rate) -> Outcomes:
    """Whether each finished seed recovered."""
    ends = dict(zip(part.runs, part.holdout, strict=True))
    return {run.seed: ends[run.id] >= SUCCESS for run in arm.runs if run.id in ends}


def _groups(arms: list[Arm]) -> dict[tuple[str, str], list[int]]:
    """The places of the arms that are taken together: each rule's, and all."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, arm in enumerate(arms):
        groups.setdefault((arm.factor, "all"), []).append(place)
    return groups | {("all three rules", "all"): list(range(len(arms)))}


def _same_seeds_p(outcomes: list[tuple[Outcomes, Outcomes]]) -> float | None:
    """Fisher's exact test over the seeds that both sides of an arm have finished."""
    both = [(ours[seed], theirs[seed]) for ours, theirs in outcomes for seed in ours.keys() & theirs.keys()]
    return same_rate_p(sum(o for o, _ in both), len(both), sum(t for _, t in both), len(both)) if both else None
