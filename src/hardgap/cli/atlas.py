"""`hardgap atlas RULE`, `hardgap atlas all`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import STORE, TABLES, Engine, Show, StoreFolder, choose_engine, flag
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_figure
from hardgap.core.errors import BadInput


def atlas(
    rule: str,
    /,
    *,
    run: Annotated[bool, flag("Train those of its eight gaps that the store has not: minutes.")] = False,
    figure: Annotated[Path | None, Parameter(help="Also draw all 256 rules: FILE.svg, .png or .pdf.")] = None,
    results: Annotated[
        Path | None, Parameter(help="Folder of measured runs, beside the store's; those of hardgap if not given.")
    ] = None,
    workers: Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")] = None,
    engine: Engine = None,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> int:
    """The eight gaps of an elementary rule that hide one pattern: what is exact, and what training gave.

    RULE may be `all`: one table of all 2,048 gaps.

    determined: in how many steps what is visible leaves one table only; four are looked at. similarity: what a
    vote of the visible patterns must say, whichever weights that fall with distance it has. forecast: written down when
    the 88 gaps of eleven rules had been trained; these and their images do not test it. run: the id for `hardgap runs
    retrain`. What all 2,048 gaps show is in docs/atlas.md.

    Try:

        hardgap atlas 110
        hardgap atlas 150 --run
        hardgap atlas 30 --figure atlas.png
        hardgap atlas all --format csv
    """
    from hardgap.cli.sweep import check_workers, run_and_report
    from hardgap.runs.packaged import own_results
    from hardgap.runs.store import DATABASE, Store
    from hardgap.studies.atlas import cells
    from hardgap.studies.atlas.forecast import every_rule
    from hardgap.worlds.automaton.rule import parse_rule

    whole, code = rule.casefold() == "all", 0
    chosen = every_rule() if whole else [cells.check_elementary(parse_rule(rule))]
    if whole and run:
        raise BadInput("--run trains the gaps of one rule; `hardgap reproduce atlas` trains all")
    if results is not None and not results.is_dir():
        raise BadInput(f"--results {results}: there is no such folder")
    check_figure(figure)
    check_workers(workers)
    choose_engine(engine)
    every, numbers = cells.atlas_runs(), {one.number for one in chosen}
    own = {gap: one for gap, one in every.items() if gap[0] in numbers}
    wanted, folder = own if figure is None else every, results or own_results()
    with show_parts(f"reading {folder}"):
        trained = cells.trained_in_results(folder, wanted)
    opened = Store(store, create=run) if run or (store / DATABASE).exists() else None
    if run and opened is not None:
        code = run_and_report(opened, list(own.values()), workers=workers)
    trained |= cells.trained_in_store(opened, wanted) if opened is not None else {}
    found = cells.cells_of(chosen, trained)
    if figure is not None:
        from hardgap.report.figures import save_figure
        from hardgap.studies.atlas.figure import draw_atlas

        save_figure(draw_atlas(cells.cells_of(every_rule(), trained)), figure)
    output.show([cell.as_dict() for cell in found], [cells.all_table(found) if whole else cells.rule_table(found)])
    for sentence in cells.rule_remarks(found):
        output.say(sentence)
    alike = [other.name for other in chosen[0].equivalence_class() if other != chosen[0]]
    if alike and not whole:
        output.say(f"The same up to mirror and complement: Rule {', '.join(alike)}.")
    return code
