"""`hardgap prove`"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hardgap.cli.options import parse_gap
from hardgap.cli.output import TABLES, Output, Show, out
from hardgap.cli.progress import show_parts
from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.core.wording import plural

if TYPE_CHECKING:
    from hardgap.theory.statement import Statement
    from hardgap.theory.votes import PatternVotes


def prove(
    *,
    rule: Annotated[
        str | None, Parameter(help="Instead: which method is forced right or wrong, for each hidden pattern of a rule.")
    ] = None,
    hide: Annotated[
        str | None,
        Parameter(help="With --rule: all these patterns at once, by number or by all their cells: 3 or 011; 1,4,12."),
    ] = None,
    weights: Annotated[
        Path | None, Parameter(help="Instead: the embedding statements on a trained encoder (.safetensors).")
    ] = None,
    output: Show = TABLES,
) -> int:
    """Check the theorems, lemmas and corollaries of the paper, and what goes beyond them.

    Where a case is finite it is exhausted: all hidden points, extreme rays instead of random weights, all subcubes
    instead of a few trees, exact rationals instead of floats. What is said of any n is checked for n up to 12, the
    network of depth T on random rules, wide rows on random ones; `cases` says what each check covers. Sentences of the
    paper that do not hold as they are written are listed with their counterexample. Exit code 1 if any verdict
    differs from docs/theory.md.

    Try:

        hardgap prove
        hardgap prove --rule 30
        hardgap prove --rule 150 --hide 000,111
        hardgap prove --weights run.safetensors --json
    """
    if rule is not None and weights is not None:
        raise BadInput("--rule and --weights ask for different things: give one of them")
    if rule is not None:
        return _votes(rule, hide, output)
    if hide is not None:
        raise BadInput("--hide goes with --rule: the theorems name their own hidden points")
    start = perf_counter()
    found = _prove(weights, quiet=output.for_a_program)
    if output.for_a_program:
        output.show([statement.as_json() for statement in found], [_table(found)])
    output.say(_summary(found, perf_counter() - start))
    return int(any(statement.surprising for statement in found))


def _prove(weights: Path | None, *, quiet: bool) -> list[Statement]:
    """Every verdict, shown as it comes; where nobody sees that, the progress is told."""
    total, statements = _of_weights(weights) if weights else _all()
    if not quiet and sys.stdout.isatty():
        return [_show(statement) for statement in statements]
    found: list[Statement] = []
    with show_parts() as progress:
        for statement in statements:
            found.append(statement)
            progress(statement.name, len(found), total)
    return found if quiet else [_show(statement) for statement in found]


def _all() -> tuple[int, Iterator[Statement]]:
    import torch

    from hardgap.theory.registry import CHECKS, prove_each

    torch.set_num_threads(1)
    return len(CHECKS), prove_each()


def _of_weights(path: Path) -> tuple[int, Iterator[Statement]]:
    from hardgap.core.checkpoint import load_tensors
    from hardgap.theory.embedding import corollary, embedding_of, proposition

    encoder = embedding_of(load_tensors(path)[0])
    return 2, (check(encoder, name=path.name) for check in (proposition, corollary))


STYLE = {"holds": "green", "fails": "bold red"}


def _show(statement: Statement) -> Statement:
    from rich.text import Text

    origin = "" if statement.published else " · beyond the paper"
    title = Text.assemble(
        (statement.name, "bold"), origin, ": ", (statement.verdict, STYLE.get(statement.verdict, "yellow"))
    )
    out().print(title)
    for line in (statement.claim, f"cases: {statement.cases}", statement.detail):
        out().print(Text(f"  {line}"), soft_wrap=False)
    return statement


def _table(found: list[Statement]) -> Table:
    columns = ["statement", "of", "verdict", "claim", "cases", "detail"]
    origin = {True: "the paper", False: "ours"}
    rows = [[s.name, origin[s.published], s.verdict, s.claim, s.cases, s.detail] for s in found]
    return Table("Every statement, and what was checked of it", columns, rows)


def _summary(found: list[Statement], seconds: float) -> str:
    counts = {name: sum(s.verdict == name for s in found) for name in dict.fromkeys(s.verdict for s in found)}
    told = " · ".join(f"{verdict} {count}" for verdict, count in counts.items())
    return f"\n{plural(len(found), 'statement')} in {seconds:.1f} s: {told}"


def _votes(rule: str, hide: str | None, output: Output) -> int:
    from hardgap.theory.votes import votes, votes_of_set
    from hardgap.worlds.automaton.rule import parse_rule

    parsed = parse_rule(rule)
    gap = None if hide is None else parse_gap(rule, hide, None, 0)
    with show_parts() as progress:
        progress("every method on every hidden pattern", 0, 1)
        rows = votes_of_set(gap) if gap and len(gap.hidden) > 1 else votes(parsed)
    if gap and len(gap.hidden) == 1:
        rows = [rows[gap.hidden[0]]]
    hidden = {} if gap is None else {"hidden": list(gap.hidden)}
    methods = list(rows[0].methods)
    together = f"{plural(len(rows), 'pattern')} hidden at once" if gap else "each pattern hidden in turn"
    table = Table(
        f"Rule {parsed.name}: {together}, all others visible. What must each method answer?",
        ["pattern", "cells", "output", *methods],
        [[row.pattern, row.text, row.output, *(row.methods[m].verdict for m in methods)] for row in rows],
        right=["pattern", "output"],
    )
    output.show({"rule": parsed.name, **hidden, "patterns": [_as_dict(row) for row in rows]}, [table])
    output.say(_explain(rows))
    if gap and len(rows) > 1:
        output.say("GP and kernel ridge are settled for a single hidden pattern only (Theorem 4's spectrum).")
    return 0


def _explain(rows: list[PatternVotes]) -> str:
    hopeless = [row for row in rows if all(v.verdict in ("wrong", "never right") for v in row.methods.values())]
    which = f": {', '.join(str(row.pattern) for row in hopeless)}" if 0 < len(hopeless) < len(rows) else ""
    verdict = f"No method is right, ties apart, on {len(hopeless)} of {plural(len(rows), 'pattern')}{which}."
    if not hopeless:
        verdict = "For each of these patterns there is a method that is not forced to be wrong."
    return (
        "right, wrong: every member of the family (every tie-break, weighting, width, noise, tree)."
        f" never right, never wrong: some members tie. open: members disagree (--json names two).\n{verdict}"
    )


def _as_dict(row: PatternVotes) -> dict[str, object]:
    methods = {name: {"verdict": v.verdict, "witness": v.witness} for name, v in row.methods.items()}
    return {"pattern": row.pattern, "cells": row.text, "output": row.output, "methods": methods}
