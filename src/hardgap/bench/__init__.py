"""Speed, as ratios against what one would otherwise use, measured side by side."""

from __future__ import annotations

import statistics
from collections.abc import Callable

Say = Callable[[str], None]
"""Told, in a line, what is being measured now."""


def silent(line: str) -> None:
    """Tell nobody."""


def ratio(theirs: list[float], ours: list[float]) -> float:
    """The median over rounds: a shared machine's speed drifts from one to the next."""
    return statistics.median(their / our for their, our in zip(theirs, ours, strict=True))
