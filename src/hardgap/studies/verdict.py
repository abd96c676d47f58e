"""Measured beside published, with an interval and a verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from hardgap.core.specs import Scale
from hardgap.report.statistics import mean_interval, same_rate_p, wilson
from hardgap.runs.store import Store
from hardgap.runs.summary import summarise
from hardgap.studies.study import Published, Study

LEVEL = 0.05
FEWEST = 5
"""Below this many runs the test could not tell much apart, and its silence would read as agreement."""


@dataclass(frozen=True)
class Measured:
    """One study at one scale. Shares are in [0, 1]; `published_…` is the paper, at the paper's scale."""

    study: str
    claim: str
    scale: Scale
    planned: int
    n: int
    successes: int
    wilson: tuple[float, float] | None
    mean: float | None
    mean_interval: tuple[float, float] | None
    published_successes: int | None
    published_n: int | None
    published_mean: float
    published_interval: tuple[float, float] | None
    p: float | None
    verdict: str
    runs: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure(study: Study, scale: Scale, store: Store) -> Measured:
    """Sum up the finished runs of a study."""
    planned = study.runs(scale)
    curves = store.curves(run.id for run in planned)
    ids = tuple(curves)
    summaries = [summarise(curve) for curve in curves.values()]
    successes = sum(summary.success for summary in summaries)
    paper = study.published
    assert isinstance(paper, Published)
    p = same_rate_p(successes, len(ids), *paper.count) if ids and paper.count else None
    accuracies = [summary.final_holdout for summary in summaries]
    return Measured(
        study=study.name,
        claim=study.claim,
        scale=scale,
        planned=len(planned),
        n=len(ids),
        successes=successes,
        wilson=wilson(successes, len(ids)) if ids else None,
        mean=fmean(accuracies) if accuracies else None,
        mean_interval=mean_interval(accuracies),
        published_successes=paper.successes,
        published_n=paper.n,
        published_mean=paper.mean / 100,
        published_interval=paper.interval,
        p=p,
        verdict="" if scale == "smoke" else _verdict(successes, len(ids), len(planned), paper.count, p),
        runs=ids,
    )


def _verdict(successes: int, n: int, planned: int, paper: tuple[int, int] | None, p: float | None) -> str:
    """Whether Fisher's exact test tells the two success rates apart at the 5 % level, and which way."""
    if n == 0:
        return "not measured"
    if paper is None or p is None:
        return "no count is published"
    if n < FEWEST:
        return "too few runs"
    higher = successes * paper[1] > paper[0] * n
    verdict = "not told apart" if p >= LEVEL else "succeeds more often" if higher else "succeeds less often"
    return verdict if n == planned else f"{verdict} so far"
