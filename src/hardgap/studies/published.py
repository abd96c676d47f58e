"""What a paper printed, in the kinds in which it prints it; each kind knows the rule of `report/verdicts.py` for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Protocol

from hardgap.core.run import Run
from hardgap.core.wording import numbered, plural
from hardgap.report.settling import Count
from hardgap.report.statistics import Sample, mean_interval, sample_of, wilcoxon_p, wilson
from hardgap.report.verdicts import (
    Verdict,
    judge_count,
    judge_mean,
    judge_number,
    judge_pairs,
    judge_parts,
    judge_range,
)
from hardgap.worlds.automaton.run import AutomatonRun


class Found(Protocol):
    """What a verdict looks at: the finished runs of one arm, or what was computed for it."""

    @property
    def planned(self) -> int: ...
    @property
    def value(self) -> Any: ...
    @property
    def n(self) -> int: ...
    @property
    def runs(self) -> Sequence[Run]: ...
    @property
    def recovered(self) -> int: ...
    @property
    def outcomes(self) -> Sequence[bool]: ...
    def accuracies(self) -> Sequence[float]: ...


@dataclass(frozen=True)
class Published:
    """Where something was printed; what was, in the kinds below."""

    where: str

    @abstractmethod
    def compare(self, found: Found) -> Verdict:
        """The verdict on what was measured, of this number alone."""

    @property
    def count(self) -> Count | None:
        """Successes and runs, if they were printed."""
        return None

    @property
    def said(self) -> str:
        """What was printed, in a few characters."""
        return ""

    def told(self, found: Found) -> str:
        """What was found, in the same terms."""
        return "" if found.value is None else f"{found.value:g}" if isinstance(found.value, int | float) else ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Rate(Published):
    """Successes of n runs; the mean holdout accuracy in percent, maybe with its interval. Either may be missing.

    `by_pattern` has the successes of each hidden pattern, ten runs each, where the count is their sum.
    """

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    successes: int | None = None
    n: int | None = None
    by_pattern: dict[int, int] | None = None

    @property
    def count(self) -> Count | None:
        return None if self.successes is None or self.n is None else (self.successes, self.n)

    @property
    def said(self) -> str:
        counted = "" if self.count is None else "{}/{}".format(*self.count)
        return ", ".join(filter(None, [counted, "" if self.mean is None else f"mean {self.mean:g} %"]))

    def told(self, found: Found) -> str:
        if not found.n:
            return ""
        low, high = (100 * end for end in wilson(found.recovered, found.n))
        counted = f"{found.recovered}/{found.n} ({low:.0f} to {high:.0f} %){self._only(found)}" if self.count else ""
        return ", ".join(filter(None, [counted, "" if self.mean is None else _mean(found)]))

    def _only(self, found: Found) -> str:
        """The patterns that are measured, while others of the count are not."""
        measured = sorted(_by_pattern(found)) if self.by_pattern else []
        return f" of {numbered('pattern', measured)}" if len(measured) < len(self.by_pattern or ()) else ""

    def compare(self, found: Found) -> Verdict:
        """By the counts, pattern by pattern if they are printed so; by the mean where there is no count."""
        if self.count is None:
            return judge_mean(found.accuracies(), Sample((self.mean or 0.0) / 100))
        if self.by_pattern is None or self.n is None:
            return judge_count((found.recovered, found.n), self.count)
        each = self.n // len(self.by_pattern)
        return judge_parts(_by_pattern(found), {part: (k, each) for part, k in self.by_pattern.items()})


def _mean(found: Found) -> str:
    values = found.accuracies()
    return f"mean {100 * fmean(values):.1f} %" if values else ""


def _seeds(found: Found) -> str:
    low, high = mean_interval(found.accuracies()) or (None, None)
    spread = "" if low is None or high is None else f" ({100 * low:.0f} to {100 * high:.0f} %)"
    return f"{_mean(found)}{spread}, n = {found.n}" if found.n else ""


def _by_pattern(found: Found) -> dict[int, Count]:
    counts: dict[int, Count] = {}
    for run, recovered in zip(found.runs, found.outcomes, strict=True):
        assert isinstance(run, AutomatonRun)
        successes, n = counts.get(run.hide[0], (0, 0))
        counts[run.hide[0]] = (successes + recovered, n + 1)
    return counts


@dataclass(frozen=True)
class Seeds(Published):
    """The accuracy of each seed in percent, where no successes are named."""

    seeds: dict[int, float]

    @property
    def shares(self) -> list[float]:
        return [value / 100 for value in self.seeds.values()]

    @property
    def said(self) -> str:
        return f"mean {fmean(self.seeds.values()):.1f} %, n = {len(self.seeds)}"

    def told(self, found: Found) -> str:
        return _seeds(found)

    def compare(self, found: Found) -> Verdict:
        return judge_mean(found.accuracies(), sample_of(self.shares))


@dataclass(frozen=True)
class Mean(Published):
    """A mean accuracy in percent without its seeds, taken as exact."""

    mean: float

    @property
    def said(self) -> str:
        return f"mean {self.mean:g} %"

    def told(self, found: Found) -> str:
        return _seeds(found)

    def compare(self, found: Found) -> Verdict:
        return judge_mean(found.accuracies(), Sample(self.mean / 100))


@dataclass(frozen=True)
class Share(Published):
    """A share in percent; how it is compared, each kind says."""

    value: float

    @property
    def said(self) -> str:
        return f"{self.value:g} %"


@dataclass(frozen=True)
class Number(Published):
    """One number, and how far from it a computed one may be."""

    value: float
    tolerance: float

    @property
    def said(self) -> str:
        return f"{self.value:g}"

    def compare(self, found: Found) -> Verdict:
        return judge_number(None if found.value is None else float(found.value), self.value, self.tolerance)


@dataclass(frozen=True)
class Spread(Published):
    """The smallest and the largest of several runs, in percent."""

    low: float
    high: float
    margin: float = 10.0

    @property
    def said(self) -> str:
        return _range([self.low, self.high])

    def told(self, found: Found) -> str:
        return "" if found.value is None else _range(found.value)

    def compare(self, found: Found) -> Verdict:
        return self.judge(found.value)

    def judge(self, found: Sequence[float] | None) -> Verdict:
        return judge_range(None if found is None else (found[0], found[1]), (self.low, self.high), self.margin)


@dataclass(frozen=True)
class Paired(Published):
    """A test of paired seeds: its p-value, and which of two ways of each seed was better, the first or the second.

    The arm's runs are those of the first way, then those of the second.
    """

    p: float
    way: str = "higher"

    @property
    def said(self) -> str:
        return f"p = {self.p:g}"

    def told(self, found: Found) -> str:
        first, second = pairs(found)
        p = wilcoxon_p(first, second)
        return "" if p is None else f"p = {p:.2g}, {plural(len(first), 'pair')}"

    def compare(self, found: Found) -> Verdict:
        first, second = pairs(found)
        way = "higher" if first and fmean(first) > fmean(second) else "lower"
        return judge_pairs(wilcoxon_p(first, second), way, len(first), self.way)


@dataclass(frozen=True)
class ByOurReading(Published):
    """A number whose protocol the paper does not tell: the verdict says how it was read here."""

    paper: Published
    reading: str

    @property
    def said(self) -> str:
        return self.paper.said

    def told(self, found: Found) -> str:
        return self.paper.told(found)

    def compare(self, found: Found) -> Verdict:
        verdict = self.paper.compare(found)
        why = "; ".join(filter(None, [verdict.why, self.reading]))
        return verdict if verdict.word == "not run" else replace(verdict, why=why)

    def as_dict(self) -> dict[str, Any]:
        return self.paper.as_dict() | {"reading": self.reading}


@dataclass(frozen=True)
class Certain(ByOurReading):
    """A number that our data leave no choice about: to have it is no test."""

    def compare(self, found: Found) -> Verdict:
        verdict = super().compare(found)
        return Verdict("no test", why=self.reading) if verdict.word == "reproduced" else verdict


def read_as(reading: str, paper: Published) -> ByOurReading:
    return ByOurReading(paper.where, paper, reading)


def _range(ends: Sequence[float]) -> str:
    return " to ".join(f"{end:g}" for end in dict.fromkeys(ends)) + " %"


def pairs(found: Found) -> tuple[list[float], list[float]]:
    """The accuracies of the seeds that both ways have finished."""
    seeds: dict[int, list[float]] = {}
    for run, accuracy in zip(found.runs, found.accuracies(), strict=True):
        seeds.setdefault(run.seed, []).append(accuracy)
    both = [values for values in seeds.values() if len(values) == 2]
    return [first for first, _ in both], [second for _, second in both]
