"""One run, watched: visible and holdout accuracy as they change."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hardgap.cli.output import complain_in_between, err
from hardgap.core.run import Run
from hardgap.core.task import Point
from hardgap.runs.execute import Watcher
from hardgap.runs.signals import INTERRUPTED, Signals

PLAIN_SECONDS = 2.0
QUIET_SECONDS = 8.0
"""Between evaluations, a plain log says that it is alive this often."""


@contextmanager
def watch(run: Run, label: str = "") -> Iterator[Watcher]:
    """A watcher that shows progress on stderr and stops cleanly on Ctrl-C or SIGTERM, at once on another."""
    asked = threading.Event()

    def stop() -> None:
        asked.set()
        complain_in_between("stopping after this step; another Ctrl-C ends at once")

    shown = _live(run, label) if sys.stderr.isatty() else _plain(run, label)
    with Signals(stop, _end_at_once), shown as watcher:
        watcher.should_stop = asked.is_set
        yield watcher


def _end_at_once() -> None:
    """Leave without another word from whatever hangs; what the last checkpoint holds is kept."""
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h")  # The live line had hidden the cursor.
    complain_in_between("ended at once; the same command goes on from the last checkpoint")
    os._exit(INTERRUPTED)


@contextmanager
def _live(run: Run, label: str) -> Iterator[Watcher]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("step {task.completed}/{task.total}"),
    )
    with Progress(*columns, TimeRemainingColumn(), console=err()) as progress:
        task = progress.add_task(label or "starting", total=run.budget.steps)

        def point(now: Point) -> None:
            progress.update(task, description=f"{label}{_words(now)}", completed=now.step)

        yield Watcher(on_point=point, on_step=lambda step: progress.update(task, completed=step))


@contextmanager
def _plain(run: Run, label: str) -> Iterator[Watcher]:
    began, first, last, again = time.monotonic(), 0, -PLAIN_SECONDS, False

    def point(now: Point) -> None:
        nonlocal last, first, again
        elapsed = time.monotonic() - began
        if last < 0:
            first = now.step
        new, again = _again(now) and not again, _again(now)
        if elapsed - last < PLAIN_SECONDS and now.step < run.budget.steps and not new:
            return
        last = elapsed
        left = (run.budget.steps - now.step) * elapsed / max(1, now.step - first)
        eta = f", at most {left:.0f} s left" if now.step > first else ""
        print(f"{label}step {now.step}/{run.budget.steps}: {_words(now)}{eta}", file=sys.stderr, flush=True)

    def step(done: int) -> None:
        nonlocal last
        elapsed = time.monotonic() - began
        if elapsed - last >= QUIET_SECONDS:
            last = elapsed
            left = (run.budget.steps - done) * elapsed / max(1, done - first)
            print(f"{label}step {done}/{run.budget.steps}, at most {left:.0f} s left", file=sys.stderr, flush=True)

    yield Watcher(on_point=point, on_step=step)


def _words(now: Point) -> str:
    again = ", started again" if _again(now) else ""
    return f"visible {100 * now.score.visible:5.1f} %  holdout {100 * now.score.holdout:5.1f} %{again}"


def _again(now: Point) -> bool:
    """Whether this is the score of another network than the run began with."""
    return bool(now.score.detail.get("attempt"))
