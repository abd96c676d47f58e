"""`hardgap runs …`: the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hardgap.cli.output import STORE, Json, StoreFolder, duration, err, percent, show_json, show_json_lines, show_table
from hardgap.errors import BadInput
from hardgap.runs.digest import STATUSES, Damaged
from hardgap.runs.listing import Listed, check_list
from hardgap.runs.store import Store
from hardgap.runs.words import differences

SHOWN = 50
"""Rows of a table, if nothing else is asked for."""

runs = App(name="runs", help="List, show, export, import, certify and remove measured runs.")


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
        "seconds": round(run.seconds, 1),
        "error": run.error,
    }


def facts_of(store: Store, run_id: str) -> dict[str, Any]:
    """`as_dict` of one run, or why it cannot be read."""
    return as_dict(store.listed(ids=[store.get(run_id).id])[0])


def show_runs(store: Store, found: list[Listed], of: int, *, json: bool) -> None:
    """Runs as a table or as JSON, out of so many."""
    differ = differences([(run.about, run.config) for run in found])
    data = [as_dict(run) | {"differs": said} for run, said in zip(found, differ, strict=True)]
    if json:
        show_json_lines(data)
        return
    if len(found) < of:
        err().print(f"{len(found)} of {of:,} runs; --limit 0 shows all, --where and --status choose among them")
    columns = {
        "run": [d["run"] for d in data],
        "about": [", ".join(filter(None, (d["about"], d["differs"]))) for d in data],
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
    show_table(
        f"{len(found)} runs in {store.folder}",
        list(columns),
        list(zip(*columns.values(), strict=True)),
        right=["steps", "visible %", "holdout %", "restarted", "solved at", "time"],
    )


@runs.command(name="list")
def list_runs(
    *,
    status: Annotated[str | None, Parameter(help="Only queued, running, done or failed ones.")] = None,
    where: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="FIELD=VALUE: only runs whose config says so, e.g. rule=150 or unrolling.feedback=soft. Fields "
            "named once must all agree; of one that is named again, any value will do.",
        ),
    ] = (),
    sort: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="By created, finished, steps, seconds, visible, holdout, best, solved, lasting, or any field; "
            "the other way round with a - before it.",
        ),
    ] = "created",
    reverse: Annotated[bool, Parameter(negative="", help="The other way round.")] = False,
    limit: Annotated[
        int | None, Parameter(help=f"At most so many; 0 shows all. A table shows {SHOWN} if not told, JSON all.")
    ] = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> None:
    """List the runs of a store, the newest last.

    Where runs read the same and are not, the fields by which they differ stand behind.

    Try:

        hardgap runs list --status done --sort holdout --limit 10
        hardgap runs list --where rule=150 --where unrolling.temperature.start=8
        hardgap runs list --json
    """
    if status is not None and status not in STATUSES:
        raise BadInput(f"--status {status}: choose {', '.join(STATUSES)}")
    if limit is not None and limit < 0:
        raise BadInput(f"--limit {limit}: give a number of runs, or 0 for all")
    wanted = [_field_and_value(text) for text in where] + ([("status", status)] if status is not None else [])
    most = limit or None if limit is not None or json else SHOWN
    first = _reversed(sort) if reverse else sort
    check_list(wanted, first)
    opened = Store(store, create=False)
    total = opened.count(wanted)
    if first == "created":  # the newest last, so that they stand where the eye is
        found = opened.listed(where=wanted, sort="-created", limit=most)[::-1]
    else:
        found = opened.listed(where=wanted, sort=first, limit=most)
    show_runs(opened, found, total, json=json)


def _reversed(sort: str) -> str:
    return sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"


def _field_and_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"--where {text}: write FIELD=VALUE, such as rule=150")
    return name.strip(), value.strip()


@runs.command
def show(run: str, /, *, store: StoreFolder = STORE, json: Json = False) -> None:
    """Show one run: what was asked for, what it was made with, and its curve.

    RUN is an id or its first digits. Example: `hardgap runs show 9dcd`
    """
    opened = Store(store, create=False)
    row = opened.get(run)
    curve = opened.curve(row.id)
    facts, config = facts_of(opened, row.id), row.config.model_dump(mode="json")
    if json:
        show_json(facts | {"config": config, "versions": row.versions, "curve": curve})
        return
    show_table(row.config.describe(), ["", "value"], [*facts.items(), *config.items(), *row.versions.items()])
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
def rm(
    run: str | None = None,
    /,
    *,
    damaged: Annotated[
        bool, Parameter(negative="", help="Remove every run whose row is no longer what was written.")
    ] = False,
    store: StoreFolder = STORE,
) -> None:
    """Remove one run and its checkpoints, or all that are damaged.

    Example: `hardgap runs rm 9dcd07f4e989`
    """
    from hardgap.runs.checkpoints import Checkpoints

    if (run is None) != damaged:
        raise BadInput("say which run to remove, or --damaged")
    opened = Store(store, create=False)
    if run is None:
        err().print(f"removed damaged runs: {', '.join(opened.remove_damaged()) or 'there are none'}")
        return
    run_id = opened.find(run)
    try:
        about = opened.get(run_id).config.describe()
    except Damaged:
        about = "a damaged run"
    opened.remove(run_id)
    Checkpoints(opened.folder, run_id).remove()
    err().print(f"removed {run_id}: {about}")


@runs.command
def retrain(run: str, /, *, store: StoreFolder = STORE) -> int:
    """Train a run again from its config, to have its weights here; its result is compared, not replaced.

    Exported results carry no weights. Example: `hardgap runs retrain 9dcd07f4e989`
    """
    from hardgap.cli.live import watch
    from hardgap.runs.execute import single_thread
    from hardgap.runs.retrain import retrain_run

    single_thread()
    opened = Store(store, create=False)
    row = opened.get(run)
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
