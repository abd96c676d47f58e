"""`hardgap symbolic analyse RUN…`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hardgap.cli.baselines import one_thread
from hardgap.cli.options import check_seed
from hardgap.cli.output import STORE, TABLES, Show, StoreFolder, Trust, err
from hardgap.cli.symbolic_options import symbolic_config
from hardgap.cli.writing import check_folder
from hardgap.core.errors import BadInput
from hardgap.worlds.chains.selection import Selection

if TYPE_CHECKING:
    from hardgap.runs.store import Store


def analyse(
    *runs: Annotated[str, Parameter(help="Ids of `hardgap runs list` or their first digits; a column each.")],
    only: Annotated[
        str | None, Parameter(help="Analyses with commas between, e.g. lens,heads; all if not given.")
    ] = None,
    examples: Annotated[int, Parameter(help="Of each pair, held out or seen; the paper looks at 200.")] = 200,
    select: Annotated[
        Selection, Parameter(help="Which checkpoint is opened; the paper's if not given.")
    ] = "eval-holdout",
    step: Annotated[int | None, Parameter(help="Instead: the snapshot after this many steps.")] = None,
    figures: Annotated[Path | None, Parameter(help="Folder to draw each analysis of each network into.")] = None,
    seed: Annotated[int, Parameter(help="Of the values that are put in.")] = 0,
    trust: Trust = False,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> None:
    """Open networks: which inputs decide which operator, where they attend, when they know, which heads matter.

    The analyses are corruption, substitution, attention, lens, probes and heads.

    Try:

        hardgap symbolic analyse 36ab4edd62d6 --only corruption,substitution
        hardgap symbolic analyse 36ab 7435 8989 4c5e --figures figures/
    """
    from hardgap.cli.retrain import store_with

    if not runs:
        raise BadInput("which networks? Give ids of `hardgap runs list`")
    if examples < 1:
        raise BadInput(f"--examples {examples}: at least one is needed")
    check_seed(seed)
    if figures is not None:
        check_folder("--figures", figures)
    opened = store_with(store, *runs)
    if len({symbolic_config(opened, run, trusted=trust).length for run in runs}) > 1:
        raise BadInput("these networks use chains of different lengths, which no table can hold: give them apart")
    asked = [name.strip() for name in only.split(",")] if only else []
    with one_thread():
        found = [_open(opened, run, asked, examples, select, step, seed) for run in dict.fromkeys(runs)]
    report = {"kind": "symbolic-analyses", "examples": examples, "seed": seed, "runs": found}
    if figures is not None:
        _draw(found, figures)
    from hardgap.studies.symbolic.tables import analysis_tables

    output.show(report, analysis_tables(found))


def _open(
    store: Store, run: str, only: list[str], examples: int, select: Selection, step: int | None, seed: int
) -> dict[str, Any]:
    from hardgap.nn.seq2seq import Seq2Seq
    from hardgap.runs.execute import load_model
    from hardgap.runs.weights import find_weights
    from hardgap.worlds.chains.circuits.opening import open_symbolic, sets_to_open
    from hardgap.worlds.chains.tokens import Codec

    config = symbolic_config(store, run, trusted=False)  # or trusted already
    at = select if step is None else step
    found_at = find_weights(store, config.id, at)
    model, _ = load_model(store, config.id, at)
    assert isinstance(model, Seq2Seq)
    sets = sets_to_open(config, examples)
    err().print(f"{config.describe()}  (run {config.id})")
    codec = Codec(config.gap.arithmetic, config.condition, config.seed)
    start = lambda name: err().print(f"  {name}")  # noqa: E731
    found = open_symbolic(model, codec, sets, only=only, seed=seed, on_start=start)
    return {
        "run": config.id, "about": found_at.about(config), "holdout": config.holdout, "condition": config.condition,
        "seed": config.seed, "checkpoint": select if step is None else "asked for", "replica": found_at.replica,
        "step": found_at.store.get(config.id).step if found_at.step is None else found_at.step, "analyses": found,
    }  # fmt: skip


def _draw(found: list[dict[str, Any]], folder: Path) -> None:
    from hardgap.report.figures import save_figure
    from hardgap.studies.symbolic.figures import analysis_figures

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--figures {folder} cannot be made: {error.strerror}") from error
    for run in found:
        for name, figure in analysis_figures(run).items():
            save_figure(figure, folder / f"{run['run']}-{name}.svg")
    err().print(f"drawn to {folder}")
