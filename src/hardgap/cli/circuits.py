"""`hardgap circuits RUN`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hardgap.cli.options import check_seed
from hardgap.cli.output import STORE, TABLES, Output, Show, StoreFolder, Trust, err, flag
from hardgap.cli.retrain import store_with
from hardgap.cli.writing import check_figure
from hardgap.core.errors import BadInput
from hardgap.core.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    from hardgap.runs.store import Store
    from hardgap.worlds.automaton.run import AutomatonRun


def circuits(
    run: str,
    /,
    *,
    only: Annotated[
        str | None, Parameter(help="Analyses with commas between, e.g. lens,probes; all if not given.")
    ] = None,
    over_time: Annotated[bool, flag("When does each signal appear? Looks at the kept snapshots.")] = False,
    step: Annotated[int | None, Parameter(help="Look at the snapshot after this many steps, not at the end.")] = None,
    figure: Annotated[Path | None, Parameter(help="Draw a page: FILE.png, .svg or .pdf.")] = None,
    seed: Annotated[int, Parameter(help="Of the contexts and targets that are drawn.")] = 0,
    trust: Trust = False,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> None:
    """Open a trained network: what it computes, where, and since when.

    RUN is an id of `hardgap runs list` or its first digits. The analyses are polynomial, rule, consistency,
    layers, heads, lens, probes, patching, attention, neurons and positions.

    Try:

        hardgap circuits 34cc297255b6        (its weights are committed)
        hardgap circuits 0c02 --figure circuits.png
        hardgap circuits 0c02 --only rule,consistency
        hardgap circuits 0c02 --over-time --figure appears.svg
        hardgap circuits 0c02 --only probes --json
    """
    if over_time and (only is not None or step is not None):
        raise BadInput("--over-time follows fixed signals over all snapshots; it goes without --only and --step")
    check_figure(figure)
    check_seed(seed)
    from hardgap.core import plugins
    from hardgap.runs.execute import single_thread

    single_thread()
    opened = store_with(store, run)
    config = _automaton(opened, run)
    if trust:
        plugins.trust(config.plugins())
    if over_time:
        _over_time(opened, config, figure, output)
    else:
        _open(opened, config, only, step, figure, seed, output)


def _automaton(store: Store, run: str) -> AutomatonRun:
    from hardgap.worlds.automaton.run import AutomatonRun

    config = store.get(run).config
    if not isinstance(config, AutomatonRun):
        raise BadInput(
            f"run {config.id} is of experiment {config.experiment!r}; `hardgap symbolic analyse {config.id}` opens it"
        )
    return config


def _open(
    store: Store,
    config: AutomatonRun,
    only: str | None,
    step: int | None,
    figure: Path | None,
    seed: int,
    output: Output,
) -> None:
    from hardgap.runs.execute import load_trained
    from hardgap.runs.weights import find_weights
    from hardgap.studies.circuits.findings import findings_table
    from hardgap.worlds.automaton.circuits.opening import check_names, open_network, subject_of
    from hardgap.worlds.automaton.circuits.tables import circuit_tables

    names = check_names([] if only is None else [name.strip() for name in only.split(",")])
    trained = load_trained(store, config.id, step)
    err().print(f"{config.describe()}  (run {config.id})")
    opening = open_network(subject_of(trained, seed), names, on_start=lambda name: _progress(names, name))
    if only is not None and not opening.results:
        raise BadInput("; ".join(opening.does_not_apply.values()))
    found = find_weights(store, config.id, step)
    about = {"run": config.id, "about": found.about(config), "step": step, "replica": found.replica}
    data = about | opening.as_dict()
    _draw(data, figure, over_time=False)
    output.show(data, [*([] if only is not None else [findings_table(data)]), *circuit_tables(data)])


def _over_time(store: Store, config: AutomatonRun, figure: Path | None, output: Output) -> None:
    from hardgap.runs.summary import restarts
    from hardgap.runs.weights import announce, with_snapshots
    from hardgap.worlds.automaton.circuits.opening import rows_of
    from hardgap.worlds.automaton.circuits.over_time import over_time
    from hardgap.worlds.automaton.circuits.tables import timeline_table

    err().print(f"{config.describe()}  (run {config.id})")
    found = with_snapshots(store, config.id, 2)
    if found.replica:
        announce(store, config.id)
    networks = _snapshots(found.store, config)
    timeline = over_time(networks, config.gap, rows_of(config), on_start=lambda step: err().print(f"  step {step}"))
    curve = found.store.curve(config.id)
    about = {"run": config.id, "about": found.about(config), "replica": found.replica, "restarts": restarts(curve)}
    data = about | timeline.as_dict()
    _draw(data, figure, over_time=True, curve=curve)
    output.show(data, [timeline_table(data)])


def _snapshots(store: Store, config: AutomatonRun) -> Iterator[tuple[int, nn.Module]]:
    """The run's snapshots, and those of its family: a run that went on from a shorter one began there."""
    from hardgap.runs.checkpoints import Checkpoints
    from hardgap.runs.execute import load_model

    curve = store.curve(config.id)
    began = {run_id: store.curve(run_id) for run_id in store.shorter(config)}
    family = (*(run_id for run_id, points in began.items() if points == curve[: len(points)]), config.id)
    kept = {step: run_id for run_id in family for step in Checkpoints(store.folder, run_id).snapshots()}
    steps = sorted(step for step in kept if step <= store.get(config.id).step)
    if len(steps) < 2:
        raise BadInput(
            f"run {config.id} has kept {plural(len(steps), 'snapshot')}, too few for --over-time; "
            f"`hardgap runs retrain {config.id}` makes them again"
        )
    for step in steps:
        yield step, load_model(store, kept[step], step)[0]


def _draw(
    data: dict[str, Any], figure: Path | None, *, over_time: bool, curve: list[dict[str, Any]] | None = None
) -> None:
    if figure is None:
        return
    from hardgap.report.figures import save_figure
    from hardgap.studies.circuits.figure import circuits_figure, timeline_figure

    at = "" if data.get("step") is None else f", after {data['step']} steps"
    heading = f"{data['about']}{at}   (run {data['run']})"
    drawn = timeline_figure(data, heading, curve or ()) if over_time else circuits_figure(data, heading)
    save_figure(drawn, figure)
    err().print(f"drawn to {figure}")


def _progress(names: list[str], name: str) -> None:
    err().print(f"  {names.index(name) + 1}/{len(names)} {name}")
