"""What a paper printed, and how a measurement is compared with it.

Each kind of number has its own test. A rate is compared by its counts (Fisher), a mean by its seeds (Welch), a computed
number by a tolerance.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Protocol

from hardgap.report.statistics import same_mean_p, same_rate_p

LEVEL = 0.05
FEWEST_RUNS, FEWEST_SEEDS = 5, 3
"""Below these a test could not tell much apart, and its silence would read as agreement."""


class Found(Protocol):
    """What a comparison looks at: the finished runs of one arm, or what was computed for it."""

    @property
    def planned(self) -> int: ...
    @property
    def value(self) -> Any: ...
    @property
    def n(self) -> int: ...
    @property
    def recovered(self) -> int: ...
    def accuracies(self) -> Sequence[float]: ...


@dataclass(frozen=True)
class Comparison:
    """A verdict, and how surprising such a difference is if there is none; None where nothing was tested."""

    verdict: str
    p: float | None = None


@dataclass(frozen=True)
class Published:
    """Where something was printed; what was, in the kinds below."""

    where: str

    @abstractmethod
    def compare(self, found: Found) -> Comparison:
        """The verdict on what was measured."""

    @property
    def count(self) -> tuple[int, int] | None:
        """Successes and runs, if they were printed."""
        return None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Rate(Published):
    """Successes of n runs; the mean holdout accuracy in percent, maybe with its interval. Either may be missing."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    successes: int | None = None
    n: int | None = None

    @property
    def count(self) -> tuple[int, int] | None:
        return None if self.successes is None or self.n is None else (self.successes, self.n)

    def compare(self, found: Found) -> Comparison:
        """Whether Fisher's exact test tells the two success rates apart at the 5 % level, and which way."""
        if not found.n:
            return Comparison("not measured")
        if self.count is None:
            return Comparison("no count is published")
        p = same_rate_p(found.recovered, found.n, *self.count)
        if found.n < FEWEST_RUNS:
            return Comparison("too few runs", p)
        higher = found.recovered * self.count[1] > self.count[0] * found.n
        verdict = "not told apart" if p >= LEVEL else "succeeds more often" if higher else "succeeds less often"
        return Comparison(verdict if found.n == found.planned else f"{verdict} so far", p)


@dataclass(frozen=True)
class Seeds(Published):
    """The accuracy of each seed in percent, where no successes are named."""

    seeds: dict[int, float]

    @property
    def shares(self) -> list[float]:
        return [value / 100 for value in self.seeds.values()]

    def compare(self, found: Found) -> Comparison:
        """Whether Welch's t-test tells the two means apart at the 5 % level, and which way."""
        values = found.accuracies()
        p = same_mean_p(values, self.shares)
        if not values:
            return Comparison("not measured")
        if len(values) < FEWEST_SEEDS or p is None:
            return Comparison("too few runs", p)
        if p >= LEVEL:
            return Comparison("not told apart", p)
        return Comparison("higher" if fmean(values) > fmean(self.shares) else "lower", p)


@dataclass(frozen=True)
class Mean(Published):
    """A mean accuracy in percent without its seeds: shown beside what was measured, tested against nothing."""

    mean: float

    def compare(self, found: Found) -> Comparison:
        return Comparison("" if found.n else "not measured")


@dataclass(frozen=True)
class Number(Published):
    """One number, and how far from it a computed one may be."""

    value: float
    tolerance: float

    def compare(self, found: Found) -> Comparison:
        if found.value is None:
            return Comparison("not measured")
        difference = float(found.value) - self.value
        if abs(difference) <= self.tolerance:
            return Comparison("agrees")
        return Comparison("higher" if difference > 0 else "lower")
