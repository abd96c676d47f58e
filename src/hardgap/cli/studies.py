"""What every command that measures studies does: check, run what is missing, keep, measure, draw, print."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hardgap.cli.output import STORE, Engine, Output, Place, Stack, StoreFolder, choose_engine, err
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_figure, check_folder
from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import plural

if TYPE_CHECKING:
    from hardgap.runs.store import Store
    from hardgap.studies.measure import StudyResult
    from hardgap.studies.study import Study

KeepFolder = Annotated[
    Path | None, Parameter(help="Also write finished runs to KEEP, by study, but those KEEP already has.")
]


@dataclass(frozen=True)
class Asked:
    """How studies are to be measured: options of every command that measures some."""

    scale: Annotated[Scale, Parameter(help="How large; see `docs/fidelity.md`.")] = "desk"
    seeds: Annotated[int | None, Parameter(help="Only the first so many seeds of every arm.")] = None
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None
    run: Annotated[bool, Parameter(help="Train what is missing; `--no-run` only prints what is there.")] = True
    figure: Annotated[Path | None, Parameter(help="Also draw it: FILE.svg, .png or .pdf.")] = None
    on: Place = "local"
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None
    engine: Engine = None
    stack: Stack = None
    store: StoreFolder = STORE


Ask = Annotated[Asked, Parameter(name="*")]
AS_USUAL = Asked()


def measure_studies(
    studies: Sequence[Study], asked: Asked, keep: Path | None = None, baselines: Path | None = None
) -> tuple[int, list[StudyResult]]:
    """Everything that can be refused is refused first; then what is missing is run, and all is measured."""
    from hardgap.cli.sweep import check_workers, parse_duration, run_and_report
    from hardgap.runs.packaged import own_results
    from hardgap.runs.store import DATABASE, Store
    from hardgap.studies.measure import judged, measure
    from hardgap.studies.study import most_informative_first

    choose_engine(asked.engine, asked.stack, asked.on)
    chosen = with_seeds(studies, asked)
    if asked.figure is not None:
        check_figure(asked.figure)
        _figure_of(chosen)
    if keep is not None:
        check_folder("--keep", keep)
    if baselines is not None and asked.run and any(one.prepare for one in chosen):
        check_folder("--baselines", baselines)
    check_workers(asked.workers, asked.on)
    seconds = parse_duration(asked.budget) if asked.budget else None
    nowhere = asked.store == STORE and not (STORE / DATABASE).exists()
    if nowhere and not asked.run and keep is None and own_results().is_dir():
        return 0, _measured_before(chosen, asked, baselines)
    store, code = Store(asked.store, create=asked.run), 0
    kept = {one.name: baselines or _kept(one, asked) for one in chosen}
    if asked.run:
        left = _prepare(chosen, asked.scale, store, kept, seconds)
        runs = most_informative_first(chosen, asked.scale)
        if runs:
            code = run_and_report(store, runs, on=asked.on, workers=asked.workers, seconds=left, stack=asked.stack)
    if keep is not None:
        _keep(store, chosen, asked.scale, keep)
    with show_parts("reading the runs") as on_progress:
        results = judged([measure(one, asked.scale, store, kept[one.name], on_progress) for one in chosen])
    for missing in dict.fromkeys(kept[one.name] for one in chosen if one.prepare and not kept[one.name].exists()):
        err().print(f"nothing has been measured in {missing}; --baselines names another folder")
    _draw(results, asked.figure)
    return code, results


def _kept(study: Study, asked: Asked) -> Path:
    """Where a store keeps what a study measures without runs; what came with hardgap, if it is only to be shown."""
    from hardgap.runs.packaged import own_results
    from hardgap.studies.ledger import kept_in

    own = asked.store / study.folder
    if asked.run or not study.prepare or own.exists():
        return own
    came = kept_in(own_results(), study)
    err().print(f"nothing has been measured in {own}: this is what is in {came}")
    return came


def _measured_before(studies: Sequence[Study], asked: Asked, baselines: Path | None) -> list[StudyResult]:
    """Where no store was named and none is here, there is what came with hardgap."""
    from hardgap.runs.packaged import own_results
    from hardgap.studies.ledger import kept_in
    from hardgap.studies.measure import judged, measure, taken_in

    results = own_results()
    err().print(f"there is no store {asked.store}: these are the runs in {results}")
    wanted = {run.id for one in studies for run in one.runs(asked.scale)}
    with show_parts(f"reading {results}") as told, taken_in(results, only=wanted) as store:
        found = [measure(one, asked.scale, store, baselines or kept_in(results, one), told) for one in studies]
        _draw(found := judged(found), asked.figure)
    return found


def _draw(results: Sequence[StudyResult], figure: Path | None) -> None:
    if figure is not None:
        from hardgap.core.parts import part
        from hardgap.report.figures import save_figure

        drawn = [one for one in results if one.study.figure is not None]
        save_figure(part(_figure_of([one.study for one in results]))(drawn), figure)


def with_seeds(studies: Sequence[Study], asked: Asked) -> list[Study]:
    """The studies with only as many seeds as were asked for."""
    from hardgap.studies.study import limited

    if asked.seeds is not None and asked.seeds < 1:
        raise BadInput(f"--seeds {asked.seeds}: at least one seed is needed")
    return [one if asked.seeds is None else limited(one, asked.seeds) for one in studies]


def show_list(studies: Sequence[Study], asked: Asked, output: Output) -> None:
    """Every study with its claim and how many of its runs are here."""
    from hardgap.runs.store import DATABASE, Store
    from hardgap.studies.measure import progress

    store = Store(asked.store, create=False) if (asked.store / DATABASE).exists() else None
    found = [(one, *progress(one, asked.scale, store)) for one in studies]
    data = [{"study": one.name, "claim": one.claim, "done": done, "planned": all_} for one, done, all_ in found]
    rows = [[one.name, f"{done}/{planned}" if planned else "computed"] for one, done, planned in found]
    claims = [one.claim for one in studies]
    output.show(data, [Table(f"Studies at {asked.scale} scale", ["study", "runs"], rows, notes=claims)])


def _figure_of(studies: Sequence[Study]) -> str:
    """The one figure of these studies, of those among them that have one, or why there is none."""
    figures = {one.figure for one in studies if one.figure is not None}
    if not figures:
        raise BadInput(f"--figure: there is no figure of {studies[0].name}")
    if len(figures) > 1:
        raise BadInput("--figure: these studies are several figures; name those of one")
    return str(figures.pop())


def _prepare(
    studies: Sequence[Study], scale: Scale, store: Store, kept: dict[str, Path], seconds: float | None
) -> float | None:
    """What studies want measured before they are run; how many seconds are left, None if there is no limit."""
    wanted = [(one.prepare, kept[one.name]) for one in studies if one.prepare is not None]
    if not wanted:
        return seconds
    from hardgap.cli.baselines import one_thread
    from hardgap.core.parts import part

    began = time.monotonic()

    def is_late() -> bool:
        return seconds is not None and time.monotonic() - began > seconds

    with one_thread(), show_parts() as on_progress:
        for prepare, folder in wanted:
            part(prepare)(scale, store, folder, on_progress, is_late)
    return None if seconds is None else max(0.0, seconds - (time.monotonic() - began))


def _keep(store: Store, studies: Sequence[Study], scale: Scale, folder: Path) -> None:
    from hardgap.runs.results import export_new_runs

    for one in studies:
        place = folder / (one.name if one.ours else one.name.partition("/")[0])
        written = export_new_runs(store, store.rows(run.id for run in one.runs(scale)), folder, place)
        err().print(f"{plural(len(written), 'new run')} written to {place}")
