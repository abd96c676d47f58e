"""`hardgap reproduce … --dry-run`: what would be run, how long it would take here, and in how much memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hardgap.cli.output import Output, choose_engine
from hardgap.cli.progress import show_parts
from hardgap.core.cores import usable_cores
from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.core.wording import duration, plural

if TYPE_CHECKING:
    from hardgap.cli.studies import Asked
    from hardgap.runs.estimate import Cost
    from hardgap.studies.study import Study


def show_dry_run(studies: Sequence[Study], asked: Asked, output: Output) -> None:
    """Nothing is trained and nothing is written; a few steps of each shape are tried."""
    from hardgap.cli.studies import with_seeds
    from hardgap.cli.sweep import check_workers
    from hardgap.runs.estimate import estimate, wall_seconds
    from hardgap.runs.store import DATABASE, Store
    from hardgap.studies.study import most_informative_first

    check_workers(asked.workers)
    choose_engine(asked.engine)
    if asked.stack is not None:
        raise BadInput("--dry-run tries runs one at a time: leave --stack out; `hardgap bench gpu` measures stacks")
    workers = asked.workers or usable_cores()
    wanted = most_informative_first(with_seeds(studies, asked), asked.scale)
    store = Store(asked.store, create=False) if (asked.store / DATABASE).exists() else None
    known = store.progress([run.id for run in wanted]) if store is not None else {}
    missing = [run for run in wanted if known.get(run.id, ("", 0))[0] != "done"]
    with show_parts("looking at the runs") as told:
        costs = estimate(missing, told)
    wall = wall_seconds(costs, workers)
    memory = min(workers, len(missing)) * max((cost.memory for cost in costs), default=0)
    first = [one.name for one in studies if one.prepare]
    shapes = [asdict(cost) | {"seconds": cost.seconds} for cost in costs]
    data: dict[str, Any] = {
        "scale": asked.scale, "runs": len(wanted), "missing": len(missing), "workers": workers, "seconds": wall,
        "memory": memory, "computed first": first, "shapes": shapes,
    }  # fmt: skip
    output.show(data, [_table(costs, asked.scale)] if costs else [])
    output.say(f"{plural(len(wanted), 'run')} at {asked.scale} scale, {len(missing)} of them still to be trained.")
    if missing:
        here = f"With {plural(workers, 'worker')}, as this machine is loaded now"
        output.say(f"{here}: at most {duration(wall)}, {memory / 2**30:.1f} GiB of memory.")
        output.say("Runs that are solved stop earlier.")
    if first:
        output.say(f"Computed before that, and not counted: what {', '.join(first)} keeps as files.")


def _table(costs: Sequence[Cost], scale: str) -> Table:
    right = ["runs", "steps in all", "ms a step", "core time, at most", "MiB a worker"]
    rows = [
        [cost.about, cost.runs, f"{cost.steps:,}", f"{1000 * cost.seconds_a_step:.1f}", duration(cost.seconds),
         round(cost.memory / 2**20)]
        for cost in costs
    ]  # fmt: skip
    return Table(f"What is missing at {scale} scale, by shape", ["such as", *right], rows, right, detail=right[1:3])
