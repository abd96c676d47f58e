"""Progress on stderr: a live bar on a terminal, plain lines elsewhere. Of a sweep, of one run, of a measurement."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hardgap.cli.output import complain_in_between, duration, err
from hardgap.core.progress import tell_line
from hardgap.runs.signals import INTERRUPTED, Signals

if TYPE_CHECKING:
    from hardgap.core.loop import Observer
    from hardgap.core.run import Run
    from hardgap.core.task import Point
    from hardgap.runs.local import SweepProgress

PLAIN_SECONDS = 2.0
"""There is a line after so long, and at most one in so long."""
QUIET_SECONDS = 8.0
"""While a part takes its time, and of a sweep, there is a line this often."""

Tell = Callable[[str, int, int], None]
Watching = tuple[Callable[["Point"], None], Callable[[int], None]]
"""What is called at an evaluation, and after a step."""


@contextmanager
def show_sweep() -> Iterator[Callable[[SweepProgress], None]]:
    """A function to be told how far a sweep is; it shows that, and how long it may still take."""
    if not sys.stderr.isatty():
        yield _sweep_lines()
        return
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=err()) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda now: progress.update(
            task, total=now.total, completed=now.done + now.failed, description=_sweep_words(now)
        )


def _sweep_lines() -> Callable[[SweepProgress], None]:
    last = -QUIET_SECONDS

    def tell(now: SweepProgress) -> None:
        nonlocal last
        ended = now.done + now.failed
        if time.monotonic() - last >= QUIET_SECONDS or ended == now.total:
            last = time.monotonic()
            tell_line(f"{ended}/{now.total} runs, {_sweep_words(now)}")

    return tell


def _sweep_words(now: SweepProgress) -> str:
    parts = [f"{now.running} running"]
    if now.failed:
        parts.append(f"{now.failed} failed")
    if now.seconds_left:
        parts.append(f"{now.steps_per_second:.1f} steps/s, at most {duration(now.seconds_left)} left")
    elif now.running:
        parts.append("warming up")
    return ", ".join(parts)


@contextmanager
def watch(run: Run) -> Iterator[Observer]:
    """A watcher that shows progress on stderr and stops cleanly on Ctrl-C or SIGTERM, at once on another."""
    from hardgap.core.loop import Observer

    asked = threading.Event()

    def stop() -> None:
        asked.set()
        complain_in_between("stopping after this step; another Ctrl-C ends at once")

    shown = _live(run.budget.steps) if sys.stderr.isatty() else _plain(run.budget.steps)
    with Signals(stop, _end_at_once), shown as (point, step):
        yield Observer(on_point=point, on_step=step, should_stop=asked.is_set)


def _end_at_once() -> None:
    """Leave without another word from whatever hangs; what the last checkpoint holds is kept."""
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h")  # The live line had hidden the cursor.
    complain_in_between("ended at once; the same command goes on from the last checkpoint")
    os._exit(INTERRUPTED)


@contextmanager
def _live(steps: int) -> Iterator[Watching]:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("step {task.completed}/{task.total}"))
    with Progress(*columns, TimeRemainingColumn(), console=err()) as progress:
        task = progress.add_task("starting", total=steps)
        yield (
            lambda now: progress.update(task, description=_words(now), completed=now.step),
            lambda step: progress.update(task, completed=step),
        )


@contextmanager
def _plain(steps: int) -> Iterator[Watching]:
    began, first, last, again = time.monotonic(), 0, -PLAIN_SECONDS, False

    def point(now: Point) -> None:
        nonlocal last, first, again
        elapsed = time.monotonic() - began
        if last < 0:
            first = now.step
        new, again = _again(now) and not again, _again(now)
        if elapsed - last < PLAIN_SECONDS and now.step < steps and not new:
            return
        last = elapsed
        say(now.step, f": {_words(now)}")

    def step(done: int) -> None:
        nonlocal last
        elapsed = time.monotonic() - began
        if elapsed - last >= QUIET_SECONDS:
            last = elapsed
            say(done)

    def say(done: int, words: str = "") -> None:
        left = (steps - done) * last / max(1, done - first)
        eta = f", at most {left:.0f} s left" if done > first else ""
        tell_line(f"step {done}/{steps}{words}{eta}")

    yield point, step


def _words(now: Point) -> str:
    again = ", started again" if _again(now) else ""
    return f"visible {100 * now.score.visible:5.1f} %  holdout {100 * now.score.holdout:5.1f} %{again}"


def _again(now: Point) -> bool:
    """Whether this is the score of another network than the run began with."""
    return bool(now.score.detail.get("attempt"))


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
            tell_line(f"{counted}{left}")
