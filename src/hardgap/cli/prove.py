"""`hardgap prove`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hardgap.cli.output import Json, out, show_json, show_table
from hardgap.errors import BadInput

if TYPE_CHECKING:
    from hardgap.theory.statement import Statement
    from hardgap.theory.votes import PatternVotes


def prove(
    *,
    rule: Annotated[
        str | None, Parameter(help="Instead: which method is forced right or wrong, for each hidden pattern of a rule.")
    ] = None,
    weights: Annotated[
        Path | None, Parameter(help="Instead: the embedding statements on a trained encoder (.safetensors).")
    ] = None,
    json: Json = False,
) -> int:
    """Check every theorem, lemma and corollary of the paper exactly, and what goes beyond them.

    Each check exhausts its finite case: all hidden points, extreme rays instead of random weights, all subcubes
    instead of a few trees, exact rationals instead of floats. Sentences of the paper that do not hold as they
    are written are listed with their counterexample. Exit code 1 if any verdict differs from docs/theory.md.

    Try:

        hardgap prove
        hardgap prove --rule 30
        hardgap prove --weights run.safetensors --json
    """
    if rule is not None and weights is not None:
        raise BadInput("--rule and --weights ask for different things: give one of them")
    if rule is not None:
        return _votes(rule, json=json)
    found = []
    start = perf_counter()
    for statement in _of_weights(weights) if weights else _all():
        found.append(statement)
        if not json:
            _show(statement)
    if json:
        show_json([statement.as_json() for statement in found])
    else:
        out().print(_summary(found, perf_counter() - start))
    return int(any(statement.surprising for statement in found))


def _all() -> Iterator[Statement]:
    import torch

    from hardgap.theory.registry import prove_each

    torch.set_num_threads(1)
    return prove_each()


def _of_weights(path: Path) -> Iterator[Statement]:
    from hardgap.theory.embedding import corollary, embedding_of, proposition
    from hardgap.training.checkpoint import load_tensors

    encoder = embedding_of(load_tensors(path)[0])
    yield proposition(encoder, name=path.name)
    yield corollary(encoder, name=path.name)


STYLE = {"holds": "green", "fails": "bold red"}


def _show(statement: Statement) -> None:
    from rich.text import Text

    origin = "" if statement.published else " · beyond the paper"
    title = Text.assemble(
        (statement.name, "bold"), origin, ": ", (statement.verdict, STYLE.get(statement.verdict, "yellow"))
    )
    out().print(title)
    for line in (statement.claim, f"cases: {statement.cases}", statement.detail):
        out().print(Text(f"  {line}"), soft_wrap=False)


def _summary(found: list[Statement], seconds: float) -> str:
    counts = {name: sum(s.verdict == name for s in found) for name in dict.fromkeys(s.verdict for s in found)}
    told = " · ".join(f"{verdict} {count}" for verdict, count in counts.items())
    return f"\n{len(found)} statements in {seconds:.1f} s: {told}"


def _votes(rule: str, *, json: bool) -> int:
    from hardgap.automata.rule import parse_rule
    from hardgap.theory.votes import votes

    parsed = parse_rule(rule)
    rows = votes(parsed)
    if json:
        show_json({"rule": parsed.name, "patterns": [_as_dict(row) for row in rows]})
        return 0
    methods = list(rows[0].methods)
    show_table(
        f"Rule {parsed.name}: each pattern hidden in turn, all others visible. What must each method answer?",
        ["pattern", "", "output", *methods],
        [[row.pattern, row.text, row.output, *(row.methods[m].verdict for m in methods)] for row in rows],
        right=["pattern", "output"],
    )
    _explain(rows)
    return 0


def _explain(rows: list[PatternVotes]) -> None:
    hopeless = [row for row in rows if all(v.verdict in ("wrong", "never right") for v in row.methods.values())]
    which = f": {', '.join(str(row.pattern) for row in hopeless)}" if 0 < len(hopeless) < len(rows) else ""
    out().print(
        "right, wrong: every member of the family (every tie-break, weighting, width, noise, tree)."
        " never right, never wrong: some members tie. open: members disagree (--json names two)."
        f"\nNo method is right, ties apart, on {len(hopeless)} of {len(rows)} patterns{which}."
    )


def _as_dict(row: PatternVotes) -> dict[str, object]:
    methods = {name: {"verdict": v.verdict, "witness": v.witness} for name, v in row.methods.items()}
    return {"pattern": row.pattern, "cells": row.text, "output": row.output, "methods": methods}
