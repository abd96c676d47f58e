"""How a long measurement tells where it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

Progress = Callable[[str, int, int], None]
"""Told what is being done now, how many parts are done, and how many there are."""


def silent(doing: str, done: int, total: int) -> None:
    """Tell nobody."""


def part_of(on_progress: Progress, place: int, of: int, words: str = "") -> Progress:
    """What one of several equal parts is told to, as progress of them all; `words` stand before its own."""
    return lambda doing, done, total: on_progress(f"{words}{doing}", place * total + done, of * total)


def tell_line(line: str) -> None:
    """A line on stderr; if nobody reads it any more, the work goes on."""
    with suppress(BrokenPipeError):
        print(line, file=sys.stderr, flush=True)
