"""`hardgap reproduce [STUDY…]`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.dry_run import show_dry_run
from hardgap.cli.output import TABLES, Show, flag
from hardgap.cli.studies import AS_USUAL, Ask, KeepFolder, measure_studies, show_list


def reproduce(
    *studies: Annotated[str, Parameter(help="Names, or beginnings of names such as `main`; the paper's if none.")],
    list_them: Annotated[bool, flag("List studies and what is measured of them.", "--list")] = False,
    dry_run: Annotated[bool, flag("Tell the runs, the time and the memory they would take here, and stop.")] = False,
    asked: Ask = AS_USUAL,
    keep: KeepFolder = None,
    baselines: Annotated[
        Path | None, Parameter(help="Folder of measured baselines (results/baselines); the store's if not given.")
    ] = None,
    output: Show = TABLES,
) -> int:
    """Run what is missing of a claim, then print measured beside published.

    One seed of everything comes before a second seed of anything, so that a short budget tells the most.
    `--no-run` trains nothing; without a store it shows the measurements that came with hardgap. They can be taken into
    one: `hardgap runs import`.

    Try:

        hardgap reproduce --list
        hardgap reproduce main --dry-run
        hardgap reproduce main --budget 90m
        hardgap reproduce main/rule-d-soft main/rule-d-none
        hardgap reproduce main --no-run --figure main.svg
        hardgap reproduce symbolic/xor-or --budget 30m
        hardgap reproduce tempered/cliff --seeds 1
        hardgap reproduce interpolation --no-run --baselines results/baselines
    """
    from hardgap.studies.measure import tables_of
    from hardgap.studies.study import STUDIES, choose

    if list_them:
        show_list(choose(studies) if studies else list(STUDIES.values()), asked, output)
        return 0
    if dry_run:
        show_dry_run(choose(studies), asked, output)
        return 0
    code, results = measure_studies(choose(studies), asked, keep, baselines)
    output.show([result.as_dict() for result in results], tables_of(results))
    return code
