"""Ctrl-C and SIGTERM: the first asks to stop, the second ends at once.

What was ignored from the start (`nohup`, a background job of a script) stays ignored, as is the custom.
Python answers a signal between two of its own instructions: a network that hangs in foreign code which never
comes back has to be killed. Drivers do that to their workers.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Self

STOPPING = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130
"""The exit code of whoever was stopped."""
TOGETHER_SECONDS = 0.3
"""Signals so close to one another are one wish: `timeout` sends SIGTERM to its child and then to the whole group."""


def interrupt() -> None:
    """What Python itself does at Ctrl-C."""
    raise KeyboardInterrupt


class Signals:
    """From `listen` on, or while this is entered, the first of these signals calls `stop`, and any later one `end`."""

    def __init__(self, stop: Callable[[], object], end: Callable[[], object]) -> None:
        self._stop, self._end = stop, end
        self._asked: float | None = None

    def listen(self) -> None:
        heard = [name for name in STOPPING if signal.getsignal(name) is not signal.SIG_IGN]
        self._before = {name: signal.signal(name, self._answer) for name in heard}

    def __enter__(self) -> Self:
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        for name, handler in self._before.items():
            signal.signal(name, handler)

    def _answer(self, *_: object) -> None:
        if self._asked is None:
            self._asked = time.monotonic()
            self._stop()
        elif time.monotonic() - self._asked > TOGETHER_SECONDS:
            self._end()
