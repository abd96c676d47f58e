"""`hardgap symbolic …`: Experiment 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from hardgap.cli.output import STORE, Json, StoreFolder, err, percent, show_json, show_table
from hardgap.errors import BadInput

if TYPE_CHECKING:
    from hardgap.runs.config import SymbolicRun
    from hardgap.runs.store import Store

symbolic = App(name="symbolic", help="Experiment 2: chains of operators with one pair never shown.")

ScaleName = Annotated[Literal["smoke", "desk", "paper"], Parameter(help="Where defaults come from.")]
Ambiguous = Annotated[
    Literal["unambiguous", "seen", "any"] | None, Parameter(help="Which examples are kept, see docs/fidelity.md.")
]
Operators = Annotated[
    str | None, Parameter(help="Symbols or your own package.module:name, with commas between: ^,|,&,r,d,L,R.")
]


@symbolic.command
def train(
    holdout: str,
    /,
    *,
    condition: Annotated[
        Literal["familiar", "opaque", "label-only"], Parameter(help="What the network writes.")
    ] = "familiar",
    scale: ScaleName = "desk",
    steps: Annotated[int | None, Parameter(help="Training steps.")] = None,
    evaluate_every: Annotated[int | None, Parameter(help="Steps from one evaluation to the next.")] = None,
    batch: int | None = None,
    learning_rate: float | None = None,
    clip: Annotated[float | None, Parameter(help="Largest gradient norm; 0 switches clipping off.")] = None,
    schedule: Annotated[Literal["constant", "linear", "cosine"] | None, Parameter(help="Of the learning rate.")] = None,
    train_examples: Annotated[int | None, Parameter(help="Examples to learn from, in all.")] = None,
    eval_examples: Annotated[int | None, Parameter(help="Of each pair, to choose a checkpoint by.")] = None,
    test_examples: Annotated[int | None, Parameter(help="Of each pair, to be judged on.")] = None,
    ambiguity: Ambiguous = None,
    operators: Operators = None,
    bits: Annotated[int | None, Parameter(help="Word size.")] = None,
    length: Annotated[int | None, Parameter(help="Operators in a chain.")] = None,
    seed: int = 0,
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Parameter(help="Where to compute.")] = "cpu",
    store: StoreFolder = STORE,
    json: Json = False,
) -> None:
    """Hold out a pair of operators, train on all others, and see whether it is understood.

    HOLDOUT is two symbols side by side: ^ XOR, | OR, & AND, r NOR, d NAND, L and R shifts by one. Stopped with
    Ctrl-C, the same command goes on; finished, it answers at once.

    Try:

        hardgap symbolic train "^|"
        hardgap symbolic train "&L" --condition label-only --seed 42
        hardgap symbolic train "x|" --operators "^,|,&,mypackage.ops:xnor"
    """
    from hardgap.cli.train import train_one
    from hardgap.runs.store import Store

    changes = {
        "condition": condition, "ambiguity": ambiguity, "bits": bits, "length": length, "seed": seed, "device": device,
        "operators": operators.split(",") if operators else None, "train_examples": train_examples,
        "eval_examples": eval_examples, "test_examples": test_examples,
    }  # fmt: skip
    optimiser = {"batch": batch, "learning_rate": learning_rate, "schedule": schedule, "clip": clip}
    run = _configure(scale, holdout, changes, optimiser, {"steps": steps, "evaluate_every": evaluate_every})
    opened = Store(store)
    train_one(opened, run)
    _report(opened, run, json=json)


def _configure(
    scale: Literal["smoke", "desk", "paper"],
    holdout: str,
    changes: dict[str, Any],
    optimiser: dict[str, Any],
    budget: dict[str, Any],
) -> SymbolicRun:
    from hardgap.runs.config import SymbolicRun, validated
    from hardgap.studies.symbolic_scales import symbolic_base

    start = symbolic_base(scale, "^|")  # any pair of the paper; the asked one may need the asked operators
    given = {name: value for name, value in changes.items() if value is not None}
    given["optimiser"] = start.optimiser.model_dump() | {k: v for k, v in optimiser.items() if v is not None}
    given["budget"] = start.budget.model_dump() | {k: v for k, v in budget.items() if v is not None}
    given["optimiser"]["clip"] = given["optimiser"]["clip"] or None  # 0 says: without
    return validated(SymbolicRun, start.model_dump() | given | {"holdout": holdout})


MEASURES = {"exact": "whole derivation", "pair": "operators", "f": "final value", "valid": "consistent derivation"}


def _report(store: Store, run: SymbolicRun, *, json: bool) -> None:
    from hardgap.cli.runs import as_dict
    from hardgap.runs.selection import SELECTIONS, select_point

    curve = store.curve(run.id)
    chosen = {by: select_point(curve, by) for by in SELECTIONS}
    if json:
        points = {by: {k: point[k] for k in ("step", "visible", "holdout", "detail")} for by, point in chosen.items()}
        result = as_dict(store, store.get(run.id))
        show_json(result | {"selected": points, "config": run.model_dump(mode="json")})
        return
    rows = [
        [by, point["step"], words, percent(point["detail"]["seen"].get(name)),
         percent(point["detail"]["holdout"].get(name))]
        for by, point in chosen.items()
        for name, words in MEASURES.items()
    ]  # fmt: skip
    columns = ["checkpoint by", "step", "right", "seen %", "held out %"]
    show_table(run.describe(), columns, rows, right=["step", "seen %", "held out %"])
    err().print(f"`hardgap symbolic ask {run.id} 12 7 33 43 21` asks this network")


@symbolic.command
def ask(
    run: str,
    /,
    *numbers: int,
    step: Annotated[int | None, Parameter(help="Ask the snapshot after this many steps, not the end.")] = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> None:
    """Type the integers a b c d u; the network finds the operators of (a op1 b) op2 c = d and uses them on u.

    RUN is an id of `hardgap runs list` or its first digits. Try: `hardgap symbolic ask 9dcd 12 7 33 43 21`
    """
    from hardgap.nn.seq2seq import Seq2Seq
    from hardgap.operators.tokens import Codec
    from hardgap.runs.execute import load_model, single_thread
    from hardgap.runs.store import Store
    from hardgap.training.asking import ask as ask_network

    single_thread()
    opened = Store(store, create=False)
    config = _symbolic(opened, run)
    model, _ = load_model(opened, config.id, step)
    assert isinstance(model, Seq2Seq)
    reply = ask_network(model, Codec(config.gap.world, config.condition, config.seed), numbers)
    if json:
        show_json(reply.as_dict() | {"run": config.id, "input": list(numbers), "holdout": config.holdout})
        return
    columns = ["place", "token", "confidence %"]
    tokens = [
        [place, token, percent(sure)]
        for place, token, sure in zip(reply.places, reply.tokens, reply.confidence, strict=True)
    ]
    show_table(f"{reply.derivation}: {'right' if reply.right else 'wrong'}", columns, tokens, right=["confidence %"])
    show_table("What the input allows", ["", "value"], [
        ["operators that fit", f"{len(reply.fitting)} of {config.gap.world.chains}: {' '.join(reply.fitting)}"],
        ["right answer", reply.truth or ("there is none" if not reply.fitting else "there are several")],
        ["never shown in training", config.holdout],
    ])  # fmt: skip


def _symbolic(store: Store, run: str) -> SymbolicRun:
    from hardgap.runs.config import SymbolicRun

    config = store.get(run).config
    if not isinstance(config, SymbolicRun):
        raise BadInput(f"run {config.id} is of experiment {config.experiment!r}; this command takes symbolic runs")
    return config


@symbolic.command
def baselines(
    holdout: str,
    /,
    *,
    scale: ScaleName = "desk",
    ambiguity: Ambiguous = None,
    operators: Operators = None,
    seed: int = 0,
    json: Json = False,
) -> None:
    """What similarity can do with the held-out pair: KNN, MLP and KRR on the numbers, and two upper bounds.

    Try: `hardgap symbolic baselines "^|" --json`
    """
    from hardgap.baselines.symbolic import SYMBOLIC_METHODS, accuracy

    changes = {"ambiguity": ambiguity, "operators": operators.split(",") if operators else None, "seed": seed}
    run = _configure(scale, holdout, changes, {}, {})
    sizes = {"train": run.train_examples, "evaluate": run.eval_examples, "test": run.test_examples}
    sets = run.gap.sets(**sizes, seed=run.seed)
    results: list[dict[str, Any]] = []
    for method in SYMBOLIC_METHODS:
        namer = method.fit(run.gap.world, sets.train, run.seed)
        results.append({
            "method": method.name, "seen": round(accuracy(namer, sets.test_seen), 6),
            "holdout": round(accuracy(namer, sets.test_holdout), 6), "interpolates": method.interpolates,
            "examples": min(method.most_examples, len(sets.train)),
        })  # fmt: skip
    if json:
        show_json({"holdout": holdout, "scale": scale, "seed": seed, "methods": results})
        return
    rows = [[r["method"], r["examples"], percent(r["seen"]), percent(r["holdout"])] for r in results]
    columns = ["method", "learned from", "seen %", "held out %"]
    show_table(f"{run.gap.describe()}: operators named", columns, rows, right=columns[1:])


@symbolic.command
def analyse(
    run: str,
    /,
    *,
    only: Annotated[
        str | None, Parameter(help="Analyses with commas between, e.g. lens,heads; all if not given.")
    ] = None,
    examples: Annotated[int, Parameter(help="Held-out test examples to look at; the paper takes 200.")] = 200,
    step: Annotated[int | None, Parameter(help="Look at the snapshot after this many steps, not at the end.")] = None,
    seed: Annotated[int, Parameter(help="Of the values that are put in.")] = 0,
    store: StoreFolder = STORE,
    json: Json = False,
) -> None:
    """Open a network: which inputs decide which operator, where it attends, when it knows, which heads matter.

    The analyses are corruption, substitution, attention, lens, probes and heads.

    Try: `hardgap symbolic analyse 9dcd --only corruption,substitution`
    """
    from hardgap.circuits.symbolic_opening import open_symbolic
    from hardgap.nn.seq2seq import Seq2Seq
    from hardgap.operators.gap import ChainGap
    from hardgap.operators.tokens import Codec
    from hardgap.runs.execute import load_model, single_thread
    from hardgap.runs.store import Store

    if examples < 1:
        raise BadInput(f"--examples {examples}: at least one is needed")
    single_thread()
    opened = Store(store, create=False)
    config = _symbolic(opened, run)
    model, _ = load_model(opened, config.id, step)
    assert isinstance(model, Seq2Seq)
    world = config.gap.world
    # Unambiguous ones, as in the paper, whatever the run was trained on; of the run's own evaluation and test parts.
    gap = ChainGap(world, config.holdout)
    sets = gap.sets(train=world.chains, evaluate=max(1, examples // 8), test=examples, seed=config.seed)
    asked = only.split(",") if only else []
    found = open_symbolic(model, Codec(world, config.condition, config.seed), sets, only=asked, seed=seed)
    if json:
        show_json({"run": config.id} | found)
        return
    for name, data in found.items():
        _show_analysis(f"{config.describe()}: {name}", data)


def _show_analysis(title: str, data: Any) -> None:
    """A table with one row for each record, shares in percent."""
    records = data if isinstance(data, list) else [{"": name} | row for name, row in data.items()]
    columns = [f"{name} %" if isinstance(value, float) else name for name, value in records[0].items()]
    rows = [[percent(v) if isinstance(v, float) else v for v in record.values()] for record in records]
    show_table(title, columns, rows, right=columns[1:])
