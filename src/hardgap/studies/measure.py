"""What the runs of a study say: which are done, how often the gap closed, how fast, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hardgap.core.parts import part
from hardgap.core.progress import Progress, silent
from hardgap.core.run import Run
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.render import Shown, data_frame, html
from hardgap.report.statistics import bootstrap_interval, mean_interval, wilson
from hardgap.report.verdicts import SILENT, UNJUDGED, Verdict, corrected, summed_up
from hardgap.runs.listing import stacked_mark
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.runs.summary import Summary, summarise
from hardgap.studies.published import Published, Rate
from hardgap.studies.study import Arm, Labels, Study, words
from hardgap.worlds.chains.selection import PAPERS_CHOICE, select_point

if TYPE_CHECKING:
    import pandas

Curve = list[dict[str, Any]]


@dataclass(frozen=True)
class Measured:
    """One arm: its finished runs with their curves, or the value that was computed for it."""

    labels: Labels
    planned: int
    runs: tuple[Run, ...] = ()
    curves: tuple[Curve, ...] = field(default=(), repr=False)
    published: Published | None = None
    value: Any = None
    scale: str = ""  # empty where numbers do not depend on it
    judged: Verdict | None = None  # among the other rows of its table
    engines: tuple[str | None, ...] = ()  # of each run, as far as it is written down

    @property
    def n(self) -> int:
        return len(self.runs)

    @cached_property
    def summaries(self) -> list[Summary]:
        return [summarise(curve) for curve in self.curves]

    @property
    def recovered(self) -> int:
        """Runs that end with at least 70 % holdout accuracy."""
        return sum(self.outcomes)

    @property
    def outcomes(self) -> list[bool]:
        return [summary.success for summary in self.summaries]

    @property
    def wilson(self) -> tuple[float, float] | None:
        return wilson(self.recovered, self.n) if self.n else None

    @property
    def steps(self) -> list[int]:
        """Of the runs that end solved, 99 % of everything right: the steps from which on they stayed so."""
        return sorted(s.lasting_step for s in self.summaries if s.lasting_step is not None)

    @property
    def solved(self) -> int:
        return len(self.steps)

    @property
    def median_steps(self) -> float | None:
        """The median over all runs, unsolved ones counting as slower than any solved one."""
        if not self.n or 2 * self.solved <= self.n:
            return None
        return float(median([*self.steps, *[float("inf")] * (self.n - self.solved)]))

    @property
    def restarted(self) -> int:
        """Runs whose network was thrown away for a fresh one."""
        return sum(bool(summary.restarts) for summary in self.summaries)

    @property
    def holdout(self) -> list[float]:
        return [summary.final_holdout for summary in self.summaries]

    def accuracies(self) -> list[float]:
        """Holdout accuracy at the checkpoint that the paper would choose, where it chooses one; else at the end."""
        return [select_point(curve, PAPERS_CHOICE if "eval" in curve[-1]["detail"] else "final")["holdout"]
                for curve in self.curves]  # fmt: skip

    @property
    def mean(self) -> float | None:
        return fmean(self.accuracies()) if self.curves else None

    @property
    def mean_interval(self) -> tuple[float, float] | None:
        return mean_interval(self.accuracies())

    @property
    def bootstrap(self) -> tuple[float, float] | None:
        return bootstrap_interval(self.accuracies())

    @cached_property
    def comparison(self) -> Verdict:
        """Among the rows of its table if it was judged among them, else alone."""
        if self.judged is not None:
            return self.judged
        alone = SILENT if self.published is None else self.published.compare(self)
        return replace(alone, scale=self.scale, so_far=self.n < self.planned)

    def as_dict(self) -> dict[str, Any]:
        if not self.planned:
            found = {"value": self.value}
        else:
            found = {name: getattr(self, name) for name in FOUND} | {"runs": [run.id for run in self.runs]}
            found |= {"stacked": mark} if (mark := stacked_mark(self.engines)) else {}
        published = self.published.as_dict() if self.published else None
        judged = self.comparison.as_dict()
        return {"labels": self.labels, "planned": self.planned, **found, "published": published, **judged}


FOUND = (
    "n", "recovered", "wilson", "solved", "steps", "median_steps", "restarted", "holdout", "mean", "mean_interval",
    "bootstrap",
)  # fmt: skip


@dataclass(frozen=True)
class StudyResult:
    """A study at one scale: its arms, and what belongs to it alone."""

    study: Study
    scale: Scale
    arms: tuple[Measured, ...]
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.study.name

    @property
    def arm(self) -> Measured:
        """The arm of a study that has one."""
        (one,) = self.arms
        return one

    @property
    def ran(self) -> int:
        """Finished runs; one that several arms look at counts once."""
        return len({run.id for arm in self.arms for run in arm.runs})

    @property
    def comparison(self) -> Verdict:
        """All arms as one; a claim of ours has no published one beside it."""
        return SILENT if self.study.ours else summed_up(arm.comparison for arm in self.arms)

    @property
    def verdict(self) -> str:
        """The verdict on the claim. At smoke scale there is none."""
        found = self.comparison
        return "" if self.scale == "smoke" else f"{found.verdict} ({found.note})" if found.note else found.verdict

    def tables(self) -> list[Shown]:
        """Measured beside published, as `hardgap reproduce` prints it."""
        return [Shown.of(table) for table in tables_of([self])]

    def frame(self) -> pandas.DataFrame:
        """A row an arm: its labels, what was found, the verdict."""
        return data_frame([arm.pop("labels") | arm for arm in (one.as_dict() for one in self.arms)])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.study.claim)}</p>" + "".join(map(html, self.tables()))

    def as_dict(self) -> dict[str, Any]:
        arms = [arm.as_dict() for arm in self.arms]
        told = {"study": self.name, "claim": self.study.claim, "scale": self.scale, "arms": arms}
        return told | {name: _plain(value) for name, value in self.more.items()}


def _plain(value: Any) -> Any:
    """Measured arms inside as plain data."""
    if isinstance(value, Measured):
        return value.as_dict()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def tables_of(results: Iterable[StudyResult]) -> Iterator[Table]:
    """Measured beside published; studies that share a table stand in one. Runs of a stack are told in its title."""
    groups: dict[str, list[StudyResult]] = {}
    for result in results:
        groups.setdefault(result.study.tables, []).append(result)
    for path, together in groups.items():
        mark = stacked_mark(engine for result in together for arm in result.arms for engine in arm.engines)
        for table in part(path)(together):
            yield replace(table, title=f"{table.title} ({mark.replace('stacked', 'runs stacked')})") if mark else table


def each(table: Callable[[StudyResult], Table]) -> Callable[[Sequence[StudyResult]], list[Table]]:
    """One table a study."""
    return lambda results: [table(result) for result in results]


def measure(
    study: Study, scale: Scale, store: Store, kept: Path | None = None, on_progress: Progress = silent
) -> StudyResult:
    """Sum up what is finished of a study; `kept` is the folder of what it keeps, the store's if not said."""
    kept = kept or store.folder / study.folder
    arms = measured(study.arms(scale), store, kept, on_progress)
    if scale == "smoke":  # a few training steps show nothing
        arms = [replace(arm, judged=UNJUDGED) if arm.planned else arm for arm in arms]
    found = StudyResult(study, scale, tuple(replace(arm, scale=scale if study.scaled else "") for arm in arms))
    if study.more is not None:
        on_progress(f"{study.name}: all arms together", 0, 0)
        found.more.update(part(study.more)(found, store, kept))
    return found


def measured(
    arms: Sequence[Arm], store: Store, kept: Path | None = None, on_progress: Progress = silent
) -> list[Measured]:
    """Each arm with its runs that are done, or what is computed for it."""
    found = []
    for place, arm in enumerate(arms):
        on_progress(", ".join(words(arm.labels)), place, len(arms))
        curves = store.curves(run.id for run in arm.runs)
        engines = store.engines(curves)
        runs = tuple(run for run in arm.runs if run.id in curves)
        value = arm.compute(kept or store.folder) if arm.compute else None
        in_order = tuple(_as_far_as(curves[run.id], arm.until) for run in runs)
        made = tuple(engines[run.id] for run in runs)
        found.append(Measured(arm.labels, len(arm.runs), runs, in_order, arm.published, value, engines=made))
    return found


def judged(results: Sequence[StudyResult]) -> list[StudyResult]:
    """Each arm with its verdict among all rows that stand in one table with it (Holm's correction)."""
    if any(one.scale == "smoke" for one in results):  # a few training steps show nothing
        return list(results)
    tables: dict[tuple[str, str], list[Measured]] = {}
    for one in results:
        tables.setdefault(one.study.judged_with, []).extend(one.arms)
    verdicts = {key: iter(corrected([arm.comparison for arm in arms])) for key, arms in tables.items()}
    return [
        replace(one, arms=tuple(replace(arm, judged=next(verdicts[one.study.judged_with])) for arm in one.arms))
        for one in results
    ]


@contextmanager
def taken_in(*results: Path, only: Container[str] | None = None) -> Iterator[Store]:
    """A store with the exported runs of these folders, or `only` some, for as long as it is looked at."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for one in results:
            import_runs(store, one, only)
        yield store


def _as_far_as(curve: Curve, until: int | None) -> Curve:
    return curve if until is None else [point for point in curve if point["step"] <= until]


def pooled(parts: Iterable[Measured], labels: Labels) -> Measured:
    """Several arms as one."""
    chosen = list(parts)
    counts = [part.published.count for part in chosen if part.published is not None and part.published.count]
    whole = Rate("", successes=sum(s for s, _ in counts), n=sum(n for _, n in counts))
    return Measured(
        labels,
        sum(part.planned for part in chosen),
        tuple(run for part in chosen for run in part.runs),
        tuple(curve for part in chosen for curve in part.curves),
        whole if len(counts) == len(chosen) else None,
        scale=next((part.scale for part in chosen), ""),
        judged=UNJUDGED if any(part.judged == UNJUDGED for part in chosen) else None,
        engines=tuple(engine for part in chosen for engine in part.engines),
    )


def progress(study: Study, scale: Scale, store: Store | None) -> tuple[int, int]:
    """Runs done and planned."""
    planned = {run.id for run in study.runs(scale)}
    found = store.progress(planned) if store is not None else {}
    return sum(status == "done" for status, _ in found.values()), len(planned)
