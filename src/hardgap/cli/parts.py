"""Progress of a measurement in parts, on stderr: a live bar on a terminal, a line every two seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hardgap.cli.output import duration, err

PLAIN_SECONDS = 2.0


@contextmanager
def show_parts() -> Iterator[Callable[[str, int, int], None]]:
    """A function to be told what is being done, how many parts are done, and how many there are."""
    if not sys.stderr.isatty():
        yield _plain()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=err(), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda doing, done, total: progress.update(task, description=doing, completed=done, total=total)


def _plain() -> Callable[[str, int, int], None]:
    began = last = time.monotonic()

    def tell(doing: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < PLAIN_SECONDS:
            return
        last = now
        left = f", about {duration((now - began) * (total - done) / done)} left" if done else ""
        print(f"{done}/{total} {doing}{left}", file=sys.stderr, flush=True)

    return tell
