"""`hardgap reproduce [STUDY…]`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from hardgap.cli.output import STORE, Engine, Json, StoreFolder, choose_engine, percent, show_json, show_table
from hardgap.errors import BadInput

if TYPE_CHECKING:
    from hardgap.report.symbolic_verdict import MeasuredSeeds
    from hardgap.report.verdict import Measured
    from hardgap.studies.study import Study


def reproduce(
    *studies: Annotated[str, Parameter(help="Names, or beginnings of names such as `main`; all if none.")],
    scale: Annotated[Literal["smoke", "desk", "paper"], Parameter(help="How large; see `docs/fidelity.md`.")] = "desk",
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None,
    run: Annotated[bool, Parameter(help="Train what is missing; `--no-run` only prints what is there.")] = True,
    figure: Annotated[Path | None, Parameter(help="Also draw it: FILE.svg, .png or .pdf.")] = None,
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None,
    engine: Engine = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """Run what is missing of the paper's claims, then print measured beside published.

    One seed of everything comes before a second seed of anything, so that a short budget tells the most.
    The committed measurements can be taken in first: `hardgap runs import results/`.

    Try:

        hardgap reproduce main --budget 90m
        hardgap reproduce main/rule-d-soft main/rule-d-none
        hardgap reproduce main --no-run --figure main.svg
        hardgap reproduce symbolic/xor-or --budget 30m
    """
    import hardgap.studies  # noqa: F401  (declares them)
    from hardgap.cli.running import check_workers, parse_duration
    from hardgap.report.symbolic_verdict import measure_seeds
    from hardgap.report.verdict import measure
    from hardgap.runs.store import Store
    from hardgap.studies.study import Published, choose, most_informative_first

    choose_engine(engine)
    chosen = choose(studies)
    if figure is not None:
        _check_figure(chosen, figure)
    check_workers(workers)
    seconds = parse_duration(budget) if budget else None
    opened = Store(store, create=run)
    code = 0
    if run:
        from hardgap.cli.running import run_and_report

        code = run_and_report(opened, most_informative_first(chosen, scale), workers=workers, seconds=seconds)
    counted = [measure(study, scale, opened) for study in chosen if isinstance(study.published, Published)]
    averaged = [measure_seeds(study, scale, opened) for study in chosen if not isinstance(study.published, Published)]
    if figure is not None:
        from hardgap.report.figures import main_table_figure, save_figure
        from hardgap.report.symbolic_coverage_figure import symbolic_table_figure

        save_figure(main_table_figure(counted) if counted else symbolic_table_figure(averaged), figure)
    if json:
        show_json([*(result.as_dict() for result in counted), *(result.as_dict() for result in averaged)])
        return code
    if counted:
        show_measured(counted)
    if averaged:
        show_averaged(averaged)
    return code


def _check_figure(chosen: list[Study], path: Path) -> None:
    """Before anything is trained: whether these studies are one figure, in a format that is offered."""
    from hardgap.report.figures import check_format
    from hardgap.studies.study import Published

    check_format(path)
    if len({isinstance(study.published, Published) for study in chosen}) > 1:
        raise BadInput("--figure: success rates and means are two figures; name `symbolic`, or studies other than it")


def show_measured(measured: list[Measured]) -> None:
    """Measured beside published, as a table."""
    scale = measured[0].scale
    show_table(
        f"Measured at {scale} scale beside the paper's own numbers (holdout accuracy, 95 % intervals)",
        ["study", "published", "mean %", f"measured at {scale}", "mean %", "success rate, Wilson %", "verdict"],
        [
            [
                m.study,
                "" if m.published_n is None else f"{m.published_successes}/{m.published_n}",
                _mean(m.published_mean, m.published_interval),
                f"{m.successes}/{m.n}" + (f" of {m.planned}" if m.n < m.planned else ""),
                _mean(m.mean, m.mean_interval),
                _range(m.wilson),
                m.verdict,
            ]
            for m in measured
        ],
        right=["published", "mean %", f"measured at {scale}"],
    )


def show_averaged(measured: list[MeasuredSeeds]) -> None:
    """Means over seeds, measured beside published: the verdicts, then the layout of the paper's table."""
    from hardgap.report.symbolic_verdict import paper_table, verdict_table

    for table in (verdict_table(measured), paper_table(measured)):
        if table.rows:
            show_table(table.title, table.columns, table.rows, table.right)


def _mean(mean: float | None, interval: tuple[float, float] | None) -> str:
    return f"{percent(mean)} [{_range(interval)}]" if interval else percent(mean)


def _range(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{percent(interval[0])} to {percent(interval[1])}"
