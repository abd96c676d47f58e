"""The process that trains one run for the page: told on standard input to go, wait, take one step, or leave.

What lasts goes to the store, as everywhere. What the network does at the moment is said on standard output, a line of
JSON each time. When standard input closes, because the page wants that or its server has died, the state is saved,
the claim given back, and the next start goes on from there.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.runs.owner import me
from hardgap.runs.signals import INTERRUPTED, STOPPING, Signals
from hardgap.runs.store import Store

FRAMES = 50
"""A run that is watched keeps so many snapshots, evenly spaced: at the desk scale, one at every evaluation."""


class Control:
    """What the page wants: shared by the thread that hears it and the one that trains."""

    def __init__(self, *, paused: bool) -> None:
        self._changed = threading.Condition()
        self._paused, self._steps, self._ended = paused, 0, False

    def hear(self, word: str) -> None:
        with self._changed:
            self._paused = word != "resume"
            self._steps += word == "step"
            self._ended |= word == "stop"
            self._changed.notify_all()

    def end(self) -> None:
        """Also from a signal's answer, in the thread that may hold the lock: so without it."""
        self._ended = True

    def should_stop(self, say: Any) -> bool:
        """Asked before every training step: waits as long as the page is paused."""
        with self._changed:
            if self._waits():
                say("paused")
                while self._waits():
                    self._changed.wait(0.5)
                say("training")
            self._steps = max(0, self._steps - 1)
            return self._ended

    def _waits(self) -> bool:
        return self._paused and not self._steps and not self._ended


def main() -> int:
    order = json.loads(sys.stdin.readline() or "{}")
    if not order:
        return 0
    control = Control(paused=order["paused"])
    Signals(control.end, lambda: os._exit(INTERRUPTED)).listen()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    threading.Thread(target=_listen, args=[control], daemon=True).start()
    try:
        (_retrain if order["retrain"] else _train)(Store(Path(order["store"])), order["run"], control)
    except (sqlite3.Error, OSError, BadInput) as error:
        _say({"error": str(error)})
        return 1
    return 0


def _listen(control: Control) -> None:
    for line in sys.stdin:
        control.hear(line.strip())
    control.hear("stop")


def _say(data: dict[str, Any]) -> None:
    """Tell whoever still listens: a page that is gone is no fault of the run."""
    with suppress(OSError):
        os.write(1, (json.dumps(data, allow_nan=False) + "\n").encode())


def _train(store: Store, run_id: str, control: Control) -> None:
    from hardgap.core.checkpoint import CannotWrite
    from hardgap.core.loop import Observer
    from hardgap.runs.execute import Execution, single_thread
    from hardgap.runs.train import blamed_on

    single_thread()
    run, owner = store.get(run_id).config, me()
    if store.claim([run_id], owner) is None:
        raise BadInput(f"run {run_id} is being trained by somebody else, or is done")

    def say(state: str) -> None:
        from hardgap.ui.film import live_frame

        trainer = execution.trainer
        _say({"state": state, "step": trainer.step, **live_frame(trainer.model, run)})

    watcher = Observer(on_point=lambda point: say("training"), should_stop=lambda: control.should_stop(say))
    execution = Execution(store, run, owner, watcher, snapshots=FRAMES)
    try:
        with blamed_on(execution):
            execution()
    except CannotWrite:  # no fault of the run
        store.release(run_id, owner)
        raise
    except BadInput as error:
        store.fail(run_id, owner, str(error))
        raise


def _retrain(store: Store, run_id: str, control: Control) -> None:
    """Make the weights of a run that came without them."""
    from hardgap.core.loop import Observer
    from hardgap.runs.execute import single_thread
    from hardgap.runs.retrain import retrain_run

    single_thread()
    row = store.get(run_id)

    def say(state: str) -> None:
        _say({"state": state})

    watcher = Observer(
        on_point=lambda point: _say({"state": "training", "step": point.step, "of": row.step}),
        should_stop=lambda: control.should_stop(say),
    )
    try:
        again = retrain_run(store, row, watcher)
    except KeyboardInterrupt:
        return
    _say({"state": "retrained", "same": again.same})


if __name__ == "__main__":
    sys.exit(main())
