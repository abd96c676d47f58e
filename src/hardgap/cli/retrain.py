"""`hardgap runs retrain` and `hardgap runs weights`: networks of results that came without them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hardgap.cli.output import STORE, TABLES, Show, StoreFolder, Trust, err
from hardgap.cli.writing import check_file, check_folder
from hardgap.core.errors import BadInput
from hardgap.core.wording import plural

if TYPE_CHECKING:
    from hardgap.runs.store import Row, Store


def retrain(
    *runs: Annotated[str, Parameter(help="Ids of `hardgap runs list` or their first digits.")],
    compare: Annotated[
        Path | None,
        Parameter(
            help="Note in this JSON file how each ended, and print all that it holds; runs in it are not redone."
        ),
    ] = None,
    trust: Trust = False,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> int:
    """Train runs again from their configs, to have their weights here; results are compared, not replaced.

    If every bit of the curve is the same, these are the run's own weights. If not (another machine or version), they
    are kept as its replica: commands that open the run say so. The exit code is 1 if a curve differs.

    Try:

        hardgap runs retrain 0c02dce15cde
        hardgap runs retrain 0c02 847e 5b3e --compare machines.json
    """
    from hardgap.core import plugins
    from hardgap.runs.comparing import read_compared, write_compared
    from hardgap.runs.execute import single_thread
    from hardgap.runs.store import Store

    if not runs and compare is None:
        raise BadInput("which runs? Give ids of `hardgap runs list`")
    if compare is not None:
        check_file("--compare", compare)
    single_thread()
    opened = Store(store, create=False)
    rows = list({row.id: row for row in map(opened.get, runs)}.values())
    for row in rows:
        if row.status != "done":
            raise BadInput(f"run {row.id} is {row.status}: only a finished run has a result to compare with")
    if trust:
        plugins.trust(path for row in rows for path in row.config.plugins())
    known = {one["run"]: one for one in read_compared(compare)} if compare else {}
    for row in rows:
        if row.id not in known:
            known[row.id] = _retrain(opened, row)
            if compare is not None:
                write_compared(compare, list(known.values()))
    if compare is not None:
        from hardgap.studies.machines import machines_table

        found = list(known.values())
        output.show({"kind": "machines", "runs": found}, [machines_table(found)])
    asked = [row.id for row in rows] or list(known)
    return int(any(not known[run_id]["identical"] for run_id in asked))


def _retrain(store: Store, row: Row) -> dict[str, Any]:
    """Train one run, say what came of it, and return the comparison."""
    from hardgap.cli.progress import watch
    from hardgap.runs.comparing import compared
    from hardgap.runs.replicas import both_ends
    from hardgap.runs.retrain import retrain_run
    from hardgap.runs.weights import is_here

    with watch(row.config) as watcher:
        again = retrain_run(store, row, watcher)
    own = store.curve(row.id)
    if again.same:
        err().print(f"{row.id}: the curve is the same, bit for bit")
    else:
        opens = "the run's own weights stay, too" if is_here(store, row) else "commands that open the run open it"
        differs = f"the curve differs (another machine or version): {both_ends(own, again.curve)}"
        err().print(f"{row.id}: {differs}. It is kept as a replica; {opens}")
    return compared(row, own, again.row, again.curve)


def weights(
    folder: Path,
    /,
    *runs: Annotated[str, Parameter(help="Ids of `hardgap runs list` or their first digits.")],
    film: Annotated[bool, Parameter(help="Also every snapshot on the way: for `hardgap ui`'s films.")] = False,
    state: Annotated[bool, Parameter(help="Also what a longer run needs to go on from the end.")] = False,
    store: StoreFolder = STORE,
) -> None:
    """Write the weights of runs to FOLDER/weights, where `hardgap runs import FOLDER` and commands find them.

    A replica's come with its own result beside them. Example: `hardgap runs weights results/ 0c02 847e`
    """
    from hardgap.runs.kept_weights import FOLDER, write_weights
    from hardgap.runs.store import Store

    if not runs:
        raise BadInput("which runs? Give ids of `hardgap runs list`")
    check_folder("FOLDER", folder)
    opened = Store(store, create=False)
    written = [path for run in runs for path in write_weights(opened, run, folder / FOLDER, film=film, state=state)]
    err().print(f"{plural(len(written), 'file')} written to {folder / FOLDER}")


def store_with(folder: Path, *runs: str) -> Store:
    """The store to open networks from; what only the results that came along have weights of is taken in, and named."""
    from hardgap.runs.kept_weights import take_in
    from hardgap.runs.packaged import own_results
    from hardgap.runs.store import Store

    results = own_results()
    if taken := [run_id for run_id in (take_in(folder, run, results) for run in runs) if run_id is not None]:
        named = f"run {taken[0]} and its" if len(taken) == 1 else f"{len(taken)} runs and their"
        err().print(f"{named} weights come from results/")
    return Store(folder, create=False)
