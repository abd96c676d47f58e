"""A trial compares settings: one arm a setting, with its runs; a control arm on the same seeds wherever it can be.

A study (study.py) sets one number beside a published one. A trial asks what changes when something is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale
from hardgap.core.wording import did_you_mean
from hardgap.worlds.automaton.run import AutomatonRun


@dataclass(frozen=True)
class Arm:
    """One setting: the factor that it varies, its value, its runs, and what the paper reports (successes, n)."""

    factor: str
    value: str
    runs: tuple[AutomatonRun, ...]
    paper: tuple[int, int] | None = None


@dataclass(frozen=True)
class Trial:
    """A named question with its arms at each scale."""

    name: str
    claim: str
    arms: Callable[[Scale], list[Arm]]


TRIALS: dict[str, Trial] = {}
ArmsAtScale = Callable[[Scale], Iterable[Arm]]


def trial(name: str) -> Callable[[ArmsAtScale], Trial]:
    """Declare a function from a scale to its arms as a trial; its docstring is the claim."""

    def declare(function: ArmsAtScale) -> Trial:
        claim = " ".join((function.__doc__ or "").split())
        TRIALS[name] = Trial(name, claim, lambda scale: list(function(scale)))
        return TRIALS[name]

    return declare


def choose_trial(name: str) -> Trial:
    if name not in TRIALS:
        raise BadInput(f"there is no trial {name!r}{did_you_mean(name, TRIALS)}; there is {', '.join(TRIALS)}")
    return TRIALS[name]


def limited(trial: Trial, seeds: int) -> Trial:
    """The same trial with only the first so many seeds of every arm."""

    def arms(scale: Scale) -> list[Arm]:
        return [replace(arm, runs=tuple(run for rank, run in ranked(arm) if rank < seeds)) for arm in trial.arms(scale)]

    return replace(trial, arms=arms)


def in_order(arms: Iterable[Arm]) -> list[AutomatonRun]:
    """Every run once: one seed of every arm before a second seed of any."""
    found: dict[str, tuple[int, AutomatonRun]] = {}
    for arm in arms:
        for rank, run in ranked(arm):
            found.setdefault(run.id, (rank, run))
    return [run for _, run in sorted(found.values(), key=lambda item: item[0])]


def ranked(arm: Arm) -> list[tuple[int, AutomatonRun]]:
    """Each run with the place of its seed among those of its arm, from 0: an arm may begin with any seed."""
    seeds = list(dict.fromkeys(run.seed for run in arm.runs))
    return [(seeds.index(run.seed), run) for run in arm.runs]
