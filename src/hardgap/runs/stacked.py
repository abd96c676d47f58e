"""A worker that trains runs of one shape as one stack. Each has its own claim, state and end, as if it were alone.

Places that become free are taken by the next runs of the same shape; a run of another shape waits until the stack is
empty. Bits do not depend on neighbours, so neither do results on who came when, or on who was killed.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field

import torch

from hardgap.core.checkpoint import CannotWrite
from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer, Stopped, Turns
from hardgap.core.run import Run
from hardgap.nn.native import engine
from hardgap.runs.execute import Execution
from hardgap.runs.stackable import stack_for, why_not
from hardgap.runs.store import Store
from hardgap.runs.train import blamed_on
from hardgap.runs.wanted import Wanted
from hardgap.runs.worker import WAIT_SECONDS, execute_safely


def work_stacked(
    store: Store, wanted: Wanted, owner: str, stop: threading.Event, checkpoint_seconds: float, rows: int
) -> None:
    """Train what nobody else is training, so many runs at once; wait while others still hold some."""
    worker = _Worker(store, wanted, owner, stop, checkpoint_seconds, rows)
    with engine.using(engine.STACKED), torch.random.fork_rng(devices=[]):
        while worker.going or worker.waiting or (not stop.is_set() and wanted.any_open()):
            if not worker.fill() and not worker.going and not stop.is_set():
                time.sleep(WAIT_SECONDS)
            worker.step()


@dataclass
class _Worker:
    store: Store
    wanted: Wanted
    owner: str
    stop: threading.Event
    checkpoint_seconds: float
    rows: int
    going: list[tuple[Execution, Turns[Stopped | None]]] = field(default_factory=list)
    waiting: Run | None = None  # claimed, and of another shape than those that are going

    def __post_init__(self) -> None:
        self._shape, self._look_again = "", 0.0

    def fill(self) -> bool:
        """Take runs up until all places are taken or none of this shape is there; whether there was anything to do."""
        some = False
        while len(self.going) < self.rows and (run := self._next_run()) is not None:
            self.waiting, some = None, True
            if self.stop.is_set():
                self.store.release(run.id, self.owner)
            elif why_not(run) is not None:
                execute_safely(self.store, run.id, self.owner, self.stop, self.checkpoint_seconds)
            else:
                self._take_up(run)
        return some

    def _next_run(self) -> Run | None:
        """The run that was waiting, or a new one; None while it has to wait."""
        if self.waiting is None and not self.stop.is_set() and time.monotonic() >= self._look_again:
            self.waiting = self._claimed()
        run = self.waiting
        fits = run is not None and run.stack_shape() == self._shape and why_not(run) is None
        return run if not self.going or fits or self.stop.is_set() else None

    def _claimed(self) -> Run | None:
        """A run that is ours now; whoever finds none asks again later, and one that cannot be read has failed."""
        claimed = self.store.claim_from(self.wanted, self.owner)
        if claimed is None:
            self._look_again = time.monotonic() + WAIT_SECONDS
            return None
        try:
            return self.store.get(claimed).config
        except BadInput as error:
            self.store.fail(claimed, self.owner, str(error))
            return None

    def _take_up(self, run: Run) -> None:
        if not self.going:
            self._shape, self._stack = run.stack_shape(), stack_for(run)
        watcher = Observer(should_stop=self.stop.is_set)
        execution = Execution(self.store, run, self.owner, watcher, self.checkpoint_seconds, engine=engine.STACKED)
        self.going.append((execution, execution.turns_in_stack()))

    def step(self) -> None:
        """Whatever each run has to do before its next update, and then that of all."""
        self.going = [(execution, turns) for execution, turns in self.going if self._goes_on(execution, turns)]
        if not self.going:
            return
        try:
            self._stack.update([execution.trainer for execution, _ in self.going])
        except Exception as error:  # whatever a user's own network raises, or too little memory
            self._go_on_alone(error)

    def _goes_on(self, execution: Execution, turns: Turns[Stopped | None]) -> bool:
        try:
            with blamed_on(execution):
                return next(turns, self) is not self
        except CannotWrite:
            self.store.release(execution.run.id, self.owner)
            raise
        except (BadInput, KeyboardInterrupt) as error:
            self.store.fail(execution.run.id, self.owner, f"{type(error).__name__}: {error}")
            return False

    def _go_on_alone(self, error: Exception) -> None:
        """Whose fault it was shows when each goes on by itself, from where it is."""
        reason = f"{type(error).__name__}: {' '.join(str(error).split()):.200}"
        print(f"hardgap: a stack of {len(self.going)} failed, its runs go on one by one: {reason}", file=sys.stderr)
        stopped, self.going = self.going, []
        for execution, turns in stopped:
            turns.close()
            execution.save_state()
        for execution, _ in stopped:
            execute_safely(self.store, execution.run.id, self.owner, self.stop, self.checkpoint_seconds)
