"""From a network to its card: train what is missing, ask the trained networks at other widths, certify one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.plugins import blamed, check_plugin
from hardgap.core.progress import Progress, silent
from hardgap.core.specs import Scale
from hardgap.suites.card import Card, Certified, Outcome
from hardgap.suites.entries import Entry
from hardgap.suites.gaps import ASKED_AT, SEEDS, WIDTH, Suite, SuiteGap, load_suite
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.run import AutomatonRun

if TYPE_CHECKING:
    from torch import nn

    from hardgap.runs.store import Row, Store

ROWS = 200
"""Random rows that a trained network is asked at another width."""


@dataclass(frozen=True)
class Plan:
    """All runs of a card, with their gaps, one seed of everything before a second of anything."""

    suite: str
    entry: Entry
    quick: bool
    seed: int
    runs: tuple[tuple[SuiteGap, AutomatonRun], ...]
    planned: int
    scale: Scale

    @property
    def configs(self) -> list[AutomatonRun]:
        return [run for _, run in self.runs]


def plan(
    suite: Suite, entry: Entry, *, quick: bool, seed: int | None = None, seeds: int = SEEDS, scale: Scale = "desk"
) -> Plan:
    """What to train. Without a seed, the private part is drawn from one that belongs to the network's own code."""
    if not 1 <= seeds <= SEEDS:
        raise BadInput(f"seeds {seeds}: the suite has {SEEDS} of each gap", of="seeds")
    entry.check(suite.gaps[:1] if quick else suite.gaps, scale)
    drawn = entry.digest(suite.gaps[0]) if seed is None else seed
    gaps = suite.asked(drawn, quick=quick)
    of_gaps = [entry.runs(gap, scale) for gap in gaps]
    runs = tuple((gap, several[place]) for place in range(seeds) for gap, several in zip(gaps, of_gaps, strict=True))
    return Plan(suite.name, entry, quick, drawn, runs, len(gaps) * SEEDS, scale)


def make_card(
    asked: Plan, store: Store, on_progress: Progress = silent, *, certify: bool = True, before: Card | None = None
) -> Card:
    """The card of what is finished in a store, and of what an earlier card has."""
    rows = {row.id: row for row in store.rows(run.id for run in asked.configs) if row.status == "done"}
    done = [(gap, run) for gap, run in asked.runs if run.id in rows]
    if not done and before is None:
        raise BadInput(f"no run of {asked.entry.network} under {asked.entry.recipe} is finished in {store.folder}")
    made_with = [*(before.versions if before else ()), *(row.versions for row in rows.values())]
    versions = list({repr(one): one for one in made_with}.values())
    outcomes = list(before.runs) if before else []  # their versions come first, so that `made` is still the place
    known = {one.run for one in outcomes}
    for place, (gap, run) in enumerate(done):
        on_progress("asking trained networks at other widths", place, len(done))
        if run.id not in known:
            outcomes.append(_outcome(gap, run, rows[run.id], store, versions))
    first = asked.configs[0]
    if certify:
        on_progress("leak certificate", 0, 0)
    certificate = _certified(first) if certify else before.certificate if before else None
    model = _built(first)
    return Card(
        suite=asked.suite, quick=asked.quick, network=asked.entry.network, recipe=asked.entry.recipe, seed=asked.seed,
        planned=asked.planned, scale=asked.scale, about=asked.entry.about,
        source=first.plugins().get(asked.entry.network), certificate=certificate,
        parameters=sum(tensor.numel() for tensor in model.parameters()), flop=_flop(model), versions=tuple(versions),
        runs=tuple(outcomes),
    )  # fmt: skip


def _outcome(gap: SuiteGap, run: AutomatonRun, row: Row, store: Store, versions: list[Any]) -> Outcome:
    curve = tuple((point["step"], point["visible"], point["holdout"]) for point in store.curve(run.id))
    return Outcome(
        gap=gap, seed=run.seed, run=run.id, config=run.asked(), made=versions.index(row.versions),
        seconds=round(row.seconds, 1), stopped=row.stopped or "", curve=curve,
        asked=_asked_wider(gap, run, store) if gap.width == WIDTH else {},
    )  # fmt: skip


def _asked_wider(gap: SuiteGap, run: AutomatonRun, store: Store) -> dict[str, float | None]:
    """Holdout accuracy on wider rows; nothing where the store has no weights."""
    from hardgap.runs.execute import load_model
    from hardgap.runs.weights import is_here

    if not is_here(store, store.get(run.id)):
        return {}
    model, _ = load_model(store, run.id)
    return {str(width): _holdout_at(model, gap, width) for width in ASKED_AT}


def _holdout_at(model: nn.Module, gap: SuiteGap, width: int) -> float | None:
    """None if the network does not take rows of this width."""
    import torch

    from hardgap.worlds.automaton.task import predict_rollout, score_rollout

    rows = np.random.default_rng([width, 0]).integers(0, 2, (ROWS, width), dtype=np.uint8)
    truth = gap.gap.trajectory(rows, 1)
    if not truth.hidden.any():
        return None
    try:
        predicted = predict_rollout(model, torch.from_numpy(rows).to(torch.float32), 1)
    except Exception:  # whatever a network says that was made for another width
        return None
    return score_rollout(predicted, truth, gap.gap).holdout


def _certified(run: AutomatonRun) -> Certified:
    """One epoch of the card's first run, in the true world and in the decoy."""
    from hardgap.runs.certificate import leak_certificate

    found = leak_certificate(run)
    return Certified(run=found.run, steps=found.steps, passed=found.passed, true=found.true, decoy=found.decoy)


def _built(run: AutomatonRun) -> nn.Module:
    from hardgap.worlds import build_task

    model: nn.Module = build_task(run).model()
    return model


def _flop(model: nn.Module) -> int | None:
    """Of products that PyTorch counts (matrices, convolutions) in the answer to one row; None where it counts none."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from hardgap.nn.native import engine

    with engine.using("eager"), FlopCounterMode(display=False) as counter, blamed("counting FLOP fails"):
        model(torch.zeros(1, WIDTH))
    return int(counter.get_total_flops()) or None


def missing(asked: Plan, store: Store, before: Card | None = None) -> Sequence[AutomatonRun]:
    """What is not finished yet, neither in the store nor on an earlier card."""
    known = store.progress([run.id for run in asked.configs])
    earlier = {one.run for one in before.runs} if before else set()
    return [run for run in asked.configs if run.id not in earlier and known.get(run.id, ("", 0))[0] != "done"]


def check_same(asked: Plan, before: Card) -> None:
    """A card can be added to if it is about the same: suite, network with its code, recipe, part, seed and scale."""
    first = asked.configs[0]
    wanted = Card(
        suite=asked.suite, quick=asked.quick, network=asked.entry.network, recipe=asked.entry.recipe, seed=asked.seed,
        scale=asked.scale, planned=asked.planned, source=first.plugins().get(asked.entry.network), runs=(),
    )  # fmt: skip
    for field in ("suite", "quick", "network", "recipe", "seed", "scale", "source"):
        there, here = getattr(before, field), getattr(wanted, field)
        if there != here:
            raise BadInput(f"add_to: that card is about another {field}: {there}, not {here}", of="add_to")
    check_runs(before)


def check_runs(card: Card) -> None:
    """Refuse a card whose runs are others than the suite's: its gaps, budgets, recipe and private part are fixed."""
    for what, path in (("network", card.network), ("recipe", card.recipe)):
        if ":" in path:  # a card is data: it runs no code unless its reader trusts it
            check_plugin(what, path)
    entry = Entry(card.network, card.recipe)
    asked = plan(load_suite(card.suite), entry, quick=card.quick, seed=card.seed, scale=card.scale)
    wanted = {run.id: gap for gap, run in asked.runs}
    if len({outcome.run for outcome in card.runs}) < len(card.runs):
        raise BadInput("the card is altered: it counts a run more than once")
    if card.planned != len(wanted):
        raise BadInput(f"the card is altered: {card.suite} plans {len(wanted)} runs of it, not {card.planned}")
    for outcome in card.runs:
        if outcome.run not in wanted:
            why = "the code of network or recipe is another one" if card.source else "another version made it"
            raise BadInput(f"run {outcome.run} is none that {card.suite} asks of {card.name}: {why}, or it was altered")
        if parse_run(outcome.config).id != outcome.run or wanted[outcome.run] != outcome.gap:
            raise BadInput(f"run {outcome.run} of the card is altered: its config or its gap is another one")
