"""Progress on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from hardgap.cli.output import duration, err
from hardgap.runs.local import SweepProgress

PLAIN_SECONDS = 8.0


class SweepReporter:
    """Shows how far a sweep is and how long it may still take."""

    def __init__(self) -> None:
        self._live: Progress | None = None
        self._last_line = -PLAIN_SECONDS
        if sys.stderr.isatty():
            self._live = Progress(
                TextColumn("runs"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                console=err(),
            )
            self._task = self._live.add_task("starting", total=None)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, now: SweepProgress) -> None:
        if self._live:
            self._live.update(self._task, total=now.total, completed=now.done + now.failed, description=_words(now))
        elif time.monotonic() - self._last_line >= PLAIN_SECONDS or now.done + now.failed == now.total:
            self._last_line = time.monotonic()
            print(f"{now.done + now.failed}/{now.total} runs, {_words(now)}", file=sys.stderr, flush=True)


def _words(now: SweepProgress) -> str:
    parts = [f"{now.running} running"]
    if now.failed:
        parts.append(f"{now.failed} failed")
    if now.seconds_left:
        parts.append(f"{now.steps_per_second:.1f} steps/s, at most {duration(now.seconds_left)} left")
    elif now.running:
        parts.append("warming up")
    return ", ".join(parts)
