"""`hardgap runs export`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.options import Conditions, fields_and_values
from hardgap.cli.output import STORE, StoreFolder, err, flag
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_folder
from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress
from hardgap.core.wording import plural
from hardgap.report.tidy_files import Kind, check_kind, write_rows
from hardgap.report.trackers import To, Tracked, export_to, load_tracker
from hardgap.runs.groups import without_seed
from hardgap.runs.listing import check_list
from hardgap.runs.reading import Row
from hardgap.runs.results import export_runs
from hardgap.runs.store import Store
from hardgap.runs.summary import summary_as_dict
from hardgap.runs.tidy import config_of, point_rows, run_rows


def export(
    folder: Path,
    /,
    *,
    csv: Annotated[bool, flag("Two tidy tables instead, runs.csv and points.csv.")] = False,
    parquet: Annotated[bool, flag("The same as runs.parquet and points.parquet.")] = False,
    latex: Annotated[bool, flag("The same as runs.tex and points.tex, without what is the same in all rows.")] = False,
    to: Annotated[To | None, Parameter(help="For this tracker instead; nothing leaves this machine.")] = None,
    where: Conditions = (),
    store: StoreFolder = STORE,
) -> None:
    """Write every finished run to FOLDER: a JSON file each, two tables, or for an experiment tracker.

    Tables have every field of the config, defaults too: a row a run, and a row an evaluation. In a tracker a run has
    its id, the study as its group, and its config with dotted names; runs that FOLDER already has are left alone.

    Try:

        hardgap runs export results/
        hardgap runs export tables --csv --where rule=150
        hardgap runs export board --to tensorboard
    """
    kinds: list[Kind] = [kind for kind, asked in (("csv", csv), ("parquet", parquet), ("latex", latex)) if asked]  # type: ignore[misc]
    if kinds and to is not None:
        raise BadInput(f"--{kinds[0]} and --to {to}: write tables, or runs for a tracker")
    wanted = [*fields_and_values(where), ("status", "done")]
    check_list(wanted, "created")
    check_folder("FOLDER", folder)
    for kind in kinds:
        check_kind(kind)
    opened = Store(store, create=False)
    if to is not None:
        load_tracker(to, folder)
    with show_parts(f"writing {folder}") as told:
        rows = opened.rows(one.id for one in opened.listed(where=wanted))
        if to is not None:
            new = export_to(to, _tracked(opened, rows, told), folder, told)
            said = [f"{plural(new, 'run')} written to {folder} for {to}, {len(rows) - new:,} were there"]
        elif kinds:
            said = _write_tables(opened, rows, folder, kinds)
        else:
            said = [f"{plural(len(export_runs(opened, rows, folder)), 'file')} written to {folder}"]
    for line in said:
        err().print(line, markup=False)


def _write_tables(store: Store, rows: list[Row], folder: Path, kinds: list[Kind]) -> list[str]:
    ids = [row.id for row in rows]
    tables = {"runs": run_rows(store, ids), "points": point_rows(store, ids)}
    return [
        f"{write_rows(kind, name, table, folder)} written, {plural(len(table), 'row')}"
        for kind in kinds
        for name, table in tables.items()
    ]


def _tracked(store: Store, rows: list[Row], told: Progress) -> list[Tracked]:
    """Runs with their study; one of no study is grouped with those that differ in nothing but the seed."""
    from hardgap.studies.index import studies_by_run

    told("finding their studies", 0, len(rows))
    studies, curves = studies_by_run(), store.curves(row.id for row in rows)
    return [
        Tracked(
            row.id,
            next(iter(studies[row.id]), without_seed(row.config.describe())),
            row.config.describe(),
            config_of(row),
            summary_as_dict(curves[row.id], row.config.budget.solved_at),
            curves[row.id],
            row.finished or 0.0,
        )
        for row in rows
        if row.id in curves
    ]
