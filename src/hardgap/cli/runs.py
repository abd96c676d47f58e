"""`hardgap runs …`: the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hardgap.cli.output import STORE, Json, StoreFolder, complain, duration, err, percent, show_json, show_table
from hardgap.cli.parts import show_parts
from hardgap.errors import BadInput
from hardgap.runs.store import Row, Store
from hardgap.runs.summary import summarise
from hardgap.wording import plural

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
        f"{plural(len(rows), 'run')} in {store.folder}",
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
    with show_parts(f"writing {folder}"):
        written = export_runs(opened, opened.rows(), folder)
    err().print(f"{plural(len(written), 'file')} written to {folder}")


@runs.command(name="import")
def import_results(folder: Path, /, *, store: StoreFolder = STORE) -> None:
    """Take in the runs that were exported to FOLDER.

    Example: `hardgap runs import results/`
    """
    from hardgap.runs.results import import_runs

    with show_parts(f"reading {folder}"):
        new, known = import_runs(Store(store), folder)
    err().print(f"{plural(new, 'run')} taken in, {known:,} already here")


@runs.command
def rm(run: str, /, *, store: StoreFolder = STORE) -> int:
    """Remove one run and its checkpoints.

    The exit code is 1 if files of it stay. Example: `hardgap runs rm 9dcd07f4e989`
    """
    from hardgap.runs.checkpoints import Checkpoints

    opened = Store(store, create=False)
    row = opened.get(run)
    opened.remove(row.id)
    checkpoints = Checkpoints(opened.folder, row.id)
    kept = checkpoints.remove()
    err().print(f"removed {row.id}: {row.config.describe()}")
    if kept is not None:
        complain(f"its checkpoints stay in {checkpoints.folder}: {kept.strerror}")
    return int(kept is not None)


@runs.command
def retrain(run: str, /, *, store: StoreFolder = STORE) -> int:
    """Train a run again from its config, to have its weights here; its result is compared, not replaced.

    Exported results carry no weights. Example: `hardgap runs retrain 9dcd07f4e989`
    """
    from hardgap.cli.live import watch
    from hardgap.runs.checkpoints import Checkpoints
    from hardgap.runs.execute import single_thread
    from hardgap.runs.retrain import is_whole, retrain_run

    single_thread()
    opened = Store(store, create=False)
    row = opened.get(run)
    had_weights = is_whole(Checkpoints(opened.folder, row.id), row)
    with watch(row.config) as watcher:
        same = retrain_run(opened, row, watcher)
    differs = "the curve differs (another machine or version)"
    kept = "the weights that were here stay" if had_weights else "the weights of this training are here now"
    err().print(f"{row.id}: {'the curve is the same, bit for bit' if same else f'{differs}, and {kept}'}")
    return 0


@runs.command
def certify(
    run: str,
    /,
    *,
    steps: Annotated[int, Parameter(help="Training steps to compare.")] = 20,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """Show that hidden targets do not reach a run's training: scrambling them changes no bit of the weights.

    The exit code is 1 if they do. Example: `hardgap runs certify 9dcd`
    """
    from hardgap.runs.certificate import leak_certificate
    from hardgap.runs.execute import single_thread

    if steps < 1:
        raise BadInput(f"--steps {steps}: at least one training step is needed")
    single_thread()
    row = Store(store, create=False).get(run)
    certificate = leak_certificate(row.config, steps=steps, store_folder=store)
    verdict = (
        "no leak: the weights are bit-identical" if certificate.passed else "LEAK: hidden targets make a difference"
    )
    facts = {"run": row.id, "steps": certificate.steps, "passed": certificate.passed, "verdict": verdict,
             "true": certificate.true, "scrambled": certificate.scrambled}  # fmt: skip
    if json:
        show_json(facts)
    else:
        show_table(row.config.describe(), ["", "value"], list(facts.items()))
    return 0 if certificate.passed else 1
