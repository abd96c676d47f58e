"""What came out of runs: their numbers, their networks, and what is inside these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, overload

from hardgap.core.drawing import HOLDOUT, VISIBLE, curves_picture
from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.core.run import Run
from hardgap.core.table import Table
from hardgap.core.wording import differences, flattened, percent, plural
from hardgap.report.render import Shown, data_frame, html
from hardgap.runs.listing import stacked_mark
from hardgap.runs.reading import Row
from hardgap.runs.replicas import replica_of
from hardgap.runs.store import Store
from hardgap.runs.summary import Summary, restarts, summarise
from hardgap.runs.tidy import point_rows, run_rows
from hardgap.worlds import world_of

if TYPE_CHECKING:
    import pandas
    from torch import nn

    from hardgap.core.task import Trained
    from hardgap.runs.certificate import Certificate

SHOWN = 20
"""Runs that a notebook lists."""


class Result:
    """One finished run: its config, its numbers, its network.

    >>> import hardgap as hg
    >>> result = hg.train(hg.Automaton(30, hide=3, scale="smoke"), store="runs")
    >>> result  # doctest: +ELLIPSIS
    Result(Rule 30, pattern 011 hidden, soft×4, width 9, seed 0: visible ... %, holdout ... %)
    >>> found = result.open("rule")
    >>> found["rule"].table().columns[:4]
    ['pattern', 'in training', 'true', 'answer']
    """

    def __init__(self, store: Store, row: Row) -> None:
        self.store, self._row = store, row

    @property
    def run(self) -> Run:
        """What was asked for."""
        return self._row.config

    @property
    def id(self) -> str:
        """Twelve hex digits that stand for exactly this config."""
        return self._row.id

    @cached_property
    def curve(self) -> list[dict[str, Any]]:
        """Every evaluation: step, loss, visible and holdout accuracy, and what the world adds in `detail`."""
        return self.store.curve(self.id)

    @property
    def holdout(self) -> float:
        """Accuracy in the end on what was never shown."""
        return float(self.curve[-1]["holdout"])

    @property
    def visible(self) -> float:
        """Accuracy in the end on what was shown."""
        return float(self.curve[-1]["visible"])

    @property
    def summary(self) -> Summary:
        """The accuracies at the moments that matter, and when the run was solved."""
        return summarise(self.curve, self.run.budget.solved_at)

    @property
    def seconds(self) -> float:
        """Of a processor, for its training; of older runs, without `clock` in `.versions`, by the clock on the wall."""
        return self._row.seconds

    @property
    def stopped(self) -> str | None:
        """Why it ended: `budget`, `solved` or `diverged`."""
        return self._row.stopped

    @property
    def versions(self) -> dict[str, Any]:
        """What it was made with."""
        return self._row.versions

    @property
    def mark(self) -> str:
        """`stacked` if it was trained as part of a stack: its bits are others than by itself."""
        return stacked_mark([self.versions.get("engine")])

    @property
    def snapshots(self) -> list[int]:
        """The steps whose weights were kept; `model` and `open` take one."""
        from hardgap.runs.weights import own_snapshots, with_snapshots

        place = with_snapshots(self.store, self.id, 1).store
        return own_snapshots(place, place.get(self.id))

    @property
    def replica(self) -> Result | None:
        """The same config trained again, where that gave another curve; it is opened where this run has no weights."""
        found = replica_of(self.store, self.id)
        return Result(*found) if found else None

    def model(self, step: int | None = None) -> nn.Module:
        """The trained network, at its end or at one of its snapshots; stderr tells if it is the replica's."""
        return self._trained(step).model

    def open(self, *analyses: str, step: int | None = None, seed: int = 0) -> Findings:
        """What is found inside the network by these analyses, or by all: `result.open("rule", "probes")`."""
        world = world_of(self.run)
        if world.opens is None:
            raise BadInput(f"there are no analyses of {world.title}")
        data = part(world.opens)(self._trained(step), analyses, seed)
        reasons = data.pop("does_not_apply", {})
        if reasons and not data:
            raise BadInput("; ".join(reasons.values()))
        shows = part(world.shows) if world.shows else {}
        return Findings({name: Finding(name, found, shows.get(name)) for name, found in data.items()}, reasons)

    def ask(self, *numbers: int, step: int | None = None) -> Any:
        """The network's answer to these integers: of chains of operators a b c d u, its derivation.

        hg.train(hg.Chains("^|"), store="runs").ask(12, 7, 33, 43, 21).derivation
        """
        world = world_of(self.run)
        if world.asks is None:
            raise BadInput(f"a network of {world.title} cannot be asked integers; `model()` gives the network itself")
        return part(world.asks)(self._trained(step), numbers)

    def certify(self, steps: int | None = None) -> Certificate:
        """Train twice, once with the opposite of all that is hidden, and compare every bit; `.passed` if equal.

        One epoch, unless more steps are asked for (docs/certificate.md says what that covers).
        """
        from hardgap.runs.certificate import leak_certificate

        return leak_certificate(self.run, steps=steps, store_folder=self.store.folder)

    def table(self) -> Shown:
        """How it ended, as `hardgap train` prints it."""
        return Shown.of(part(world_of(self.run).table)(self.run, self.curve))

    def _trained(self, step: int | None) -> Trained:
        from hardgap.runs.execute import load_trained

        return load_trained(self.store, self.id, step)

    def __repr__(self) -> str:
        shares = f"visible {percent(self.visible)} %, holdout {percent(self.holdout)} %"
        return f"Result({self.run.describe()}: {shares})"

    def _repr_html_(self) -> str:
        """The curve above the table."""
        visible, holdout = ([point[name] for point in self.curve] for name in ("visible", "holdout"))
        shares = {("visible %", VISIBLE): visible, ("holdout %", HOLDOUT): holdout}
        steps, again = [point["step"] for point in self.curve], restarts(self.curve)
        drawn = curves_picture(steps, shares, repr(self), again)
        return f"<div>{drawn}</div>{self.table()._repr_html_()}"


class Results(Sequence[Result]):
    """Finished runs of one store, in order.

    failed   of those asked for, which failed, and why
    left     those asked for that are not done
    """

    def __init__(
        self, store: Store, done: Sequence[Result], failed: dict[str, str] | None = None, left: Iterable[Run] = ()
    ) -> None:
        self.store, self._done = store, list(done)
        self.failed, self.left = failed or {}, list(left)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> Results: ...
    def __getitem__(self, place: int | slice) -> Result | Results:
        return Results(self.store, self._done[place]) if isinstance(place, slice) else self._done[place]

    def __len__(self) -> int:
        return len(self._done)

    def rows(self) -> list[dict[str, Any]]:
        """A row a run, as plain values: id, every field of the config by its dotted name, the summary, the seconds."""
        return run_rows(self.store, [one.id for one in self])

    def frame(self) -> pandas.DataFrame:
        """A row a run, as a pandas DataFrame. Without pandas: `rows`, which Polars reads, too."""
        return data_frame(self.rows())

    def points(self) -> pandas.DataFrame:
        """A row an evaluation: the run, step, loss and accuracies, then every field of the config."""
        return data_frame(point_rows(self.store, [one.id for one in self]))

    def table(self) -> Shown:
        """A row a run: what it is, and how it ended."""
        differ = differences([(one.run.describe(), one.run.model_dump(mode="json")) for one in self])
        rows = [
            [one.id, ", ".join(filter(None, (one.run.describe(), said, one.mark))), one.summary.steps,
             percent(one.visible), percent(one.holdout), one.summary.solved_step]
            for one, said in zip(self, differ, strict=True)
        ]  # fmt: skip
        numbers = ["steps", "visible %", "holdout %", "solved at"]
        return Shown(f"{self!r}", ["run", "about", *numbers], rows, numbers)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        left = f", {len(self.left)} left" if self.left else ""
        return f"{plural(len(self), 'run')} in {self.store.folder}{failed}{left}"

    def _repr_html_(self) -> str:
        """The first of them as a table: a store may hold thousands."""
        more = len(self) - SHOWN
        table = replace(self[:SHOWN].table(), title=repr(self))
        return html(table) + (f"<p>and {more:,} more; <code>.frame()</code> has all</p>" if more > 0 else "")


@dataclass(frozen=True)
class Finding:
    """What one analysis found, as plain data and as a table."""

    name: str
    data: Any
    _make: Any = None

    def table(self) -> Shown:
        if self._make is not None:
            return Shown.of(self._make(self.data))
        named = self.data if isinstance(self.data, dict) else {str(i): one for i, one in enumerate(self.data)}
        return Shown.of(Table(self.name, ["", "value"], [list(item) for item in flattened(named).items()]))

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class Findings(dict[str, Finding]):
    """What was found, by analysis; `does_not_apply` says why others were not made."""

    def __init__(self, found: dict[str, Finding], does_not_apply: dict[str, str]) -> None:
        super().__init__(found)
        self.does_not_apply = does_not_apply

    def __missing__(self, name: str) -> Finding:
        if name in self.does_not_apply:
            raise BadInput(f"{name} does not apply: {self.does_not_apply[name]}")
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"Findings({', '.join(self)})"

    def _repr_html_(self) -> str:
        reasons = "".join(f"<p>{escape(name)}: {escape(why)}</p>" for name, why in self.does_not_apply.items())
        return "".join(one._repr_html_() for one in self.values()) + reasons
