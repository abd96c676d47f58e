"""`hardgap symbolic baselines`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hardgap.cli.baselines import one_thread
from hardgap.cli.options import ScaleName
from hardgap.cli.output import STORE, TABLES, Show, StoreFolder
from hardgap.cli.progress import show_parts
from hardgap.cli.symbolic_options import OPTIONS, configure
from hardgap.cli.writing import check_folder
from hardgap.core.table import Table
from hardgap.core.wording import percent

if TYPE_CHECKING:
    from hardgap.studies.symbolic.baselines import Baselines
    from hardgap.worlds.chains.run import SymbolicRun


@OPTIONS.only("ambiguity", "operators", "bits", "length").of
def baselines(
    *holdouts: Annotated[str, Parameter(help="Held-out operators side by side: ^|; every pair if none.")],
    scale: ScaleName = "desk",
    seed: Annotated[int | None, Parameter(help="Of the data and the methods; the paper's first if not given.")] = None,
    folder: Annotated[
        Path | None,
        Parameter(name="--baselines", help="Folder of measured ones, read and added to; the store's if not given."),
    ] = None,
    store: StoreFolder = STORE,
    output: Show = TABLES,
    **said: Any,
) -> None:
    """What similarity can do with held-out operators: KNN, MLP and KRR on the numbers, and two upper bounds.

    Measured once and kept, one file a pair; stopped, the same command goes on.

    Try:

        hardgap symbolic baselines "^|" --json
        hardgap symbolic baselines "^|&" --length 3 --bits 4 --operators "^,|,&"
        hardgap symbolic baselines --baselines results/symbolic/baselines
    """
    from hardgap.studies.symbolic.baselines import kept_baselines, measure_all
    from hardgap.studies.symbolic.coverage import all_pairs
    from hardgap.studies.symbolic.published import SEEDS
    from hardgap.worlds.chains.operators import PAPER_OPERATORS, parse_operator

    operators = OPTIONS.values(said).get("operators")
    asked = holdouts or all_pairs([parse_operator(text) for text in operators] if operators else PAPER_OPERATORS)
    runs = [configure(scale, holdout, {"seed": SEEDS[0] if seed is None else seed} | said) for holdout in asked]
    option, kept = ("--baselines", folder) if folder else ("--store", store / "baselines")
    if any(kept_baselines(kept, run) is None for run in runs):
        check_folder(option, kept)
    with one_thread(), show_parts() as progress:
        found = measure_all(kept, runs, progress)
    output.show([_as_dict(run, one, scale) for run, one in zip(runs, found, strict=True)], [_table(runs, found)])


def _as_dict(run: SymbolicRun, found: Baselines, scale: str) -> dict[str, Any]:
    return {"holdout": run.holdout, "scale": scale, "seed": run.seed, "methods": list(found.methods.values())}


def _table(runs: list[SymbolicRun], found: list[Baselines]) -> Table:
    """One pair in full, several side by side."""
    if len(runs) == 1:
        rows = [
            [name, one["examples"], one["answers"], percent(one["seen"]), percent(one["holdout"])]
            for name, one in found[0].methods.items()
        ]
        columns = ["method", "learned from", "answers", "seen %", "held out %"]
        return Table(f"{runs[0].gap.describe()}: right answers", columns, rows, ["learned from", *columns[3:]])
    columns = list(found[0].methods)
    lines = [[one.holdout, *(percent(one.methods[name]["holdout"]) for name in columns)] for one in found]
    return Table("Right answers on held-out pairs, %", ["pair", *columns], lines, columns)
