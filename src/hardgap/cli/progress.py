"""Progress on stderr: a live bar on a terminal, plain lines elsewhere. Of a sweep, of one run, of a measurement."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from hardgap.cli.output import complain_in_between, err
from hardgap.core.progress import Progress
from hardgap.runs.signals import INTERRUPTED, Signals
from hardgap.runs.watching import Watching, part_lines, point_words, run_lines, sweep_lines, sweep_words

if TYPE_CHECKING:
    from hardgap.core.loop import Observer
    from hardgap.core.run import Run
    from hardgap.runs.driver import SweepProgress


@contextmanager
def show_sweep() -> Iterator[Callable[[SweepProgress], None]]:
    """A function to be told how far a sweep is; it shows that, and how long it may still take."""
    if not sys.stderr.isatty():
        yield sweep_lines()
        return
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=err()) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda now: bar.update(
            task, total=now.total, completed=now.done + now.failed, description=sweep_words(now)
        )


@contextmanager
def watch(run: Run) -> Iterator[Observer]:
    """A watcher that shows progress on stderr and stops cleanly on Ctrl-C or SIGTERM, at once on another."""
    from hardgap.core.loop import Observer

    asked = threading.Event()

    def stop() -> None:
        asked.set()
        complain_in_between("stopping after this step; another Ctrl-C ends at once")

    with Signals(stop, _end_at_once), _shown(run.budget.steps) as (point, step):
        yield Observer(on_point=point, on_step=step, should_stop=asked.is_set)


def _end_at_once() -> None:
    """Leave without another word from whatever hangs; what the last checkpoint holds is kept."""
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h")  # The live line had hidden the cursor.
    complain_in_between("ended at once; the same command goes on from the last checkpoint")
    os._exit(INTERRUPTED)


@contextmanager
def _shown(steps: int) -> Iterator[Watching]:
    if not sys.stderr.isatty():
        yield run_lines(steps)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("step {task.completed}/{task.total}"))
    with Bar(*columns, TimeRemainingColumn(), console=err()) as bar:
        task = bar.add_task("starting", total=steps)
        yield (
            lambda now: bar.update(task, description=point_words(now), completed=now.step),
            lambda step: bar.update(task, completed=step),
        )


@contextmanager
def show_parts(doing: str = "starting") -> Iterator[Progress]:
    """A function to be told what is being done, how many parts are done, and how many there are."""
    if not sys.stderr.isatty():
        with part_lines(doing) as tell:
            yield tell
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=err(), transient=True) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total)
