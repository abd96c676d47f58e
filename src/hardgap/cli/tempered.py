"""`hardgap tempered [TRIAL]` and `hardgap tempered document FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from hardgap.cli.output import STORE, Json, StoreFolder, err, show_json, show_table, show_text_table, show_written
from hardgap.cli.parts import show_parts
from hardgap.cli.writing import check_document, check_figure, check_folder
from hardgap.core.errors import BadInput
from hardgap.core.wording import plural

if TYPE_CHECKING:
    from hardgap.core.specs import Scale
    from hardgap.runs.store import Store
    from hardgap.studies.trial import Trial

USAGE = "Usage: hardgap tempered [TRIAL] [OPTIONS]\n       hardgap tempered document FILE"
tempered = App(name="tempered", usage=USAGE)


@tempered.default
def show_trial(
    trial: Annotated[str | None, Parameter(help="Which trial; without one, a list of them.")] = None,
    /,
    *,
    scale: Annotated[Literal["smoke", "desk", "paper"], Parameter(help="How large; see `docs/fidelity.md`.")] = "desk",
    seeds: Annotated[int | None, Parameter(help="Only the first so many seeds of every arm.")] = None,
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None,
    run: Annotated[bool, Parameter(help="Train what is missing; `--no-run` only prints what is there.")] = True,
    figure: Annotated[Path | None, Parameter(help="Also draw it: a .svg, .png or .pdf file.")] = None,
    keep: Annotated[
        Path | None, Parameter(help="Also write its finished runs to KEEP/tempered/TRIAL, but those KEEP already has.")
    ] = None,
    markdown: Annotated[bool, Parameter(negative="", help="Print the table as Markdown.")] = False,
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """Ours: make recovery reliable by tempering the feedback, and see why it fails without.

    One trial each for the claim (target, control, unharmed), for what else could be turned (dial, phases), for
    how much can be hidden (cliff), for the reason (explain), for what can be foretold (forecast), and for the
    paper's own width (wide). The committed measurements can be taken in first: `hardgap runs import results/`.

    Try:

        hardgap tempered
        hardgap tempered target --budget 90m
        hardgap tempered target --no-run --figure target.svg
        hardgap tempered dial --seeds 1 --json
        hardgap tempered control --no-run --keep results
    """
    import hardgap.studies  # noqa: F401  (declares them)
    from hardgap.cli.running import check_workers, parse_duration
    from hardgap.runs.store import Store
    from hardgap.studies.trial import choose_trial, limited

    if trial is None:
        return _list(store, scale, json=json)
    if seeds is not None and seeds < 1:
        raise BadInput(f"--seeds {seeds}: at least one seed is needed")
    chosen = choose_trial(trial) if seeds is None else limited(choose_trial(trial), seeds)
    if figure is not None:
        _check_drawn(trial)
        check_figure(figure)
    if keep is not None:
        check_folder("--keep", keep / "tempered" / trial)
    check_workers(workers)
    seconds = parse_duration(budget) if budget else None
    opened, code = Store(store, create=run), 0
    if run:
        code = _train(opened, chosen, scale, seconds, workers)
    if keep is not None:
        _keep(opened, chosen, scale, keep)
    _show(opened, chosen, scale, figure, markdown, json=json)
    return code


@tempered.command
def document(
    file: Path,
    /,
    *,
    results: Annotated[Path, Parameter(help="Folder of measured runs, with tempered/ and main/ in it.")] = Path(
        "results"
    ),
) -> None:
    """Write the measured tables into a Markdown FILE, and draw the figures that it shows beside it.

    Tables go between the marks `<!-- measured: … -->` and `<!-- end -->`. Everything comes from RESULTS: runs as
    `hardgap tempered TRIAL --keep results` writes them.

    Try: `hardgap tempered document docs/tempered.md`
    """
    from hardgap.report.document import read_page, write_page
    from hardgap.studies.tempered.document import BLOCKS, figures, measured, sections

    text = read_page(file, BLOCKS)
    check_document(file)
    with show_parts("reading results") as progress:
        found = measured(results)
        progress("tables and figures", 0, 0)
        written = write_page(file, text, sections(found, results), figures(found))
    show_written(file, written)


def _list(folder: Path, scale: Scale, *, json: bool) -> int:
    from hardgap.runs.store import DATABASE, Store
    from hardgap.studies.tempered.measure import progress
    from hardgap.studies.trial import TRIALS

    store = Store(folder, create=False) if (folder / DATABASE).exists() else None
    with show_parts("counting the runs"):
        found = [(trial, *progress(trial, scale, store)) for trial in TRIALS.values()]
    if json:
        show_json([{"trial": t.name, "claim": t.claim, "done": done, "planned": all_} for t, done, all_ in found])
        return 0
    rows = [[trial.name, trial.claim, f"{done}/{planned}"] for trial, done, planned in found]
    show_table(f"Trials of the tempered recipe, {scale} scale", ["trial", "claim", "runs"], rows, right=["runs"])
    return 0


def _check_drawn(trial: str) -> None:
    """Refuse what cannot be drawn before anything is trained."""
    from hardgap.studies.tempered.figures import FIGURES

    if trial not in FIGURES:
        raise BadInput(f"--figure: there is no figure of {trial}; there is one of {', '.join(FIGURES)}")


def _train(store: Store, trial: Trial, scale: Scale, seconds: float | None, workers: int | None) -> int:
    from hardgap.cli.running import run_and_report
    from hardgap.studies.trial import in_order

    return run_and_report(store, in_order(trial.arms(scale)), workers=workers, seconds=seconds)


def _keep(store: Store, trial: Trial, scale: Scale, folder: Path) -> None:
    from hardgap.runs.results import export_new_runs
    from hardgap.studies.trial import in_order

    rows = store.rows(run.id for run in in_order(trial.arms(scale)))
    written = export_new_runs(store, rows, folder, folder / "tempered" / trial.name)
    err().print(f"{plural(len(written), 'new run')} written to {folder / 'tempered' / trial.name}")


def _show(store: Store, trial: Trial, scale: Scale, figure: Path | None, markdown: bool, *, json: bool) -> None:
    from hardgap.report.document import markdown as as_markdown
    from hardgap.studies.tempered.measure import measure_trial
    from hardgap.studies.tempered.tables import tempered_table

    with show_parts("reading the runs"):
        data = measure_trial(trial, scale, store)
    if figure is not None:
        from hardgap.report.figures import save_figure
        from hardgap.studies.tempered.figures import tempered_figure

        save_figure(tempered_figure(data), figure)
    table = tempered_table(data)
    if json:
        show_json(data)
    elif markdown:
        print(as_markdown([table]), end="")
    else:
        show_text_table(table)
