"""Workers on this machine: as many processes as cores, one thread each.

Everything that matters is in the store; the driver only starts workers and replaces those that die. Killing it loses
nothing: its workers notice, save and leave.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hardgap.core.cores import usable_cores
from hardgap.core.errors import BadInput
from hardgap.core.plugins import handed_on
from hardgap.runs.signals import STOPPING
from hardgap.runs.store import Store

POLL_SECONDS = 0.5
GRACE_SECONDS = 60.0
"""How long a worker may take to leave, whether its driver asked it to or is gone."""
MOST_GIVEN_UP = 5
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Workers:
    """The worker processes of one driver."""

    def __init__(self, store: Store, ids: list[str], size: int | None, checkpoint_seconds: float) -> None:
        order = {
            "store": str(store.folder.resolve()),
            "runs": ids,
            "checkpoint_seconds": checkpoint_seconds,
            "grace_seconds": GRACE_SECONDS,
            **handed_on(),
        }
        self._order = (json.dumps(order) + "\n").encode()
        self._size = size or usable_cores()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._gave_up = 0

    def tend(self, runs_left: int) -> None:
        """Start workers until there are as many as wanted, replacing those that died, and wait a little."""
        ended = [process for process in self._processes if process.poll() is not None]
        for process in ended:
            self._processes.remove(process)
            _hang_up(process)
            # A killed worker is replaced without limit; one that gives up by itself will do so again.
            self._gave_up = self._gave_up + 1 if process.returncode > 0 else 0
        if self._gave_up >= MOST_GIVEN_UP:
            raise BadInput("the worker processes cannot start or go on; what they said is above")
        with _signals_later():
            while len(self._processes) < min(self._size, runs_left):
                self._processes.append(self._start())
        time.sleep(POLL_SECONDS)

    def _start(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = process_of("hardgap.runs.worker", stdout=subprocess.DEVNULL)
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # It may have died already; the next look replaces it.
            process.stdin.write(self._order)
            process.stdin.flush()
        return process

    def end(self) -> None:
        """Let every worker save its state and leave; end by force what does not, or all of them at another Ctrl-C."""
        give_up = time.monotonic() + GRACE_SECONDS
        try:
            for process in self._processes:
                _hang_up(process)
            for process in self._processes:
                process.wait(max(0.1, give_up - time.monotonic()))
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            pass
        finally:
            with _signals_later():
                for process in self._processes:
                    process.kill()
                    process.wait()


def process_of(module: str, **how: Any) -> subprocess.Popen[Any]:
    """A process that computes on one thread and is told on standard input what."""
    command = [sys.executable, "-P", "-m", module]  # -P: no file of this folder shadows a library
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | ONE_THREAD, **how)


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()


@contextmanager
def _signals_later() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back while a worker starts; it inherits this and lets them in when it can answer."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
