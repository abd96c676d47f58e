"""Train one claimed run to its end, surviving whatever happens in between."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from hardgap.core.checkpoint import CorruptFile, load_weights
from hardgap.core.errors import BadInput
from hardgap.core.loop import Moments, Observer, Stopped, Trainer, Turns, driven
from hardgap.core.run import Run
from hardgap.core.specs import Optimiser
from hardgap.core.stack import Member
from hardgap.core.task import Point, Trained
from hardgap.nn.native import engine
from hardgap.nn.native.adam import adam_for, library_of
from hardgap.runs.checkpoints import SNAPSHOTS, Checkpoints, start_from
from hardgap.runs.stackable import stack_for, why_not
from hardgap.runs.store import Store
from hardgap.runs.versions import machine, versions
from hardgap.runs.weights import announce, at_end, find_weights, is_here
from hardgap.worlds import build_task

State = tuple[dict[str, Tensor], dict[str, Any]]
HEARTBEAT_SECONDS = 2.0
CHECKPOINT_SECONDS = 15.0


def build_trainer(
    run: Run,
    *,
    decoy: bool = False,
    store_folder: Path | None = None,
    make_adam: Callable[[nn.Module, Optimiser], Moments] = adam_for,
) -> Trainer:
    """A run at its very start: fresh weights, or those that it names, which the store keeps."""
    task = build_task(run, decoy=decoy)
    trainer = Trainer(task, run.optimiser, run.budget, run.seed, make_adam=make_adam)
    if (initial := run.starts_from()) is not None:
        if store_folder is None:
            raise BadInput(f"run {run.id} starts from given weights, and no store was named that keeps them")
        start_from(trainer.model, store_folder, initial)
    return trainer


@dataclass
class Execution:
    """One worker's turn at one run, from claim to finish, failure or release."""

    store: Store
    run: Run
    owner: str
    watcher: Observer = field(default_factory=Observer)
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    engine: str = field(default_factory=engine.asked)
    snapshots: int = SNAPSHOTS

    def __post_init__(self) -> None:
        self.checkpoints = Checkpoints(self.store.folder, self.run.id)
        self.engines: list[str] = []
        self.machines: list[str] = []
        self.processor_clock = True  # a run that was begun before seconds were a processor's has some of a wall's
        self._lost = False
        self._last_beat = self._last_save = time.monotonic()
        self._counted = time.process_time()
        if self.engine == engine.STACKED and why_not(self.run) is not None:
            self.engine = "auto"

    def __call__(self) -> Stopped | None:
        """Train; None if the claim was lost to someone else."""
        found = self.state()
        chosen = self._engine_for(found)
        with engine.using(chosen), torch.random.fork_rng(devices=[]):
            if chosen != engine.STACKED:
                return driven(self._turns(found), lambda: self.trainer.update())
            stack = stack_for(self.run)
            return driven(self._turns(found, stacked=True), lambda: stack.update([self.trainer]))

    def turns_in_stack(self) -> Turns[Stopped | None]:
        """The run, to be updated together with others by whoever has this engine in use."""
        return (yield from self._turns(self.state(), stacked=True))

    def _turns(self, found: State | None, *, stacked: bool = False) -> Turns[Stopped | None]:
        make_adam = Member if stacked else adam_for
        self.trainer = build_trainer(self.run, store_folder=self.store.folder, make_adam=make_adam)
        if found is not None:
            self._resume(*found)
        self._record_engine(stacked=stacked)
        observer = Observer(self._on_step, self._on_point, self._on_transition, self._should_stop)
        stopped = yield from self.trainer.turns(observer)
        self.save_state()
        if self._lost:
            return None
        if stopped == "interrupted":
            self.store.release(self.run.id, self.owner)
            return stopped
        self.checkpoints.save_snapshot(self.trainer.weights(), self.trainer.step, self._config())
        curve = [point.as_dict() for point in self.trainer.curve]
        made_with = versions(self.engines, self.machines) | ({"clock": "processor"} if self.processor_clock else {})
        kept = self.store.finish(self.run.id, self.owner, curve, stopped, made_with, self._taken())
        return stopped if kept else None

    def state(self) -> State | None:
        """What to go on from: the run's own state, or a shorter run that began in exactly the same way."""
        try:
            found = self.checkpoints.latest(self.run.budget) or self._from_shorter()
            if found is not None:
                self._compare(found[1]["curve"])
            return found
        except CorruptFile as error:
            print(f"hardgap: {error}; set aside, the run starts again", file=sys.stderr)
            if self._is_mine():
                self.checkpoints.set_aside()
            return None

    def _compare(self, curve: list[dict[str, Any]]) -> None:
        """The store was told of every evaluation before a state could hold it."""
        try:
            told = {point["step"]: point for point in self.store.curve(self.run.id)}
        except BadInput:  # What cannot be read there is replaced from the state.
            return
        if any(json.dumps(told.get(point["step"], point)) != json.dumps(point) for point in curve):
            raise CorruptFile(f"the state in {self.checkpoints.folder} holds another curve than the store")

    def _engine_for(self, found: State | None) -> str:
        """A run goes on with the engine it began with, so that nobody can tell; with another only if asked."""
        if found is None or self.engine not in ("auto", engine.ANY):
            return self.engine
        began = _engines(found[1])[-1]
        if self.engine == engine.ANY and not engine.is_here(began):
            return "auto"
        try:
            engine.named(began)
        except BadInput as error:
            raise BadInput(
                f"run {self.run.id} cannot go on as it began: {error}; HARDGAP_ENGINE=native or eager takes another"
            ) from error
        return began

    def _takes(self, began: str) -> bool:
        """Whether what an engine began may be gone on with: by that engine, or by one that was asked for."""
        return self.engine not in ("auto", engine.ANY) or engine.is_here(began)

    def _record_engine(self, *, stacked: bool) -> None:
        library = library_of(self.trainer.model)
        now = engine.STACKED if stacked else library.name if library else engine.EAGER
        if self.engines and self.engines[-1] != now:
            print(f"hardgap: run {self.run.id} was begun with {self.engines[-1]}, goes on with {now}", file=sys.stderr)
        if self.engines[-1:] != [now]:
            self.engines.append(now)
        if self.machines[-1:] != [here := machine()]:
            self.machines.append(here)

    def _resume(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        try:
            self.trainer.restore(tensors, meta)
        except (RuntimeError, LookupError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise CorruptFile(
                f"the state in {self.checkpoints.folder} does not fit this run's network: {reason:.200}"
            ) from error
        self.engines, self.machines = _engines(meta), list(meta.get("machines", []))
        self.processor_clock = bool(meta.get("processor_clock", False))
        self._add_points(meta["curve"])

    def _from_shorter(self) -> State | None:
        for run_id in self.store.shorter(self.run):
            budget = self.store.get(run_id).config.budget
            if budget.steps >= self.run.budget.steps or budget.steps % budget.evaluate_every:
                continue
            shorter = Checkpoints(self.store.folder, run_id)
            try:
                found = shorter.latest(self.run.budget)
            except CorruptFile as error:
                print(f"hardgap: {error}; passed over", file=sys.stderr)
                continue
            if found is not None and not self._takes(began := _engines(found[1])[-1]):
                told = f"run {run_id} has the first {budget.steps} steps, made with {began}, which is not here"
                print(f"hardgap: {told}; HARDGAP_ENGINE=native goes on from there", file=sys.stderr)
            elif found is not None and self._is_mine():
                self.checkpoints.take_snapshots(shorter, self.run)
                self.checkpoints.save_state(*found)
                self.store.checkpointed(self.run.id, self.owner, self.store.get(run_id).seconds)
                return found
        return None

    @property
    def _step(self) -> int:
        return self.trainer.step if hasattr(self, "trainer") else 0

    def _is_mine(self) -> bool:
        """Whether the claim still holds. Asked before anything is written: a stopped process may wake much later."""
        self._last_beat = time.monotonic()
        self._lost = self._lost or not self.store.heartbeat(self.run.id, self.owner, self._step)
        return not self._lost

    def _on_step(self, step: int) -> None:
        now = time.monotonic()
        if now - self._last_save > self.checkpoint_seconds:
            self.save_state()
        elif now - self._last_beat > HEARTBEAT_SECONDS:
            self._is_mine()
        self.watcher.on_step(step)

    def _add_points(self, points: list[dict[str, Any]]) -> bool:
        self._lost = self._lost or not self.store.add_points(self.run.id, self.owner, points)
        return not self._lost

    def _on_point(self, point: Point) -> None:
        if not self._add_points([point.as_dict()]):
            return
        every = max(1, self.run.budget.steps // self.snapshots // self.run.budget.evaluate_every)
        if point.step % (every * self.run.budget.evaluate_every) == 0:
            self.checkpoints.save_snapshot(self.trainer.weights(), point.step, self._config())
        if self.run.choices:
            self._keep_best(point.step)
        self.watcher.on_point(point)

    def _keep_best(self, step: int) -> None:
        """Have the network that each rule of the run chooses, so that it can be opened later."""
        curve = [point.as_dict() for point in self.trainer.curve]
        for by in self.run.choices:
            if self.run.choose(curve, by)["step"] == step:
                self.checkpoints.save_best(by, self.trainer.weights(), step, self._config())

    def _on_transition(self, weights: dict[str, Tensor], step: int) -> None:
        if self._is_mine():
            self.checkpoints.save_snapshot(weights, step, self._config())
        self.watcher.on_transition(weights, step)

    def _should_stop(self) -> bool:
        return self._lost or self.watcher.should_stop()

    def save_state(self) -> None:
        if not self._is_mine():
            return
        now = time.monotonic()
        tensors, meta = self.trainer.state()
        self.checkpoints.save_state(
            tensors,
            meta | {"engines": self.engines, "machines": self.machines, "processor_clock": self.processor_clock},
        )
        self.store.checkpointed(self.run.id, self.owner, self._taken())
        self._last_save = now

    def _taken(self) -> float:
        """Seconds of a processor since they were last counted: what a run costs does not depend on who else is busy.

        They are this process's, so of all runs of a stack together; on a GPU, they are those of whoever feeds it. Runs
        made before it was so have seconds by the clock on the wall, and no `clock` beside their versions.
        """
        before, self._counted = self._counted, time.process_time()
        return self._counted - before

    def _config(self) -> dict[str, Any]:
        return self.run.model_dump(mode="json")


def _engines(meta: dict[str, Any]) -> list[str]:
    """What computed a state, in order; before there was a native engine, nobody wrote it down."""
    return list(meta.get("engines", [engine.EAGER]))


def load_model(store: Store, run_id: str, at: int | str | None = None) -> tuple[nn.Module, Run]:
    """A trained network of the store, at its end or at one of its snapshots, ready to be looked at.

    Where the run's own weights are not here, its replica answers, and that is said (`runs/weights.py`).
    """
    found = find_weights(store, run_id, at)
    if found.replica:
        announce(store, run_id)
    store, step = found.store, found.step
    row = store.get(run_id)
    checkpoints = Checkpoints(store.folder, row.id)
    if step is None:
        weights = at_end(store, row)
    else:
        kept = checkpoints.snapshots()
        if kept and step not in kept:
            raise BadInput(f"run {row.id} has no snapshot at step {step}; it has {', '.join(map(str, kept))}")
        weights = checkpoints.load_snapshot(step, row.config) if is_here(store, row, step) else None
    if weights is None:
        raise BadInput(
            f"run {row.id} has no weights in {store.folder} (results are exported without them): "
            f"`hardgap runs retrain {row.id}` makes them again"
        )
    model = build_task(row.config.but(device="cpu")).model()  # a network can be looked at where it was not trained
    load_weights(model, weights, checkpoints.folder)
    return model.eval(), row.config


def load_trained(store: Store, run_id: str, step: int | None = None) -> Trained:
    """A trained network at its end, or at one of its snapshots, as it was trained."""
    found = find_weights(store, run_id, step)
    model, run = load_model(store, run_id, step)
    task = build_task(run.but(device="cpu"))  # a network can be looked at where it was not trained
    attempt, began = _attempt(found.store, run)
    if not attempt or (step is not None and step <= began):  # a snapshot at `began` was taken before
        attempt, began = 0, 0
    end = found.store.get(run.id).step if step is None else step
    return Trained(run, model, task, task.restart(attempt) if attempt else task.model(), end - began)


def _attempt(store: Store, run: Run) -> tuple[int, int]:
    """Which start of the run its network comes from, and the step of that start."""
    if (found := Checkpoints(store.folder, run.id).latest()) is not None:
        attempt, began = found[1].get("attempt", (0, 0))
        return attempt, began
    curve = store.curve(run.id)
    attempt = curve[-1]["detail"].get("attempt", 0) if curve else 0
    return attempt, (run.budget.restart_at or 0) if attempt else 0


def single_thread() -> None:
    """One run, one process, one thread: two threads are slower here, and results would depend on them."""
    torch.set_num_threads(1)
