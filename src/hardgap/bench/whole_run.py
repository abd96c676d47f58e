"""Where the processor time of a whole run goes: training steps, evaluations, and everything else.

One process does all that a sweep does for a run: queues and claims it, draws its data, trains it and keeps what there
is to keep. Shares of one process's time hold on a busy machine too; waiting for the disk is not processor time.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hardgap.bench import Say, silent
from hardgap.core.loop import Stopped, driven
from hardgap.core.task import Point
from hardgap.nn.native import engine
from hardgap.runs.execute import Execution, single_thread
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.runs.train import queue
from hardgap.worlds.automaton.recipes import tempered, until_first_solved
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

PARTS = STEPS, EVALUATIONS, DATA, KEPT = "training steps", "evaluations", "data and network", "checkpoints, store"
RUNS = {
    "desk scale": base("desk", "150", (2,)),
    "atlas and suite": until_first_solved(tempered("desk", "150", (2,))),
    "the same, missed": until_first_solved(tempered("desk", "36", (2,))),
}
"""The desk scale's own run, evaluated every 50 steps; the tempered recipe, every 25, on a gap that it fills early and
on one that takes all of its steps."""


@dataclass
class _Laps:
    """Processor seconds of each part: what passes between two laps belongs to the part that the second names."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    last: float = field(default_factory=time.process_time)

    def __call__(self, part: str) -> None:
        now = time.process_time()
        self.seconds[part] += now - self.last
        self.last = now


@dataclass
class _Timed(Execution):
    """An execution that takes the time of its parts."""

    lap: _Laps = field(default_factory=_Laps)

    def __call__(self) -> Stopped | None:
        with engine.using(self.engine), torch.random.fork_rng(devices=[]):
            ended = driven(self._turns(self.state()), self._update)
        self.lap(KEPT)  # the last state and snapshot, and the result
        return ended

    def _update(self) -> None:
        self.lap(EVALUATIONS)  # whether to start again is asked of the network, too
        self.trainer.update()
        self.lap(STEPS)

    def _record_engine(self, *, stacked: bool) -> None:
        super()._record_engine(stacked=stacked)
        self.trainer.task.check()  # draws the data that the first step and the first evaluation would
        self.lap(DATA)

    def _on_step(self, step: int) -> None:
        super()._on_step(step)
        self.lap(KEPT)

    def _on_point(self, point: Point) -> None:
        self.lap(EVALUATIONS)
        super()._on_point(point)
        self.lap(KEPT)

    def _on_transition(self, weights: dict[str, Tensor], step: int) -> None:
        self.lap(EVALUATIONS)
        super()._on_transition(weights, step)
        self.lap(KEPT)


def measure_run(run: AutomatonRun, say: Say = silent) -> dict[str, Any]:
    """Train a run from its queueing to its result, in a store of its own; processor seconds and shares of each part."""
    single_thread()
    say(f"a whole run: {run.describe()}")
    with tempfile.TemporaryDirectory(prefix="hardgap-bench-") as place:
        lap, owner = _Laps(), me()
        store = Store(Path(place))
        lap(KEPT)
        queue(store, run)  # makes its network and data once, to refuse what cannot be trained
        lap(DATA)
        store.claim([run.id], owner)
        timed = _Timed(store, run, owner, lap=lap)
        ended = timed()
    total = sum(lap.seconds.values())
    return {
        "run": run.describe(),
        "engine": timed.engines[-1],
        "steps": timed.trainer.step,
        "evaluated": len(timed.trainer.curve),
        "ended": ended,
        "cpu_seconds": lap.seconds,
        "shares": {part: seconds / total for part, seconds in lap.seconds.items()},
    }
