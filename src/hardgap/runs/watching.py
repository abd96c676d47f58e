"""Progress as lines on stderr, for logs, scripts and notebooks: of a sweep, of one run, of a measurement's parts."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hardgap.core.progress import Progress, tell_line
from hardgap.core.wording import duration

if TYPE_CHECKING:
    from hardgap.core.task import Point
    from hardgap.runs.driver import SweepProgress

PLAIN_SECONDS = 2.0
"""There is a line after so long, and at most one in so long."""
QUIET_SECONDS = 8.0
"""While a part takes its time, and of a sweep, there is a line this often."""
SHARE = 0.01
"""What takes long says less: at most one line in a hundredth of the time so far."""
Watching = tuple[Callable[["Point"], None], Callable[[int], None]]
"""What is called at an evaluation, and after a step."""


class Lines:
    """Lines, not too many of them: the first at once, or of what takes long enough alone. Threads may share them."""

    def __init__(self, *, at_once: bool) -> None:
        self._began = time.monotonic()
        self._last = -math.inf if at_once else self._began
        self._lock, self._told = threading.Lock(), at_once

    def tell(self, words: Callable[[float], str], after: float) -> None:
        """A line, made of the seconds so far, if the last one is so long ago; at once if `after` is 0."""
        with self._lock:
            now = time.monotonic()
            least = (after and max(after, SHARE * (now - self._began))) if self._told else PLAIN_SECONDS
            if now - self._last >= least:
                self._last, self._told = now, True
                tell_line(words(now - self._began))


def sweep_words(now: SweepProgress) -> str:
    parts = [f"{now.running} running"]
    if now.failed:
        parts.append(f"{now.failed} failed")
    if now.seconds_left:
        parts.append(f"{now.steps_per_second:.1f} steps/s, at most {duration(now.seconds_left)} left")
    elif now.running:
        parts.append("warming up")
    return ", ".join(parts)


def sweep_lines(*, at_once: bool = True) -> Callable[[SweepProgress], None]:
    lines = Lines(at_once=at_once)

    def tell(now: SweepProgress) -> None:
        ended = now.done + now.failed
        after = 0.0 if ended == now.total else QUIET_SECONDS
        lines.tell(lambda _: f"{ended}/{now.total} runs, {sweep_words(now)}", after)

    return tell


def point_words(now: Point) -> str:
    again = ", started again" if now.score.detail.get("attempt") else ""
    return f"visible {100 * now.score.visible:5.1f} %  holdout {100 * now.score.holdout:5.1f} %{again}"


def run_lines(steps: int, *, at_once: bool = True) -> Watching:
    """Evaluations, and now and then a step in between; another network than the run began with is told at once."""
    lines, first, attempt = Lines(at_once=at_once), -1, 0

    def point(now: Point) -> None:
        nonlocal first, attempt
        first = now.step if first < 0 else first
        new, attempt = now.score.detail.get("attempt", 0) != attempt, now.score.detail.get("attempt", 0)
        lines.tell(lambda so_far: line(now.step, so_far, f": {point_words(now)}"),
                   0.0 if new or now.step == steps else PLAIN_SECONDS)  # fmt: skip

    def line(done: int, so_far: float, words: str = "") -> str:
        left = f", at most {duration((steps - done) * so_far / (done - first))} left" if done > first else ""
        return f"step {done}/{steps}{words}{left}"

    def step(done: int) -> None:
        nonlocal first
        first = done - 1 if first < 0 else first  # a run that goes on: what was done before took no time of this one
        lines.tell(lambda so_far: line(done, so_far), QUIET_SECONDS)

    return point, step


@contextmanager
def part_lines(doing: str) -> Iterator[Progress]:
    """Also while nobody tells anything: one part may take minutes."""
    now, lines, ended = (doing, 0, 0), Lines(at_once=False), threading.Event()

    def line(so_far: float) -> str:
        doing, done, total = now
        left = f", about {duration(so_far * (total - done) / done)} left" if done else ""
        return f"{done}/{total} {doing}{left}" if total else f"{doing} …"

    def tell(doing: str, done: int, total: int) -> None:
        nonlocal now
        now = doing, done, total
        lines.tell(line, PLAIN_SECONDS)

    def keep_talking() -> None:
        while not ended.wait(0.1):
            lines.tell(line, QUIET_SECONDS)

    clock = threading.Thread(target=keep_talking, daemon=True)
    clock.start()
    try:
        yield tell
    finally:
        ended.set()
        clock.join()
