"""How commands speak: data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.box import HEAVY_HEAD
from rich.console import Console
from rich.text import Text

from hardgap.cli.tables import make_columns, printable, table_lines

if TYPE_CHECKING:
    from hardgap.core.table import Table

StoreFolder = Annotated[Path, Parameter(name="--store", env_var="HARDGAP_STORE", help="Folder that keeps the runs.")]
Engine = Annotated[
    Literal["auto", "native", "eager"] | None,
    Parameter(name="--engine", help="What computes; a run that has begun goes on with its own if not given."),
]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]
Trust = Annotated[
    bool, Parameter(name="--trust", negative="", help="Run the plug-ins that a stored run names: somebody's code.")
]
STORE = Path("hardgap-runs")
UNBROKEN = 100_000
"""How wide a line may get where no terminal shows it: nothing is broken in a pipe or a file."""
ENDLESS = re.compile(r"\S{500,}")


class _Out(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `main` ends quietly; rich would exit with 1


def out() -> Console:
    """Where data goes. A pipe gets whole lines, so that nothing is cut."""
    return _Out(file=sys.stdout, width=None if sys.stdout.isatty() else UNBROKEN, highlight=False)


def err() -> Console:
    """Where progress and complaints go."""
    return Console(file=sys.stderr, width=None if sys.stderr.isatty() else UNBROKEN, highlight=False)


def complain(sentence: str) -> None:
    """One clear sentence on stderr; a second part may show the place. Of what is endless, its beginning is shown."""
    print(f"hardgap: {ENDLESS.sub(lambda found: found[0][:60] + '…', sentence)}", file=sys.stderr)


def complain_in_between(sentence: str) -> None:
    """`complain` for a signal's answer, which may come in the middle of a `print` or of a line being drawn."""
    os.write(2, f"\nhardgap: {sentence}\n".encode())


def choose_engine(engine: str | None) -> None:
    """Take the engine that was asked for, here and in workers; refused if it is not there."""
    from hardgap.nn.native.engine import choose

    choose(engine)


def show_written(asked: Path, written: Sequence[Path]) -> None:
    """Which files a command wrote, and whether the one that was asked for needed it."""
    if asked not in written:
        err().print(f"{asked} is up to date")
    for path in written:
        err().print(f"{path} written")


def show_json(data: Any) -> None:
    print(json.dumps(data, indent=1, allow_nan=False))


def show_json_lines(rows: Sequence[Any]) -> None:
    """A JSON list with one line a row: quicker to write, to read and to search than one line a value."""
    print("[" + ",\n ".join(json.dumps(row, allow_nan=False) for row in rows) + "]")


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    right: Sequence[str] = (),
    detail: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> None:
    """A table on stdout; columns named in `right` are aligned as numbers, and `notes` are words below each row.

    It is as wide as the terminal at most, and as wide as its content in a pipe. Columns named in `detail` are left out
    first, from the last on, while the table is wider than that (its least width: what the first column, numbers and
    verdicts need, 24 characters for each column of words, 3 between two); if that is not enough, rows are stacked.
    """
    console = out()
    if title:
        console.print(Text(printable(title), "bold"))
    made = make_columns(columns, rows, right)
    lines = table_lines(made, console.width, HEAVY_HEAD.substitute(console.options), detail=detail, notes=notes)
    for style, group in groupby(lines, key=itemgetter(1)):
        console.out("\n".join(line for line, _ in group), style=style or None, highlight=False)


def show_text_table(table: Table) -> None:
    """A table that a report made."""
    show_table(table.title, table.columns, table.rows, table.right, table.detail, table.notes)


def percent(share: float | None) -> str:
    """A share as percent with one digit."""
    return "" if share is None else f"{100 * share:.1f}"


def duration(seconds: float) -> str:
    """A time that a person can read.

    >>> duration(42), duration(90), duration(5400)
    ('42 s', '1 min 30 s', '1 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
