"""Progress as lines on stderr, for scripts and notebooks."""

from __future__ import annotations

import time

from hardgap.core.progress import tell_line

FIRST_SECONDS, SHARE = 2.0, 0.05
"""There is a line after so long, and another whenever a twentieth of the time so far has passed."""


class Lines:
    """What is told most recently, now and then."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()

    def tell(self, line: str) -> None:
        now = time.monotonic()
        if now - self._last >= max(FIRST_SECONDS, SHARE * (now - self._began)):
            self._last = now
            tell_line(line)
