"""`hardgap train RULE --hide …`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.gap_options import parse_gap
from hardgap.cli.output import STORE, Engine, Json, StoreFolder, choose_engine, err, percent, show_json, show_table
from hardgap.errors import BadInput

if TYPE_CHECKING:
    from hardgap.runs.config import AutomatonRun, Run
    from hardgap.runs.store import Store


def train(
    rule: str,
    /,
    *,
    hide: Annotated[str | None, Parameter(help="Patterns to hide, e.g. 3 or 1,4,12.")] = None,
    hide_random: Annotated[int | None, Parameter(help="Hide this many patterns, drawn at random.")] = None,
    hide_seed: Annotated[int, Parameter(help="Seed of that draw.")] = 0,
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
    engine: Engine = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """Hide patterns of a rule, train on the rest, and see whether the gap closes.

    RULE is a number (150), a name (D), a wider rule (r2:0x…) or a formula. Stopped with Ctrl-C, the same
    command goes on; finished, it answers at once.

    Try:

        hardgap train 150 --hide 2
        hardgap train D --hide-random 8 --unroll hard --seed 3
        hardgap train 150 --hide 3 --recipe tempered
        hardgap train 150 --hide 3 --recipe tempered --width 101 --positions waves --restart-at 0
        hardgap train "L1 ^ (C & R1)" --hide 5 --temperature 4:1:400
        hardgap train 30 --hide 3 --model mypackage.nets:make
    """
    from hardgap.runs.store import Store
    from hardgap.studies.recipes import RECIPES

    choose_engine(engine)
    hidden = parse_gap(rule, hide, hide_random, hide_seed).hidden
    changes = {
        "masking": masking, "seed": seed, "device": device, "width": width, "model": _model(model, rule, positions),
        "log_saturation": log_saturation,
    }  # fmt: skip
    if init is not None:
        if width is not None or model != "encoder" or positions != "random":
            raise BadInput("--init brings its own network and width: leave --model, --positions and --width out")
        changes |= _initial(store, init)
    optimiser = {"batch": batch, "learning_rate": learning_rate, "schedule": schedule, "clip": clip}
    budget = {"steps": steps, "stop_after_solved": until_solved, "restart_at": restart_at}
    regime = _unrolling(unroll, unroll_steps, temperature, step_weights)
    start = RECIPES[recipe](scale, rule, hidden)
    if restart_at is None and start.budget.restart_at is not None:
        budget["restart_at"] = 0 if init is not None else _restart_in(start, steps)
    run = _configure(start, changes, regime, optimiser, budget)
    return _train(Store(store), run, json=json)


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
    from hardgap.automata.rule import parse_rule

    if model == "encoder":
        return {"kind": "encoder", "positions": positions}
    if positions != "random":
        raise BadInput(f"--positions {positions} belongs to the encoder, not to --model {model}")
    if model == "conv":
        return {"kind": "conv", "radius": parse_rule(rule).radius}
    if ":" not in model:
        raise BadInput(f"--model {model}: choose encoder, conv, or your own package.module:factory")
    return {"kind": "plugin", "factory": model}


def _initial(store_folder: Path, path: Path) -> dict[str, Any]:
    """The weights to start from, and the network and width that they are for."""
    from hardgap.runs.initial import keep_initial
    from hardgap.training.checkpoint import load_tensors

    digest = keep_initial(store_folder, path)
    meta = load_tensors(path)[1]
    asked = meta.get("config", meta)
    if "model" not in asked or "width" not in asked:
        raise BadInput(f"--init {path}: the file does not say which network and width its weights are for")
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


def train_one(store: Store, run: Run) -> None:
    """Train a run in this process, watched, unless it is done already."""
    from hardgap.cli.live import watch
    from hardgap.runs.execute import Execution, build_task, single_thread
    from hardgap.runs.owner import me

    single_thread()
    if run.id not in store.progress([run.id]):
        build_task(run).model()  # What cannot be built is refused before it is written down.
    store.add([run])
    err().print(f"{run.describe()}  (run {run.id})")
    if store.progress([run.id])[run.id][0] != "done":
        owner = me()
        if store.claim([run.id], owner) is None:
            why = store.get(run.id).error or "it is being trained by another process; `hardgap runs list` shows it"
            raise BadInput(f"run {run.id} cannot be taken up: {why}")
        with watch(run) as watcher:
            try:
                stopped = Execution(store, run, owner, watcher)()
            except (BadInput, KeyboardInterrupt):
                store.release(run.id, owner)
                raise
            except Exception as error:  # whatever a user's own network raises
                store.fail(run.id, owner, f"{type(error).__name__}: {error}")
                raise BadInput(f"run {run.id} failed: {type(error).__name__}: {error}") from error
        if stopped is None:
            raise BadInput(f"another process has taken over run {run.id}; `hardgap runs list` shows it")
        if stopped == "interrupted":
            raise KeyboardInterrupt


def _train(store: Store, run: AutomatonRun, *, json: bool) -> int:
    train_one(store, run)
    _report(store, run, json=json)
    return 0


def _report(store: Store, run: AutomatonRun, *, json: bool) -> None:
    from hardgap.cli.runs import as_dict

    row = store.get(run.id)
    result, last = as_dict(store, row), store.curve(run.id)[-1]
    if json:
        show_json(result | {"patterns": last["detail"]["patterns"], "config": run.model_dump(mode="json")})
        return
    gap = run.gap
    accuracy = last["detail"]["patterns"]
    show_table(
        f"{run.describe()}: visible {percent(result['visible'])} %, holdout {percent(result['holdout'])} %",
        ["pattern", "neighbourhood", "true output", "in training", "accuracy %"],
        [
            [
                p,
                gap.rule.pattern_text(p),
                gap.rule.table[p],
                "hidden" if p in gap.hidden else "",
                percent(accuracy[p]),
            ]
            for p in range(gap.rule.patterns)
        ],
        right=["pattern", "true output", "accuracy %"],
    )
    err().print(
        f"`hardgap runs show {run.id}` prints the curve; weights are in {store.folder / 'checkpoints' / run.id}"
    )
