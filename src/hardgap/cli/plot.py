"""`hardgap runs plot`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import STORE, StoreFolder, err, flag
from hardgap.cli.writing import check_figure
from hardgap.core.errors import BadInput
from hardgap.runs.groups import group_of, without_seed
from hardgap.runs.reading import Row
from hardgap.runs.store import Store

MOST = 12
"""Panels that one figure holds."""


def plot(
    run: Annotated[str, Parameter(help="An id or its first digits.")],
    /,
    *more: Annotated[str, Parameter(help="More runs; those that differ in nothing but the seed share a panel.")],
    seeds: Annotated[bool, flag("Also all other seeds of these runs.")] = False,
    figure: Annotated[Path, Parameter(help="What to write: FILE.svg, .png or .pdf.")] = Path("hardgap-curves.svg"),
    store: StoreFolder = STORE,
) -> None:
    """Draw the curves of runs: of one, its accuracies over training; of several seeds, their band and each of them.

    Try:

        hardgap runs plot 0c02
        hardgap runs plot 0c02 --seeds --figure soft.pdf
        hardgap runs plot 0c02 847e 5b3e --figure three.png
    """
    check_figure(figure)
    opened = Store(store, create=False)
    ids = [opened.find(one) for one in (run, *more)]
    if seeds:
        ids = [found for one in ids for found in group_of(opened, one)]
    rows = [opened.get(one) for one in dict.fromkeys(ids)]
    panels = _panels(opened, rows)
    from hardgap.report.curves import runs_figure
    from hardgap.report.figures import save_figure

    save_figure(runs_figure(panels), figure)
    err().print(f"{figure} written")


def _panels(store: Store, rows: list[Row]) -> list[tuple[str, list[list[dict[str, object]]]]]:
    """Curves by setting. A run that has not begun has none, which only matters if it was alone."""
    panels: dict[str, tuple[str, list[list[dict[str, object]]]]] = {}
    curves = store.curves((row.id for row in rows), begun=True)
    for row in rows:
        if curve := curves.get(row.id):
            setting = row.config.but(seed=0)
            panels.setdefault(setting.id, (without_seed(row.config.describe()), []))[1].append(curve)
    if not panels:
        raise BadInput(f"run {rows[0].id} has no evaluations yet")
    if len(panels) > MOST:
        raise BadInput(f"these runs are {len(panels)} settings; one figure holds {MOST}")
    return [(f"{about}, seed {rows[0].config.seed}" if len(rows) == 1 else about, curves)
            for about, curves in panels.values()]  # fmt: skip
