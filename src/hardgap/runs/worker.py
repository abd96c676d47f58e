"""A worker process: takes runs from the store, one after another, until there are none or it is told to stop.

It is told on standard input, in one line of JSON, which store, which runs, and which plug-ins it may import. When
standard input closes, because the driver wants it to end or has died, and on SIGINT or SIGTERM, it saves its state,
gives its claim back and leaves. If its network hangs it cannot: then the kernel ends it some time after the driver is
gone.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path

from hardgap.core.errors import BadInput
from hardgap.core.plugins import take_over
from hardgap.runs import stackable
from hardgap.runs.owner import me
from hardgap.runs.signals import INTERRUPTED, STOPPING, Signals
from hardgap.runs.store import Store

WAIT_SECONDS = 0.5


def main() -> int:
    stop = threading.Event()
    Signals(stop.set, lambda: os._exit(INTERRUPTED)).listen()
    # The driver starts workers with these blocked: none may arrive before there is someone to answer it.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # SLURM sends it to all of a job, whose first process answers it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    line = sys.stdin.readline()
    if not line.endswith("\n"):  # The driver died before it could say what to do.
        return 0
    order = json.loads(line)
    take_over(order)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # it ends this process; whoever started it may have ignored it
    threading.Thread(target=_stop_at_end_of_input, args=[stop, order["grace_seconds"]], daemon=True).start()
    try:
        work(Store(Path(order["store"])), order["runs"], stop, order["checkpoint_seconds"])
    except (sqlite3.Error, OSError, BadInput) as error:  # a full disk, a store that was taken away
        print(f"hardgap: a worker cannot go on: {error}", file=sys.stderr)
        return 1
    return 0


def _stop_at_end_of_input(stop: threading.Event, grace_seconds: float) -> None:
    while os.read(0, 4096):
        pass
    stop.set()
    # A network may hang and never look at `stop`. Unanswered, SIGALRM ends a process whatever it is doing. (Only if it
    # hangs in foreign code that never lets other threads run does it not even come to this line.)
    signal.setitimer(signal.ITIMER_REAL, grace_seconds)


def work(store: Store, runs: list[str], stop: threading.Event, checkpoint_seconds: float) -> None:
    """Train what nobody else is training; wait while others still hold some, in case they die."""
    if stop.is_set():
        return
    # Only now: loading torch takes seconds, and by then a worker must be able to hear that it is not needed.
    from hardgap.runs.execute import single_thread

    single_thread()
    owner = me()
    with store.wanted((run_id, 0) for run_id in runs) as wanted:
        if rows := stackable.asked():
            from hardgap.runs.stacked import work_stacked

            work_stacked(store, wanted, owner, stop, checkpoint_seconds, rows)
            return
        while not stop.is_set():
            run_id = store.claim_from(wanted, owner)
            if run_id is not None:
                execute_safely(store, run_id, owner, stop, checkpoint_seconds)
            elif not wanted.any_open():
                return
            else:
                time.sleep(WAIT_SECONDS)


def execute_safely(store: Store, run_id: str, owner: str, stop: threading.Event, checkpoint_seconds: float) -> None:
    """A run that cannot be trained is marked failed with its reason; the next one goes on."""
    from hardgap.core.checkpoint import CannotWrite
    from hardgap.core.loop import Observer
    from hardgap.runs.train import execute_claimed

    try:
        run = store.get(run_id).config
        execute_claimed(store, run, owner, Observer(should_stop=stop.is_set), checkpoint_seconds)
    except CannotWrite:  # neither this run's fault nor the next one's: the worker gives it back and ends
        store.release(run_id, owner)
        raise
    except (BadInput, KeyboardInterrupt) as error:  # Ctrl-C raises nothing here: a network may
        store.fail(run_id, owner, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())
