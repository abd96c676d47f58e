"""`hardgap sweep FILE.toml`, and how `reproduce` trains what is missing, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hardgap.cli.output import (
    STORE,
    TABLES,
    Engine,
    Place,
    Show,
    Stack,
    StoreFolder,
    choose_engine,
    complain,
    complain_in_between,
)
from hardgap.core.errors import BadInput
from hardgap.core.wording import plural
from hardgap.runs.signals import INTERRUPTED, Signals, interrupt

if TYPE_CHECKING:
    from hardgap.core.run import Run
    from hardgap.runs.store import Store


def sweep(
    file: Path,
    /,
    *,
    on: Place = "local",
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None,
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None,
    engine: Engine = None,
    stack: Stack = None,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> int:
    """Train every combination that a TOML file asks for.

    The file has a table `[base]` with the values that all runs share and a table `[grid]` with lists. A
    dotted name reaches inside:

        [base]
        rule = "150"
        hide = [3]
        width = 13
        budget = { steps = 1000 }

        [grid]
        "unrolling.feedback" = ["soft", "hard"]
        seed = [0, 1, 2]

    A pattern is its number or all its cells (`hide = ["011"]`). What is a list in one run is a list of lists in a
    grid: `hide = [[3], [1, 4]]`.

    Runs that the store already holds are not trained again. Killed or stopped (Ctrl-C, and again to stop at
    once), the same command goes on.

    Example: `hardgap sweep examples/regimes.toml --budget 30m`
    """
    from hardgap.cli.runs import SHOWN, show_runs
    from hardgap.cli.train import tell_other_code
    from hardgap.runs.store import Store
    from hardgap.runs.sweep import read_sweep

    choose_engine(engine, stack, on)
    runs = read_sweep(file)
    check_workers(workers, on)
    seconds = parse_duration(budget) if budget else None
    opened = Store(store)
    known = opened.progress([run.id for run in runs])
    tell_other_code(opened, [run for run in runs if run.id not in known])
    code = run_and_report(opened, runs, on=on, workers=workers, seconds=seconds, stack=stack)
    ids = [run.id for run in runs]
    show_runs(opened, opened.listed(ids=ids if output.for_a_program else ids[-SHOWN:]), len(ids), output)
    return code


def parse_duration(text: str) -> float:
    """Seconds in `90s`, `90m`, `1.5h` or `1h30m`.

    >>> parse_duration("90m"), parse_duration("1h30m")
    (5400.0, 5400.0)
    """
    if not re.fullmatch(r"(\d+(\.\d+)?[smh])+", text):
        raise BadInput(f"--budget {text}: write a time such as 90s, 90m or 1h30m")
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * units[unit] for number, _, unit in re.findall(r"(\d+(\.\d+)?)([smh])", text))


def check_workers(workers: int | None, on: str = "local") -> None:
    """Refuse a place that cannot be used, or no workers at all."""
    from hardgap.runs.driver import executor

    executor(on)
    if workers is not None and workers < 1:
        raise BadInput(f"--workers {workers}: at least one worker is needed")


def run_and_report(
    store: Store,
    runs: Sequence[Run],
    *,
    on: str = "local",
    workers: int | None = None,
    seconds: float | None = None,
    stack: int | None = None,
) -> int:
    """Train what is missing, with progress; the exit code: 0, 1 if a run failed, 130 if interrupted."""
    from hardgap.cli.progress import show_sweep
    from hardgap.runs.driver import run_sweep
    from hardgap.runs.stackable import stacking

    with stacking(runs, stack, workers, on) as (runs, workers), Signals(_stop, interrupt), show_sweep() as tell:
        ended = run_sweep(store, runs, on=on, workers=workers, seconds=seconds, on_progress=tell)
    with store.wanted((run.id, 0) for run in runs) as wanted:
        counts = {status: number for status, (number, _) in wanted.counts().items()}
    if ended != "finished":
        why = "the time budget is spent" if ended == "budget" else "stopped"
        left, all_runs = counts.get("queued", 0) + counts.get("running", 0), sum(counts.values())
        complain(f"{why}; {left} of {plural(all_runs, 'run')} left, and the same command goes on from there")
    found = store.listed(ids=[run.id for run in runs])
    failed = [row for row in found if row.status == "failed"]
    for row in failed:
        complain(f"run {row.id} failed: {row.error}")
    if damaged := sum(counts.values()) - len(found):
        complain(f"{plural(damaged, 'run')} of these cannot be read; once removed, the same command trains them again")
    return INTERRUPTED if ended == "interrupted" else 1 if failed or damaged else 0


def _stop() -> None:
    complain_in_between("stopping, once every worker has saved what it has; another Ctrl-C ends at once")
    interrupt()
