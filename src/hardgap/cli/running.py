"""What `sweep` and `reproduce` share: run, report, explain how it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardgap.cli.output import complain, complain_in_between
from hardgap.cli.progress import SweepReporter
from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.wording import plural
from hardgap.runs.local import run_sweep
from hardgap.runs.signals import INTERRUPTED, Signals
from hardgap.runs.store import Store


def parse_duration(text: str) -> float:
    """Seconds in `90s`, `90m`, `1.5h` or `1h30m`.

    >>> parse_duration("90m"), parse_duration("1h30m")
    (5400.0, 5400.0)
    """
    if not re.fullmatch(r"(\d+(\.\d+)?[smh])+", text):
        raise BadInput(f"--budget {text}: write a time such as 90s, 90m or 1h30m")
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * units[unit] for number, _, unit in re.findall(r"(\d+(\.\d+)?)([smh])", text))


def check_workers(workers: int | None) -> None:
    if workers is not None and workers < 1:
        raise BadInput(f"--workers {workers}: at least one worker is needed")


def run_and_report(
    store: Store, runs: Sequence[Run], *, workers: int | None = None, seconds: float | None = None
) -> int:
    """Train what is missing, with progress; the exit code: 0, 1 if a run failed, 130 if interrupted."""
    check_workers(workers)
    with Signals(_stop, _interrupt), SweepReporter() as reporter:
        ended = run_sweep(store, runs, workers=workers, seconds=seconds, on_progress=reporter)
    with store.wanted((run.id, 0) for run in runs) as wanted:
        counts = {status: number for status, (number, _) in wanted.counts().items()}
    if ended != "finished":
        why = "the time budget is spent" if ended == "budget" else "stopped"
        left, all_runs = counts.get("queued", 0) + counts.get("running", 0), sum(counts.values())
        complain(f"{why}; {left} of {plural(all_runs, 'run')} left, and the same command goes on from there")
    failed = store.listed(where=[("status", "failed")], ids=[run.id for run in runs]) if "failed" in counts else []
    for row in failed:
        complain(f"run {row.id} failed: {row.error}")
    return INTERRUPTED if ended == "interrupted" else 1 if failed else 0


def _stop() -> None:
    complain_in_between("stopping, once every worker has saved what it has; another Ctrl-C ends at once")
    _interrupt()


def _interrupt() -> None:
    raise KeyboardInterrupt
