"""`hardgap train RULE --hide …`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.options import Hide, HideRandom, HideSeed, Options, ScaleName, Written, parse_gap
from hardgap.cli.output import STORE, TABLES, Engine, Output, Show, StoreFolder, choose_engine, err
from hardgap.core.errors import BadInput
from hardgap.worlds.automaton import recipes
from hardgap.worlds.automaton.scales import base

if TYPE_CHECKING:
    from hardgap.core.run import Run
    from hardgap.runs.store import Store


def _temperature(text: str) -> dict[str, float]:
    parts = [float(part) for part in text.split(":")]
    if len(parts) == 1:
        return {"start": parts[0], "end": parts[0]}
    start, end, over = parts
    return {"start": start, "end": end, "over": over}


WRITTEN = {
    "step_weights": Written(
        "unrolling.weights", "numbers such as 1,1,2,2", lambda text: list(map(float, text.split(",")))
    ),
    "temperature": Written("unrolling.temperature", "a number, or FROM:TO:STEPS such as 4:1:2000", _temperature),
}
OPTIONS = Options(base("desk", "150", (2,)), **recipes.OPTIONS | WRITTEN)


@OPTIONS.of
def train(
    rule: str,
    /,
    *,
    hide: Hide = None,
    hide_random: HideRandom = None,
    hide_seed: HideSeed = 0,
    recipe: Annotated[
        Literal["paper", "tempered"],
        Parameter(help="`tempered` feeds back warmer, restarts once (docs/tempered.md); options win."),
    ] = "paper",
    scale: ScaleName = "desk",
    model: Annotated[str, Parameter(help="encoder, conv, or your own package.module:factory.")] = "encoder",
    init: Annotated[
        Path | None, Parameter(help="Start from these weights (.safetensors), e.g. a construction.")
    ] = None,
    engine: Engine = None,
    store: StoreFolder = STORE,
    output: Show = TABLES,
    **said: Any,
) -> None:
    """Hide patterns of a rule, train on the rest, and see whether the gap closes.

    RULE is a number (150), a name (D), a wider rule (r2:0x…) or a formula. Stopped with Ctrl-C (again, if the
    network hangs), the same command goes on; finished, it answers at once.

    Try:

        hardgap train 150 --hide 2
        hardgap train D --hide-random 8 --unroll hard --seed 3
        hardgap train 150 --hide 3 --recipe tempered
        hardgap train "L1 ^ (C & R1)" --hide 5 --temperature 4:1:400
        hardgap train 30 --hide 3 --model mypackage.nets:make
    """
    from hardgap.core.run import named
    from hardgap.runs.store import Store

    choose_engine(engine)
    hidden = parse_gap(rule, hide, hide_random, hide_seed).hidden
    start, values = recipes.RECIPES[recipe](scale, rule, hidden), OPTIONS.values(said)
    values |= _network(model, values)
    if init is not None:
        values |= _initial(store, init, model, said)
    with OPTIONS.blamed():
        run = named(start.changed(**values))
    opened = Store(store)
    train_one(opened, run)
    detail = opened.curve(run.id)[-1]["detail"]
    show_result(opened, run, {"patterns": detail["patterns"]}, output)
    weights = opened.folder / "checkpoints" / run.id
    err().print(f"`hardgap runs show {run.id}` prints the curve; weights are in {weights}")


def _network(model: str, values: dict[str, Any]) -> dict[str, Any]:
    """The network that is named. Only the encoder has positions and dropout; of others they are taken out."""
    if model == "encoder":
        return {}
    for name, usual in (("positions", "random"), ("position_std", 1.0), ("dropout", 0.0)):
        if (given := values.pop(f"model.{name}", usual)) != usual:
            option = name.replace("_", "-")
            raise BadInput(f"--{option} {given} belongs to the encoder, not to --model {model}")
    if model != "conv" and ":" not in model:
        raise BadInput(f"--model {model}: choose encoder, conv, or your own package.module:factory")
    return {"model": model}


def _initial(store_folder: Path, path: Path, model: str, said: dict[str, Any]) -> dict[str, Any]:
    """The weights to start from, and the network and width that they are for; they are not thrown away at a restart.

    A file never brings a plug-in: the user names it.
    """
    from hardgap.core.checkpoint import load_tensors
    from hardgap.runs.checkpoints import keep_initial

    of_a_network = {"width", "position_std", "dropout"} & said.keys() or said.get("positions", "random") != "random"
    if of_a_network or model == "conv":
        raise BadInput("--init brings its own network and width: leave --model, --positions… and --width out")
    digest = keep_initial(store_folder, path)
    meta = load_tensors(path)[1]
    asked = meta.get("config", meta) if isinstance(meta, dict) else None
    if not isinstance(asked, dict) or not asked.keys() >= {"model", "width"}:
        raise BadInput(f"--init {path}: the file does not say which network and width its weights are for")
    found = {"initial": digest, "width": asked["width"]}
    if "restart_at" not in said:
        found["budget.restart_at"] = None
    if ":" in model:
        return found
    if isinstance(asked["model"], dict) and asked["model"].get("kind") == "plugin":
        raise BadInput(f"--init {path}: its weights are for a network of somebody's own; name it with --model, too")
    return found | {"model": asked["model"]}


def tell_other_code(store: Store, runs: Sequence[Run]) -> None:
    """Say which plug-ins of new runs had other code in older ones."""
    from hardgap.runs.train import other_code

    for sentence in other_code(store, runs):
        err().print(sentence, highlight=False)


def train_one(store: Store, run: Run) -> None:
    """Train a run in this process, watched, unless it is done already."""
    from hardgap.cli.progress import watch
    from hardgap.runs.execute import single_thread
    from hardgap.runs.train import queue, train_here

    single_thread()
    is_new = run.id not in store.progress([run.id])
    queue(store, run)
    if is_new:
        tell_other_code(store, [run])
    err().print(f"{run.describe()}  (run {run.id})")
    with watch(run) as watcher:
        train_here(store, run, watcher)


def show_result(store: Store, run: Run, more: dict[str, Any], output: Output) -> None:
    """How a run ended."""
    from hardgap.cli.runs import facts_of
    from hardgap.core.parts import part
    from hardgap.worlds import world_of

    data = facts_of(store, run.id) | more | {"config": run.model_dump(mode="json")}
    output.show(data, [part(world_of(run).table)(run, store.curve(run.id))])
