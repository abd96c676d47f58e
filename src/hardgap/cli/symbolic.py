"""`hardgap symbolic …`: Experiment 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from hardgap.cli.options import ScaleName
from hardgap.cli.output import STORE, TABLES, Engine, Show, StoreFolder, Trust, choose_engine, err
from hardgap.cli.symbolic_analyse import analyse
from hardgap.cli.symbolic_baselines import baselines
from hardgap.cli.symbolic_options import OPTIONS, configure, symbolic_config
from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.selection import SELECTIONS, Selection, select_point
from hardgap.worlds.chains.tokens import Codec

if TYPE_CHECKING:
    from hardgap.worlds.chains.ask import Reply

symbolic = App(name="symbolic", help="Experiment 2: chains of operators with one pair never shown.")
symbolic.command(baselines)
symbolic.command(analyse)


@symbolic.command
@OPTIONS.of
def train(
    holdout: str,
    /,
    *,
    scale: ScaleName = "desk",
    store: StoreFolder = STORE,
    engine: Engine = None,
    output: Show = TABLES,
    **said: Any,
) -> None:
    """Hold out a pair of operators, train on all others, and see whether it is understood.

    HOLDOUT is two symbols side by side: ^ XOR, | OR, & AND, r NOR, d NAND, L and R shifts by one. Stopped with
    Ctrl-C, the same command goes on; finished, it answers at once. At desk scale label-only has batches of 192.

    Try:

        hardgap symbolic train "^|"
        hardgap symbolic train "&L" --condition label-only --seed 42
        hardgap symbolic train "x|" --operators "|,&,R,mypackage.ops:xnor"
    """
    from hardgap.cli.train import show_result, train_one
    from hardgap.runs.store import Store

    run = configure(scale, holdout, said)
    choose_engine(engine)
    opened = Store(store)
    train_one(opened, run)
    chosen = {by: select_point(opened.curve(run.id), by) for by in SELECTIONS}
    points = {by: {k: point[k] for k in ("step", "visible", "holdout", "detail")} for by, point in chosen.items()}
    show_result(opened, run, {"selected": points}, output)
    where = "" if store == STORE else f" --store {store}"
    err().print(f"`hardgap symbolic ask {run.id} {_question(run)}{where}` asks this network")


def _question(run: SymbolicRun) -> str:
    """Integers that the held-out operators explain."""
    import numpy as np

    arithmetic = run.gap.arithmetic
    ops = (arithmetic.parse_chain(run.holdout) * arithmetic.length)[: arithmetic.length]
    operands = np.array([[(12, 7, 33)[i % 3] for i in range(arithmetic.length + 1)]]) % arithmetic.size
    example = arithmetic.examples(np.array([ops]), operands, np.array([21 % arithmetic.size]))
    return " ".join(map(str, example.inputs[0]))


@symbolic.command
def ask(
    run: str,
    /,
    *numbers: str,
    select: Annotated[Selection, Parameter(help="Which checkpoint is asked; the end if not given.")] = "final",
    step: Annotated[int | None, Parameter(help="Instead: the snapshot after this many steps.")] = None,
    trusted: Trust = False,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> None:
    """Type the integers a b c d u; the network finds the operators of (a op1 b) op2 c = d and uses them on u.

    RUN is an id of `hardgap runs list` or its first digits. Try: `hardgap symbolic ask 36ab4edd62d6 12 7 33 43 21`
    """
    from hardgap.cli.retrain import store_with
    from hardgap.nn.seq2seq import Seq2Seq
    from hardgap.runs.execute import load_model, single_thread
    from hardgap.runs.weights import find_weights
    from hardgap.worlds.chains.ask import ask as ask_network

    single_thread()
    opened = store_with(store, run)
    config = symbolic_config(opened, run, trusted=trusted)
    at = select if step is None else step
    model, _ = load_model(opened, config.id, at)
    assert isinstance(model, Seq2Seq)
    codec = Codec(config.gap.arithmetic, config.condition, config.seed)
    given = [int(number) if number.isdecimal() else -1 for number in numbers]  # -1 is refused with the reason
    reply = ask_network(model, codec, given)
    about: dict[str, Any] = {"run": config.id, "input": given, "holdout": config.holdout, "letters": codec.legend}
    about["replica"] = find_weights(opened, config.id, at).replica
    output.show(reply.as_dict() | about, _tables(reply, config, codec))


def _tables(reply: Reply, run: SymbolicRun, codec: Codec) -> list[Table]:
    tokens = [
        [place, token, percent(sure)]
        for place, token, sure in zip(reply.places, reply.tokens, reply.confidence, strict=True)
    ]
    title = f"{reply.derivation}   {'right' if reply.right else 'wrong'}"
    facts = {
        "operators that fit": f"{len(reply.fitting)} of {run.gap.arithmetic.chains}: {' '.join(reply.fitting)}",
        "right answer": reply.truth or ("there is none" if not reply.fitting else "there are several"),
        "never shown in training": run.holdout,
        "letters": " ".join(f"{letter}={symbol}" for letter, symbol in codec.legend.items()),
    }
    return [
        Table(title, ["place", "token", "confidence %"], tokens, ["confidence %"]),
        Table("What the input allows", ["field", "value"], [[name, value] for name, value in facts.items() if value]),
    ]
