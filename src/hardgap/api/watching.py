"""Progress as lines on stderr, for scripts and notebooks."""

from __future__ import annotations

import sys
import time

EVERY_SECONDS = 2.0
"""There is a line after so long, and at most one in so long."""


class Lines:
    """What is told most recently, now and then."""

    def __init__(self, wanted: bool = True) -> None:
        self._wanted, self._last = wanted, time.monotonic()

    def tell(self, line: str) -> None:
        if self._wanted and time.monotonic() - self._last >= EVERY_SECONDS:
            self._last = time.monotonic()
            print(line, file=sys.stderr, flush=True)
