"""What the arms of a trial measured: how often the gap closed, and how fast."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from hardgap.report.statistics import wilson
from hardgap.runs.store import Store
from hardgap.runs.summary import Summary, summarise
from hardgap.studies.trial import Arm
from hardgap.worlds.automaton.run import AutomatonRun


@dataclass(frozen=True)
class Rate:
    """One arm: `recovered` counts runs that end with at least 70 % holdout, `solved` those that end with 99 % of
    everything; `steps` holds the steps of each of these from which on it stayed so; `restarted` counts runs whose
    network was thrown away for a fresh one."""

    factor: str
    value: str
    planned: int
    n: int
    recovered: int
    wilson: tuple[float, float] | None
    solved: int
    steps: tuple[int, ...]
    restarted: int
    holdout: tuple[float, ...]
    paper: tuple[int, int] | None
    runs: tuple[str, ...]

    @property
    def median_steps(self) -> float | None:
        """The median over all runs, unsolved ones counting as slower than any solved one."""
        if not self.n or 2 * self.solved <= self.n:
            return None
        return float(median([*sorted(self.steps), *[float("inf")] * (self.n - self.solved)]))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"median_steps": self.median_steps}


def finished(arm: Arm, store: Store) -> dict[AutomatonRun, Summary]:
    """The runs of an arm that are done, each in a few numbers."""
    curves = store.curves(run.id for run in arm.runs)
    return {run: summarise(curves[run.id]) for run in arm.runs if run.id in curves}


def rate(arm: Arm, store: Store) -> Rate:
    """Sum up the finished runs of an arm."""
    found = finished(arm, store)
    recovered = sum(summary.success for summary in found.values())
    steps = [summary.lasting_step for summary in found.values() if summary.lasting_step is not None]
    return Rate(
        factor=arm.factor,
        value=arm.value,
        planned=len(arm.runs),
        n=len(found),
        recovered=recovered,
        wilson=wilson(recovered, len(found)) if found else None,
        solved=len(steps),
        steps=tuple(sorted(steps)),
        restarted=sum(summary.restarts > 0 for summary in found.values()),
        holdout=tuple(summary.final_holdout for summary in found.values()),
        paper=arm.paper,
        runs=tuple(run.id for run in found),
    )


def rates(arms: Iterable[Arm], store: Store) -> list[Rate]:
    return [rate(arm, store) for arm in arms]


def pooled(parts: Iterable[Rate], factor: str, value: str = "all") -> Rate:
    """Several arms as one."""
    chosen = list(parts)
    n, recovered = sum(part.n for part in chosen), sum(part.recovered for part in chosen)
    papers = [part.paper for part in chosen if part.paper is not None]
    return Rate(
        factor=factor,
        value=value,
        planned=sum(part.planned for part in chosen),
        n=n,
        recovered=recovered,
        wilson=wilson(recovered, n) if n else None,
        solved=sum(part.solved for part in chosen),
        steps=tuple(sorted(step for part in chosen for step in part.steps)),
        restarted=sum(part.restarted for part in chosen),
        holdout=tuple(share for part in chosen for share in part.holdout),
        paper=(sum(s for s, _ in papers), sum(n for _, n in papers)) if len(papers) == len(chosen) else None,
        runs=tuple(run for part in chosen for run in part.runs),
    )
