"""`hardgap runs …`: the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from hardgap.cli.export import export
from hardgap.cli.options import Conditions, fields_and_values
from hardgap.cli.output import STORE, TABLES, Output, Show, StoreFolder, Trust, complain, err, flag
from hardgap.cli.plot import plot
from hardgap.cli.progress import show_parts
from hardgap.cli.retrain import retrain, weights
from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.core.table import Table
from hardgap.core.wording import as_text, differences, duration, flattened, percent, plural
from hardgap.runs.digest import STATUSES, Damaged
from hardgap.runs.listing import Listed, check_list, stacked_mark
from hardgap.runs.replicas import as_data, both_ends, made_with, remove_replica
from hardgap.runs.store import Row, Store
from hardgap.runs.summary import restarts
from hardgap.worlds import world_of

if TYPE_CHECKING:
    from hardgap.runs.certificate import Certificate

SHOWN = 50
"""Rows of a table, if nothing else is asked for."""

runs = App(name="runs", help="List, show, plot, certify, retrain, export, import and remove measured runs.")


def as_dict(run: Listed) -> dict[str, Any]:
    """One run as plain data, without its curve."""
    summary = run.summary or {}
    return {
        "run": run.id,
        "about": run.about,
        "written": run.written,
        "status": run.status,
        "steps": run.step,
        "visible": summary.get("final_visible"),
        "holdout": summary.get("final_holdout"),
        "best_holdout": summary.get("best_holdout"),
        "solved_step": summary.get("solved_step"),
        "restarts": summary.get("restarts", []),
        "stopped": run.stopped,
        "engine": run.engine,
        "seconds": round(run.seconds, 1),
        "error": run.error,
    }


def facts_of(store: Store, run_id: str) -> dict[str, Any]:
    """`as_dict` of one run, or why it cannot be read."""
    return as_dict(store.listed(ids=[store.get(run_id).id])[0])


def show_runs(store: Store, found: list[Listed], of: int, output: Output) -> None:
    """Runs, out of so many; those that are damaged are not among them."""
    of -= len(store.left_out)
    differ = differences([(run.about, run.config) for run in found])
    data = [as_dict(run) | {"differs": said} for run, said in zip(found, differ, strict=True)]
    if len(found) < of and not output.json:
        err().print(f"{len(found)} of {of:,} runs; --limit 0 shows all, --where and --status choose among them")
    part = f" of {of:,}" if len(found) < of else ""
    output.show(data, _runs_table(f"{plural(len(found), 'run')}{part} in {store.folder}", data))


def _runs_table(title: str, data: list[dict[str, Any]]) -> Iterator[Table]:
    columns = {
        "run": [d["run"] for d in data],
        "about": [", ".join(filter(None, (d["about"], d["differs"], stacked_mark([d["engine"]])))) for d in data],
        "status": [d["status"] for d in data],
        "steps": [d["steps"] for d in data],
        "visible %": [percent(d["visible"]) for d in data],
        "holdout %": [percent(d["holdout"]) for d in data],
        "restarted": [", ".join(map(str, d["restarts"])) for d in data],
        "solved at": [d["solved_step"] for d in data],
        "time": [duration(d["seconds"]) for d in data],
    }
    if not any(columns["restarted"]):
        del columns["restarted"]
    rows = list(zip(*columns.values(), strict=True))
    right = ["steps", "visible %", "holdout %", "restarted", "solved at", "time"]
    yield Table(title, list(columns), rows, right, detail=["restarted", "steps", "visible %", "time"])


@runs.command(name="list")
def list_runs(
    *,
    status: Annotated[str | None, Parameter(help="Only queued, running, done or failed ones.")] = None,
    where: Conditions = (),
    sort: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="By created, finished, steps, seconds, visible, holdout, best, solved, lasting, or any field; "
            "the other way round with a - before it.",
        ),
    ] = "created",
    reverse: Annotated[bool, flag("The other way round.")] = False,
    limit: Annotated[
        int | None,
        Parameter(help=f"At most so many; 0 shows all. A table shows {SHOWN} if not told, other formats all."),
    ] = None,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> None:
    """List the runs of a store, the newest last.

    Where runs read the same and are not, the fields by which they differ stand behind; so does `stacked` of runs that
    were trained as part of a stack (`--where engine=stacked` lists these alone). The time is a processor's, of
    older runs the wall's.

    Try:

        hardgap runs list --status done --sort holdout --limit 10
        hardgap runs list --where rule=150 --where unrolling.temperature.start=8
        hardgap runs list --json
    """
    if status is not None and status not in STATUSES:
        raise BadInput(f"--status {status}: choose {', '.join(STATUSES)}")
    if limit is not None and limit < 0:
        raise BadInput(f"--limit {limit}: give a number of runs, or 0 for all")
    wanted = fields_and_values(where) + ([("status", status)] if status is not None else [])
    most = limit or None if limit is not None or output.for_a_program else SHOWN
    first = sort if not reverse else sort[1:] if sort.startswith("-") else f"-{sort}"
    check_list(wanted, first)
    opened = Store(store, create=False)
    total = opened.count(wanted)
    if first == "created":  # the newest last, so that they stand where the eye is
        found = opened.listed(where=wanted, sort="-created", limit=most)[::-1]
    else:
        found = opened.listed(where=wanted, sort=first, limit=most)
    show_runs(opened, found, total, output)


@runs.command
def show(run: str, /, *, store: StoreFolder = STORE, output: Show = TABLES) -> None:
    """Show one run: what was asked for, what it was made with, its curve, and how it ended.

    RUN is an id or its first digits. Example: `hardgap runs show 0c02`
    """
    opened = Store(store, create=False)
    row = opened.get(run)
    curve = opened.curve(row.id)
    facts, config = facts_of(opened, row.id), row.config.model_dump(mode="json")
    replica = as_data(opened, row.id)
    told = (facts, config, row.versions)  # each by itself: what a run holds out and its holdout share a name
    about = [[name, as_text(value)] for one in told for name, value in flattened(one).items()]
    if replica is not None:
        about.append(["replica", f"{both_ends(curve, replica['curve'])}; {made_with(replica['versions'])}"])
    tables = [Table(row.config.describe(), ["field", "value"], about), _curve_table(curve)]
    if row.status == "done":
        tables.append(part(world_of(row.config).table)(row.config, curve))
    if replica is not None:
        tables.append(_curve_table(replica["curve"], "Curve of its replica"))
    output.show(facts | {"config": config, "versions": row.versions, "curve": curve, "replica": replica}, tables)


def _curve_table(curve: list[dict[str, Any]], title: str = "Curve") -> Table:
    columns = ["step", "loss", "visible %", "holdout %"]
    points = [[p["step"], _number(p["loss"]), percent(p["visible"]), percent(p["holdout"])] for p in curve]
    if not (again := restarts(curve)):
        return Table(title, columns, points, right=columns)
    marked = [[*point, "started again" if point[0] in again else ""] for point in points]
    return Table(title, [*columns, "network"], marked, right=columns)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


@runs.command(name="import")
def import_results(folder: Path | None = None, /, *, store: StoreFolder = STORE) -> None:
    """Take in the runs that were exported to FOLDER, and weights that FOLDER/weights has of them.

    Without FOLDER: the measured runs that came with hardgap. Example: `hardgap runs import results/`
    """
    from hardgap.runs.kept_weights import take_weights
    from hardgap.runs.packaged import own_results
    from hardgap.runs.results import check_has_runs, import_runs

    folder = folder or own_results()
    check_has_runs(folder)
    opened = Store(store)
    with show_parts(f"reading {folder}"):
        new, known = import_runs(opened, folder)
        opens = take_weights(opened, folder)
    weights = f", weights of {plural(len(opens), 'run')}" if opens else ""
    err().print(f"{plural(new, 'run')} taken in, {known:,} already here{weights}")


@runs.command
def rm(
    run: str | None = None,
    /,
    *,
    damaged: Annotated[bool, flag("Remove every run whose row is no longer what was written.")] = False,
    store: StoreFolder = STORE,
) -> int:
    """Remove one run, its checkpoints and its replica, or all that are damaged.

    The exit code is 1 if files of it stay. Example: `hardgap runs rm 0c02dce15cde`
    """
    from hardgap.runs.checkpoints import Checkpoints

    if (run is None) != damaged:
        raise BadInput("say which run to remove, or --damaged")
    opened = Store(store, create=False)
    if run is None:
        err().print(f"removed damaged runs: {', '.join(opened.remove_damaged()) or 'there are none'}")
        return 0
    run_id = opened.find(run)
    try:
        about = opened.get(run_id).config.describe()
    except Damaged:
        about = "a damaged run"
    opened.remove(run_id)
    remove_replica(opened, run_id)
    checkpoints = Checkpoints(opened.folder, run_id)
    kept = checkpoints.remove()
    err().print(f"removed {run_id}: {about}")
    if kept is not None:
        complain(f"its checkpoints stay in {checkpoints.folder}: {kept.strerror}")
    return int(kept is not None)


for _command in (export, plot, retrain, weights):
    runs.command(_command)


@runs.command
def certify(
    run: str,
    /,
    *,
    steps: Annotated[int | None, Parameter(help="Training steps to compare; one epoch if not given.")] = None,
    whole: Annotated[bool, flag("Compare all steps of the run.")] = False,
    trust: Trust = False,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> int:
    """Show that hidden targets do not reach a run's training: in a world with other ones, not a bit changes.

    The run is trained twice from its start, in two processes; the second has the opposite of every hidden output.
    Initial weights, batches and weights after every step are compared. The exit code is 1 if they differ.

    Try:

        hardgap runs certify 0c02
        hardgap runs certify 0c02 --whole
    """
    from hardgap.core import plugins
    from hardgap.core.run import check_plugins
    from hardgap.runs.certificate import certified_steps, leak_certificate
    from hardgap.runs.signals import INTERRUPTED

    if steps is not None and whole:
        raise BadInput("--steps and --whole: say how many steps, or all of them")
    if steps is not None and steps < 1:
        raise BadInput(f"--steps {steps}: at least one training step is needed")
    row = Store(store, create=False).get(run)
    if trust:
        plugins.trust(row.config.plugins())
    if whole:
        steps = row.step if row.status == "done" else row.config.budget.steps
    check_plugins([row.config])
    total = certified_steps(row.config, steps)
    _announce(row, total)
    try:
        with show_parts() as progress:
            found = leak_certificate(
                row.config, steps=total, store_folder=store, on_step=lambda step: progress("steps agree", step, total)
            )
    except KeyboardInterrupt:
        complain("stopped; nothing is certified, and the same command begins again")
        return INTERRUPTED
    _show_certificate(row, found, output)
    return 0 if found.passed else 1


def _announce(row: Row, steps: int) -> None:
    """What will be trained, and how long that takes if the run is anything to go by."""
    about = f", about {duration(10 + steps * row.seconds / row.step)}" if row.step and row.seconds else ""
    err().print(f"{steps} of {row.config.budget.steps} steps, in two processes side by side{about}")


def _show_certificate(row: Row, found: Certificate, output: Output) -> None:
    from hardgap.runs.certificate import not_covered

    verdict = (
        f"no leak in {found.steps} steps: all is bit-identical"
        if found.passed
        else "LEAK: hidden targets make a difference"
    )
    differs = {} if found.difference is None else {"differs": f"{found.difference.what}, step {found.difference.step}"}
    facts = {
        "run": row.id, "steps": found.steps, "passed": found.passed, "verdict": verdict, **differs,
        "compared": "initial weights; every batch: inputs, masks, visible targets; weights after every step",
        "not covered": "; ".join(not_covered(row.config, found.steps)) or None,
    }  # fmt: skip
    data = facts | {"true": found.true, "decoy": found.decoy}
    output.show(data, [Table(row.config.describe(), ["field", "value"], list(facts.items()))])
