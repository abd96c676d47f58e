"""`hardgap sweep FILE.toml`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import STORE, Engine, Json, StoreFolder, choose_engine


def sweep(
    file: Path,
    /,
    *,
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None,
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None,
    engine: Engine = None,
    store: StoreFolder = STORE,
    json: Json = False,
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
    from hardgap.cli.running import check_workers, parse_duration, run_and_report
    from hardgap.cli.runs import SHOWN, show_runs
    from hardgap.cli.train import tell_other_code
    from hardgap.runs.store import Store
    from hardgap.runs.sweep import read_sweep

    choose_engine(engine)
    runs = read_sweep(file)
    check_workers(workers)
    seconds = parse_duration(budget) if budget else None
    opened = Store(store)
    known = opened.progress([run.id for run in runs])
    tell_other_code(opened, [run for run in runs if run.id not in known])
    code = run_and_report(opened, runs, workers=workers, seconds=seconds)
    ids = [run.id for run in runs]
    show_runs(opened, opened.listed(ids=ids if json else ids[-SHOWN:]), len(ids), json=json)
    return code
