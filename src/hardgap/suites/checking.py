"""A card can be checked: a random tenth of it is trained again. Two cards are compared gap by gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.report.statistics import more_often_p, paired_p
from hardgap.runs.replicas import made_with
from hardgap.suites.card import Card, Outcome
from hardgap.suites.gaps import SIMILARITIES, check_seed
from hardgap.suites.judging import check_runs
from hardgap.suites.references import in_short
from hardgap.worlds import parse_run

if TYPE_CHECKING:
    from hardgap.core.run import Run
    from hardgap.runs.store import Store

CHANGED = 0.24
"""The share of runs that end on the other side of 70 % when another machine trains them: at most, by what
results/machines.json has of Experiment 1 (2 of 26 runs; the upper end of Wilson's interval)."""


def chosen_runs(card: Card, share: float, seed: int | None) -> list[Outcome]:
    """A random part of a card's runs, if all of them are runs that the suite asks of this network."""
    if not 0 < share <= 1:
        raise BadInput(f"share {share:g}: give a part of the runs, above 0 and at most 1", of="share")
    check_seed(seed or 0)
    if not card.runs:
        raise BadInput("the card has no runs: there is nothing to train again")
    if not all(outcome.run for outcome in card.runs):
        raise BadInput(f"{card.network} is not trained: `hardgap suite run` computes its card again")
    check_runs(card)
    chosen = np.random.default_rng(seed).choice(len(card.runs), max(1, round(share * len(card.runs))), replace=False)
    return [card.runs[place] for place in sorted(chosen)]


def runs_of(chosen: Sequence[Outcome]) -> list[Run]:
    return [parse_run(outcome.config) for outcome in chosen]


@dataclass(frozen=True)
class Rerun:
    """A run of a card beside the same one trained here."""

    outcome: Outcome
    holdout: float
    same_curve: bool
    same_machine: bool  # processor, engine and versions: then every bit has to be the same

    @property
    def same_outcome(self) -> bool:
        again = self.outcome.model_copy(update={"curve": ((0, 0.0, self.holdout),)})
        return again.recovered == self.outcome.recovered

    @property
    def verdict(self) -> str:
        if self.same_curve:
            return "same curve"
        return "same outcome" if self.same_outcome else "other outcome"

    def as_dict(self) -> dict[str, Any]:
        return {"run": self.outcome.run, "gap": self.outcome.gap.key, "seed": self.outcome.seed,
                "card": self.outcome.curve[-1][2], "here": self.holdout, "verdict": self.verdict,
                "same machine": self.same_machine}  # fmt: skip


def rerun(card: Card, chosen: Sequence[Outcome], store: Store) -> list[Rerun]:
    """What was trained again, beside the card."""
    found = []
    for outcome in chosen:
        row = store.get(outcome.run)
        curve = tuple((p["step"], p["visible"], p["holdout"]) for p in store.curve(row.id))
        same = outcome.made < len(card.versions) and _made(row.versions) == _made(card.versions[outcome.made])
        found.append(Rerun(outcome, curve[-1][2], curve == outcome.curve, same))
    return found


def _made(versions: dict[str, Any]) -> tuple[object, ...]:
    return made_with(versions), versions.get("torch")


def is_confirmed(runs: Sequence[Rerun]) -> bool:
    """On the machine that made the card, every curve has to be the same; elsewhere, outcomes as far as chance goes."""
    if any(run.same_machine and not run.same_curve for run in runs):
        return False
    elsewhere = [run for run in runs if not run.same_machine]
    return _is_by_chance([run for run in elsewhere if not run.same_outcome], len(elsewhere))


def can_refute(runs: Sequence[Rerun]) -> bool:
    """Whether so many runs could have spoken against the card, had all gone otherwise."""
    return any(run.same_machine for run in runs) or not _is_by_chance(runs, len(runs))


def _is_by_chance(other: Sequence[Rerun], n: int) -> bool:
    """Of n runs on another machine, whether so many end otherwise by chance, and as many this way as that."""
    better = sum(run.outcome.recovered for run in other)
    return min(more_often_p(len(other), n, CHANGED), paired_p(better, len(other) - better)) >= 0.05


def rerun_table(card: Card, runs: Sequence[Rerun]) -> Table:
    right = ["seed", "card, holdout %", "here, %"]
    rows = [
        [run.outcome.gap.gap.describe(), run.outcome.seed, percent(run.outcome.curve[-1][2]), percent(run.holdout),
         run.verdict]
        for run in runs
    ]  # fmt: skip
    return Table(f"{card.name}: {len(runs)} of {len(card.runs)} runs again", ["gap", *right, "verdict"], rows, right)


@dataclass(frozen=True)
class Comparison:
    """Gaps that two cards share, by who recovers them."""

    about: str
    both: int
    first: int
    second: int
    neither: int

    @property
    def p(self) -> float:
        return paired_p(self.first, self.second)

    def as_dict(self) -> dict[str, Any]:
        return {"gaps of": self.about, "both": self.both, "only first": self.first, "only second": self.second,
                "neither": self.neither, "p": self.p}  # fmt: skip


def compare(first: Card, second: Card) -> list[Comparison]:
    """All shared gaps, then those of each kind; McNemar's exact test of those that only one recovers."""
    if first.suite != second.suite:
        raise BadInput(f"one card is of {first.suite}, the other of {second.suite}: they share no gaps")
    if first.scale != second.scale and first.recipe and second.recipe:  # what is computed has no scale
        raise BadInput(f"one card is at {first.scale} scale, the other at {second.scale}: there is nothing to compare")
    ours, theirs = first.recovered(), second.recovered()
    kinds = {score.key: score.gap.similarity for score in first.scores if score.key in theirs}
    if not kinds:
        raise BadInput("the cards share no gap")
    groups = {"all": list(kinds)} | {
        f"similarity {kind}": [key for key, found in kinds.items() if found == kind] for kind in SIMILARITIES
    }
    return [_counted(name, [(ours[key], theirs[key]) for key in keys]) for name, keys in groups.items() if keys]


def _counted(about: str, pairs: list[tuple[bool, bool]]) -> Comparison:
    counts = (pairs.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False)))
    return Comparison(about, *counts)


def differing(first: Card, second: Card) -> list[dict[str, Any]]:
    """The gaps that one of two cards recovers, and which one."""
    theirs = second.recovered()
    return [
        {"gap": score.key, "about": score.gap.gap.describe(), "group": score.gap.group,
         "similarity": score.gap.similarity, "recovered by": first.name if score.recovered else second.name}
        for score in first.scores
        if score.key in theirs and theirs[score.key] != score.recovered
    ]  # fmt: skip


def comparison_remarks(first: Card, second: Card) -> Iterator[str]:
    """In what the two cards were not asked the same."""
    ours, theirs = in_short(first).seeds, in_short(second).seeds
    if ours and theirs and ours != theirs:
        yield f"Seeds a gap: {ours} of A, {theirs} of B; a majority of more is judged more surely."
    keys, others = first.recovered().keys(), second.recovered().keys()
    if keys != others:
        yield f"Gaps that only one card has are left out: {len(keys - others)} of A, {len(others - keys)} of B."


def comparison_tables(first: Card, second: Card) -> list[Table]:
    right = ["both", "only A", "only B", "neither", "p"]
    rows = [[one.about, one.both, one.first, one.second, one.neither, f"{one.p:.2g}"] for one in compare(first, second)]
    tables = [Table(f"A: {first.name}; B: {second.name}", ["gaps of", *right], rows, right)]
    if apart := differing(first, second):
        names = ["about", "group", "similarity", "recovered by"]
        rows_apart = [[one[name] for name in names] for one in apart]
        tables.append(Table("Gaps that one of them recovers", ["gap", *names[1:]], rows_apart))
    return tables
