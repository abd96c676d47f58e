"""How a long measurement tells where it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told what is being done now, how many parts are done, and how many there are."""


def silent(doing: str, done: int, total: int) -> None:
    """Tell nobody."""
