"""`hardgap symbolic baselines` and `hardgap symbolic coverage`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.baselines import one_thread
from hardgap.cli.output import STORE, Json, StoreFolder, complain, err, percent, show_json, show_table, show_text_table
from hardgap.cli.parts import show_parts
from hardgap.cli.symbolic import Ambiguous, Bits, Length, Operators, ScaleName, configure, named_operators
from hardgap.cli.writing import check_figure, check_folder
from hardgap.runs.selection import Selection

if TYPE_CHECKING:
    from hardgap.studies.symbolic.baselines import Baselines
    from hardgap.worlds.chains.run import SymbolicRun

Keep = Annotated[
    Path | None,
    Parameter(help="Folder of measured baselines, read and added to; `baselines` in the store if not given."),
]


def baselines(
    *holdouts: Annotated[str, Parameter(help="Held-out operators side by side: ^|; every pair if none.")],
    scale: ScaleName = "desk",
    ambiguity: Ambiguous = None,
    operators: Operators = None,
    bits: Bits = None,
    length: Length = None,
    seed: Annotated[
        int | None, Parameter(help="Of the data and of the methods; the paper's first if not given.")
    ] = None,
    keep: Keep = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> None:
    """What similarity can do with held-out operators: KNN, MLP and KRR on the numbers, and two upper bounds.

    Measured once and kept, one file a pair; stopped, the same command goes on.

    Try:

        hardgap symbolic baselines "^|" --json
        hardgap symbolic baselines "^|&" --length 3 --bits 4 --operators "^,|,&"
        hardgap symbolic baselines --keep results/symbolic/baselines
    """
    from hardgap.studies.symbolic.baselines import measure_all
    from hardgap.studies.symbolic.coverage import all_pairs
    from hardgap.studies.symbolic.published import SEEDS
    from hardgap.worlds.chains.operators import PAPER_OPERATORS, parse_operator

    named = named_operators(operators)
    changes: dict[str, Any] = {
        "ambiguity": ambiguity, "operators": named, "bits": bits, "length": length,
        "seed": SEEDS[0] if seed is None else seed,
    }  # fmt: skip
    asked = holdouts or all_pairs([parse_operator(text) for text in named] if named else PAPER_OPERATORS)
    runs = [configure(scale, holdout, changes, {}, {}) for holdout in asked]
    folder = _kept_in(keep, store, runs)
    with one_thread(), show_parts() as progress:
        found = measure_all(folder, runs, progress)
    if json:
        show_json([_as_dict(run, one, scale) for run, one in zip(runs, found, strict=True)])
        return
    _show(runs, found)


def _kept_in(keep: Path | None, store: Path, runs: list[SymbolicRun]) -> Path:
    """The folder of measured baselines, refused if those of these runs are missing and cannot be added."""
    from hardgap.studies.symbolic.baselines import kept_baselines

    option, folder = ("--keep", keep) if keep else ("--store", store / "baselines")
    if any(kept_baselines(folder, run) is None for run in runs):
        check_folder(option, folder)
    return folder


def _as_dict(run: SymbolicRun, found: Baselines, scale: str) -> dict[str, Any]:
    return {"holdout": run.holdout, "scale": scale, "seed": run.seed, "methods": list(found.methods.values())}


def _show(runs: list[SymbolicRun], found: list[Baselines]) -> None:
    """One pair in full, several side by side."""
    if len(runs) == 1:
        rows = [
            [name, one["examples"], one["answers"], percent(one["seen"]), percent(one["holdout"])]
            for name, one in found[0].methods.items()
        ]
        columns = ["method", "learned from", "answers", "seen %", "held out %"]
        show_table(f"{runs[0].gap.describe()}: right answers", columns, rows, right=["learned from", *columns[3:]])
        return
    columns = list(found[0].methods)
    lines = [[one.holdout, *(percent(one.methods[name]["holdout"]) for name in columns)] for one in found]
    show_table("Right answers on held-out pairs, %", ["pair", *columns], lines, right=columns)


def coverage(
    *,
    scale: ScaleName = "desk",
    seeds: Annotated[int, Parameter(help="Of each pair; the paper has three.")] = 3,
    select: Annotated[
        Selection, Parameter(help="Which checkpoint orders and fills all but its own columns.")
    ] = "eval-holdout",
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None,
    run: Annotated[bool, Parameter(help="Train what is missing; `--no-run` only prints what is there.")] = True,
    figure: Annotated[Path | None, Parameter(help="Also draw it: FILE.svg, .png or .pdf.")] = None,
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None,
    keep: Keep = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """Hold out each of the 49 pairs in turn: is every one understood better than any baseline explains?

    Baselines of all pairs come first, then one seed of every pair before a second of any, so that a short budget
    tells the most.

    Try:

        hardgap symbolic coverage --seeds 1 --budget 90m
        hardgap symbolic coverage --no-run --figure coverage.svg
    """
    from hardgap.cli.running import check_workers, parse_duration, run_and_report
    from hardgap.report.figures import save_figure
    from hardgap.runs.store import Store
    from hardgap.studies.symbolic.coverage import (
        baseline_runs,
        coverage_report,
        coverage_runs,
        coverage_seeds,
        pair_results,
    )
    from hardgap.studies.symbolic.coverage_tables import baselines_table, coverage_table, summary_table

    chosen = coverage_seeds(seeds)
    seconds = parse_duration(budget) if budget else None
    check_workers(workers)
    check_figure(figure)
    folder = _kept_in(keep, store, baseline_runs(scale) if run else [])
    opened = Store(store, create=run)
    code = 0
    if run:
        left = _measure_baselines(folder, scale, seconds)
        if left is None or left > 0:
            code = run_and_report(opened, coverage_runs(scale, chosen), workers=workers, seconds=left)
        else:
            complain("the time budget went into baselines; the same command goes on with the networks")
    with show_parts("reading the runs"):
        report = coverage_report(pair_results(opened, folder, scale, chosen), scale, select)
    if figure is not None:
        from hardgap.studies.symbolic.coverage_figure import coverage_figure

        save_figure(coverage_figure(report), figure)
        err().print(f"drawn to {figure}")
    if json:
        show_json(report)
        return code
    for table in (coverage_table(report), baselines_table(report), summary_table(report)):
        show_text_table(table)
    return code


def _measure_baselines(folder: Path, scale: Literal["smoke", "desk", "paper"], seconds: float | None) -> float | None:
    """Baselines that are missing, until the time is spent; how many seconds are left, None if there is no limit."""
    import time

    from hardgap.studies.symbolic.baselines import measure_baselines
    from hardgap.studies.symbolic.coverage import baseline_runs

    began = time.monotonic()
    runs = baseline_runs(scale)
    with one_thread(), show_parts() as progress:
        for done, run in enumerate(runs):
            progress(f"baselines of {run.holdout}", done, len(runs))
            measure_baselines(folder, run)
            if seconds is not None and time.monotonic() - began > seconds:
                break
    return None if seconds is None else seconds - (time.monotonic() - began)
