"""How a long measurement tells where it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

Progress = Callable[[str, int, int], None]
"""Told what is being done now, how many parts are done, and how many there are."""


def silent(doing: str, done: int, total: int) -> None:
    """Tell nobody."""


def tell_line(line: str) -> None:
    """A line on stderr; if nobody reads it any more, the work goes on."""
    with suppress(BrokenPipeError):
        print(line, file=sys.stderr, flush=True)
