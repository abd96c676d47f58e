"""A card: what a suite found of a network and a recipe, as a file that somebody else can check.

It holds every run's config, versions and curve, the hash of the network's source, and nothing that follows from these:
scores are computed when they are asked for. A gap is *recovered* if most of its runs end with at least 70 % of hidden
cells right, whatever they make of visible ones; intervals are of gaps, since runs of one gap are not independent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

from pydantic import Field

from hardgap.core.errors import BadInput
from hardgap.core.run import validated
from hardgap.core.specs import Count, Scale, Share, Source, Spec
from hardgap.report.render import Shown
from hardgap.report.statistics import same_rate_p, wilson
from hardgap.runs.results import read_json, write_text
from hardgap.runs.summary import SUCCESS, recovered_step
from hardgap.suites.gaps import ASKED_AT, GROUPS, SIMILARITIES, WIDER, WIDTH, SuiteGap

Point = tuple[Count, Share, Share]
FITS = 0.9
"""A run that has at least so many of the visible cells right fits what it was shown, too."""


class Outcome(Spec):
    """One run: on which gap, what it was, how it went (step, visible and holdout accuracy), and on wider rows.

    A method that is not trained has no config, and one point. `made` is the place among the card's versions; `asked`
    the holdout accuracy at other widths, None where the network cannot answer.
    """

    gap: SuiteGap
    seed: Count
    run: str = Field("", pattern=r"^([0-9a-f]{12})?$")
    config: dict[str, Any] = {}  # noqa: RUF012 (pydantic copies it)
    made: Count = 0
    seconds: float = Field(0.0, ge=0, description="of a processor, if its versions name that `clock`; else of a wall's")
    stopped: str = ""
    curve: tuple[Point, ...] = Field(min_length=1)
    asked: dict[str, Share | None] = {}  # noqa: RUF012

    @property
    def recovered(self) -> bool:
        return self.curve[-1][2] >= SUCCESS

    @property
    def fits(self) -> bool:
        return self.curve[-1][1] >= FITS

    @property
    def recovered_step(self) -> int | None:
        return recovered_step((step, holdout) for step, _, holdout in self.curve)


class Certified(Spec):
    """The leak certificate of one of the card's runs."""

    run: str
    steps: Count
    passed: bool
    true: str
    decoy: str


class Card(Spec):
    """What a suite found of a network under a recipe."""

    kind: Literal["suite-card"] = "suite-card"
    format: Literal[1] = 1
    suite: str
    quick: bool
    network: str
    recipe: str
    about: str = ""
    seed: Count = Field(description="what the private part was drawn from")
    scale: Scale = "desk"
    planned: Count = Field(description="runs of the whole card")
    source: Source | None = Field(None, description="of the network's code, if it is a plug-in")
    parameters: Count | None = None
    flop: Count | None = Field(None, description="of an answer to one row of 11 cells")
    certificate: Certified | None = None
    versions: tuple[dict[str, bool | int | float | str | None], ...] = ()
    runs: tuple[Outcome, ...]

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.network}, {self.recipe}" if self.recipe else self.network

    @property
    def scores(self) -> list[Score]:
        return scores_of(self.runs)

    @property
    def run_ids(self) -> set[str]:
        """What tells its runs from those of other cards; one that is computed has no id of its own."""
        return {run.run or f"{self.network}, seed {self.seed}, {run.gap.key}" for run in self.runs}

    @property
    def solved_untrained(self) -> int:
        """Trained runs that ended at their first evaluation: chance had the answer."""
        return sum(bool(run.run) and run.recovered and run.curve[-1][0] == 0 for run in self.runs)

    @property
    def by_wall_clock(self) -> int:
        """Trained runs whose seconds other work may have lengthened: made before a processor's were counted."""
        return sum(bool(run.run) for run in self.runs) - len(self._by_processor())

    @property
    def seconds_a_step(self) -> float | None:
        """Of the run in the middle, as the sum has whatever stopped a machine; a processor's, if any run has them."""
        each = [run.seconds / run.curve[-1][0] for run in self._by_processor() or self.runs if run.curve[-1][0]]
        return median(each) if any(each) else None

    @property
    def minutes_on_two_cores(self) -> float | None:
        """All its steps at that pace."""
        steps = sum(run.curve[-1][0] for run in self.runs)
        return None if self.seconds_a_step is None else steps * self.seconds_a_step / 60 / 2

    def _by_processor(self) -> list[Outcome]:
        made = {place for place, made in enumerate(self.versions) if made.get("clock") == "processor"}
        return [run for run in self.runs if run.run and run.made in made]

    def save(self, path: Path) -> None:
        """One run a line."""
        data = self.model_dump(mode="json")
        runs = data.pop("runs")
        head = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in data.items()]
        lines = ",\n".join("  " + json.dumps(run, separators=(",", ":")) for run in runs)
        write_text(path, "{\n" + ",\n".join(head) + ',\n "runs": [\n' + lines + "\n ]\n}\n")

    def table(self) -> Shown:
        """Recovered gaps by group, as `hardgap suite run` prints them."""
        from hardgap.suites.tables import card_table

        return Shown.of(card_table(self))

    def recovered(self) -> dict[str, bool]:
        """Every gap that has a run, and whether most of its runs recovered it."""
        return {score.key: score.recovered for score in self.scores}

    def found(self) -> dict[str, Any]:
        """What a table shows of it, as plain data."""
        parts = {name: part.as_dict() for name, part in parts_of(self).items()}
        head = self.model_dump(mode="json", exclude={"runs", "versions", "kind", "format"})
        gaps = [score.as_dict() for score in self.scores]
        done = {"done": len(self.runs), "by wall clock": self.by_wall_clock}
        transfer = {str(width): PartScore(self.scores).at(width) for width in ASKED_AT}
        return head | done | {"parts": parts, "transfer": transfer, "drawn": drawn_apart(self), "gaps": gaps}


def read_card(path: Path) -> Card:
    """A card that a file holds, or why it is none."""
    try:
        return validated(Card, read_json(path))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not a card of a suite: {error}") from error


@dataclass(frozen=True)
class Score:
    """One gap: its runs."""

    gap: SuiteGap
    runs: tuple[Outcome, ...]

    @property
    def key(self) -> str:
        return self.gap.key

    @property
    def successes(self) -> int:
        return sum(run.recovered for run in self.runs)

    @property
    def recovered(self) -> bool:
        return 2 * self.successes > len(self.runs)

    @property
    def fits(self) -> bool:
        """Whether most of its runs are recovered and have the visible cells right, too."""
        return 2 * sum(run.recovered and run.fits for run in self.runs) > len(self.runs)

    def as_dict(self) -> dict[str, Any]:
        told = {"gap": self.key, "runs": len(self.runs), "recovered": self.successes}
        return self.gap.model_dump(mode="json") | told


def scores_of(runs: Iterable[Outcome]) -> list[Score]:
    """By gap, in order."""
    by_gap: dict[SuiteGap, list[Outcome]] = {}
    for run in runs:
        by_gap.setdefault(run.gap, []).append(run)
    return [Score(gap, tuple(several)) for gap, several in by_gap.items()]


@dataclass(frozen=True)
class PartScore:
    """Some gaps together."""

    scores: Sequence[Score]

    @property
    def gaps(self) -> int:
        return len(self.scores)

    @property
    def recovered(self) -> int:
        return sum(score.recovered for score in self.scores)

    @property
    def fitting(self) -> int:
        return sum(score.fits for score in self.scores)

    @property
    def wilson(self) -> tuple[float, float] | None:
        return wilson(self.recovered, self.gaps) if self.scores else None

    @property
    def runs(self) -> list[Outcome]:
        return [run for score in self.scores for run in score.runs]

    @property
    def successes(self) -> int:
        return sum(run.recovered for run in self.runs)

    @property
    def median_steps(self) -> float | None:
        """To the evaluation from which on a run is recovered, of the runs that are."""
        steps = [run.recovered_step for run in self.runs]
        found = [step for step in steps if step is not None]
        return median(found) if found else None

    @property
    def visible(self) -> float | None:
        """Of what was trained; of a method that is not, nobody has measured it."""
        trained = [run.curve[-1][1] for run in self.runs if run.run]
        return fmean(trained) if trained else None

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    def at(self, width: int) -> tuple[int, int] | None:
        """Of recovered runs that were asked at another width, how many are recovered there too; None if none can."""
        asked = [run.asked.get(str(width)) for run in self.runs if run.recovered]
        answered = [share for share in asked if share is not None]
        return (sum(share >= SUCCESS for share in answered), len(answered)) if answered else None

    def as_dict(self) -> dict[str, Any]:
        fitting = None if self.visible is None else self.fitting
        return {"gaps": self.gaps, "recovered": self.recovered, "wilson": self.wilson, "runs": len(self.runs),
                "runs recovered": self.successes, "fitting": fitting, "median steps": self.median_steps,
                "visible": self.visible, "training seconds": round(self.seconds, 1)}  # fmt: skip


def _narrow(gap: SuiteGap, **fields: str) -> bool:
    return gap.width == WIDTH and all(getattr(gap, name) == value for name, value in fields.items())


PARTS: dict[str, Callable[[SuiteGap], bool]] = {
    "public": lambda gap: gap.part == "public" and gap.width == WIDTH,
    "private": lambda gap: gap.part == "private",
    f"width {WIDER}": lambda gap: gap.width == WIDER,
    **{f"similarity {kind}": partial(_narrow, similarity=kind) for kind in SIMILARITIES},
    **{group: partial(_narrow, group=group) for group in GROUPS},
}
"""Ways to look at the gaps of a card; each gap is in several. On wider rows the same gap is not counted again."""


def parts_of(card: Card) -> dict[str, PartScore]:
    found = {name: PartScore([s for s in card.scores if holds(s.gap)]) for name, holds in PARTS.items()}
    return {name: part for name, part in found.items() if part.gaps}


def _kind(gap: SuiteGap) -> tuple[str, str, int]:
    """Gaps of one cell that hide more are harder, and the private part hides other numbers than the public one."""
    return *gap.cell, len(gap.hide)


def drawn_apart(card: Card) -> dict[str, Any] | None:
    """The private part beside the public one, over the kinds that both have; `large` if chance hardly explains it."""
    parts = [[s for s in card.scores if PARTS[name](s.gap)] for name in ("public", "private")]
    kinds = set.intersection(*({_kind(score.gap) for score in part} for part in parts))
    public, private = (PartScore([score for score in part if _kind(score.gap) in kinds]) for part in parts)
    if not kinds:
        return None
    p = same_rate_p(public.recovered, public.gaps, private.recovered, private.gaps)
    ours, theirs = (public.recovered, public.gaps), (private.recovered, private.gaps)
    return {"public": ours, "private": theirs, "p": p, "large": p < 0.05}
