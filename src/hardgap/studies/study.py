"""A study is a claim of the paper (or of ours) with the runs that test it at each scale.

    smoke   seconds; what the tests use, shows nothing
    desk    the phenomenon at a width and step count that two CPU cores finish in a minute or two a run
    paper   the paper's own numbers
A number always carries its scale: a desk number is never shown as if it were a paper number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import Scale
from hardgap.core.wording import did_you_mean


@dataclass(frozen=True)
class Published:
    """What the paper printed: where, the mean holdout accuracy in percent, maybe its interval and successes of n."""

    where: str
    mean: float
    low: float | None = None
    high: float | None = None
    successes: int | None = None
    n: int | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the mean, as shares."""
        return None if self.low is None or self.high is None else (self.low / 100, self.high / 100)

    @property
    def count(self) -> tuple[int, int] | None:
        """Successes and runs."""
        return None if self.successes is None or self.n is None else (self.successes, self.n)


@dataclass(frozen=True)
class PublishedSeeds:
    """What the paper printed where it names no successes: where, and the holdout accuracy of each seed in percent."""

    where: str
    seeds: dict[int, float]


@dataclass(frozen=True)
class Study:
    """A named claim, what was published, and the runs that measure it, one seed everywhere first."""

    name: str
    claim: str
    published: Published | PublishedSeeds
    runs: Callable[[Scale], list[Run]]


STUDIES: dict[str, Study] = {}
RunsAtScale = Callable[[Scale], Iterable[Run]]


def study(name: str, published: Published | PublishedSeeds) -> Callable[[RunsAtScale], Study]:
    """Declare a function from a scale to its runs as a study; its docstring is the claim."""

    def declare(function: RunsAtScale) -> Study:
        claim = " ".join((function.__doc__ or "").split())
        STUDIES[name] = Study(name, claim, published, lambda scale: list(function(scale)))
        return STUDIES[name]

    return declare


def choose(names: Iterable[str]) -> list[Study]:
    """The studies with these names, or whose names begin so (`main` is all of `main/…`); all if none given."""
    wanted = list(names)
    if not wanted:
        return list(STUDIES.values())
    chosen: dict[str, Study] = {}
    for name in wanted:
        found = {key: value for key, value in STUDIES.items() if key == name or key.startswith(f"{name}/")}
        if not found:
            known = dict.fromkeys([*STUDIES, *(key.partition("/")[0] for key in STUDIES)])
            raise BadInput(f"there is no study {name!r}{did_you_mean(name, known)}; there is {', '.join(STUDIES)}")
        chosen |= found
    return list(chosen.values())


def most_informative_first(studies: Iterable[Study], scale: Scale) -> list[Run]:
    """Every run of these studies once: one seed of everything before a second seed of anything.

    Seeds count by their rank in their study. Within a rank the short runs come first, since a longer one of the same
    family goes on from there.
    """
    ranked: dict[str, tuple[int, Run]] = {}
    for one in studies:
        runs = one.runs(scale)
        seeds = list(dict.fromkeys(run.seed for run in runs))
        for run in runs:
            ranked.setdefault(run.id, (seeds.index(run.seed), run))
    return [run for _, run in sorted(ranked.values(), key=lambda item: (item[0], item[1].budget.steps))]
