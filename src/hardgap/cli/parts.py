"""Progress of a measurement in parts, on stderr: a live bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hardgap.cli.output import duration, err

PLAIN_SECONDS = 2.0
"""There is a line after so long, and at most one in so long."""
QUIET_SECONDS = 8.0
"""While a part takes its time, there is a line at least this often."""

Tell = Callable[[str, int, int], None]


@contextmanager
def show_parts(doing: str = "starting") -> Iterator[Tell]:
    """A function to be told what is being done, how many parts are done, and how many there are."""
    if not sys.stderr.isatty():
        with _Lines(doing) as tell:
            yield tell
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=err(), transient=True) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda doing, done, total: progress.update(task, description=doing, completed=done, total=total)


class _Lines:
    """Lines for a log, also while nobody tells anything: one part may take minutes."""

    def __init__(self, doing: str) -> None:
        self._now = (doing, 0, 0)
        self._began = self._last = time.monotonic()
        self._written = 0
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._clock = threading.Thread(target=self._keep_talking, daemon=True)

    def __enter__(self) -> Tell:
        self._clock.start()
        return self._tell

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._clock.join()

    def _tell(self, doing: str, done: int, total: int) -> None:
        self._now = (doing, done, total)
        self._write_after(PLAIN_SECONDS)

    def _keep_talking(self) -> None:
        while not self._ended.wait(0.1):
            self._write_after(QUIET_SECONDS if self._written else PLAIN_SECONDS)

    def _write_after(self, seconds: float) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._last < seconds:
                return
            self._last, self._written = now, self._written + 1
            doing, done, total = self._now
            counted = f"{done}/{total} {doing}" if total else f"{doing} …"
            left = f", about {duration((now - self._began) * (total - done) / done)} left" if done else ""
            print(f"{counted}{left}", file=sys.stderr, flush=True)
