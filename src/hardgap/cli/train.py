"""`hardgap train RULE --hide …`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.gap_options import Hide, HideRandom, HideSeed, parse_gap
from hardgap.cli.output import STORE, TABLES, Output, Show, StoreFolder, err
from hardgap.core.errors import BadInput

if TYPE_CHECKING:
    from hardgap.core.run import Run
    from hardgap.runs.store import Store
    from hardgap.worlds.automaton.run import AutomatonRun


def train(
    rule: str,
    /,
    *,
    hide: Hide = None,
    hide_random: HideRandom = None,
    hide_seed: HideSeed = 0,
    recipe: Annotated[
        Literal["paper", "tempered"], Parameter(help="`tempered` recovers reliably (docs/tempered.md); options win.")
    ] = "paper",
    unroll: Annotated[
        Literal["soft", "hard", "none"] | None, Parameter(help="What is fed back; soft if not given.")
    ] = None,
    unroll_steps: Annotated[int | None, Parameter(help="Unrolled timesteps; 4 if not given.")] = None,
    step_weights: Annotated[str | None, Parameter(help="Loss weight of each step, e.g. 1,1,2,2.")] = None,
    temperature: Annotated[
        str | None,
        Parameter(help="T in sigmoid(logit/T): a number, or FROM:TO:STEPS such as 4:1:2000; else 1, tempered 8."),
    ] = None,
    masking: Annotated[Literal["every", "first"], Parameter(help="`first` is the leaky control.")] = "every",
    scale: Annotated[Literal["smoke", "desk", "paper"], Parameter(help="Where defaults come from.")] = "desk",
    width: Annotated[int | None, Parameter(help="Cells in a row.")] = None,
    steps: Annotated[int | None, Parameter(help="Most training steps.")] = None,
    restart_at: Annotated[
        int | None, Parameter(help="Step at which a network that visible cells contradict starts again; 0 never does.")
    ] = None,
    batch: Annotated[int | None, Parameter(help="Rows a training step.")] = None,
    learning_rate: Annotated[float | None, Parameter(help="Of Adam; 0.001 if not given.")] = None,
    clip: Annotated[float | None, Parameter(help="Largest gradient norm; 0 switches clipping off.")] = None,
    schedule: Annotated[Literal["constant", "linear", "cosine"] | None, Parameter(help="Of the learning rate.")] = None,
    until_solved: Annotated[
        int | None, Parameter(help="Stop after this many solved evaluations in a row; 0 never stops early.")
    ] = None,
    model: Annotated[str, Parameter(help="encoder, conv, or your own package.module:factory.")] = "encoder",
    positions: Annotated[
        Literal["random", "waves"], Parameter(help="How the encoder's positions start; `waves` suit wide rows.")
    ] = "random",
    init: Annotated[
        Path | None, Parameter(help="Start from these weights (.safetensors), e.g. a construction.")
    ] = None,
    log_saturation: Annotated[
        bool, Parameter(negative="", help="Also keep how certain cells are and what gradient reaches them.")
    ] = False,
    seed: Annotated[int, Parameter(help="Of data, initial weights and batch order.")] = 0,
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Parameter(help="Where to compute.")] = "cpu",
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> None:
    """Hide patterns of a rule, train on the rest, and see whether the gap closes.

    RULE is a number (150), a name (D), a wider rule (r2:0x…) or a formula. Stopped with Ctrl-C (again, if the
    network hangs), the same command goes on; finished, it answers at once.

    Try:

        hardgap train 150 --hide 2
        hardgap train D --hide-random 8 --unroll hard --seed 3
        hardgap train 150 --hide 3 --recipe tempered
        hardgap train 150 --hide 3 --recipe tempered --width 101 --positions waves --restart-at 0
        hardgap train "L1 ^ (C & R1)" --hide 5 --temperature 4:1:400
        hardgap train 30 --hide 3 --model mypackage.nets:make
    """
    from hardgap.core.run import named
    from hardgap.runs.store import Store
    from hardgap.worlds.automaton.recipes import RECIPES

    hidden = parse_gap(rule, hide, hide_random, hide_seed).hidden
    changes = {
        "masking": masking, "seed": seed, "device": device, "width": width, "model": _model(model, rule, positions),
        "log_saturation": log_saturation,
    }  # fmt: skip
    if init is not None:
        if width is not None or (model != "encoder" and ":" not in model) or positions != "random":
            raise BadInput("--init brings its own network and width: leave --model, --positions and --width out")
        changes |= _initial(store, init, own=model if ":" in model else None)
    optimiser = {"batch": batch, "learning_rate": learning_rate, "schedule": schedule, "clip": clip}
    budget = {"steps": steps, "stop_after_solved": until_solved, "restart_at": restart_at}
    regime = _unrolling(unroll, unroll_steps, temperature, step_weights)
    start = RECIPES[recipe](scale, rule, hidden)
    if restart_at is None and start.budget.restart_at is not None:
        budget["restart_at"] = 0 if init is not None else _restart_in(start, steps)
    run = named(_configure(start, changes, regime, optimiser, budget))
    opened = Store(store)
    train_one(opened, run)
    detail = opened.curve(run.id)[-1]["detail"]
    show_result(opened, run, {"patterns": detail["patterns"]}, output)
    weights = opened.folder / "checkpoints" / run.id
    err().print(f"`hardgap runs show {run.id}` prints the curve; weights are in {weights}")


def _restart_in(start: AutomatonRun, steps: int | None) -> int:
    """The recipe's restart, as early in other than its own number of steps as in those; 0, never, if there is none."""
    planned, own = start.budget.restart_at or 0, start.budget.steps
    return planned if steps is None else planned * steps // own


def _unrolling(feedback: str | None, steps: int | None, temperature: str | None, weights: str | None) -> dict[str, Any]:
    """What was said about the regime; the rest stays as the recipe has it."""
    chosen: dict[str, Any] = {}
    if feedback is not None:
        chosen["feedback"] = feedback
        if feedback != "soft":  # Only soft feedback has a temperature.
            chosen["temperature"] = {}
    if steps is not None or feedback == "none":
        chosen["steps"] = 1 if steps is None else steps
    try:
        parts = [] if temperature is None else [float(part) for part in temperature.split(":")]
        if weights:
            chosen["weights"] = [float(part) for part in weights.split(",")]
    except ValueError:
        raise BadInput(f"--temperature {temperature} or --step-weights {weights}: numbers were expected") from None
    if not parts:
        return chosen
    if len(parts) == 1:
        chosen["temperature"] = {"start": parts[0], "end": parts[0]}
    elif len(parts) == 3 and parts[2].is_integer():
        chosen["temperature"] = {"start": parts[0], "end": parts[1], "over": int(parts[2])}
    else:
        raise BadInput(f"--temperature {temperature}: write a number, or FROM:TO:STEPS such as 4:1:2000")
    return chosen


def _model(model: str, rule: str, positions: str) -> dict[str, Any]:
    from hardgap.worlds.automaton.rule import parse_rule

    if model == "encoder":
        return {"kind": "encoder", "positions": positions}
    if positions != "random":
        raise BadInput(f"--positions {positions} belongs to the encoder, not to --model {model}")
    if model == "conv":
        return {"kind": "conv", "radius": parse_rule(rule).radius}
    if ":" not in model:
        raise BadInput(f"--model {model}: choose encoder, conv, or your own package.module:factory")
    return {"kind": "plugin", "factory": model}


def _initial(store_folder: Path, path: Path, own: str | None) -> dict[str, Any]:
    """The weights to start from, and the network and width that they are for.

    A file never brings a plug-in: `own` is one that the user named.
    """
    from hardgap.core.checkpoint import load_tensors
    from hardgap.runs.initial_weights import keep_initial

    digest = keep_initial(store_folder, path)
    meta = load_tensors(path)[1]
    asked = meta.get("config", meta) if isinstance(meta, dict) else None
    if not isinstance(asked, dict) or not asked.keys() >= {"model", "width"}:
        raise BadInput(f"--init {path}: the file does not say which network and width its weights are for")
    if own is not None:
        return {"initial": digest, "width": asked["width"]}
    if isinstance(asked["model"], dict) and asked["model"].get("kind") == "plugin":
        raise BadInput(f"--init {path}: its weights are for a network of somebody's own; name it with --model, too")
    return {"initial": digest, "model": asked["model"], "width": asked["width"]}


def _configure(
    start: AutomatonRun,
    changes: dict[str, Any],
    regime: dict[str, Any],
    optimiser: dict[str, Any],
    budget: dict[str, Any],
) -> AutomatonRun:
    given = {name: value for name, value in changes.items() if value is not None}
    given["unrolling"] = start.unrolling.model_dump() | regime
    given["optimiser"] = start.optimiser.model_dump() | {k: v for k, v in optimiser.items() if v is not None}
    given["budget"] = start.budget.model_dump() | {k: v for k, v in budget.items() if v is not None}
    for part, name in (("optimiser", "clip"), ("budget", "stop_after_solved"), ("budget", "restart_at")):
        if given[part][name] == 0:  # 0 says: without
            given[part][name] = None
    return start.but(**given)


def tell_other_code(store: Store, runs: Sequence[Run]) -> None:
    """Say which plug-ins of new runs had other code in older ones."""
    now = {path: source for run in runs for path, source in run.plugins().items()}
    if not now:
        return
    older = {path: (row.id, source) for row in store.rows() for path, source in row.config.plugins().items()
             if path in now and source != now[path]}  # fmt: skip
    for path, (run_id, source) in older.items():
        what = "changed since" if source else "may not be that of"
        err().print(f"the code of {path} {what} run {run_id}; this is a new run", highlight=False)


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
