"""`hardgap runs …`: the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from hardgap.cli.output import STORE, Json, StoreFolder, Trust, complain, duration, err, percent, show_json, show_table
from hardgap.errors import BadInput
from hardgap.runs.store import Row, Store
from hardgap.runs.summary import summarise

if TYPE_CHECKING:
    from hardgap.runs.certificate import Certificate

runs = App(name="runs", help="List, show, export, import, certify and remove measured runs.")


def as_dict(store: Store, row: Row) -> dict[str, Any]:
    """One run as plain data, without its curve."""
    curve = store.curve(row.id)
    summary = summarise(curve, row.config.budget.solved_at) if curve else None
    return {
        "run": row.id,
        "about": row.config.describe(),
        "status": row.status,
        "steps": row.step,
        "visible": summary.final_visible if summary else None,
        "holdout": summary.final_holdout if summary else None,
        "best_holdout": summary.best_holdout if summary else None,
        "solved_step": summary.solved_step if summary else None,
        "stopped": row.stopped,
        "seconds": round(row.seconds, 1),
        "error": row.error,
    }


def show_rows(store: Store, rows: list[Row], *, json: bool) -> None:
    """Runs as a table or as JSON."""
    data = [as_dict(store, row) for row in rows]
    if json:
        show_json(data)
        return
    show_table(
        f"{len(rows)} runs in {store.folder}",
        ["run", "about", "status", "steps", "visible %", "holdout %", "solved at", "time"],
        [
            [d["run"], d["about"], d["status"], d["steps"], percent(d["visible"]), percent(d["holdout"]),
             d["solved_step"], duration(d["seconds"])]
            for d in data
        ],
        right=["steps", "visible %", "holdout %", "solved at", "time"],
    )  # fmt: skip


@runs.command(name="list")
def list_runs(
    *,
    status: Annotated[str | None, Parameter(help="Only queued, running, done or failed ones.")] = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> None:
    """List the runs of a store, oldest first.

    Example: `hardgap runs list --status done --json`
    """
    known = ("queued", "running", "done", "failed")
    if status is not None and status not in known:
        raise BadInput(f"--status {status}: choose {', '.join(known)}")
    opened = Store(store, create=False)
    show_rows(opened, [row for row in opened.rows() if status in (None, row.status)], json=json)


@runs.command
def show(run: str, /, *, store: StoreFolder = STORE, json: Json = False) -> None:
    """Show one run: what was asked for, what it was made with, and its curve.

    RUN is an id or its first digits. Example: `hardgap runs show 9dcd`
    """
    opened = Store(store, create=False)
    row = opened.get(run)
    curve = opened.curve(row.id)
    config = row.config.model_dump(mode="json")
    if json:
        show_json(as_dict(opened, row) | {"config": config, "versions": row.versions, "curve": curve})
        return
    show_table(
        row.config.describe(),
        ["", "value"],
        [*as_dict(opened, row).items(), *config.items(), *row.versions.items()],
    )
    points = [[p["step"], _number(p["loss"]), percent(p["visible"]), percent(p["holdout"])] for p in curve]
    show_table(
        "Curve",
        ["step", "loss", "visible %", "holdout %"],
        points,
        right=["step", "loss", "visible %", "holdout %"],
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


@runs.command
def export(folder: Path, /, *, store: StoreFolder = STORE) -> None:
    """Write every finished run to FOLDER, one JSON file each.

    Example: `hardgap runs export results/`
    """
    from hardgap.runs.results import export_runs

    opened = Store(store, create=False)
    written = export_runs(opened, opened.rows(), folder)
    err().print(f"{len(written)} files written to {folder}")


@runs.command(name="import")
def import_results(folder: Path, /, *, store: StoreFolder = STORE) -> None:
    """Take in the runs that were exported to FOLDER.

    Example: `hardgap runs import results/`
    """
    from hardgap.runs.results import import_runs

    new, known = import_runs(Store(store), folder)
    err().print(f"{new} runs taken in, {known} were already here")


@runs.command
def rm(run: str, /, *, store: StoreFolder = STORE) -> None:
    """Remove one run and its checkpoints.

    Example: `hardgap runs rm 9dcd07f4e989`
    """
    from hardgap.runs.checkpoints import Checkpoints

    opened = Store(store, create=False)
    row = opened.get(run)
    opened.remove(row.id)
    Checkpoints(opened.folder, row.id).remove()
    err().print(f"removed {row.id}: {row.config.describe()}")


@runs.command
def retrain(run: str, /, *, trust: Trust = False, store: StoreFolder = STORE) -> int:
    """Train a run again from its config, to have its weights here; its result is compared, not replaced.

    Exported results carry no weights. Example: `hardgap runs retrain 9dcd07f4e989`
    """
    from hardgap import plugins
    from hardgap.cli.live import watch
    from hardgap.runs.execute import single_thread
    from hardgap.runs.retrain import retrain_run

    single_thread()
    opened = Store(store, create=False)
    row = opened.get(run)
    if trust:
        plugins.trust(row.config.plugins())
    with watch(row.config) as watcher:
        same = retrain_run(opened, row, watcher)
    verdict = (
        "the curve is the same, bit for bit"
        if same
        else "the curve differs (another machine or version), and weights that were here stay"
    )
    err().print(f"{row.id}: {verdict}")
    return 0


@runs.command
def certify(
    run: str,
    /,
    *,
    steps: Annotated[int | None, Parameter(help="Training steps to compare; one epoch if not given.")] = None,
    whole: Annotated[bool, Parameter(negative="", help="Compare all steps of the run.")] = False,
    trust: Trust = False,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """Show that hidden targets do not reach a run's training: in a world with other ones, not a bit changes.

    The run is trained twice from its start, in two processes; the second has the opposite of every hidden output.
    Initial weights, batches and weights after every step are compared. The exit code is 1 if they differ.

    Try:

        hardgap runs certify 9dcd
        hardgap runs certify 9dcd --whole
    """
    from hardgap import plugins
    from hardgap.cli.parts import show_parts
    from hardgap.cli.running import INTERRUPTED
    from hardgap.runs.certificate import certified_steps, leak_certificate
    from hardgap.runs.config import check_plugins

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
    _show_certificate(row, found, json=json)
    return 0 if found.passed else 1


def _announce(row: Row, steps: int) -> None:
    """What will be trained, and how long that takes if the run is anything to go by."""
    about = f", about {duration(10 + steps * row.seconds / row.step)}" if row.step and row.seconds else ""
    err().print(f"{steps} of {row.config.budget.steps} steps, in two processes side by side{about}")


def _show_certificate(row: Row, found: Certificate, *, json: bool) -> None:
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
    if json:
        show_json(facts | {"true": found.true, "decoy": found.decoy})
    else:
        show_table(row.config.describe(), ["", "value"], list(facts.items()))
