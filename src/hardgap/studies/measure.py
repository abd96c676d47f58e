"""What the runs of a study say: which are done, how often the gap closed, how fast, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from hardgap.report.statistics import mean_interval, wilson
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.runs.summary import Summary, summarise
from hardgap.studies.published import Comparison, Published, Rate
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

    @property
    def n(self) -> int:
        return len(self.runs)

    @cached_property
    def summaries(self) -> list[Summary]:
        return [summarise(curve) for curve in self.curves]

    @property
    def recovered(self) -> int:
        """Runs that end with at least 70 % holdout accuracy."""
        return sum(summary.success for summary in self.summaries)

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
        return sum(summary.restarts > 0 for summary in self.summaries)

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

    @cached_property
    def comparison(self) -> Comparison:
        return Comparison("") if self.published is None else self.published.compare(self)

    def as_dict(self) -> dict[str, Any]:
        if not self.planned:
            found = {"value": self.value}
        else:
            found = {name: getattr(self, name) for name in FOUND} | {"runs": [run.id for run in self.runs]}
        published = self.published.as_dict() if self.published else None
        compared = {"verdict": self.comparison.verdict, "p": self.comparison.p}
        return {"labels": self.labels, "planned": self.planned, **found, "published": published, **compared}


FOUND = ("n", "recovered", "wilson", "solved", "steps", "median_steps", "restarted", "holdout", "mean", "mean_interval")


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
    def verdict(self) -> str:
        """The arm's verdict if there is one arm; else how many arms have each. At smoke scale there is none."""
        found = Counter(filter(None, (arm["verdict"] for arm in self._arms())))
        return next(iter(found), "") if len(self.arms) == 1 else ", ".join(f"{word} {n}" for word, n in found.items())

    def tables(self) -> list[Shown]:
        """Measured beside published, as `hardgap reproduce` prints it."""
        return [Shown.of(table) for table in tables_of([self])]

    def frame(self) -> pandas.DataFrame:
        """A row an arm: its labels, what was found, the verdict."""
        return data_frame([arm.pop("labels") | arm for arm in self._arms()])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.study.claim)}</p>" + "".join(map(html, self.tables()))

    def _arms(self) -> list[dict[str, Any]]:
        arms = [arm.as_dict() for arm in self.arms]
        if self.scale == "smoke":  # a few training steps show nothing
            return [arm | {"verdict": "", "p": None} for arm in arms]
        return arms

    def as_dict(self) -> dict[str, Any]:
        told = {"study": self.name, "claim": self.study.claim, "scale": self.scale, "arms": self._arms()}
        return told | {name: _plain(value) for name, value in self.more.items()}


def _plain(value: Any) -> Any:
    """Measured arms inside as plain data."""
    if isinstance(value, Measured):
        return value.as_dict()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def tables_of(results: Iterable[StudyResult]) -> Iterator[Table]:
    """Measured beside published; studies that share a table stand in one."""
    groups: dict[str, list[StudyResult]] = {}
    for result in results:
        groups.setdefault(result.study.tables, []).append(result)
    for path, together in groups.items():
        yield from part(path)(together)


def measure(
    study: Study, scale: Scale, store: Store, kept: Path | None = None, on_progress: Progress = silent
) -> StudyResult:
    """Sum up what is finished of a study; `kept` is the folder of what it keeps, the store's if not said."""
    kept = kept or store.folder / study.folder
    found = StudyResult(study, scale, tuple(measured(study.arms(scale), store, kept, on_progress)))
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
        runs = tuple(run for run in arm.runs if run.id in curves)
        value = arm.compute(kept or store.folder) if arm.compute else None
        in_order = tuple(_as_far_as(curves[run.id], arm.until) for run in runs)
        found.append(Measured(arm.labels, len(arm.runs), runs, in_order, arm.published, value))
    return found


def _as_far_as(curve: Curve, until: int | None) -> Curve:
    return curve if until is None else [point for point in curve if point["step"] <= until]


@contextmanager
def taken_in(*results: Path) -> Iterator[Store]:
    """A store with the exported runs of these folders, for as long as it is looked at."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for one in results:
            import_runs(store, one)
        yield store


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
    )


def progress(study: Study, scale: Scale, store: Store | None) -> tuple[int, int]:
    """Runs done and planned."""
    planned = {run.id for run in study.runs(scale)}
    found = store.progress(planned) if store is not None else {}
    return sum(status == "done" for status, _ in found.values()), len(planned)
