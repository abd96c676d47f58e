"""How commands speak: data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

StoreFolder = Annotated[Path, Parameter(name="--store", env_var="HARDGAP_STORE", help="Folder that keeps the runs.")]
Engine = Annotated[
    Literal["auto", "native", "eager"] | None,
    Parameter(name="--engine", help="What computes; a run that has begun goes on with its own if not given."),
]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]
STORE = Path("hardgap-runs")


class _Out(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `main` ends quietly; rich would exit with 1


def out() -> Console:
    """Where data goes. A pipe gets full-width lines, so that nothing is cut."""
    return _Out(file=sys.stdout, width=None if sys.stdout.isatty() else 200, highlight=False)


def err() -> Console:
    """Where progress and complaints go."""
    return Console(file=sys.stderr, width=None if sys.stderr.isatty() else 200, highlight=False)


def complain(sentence: str) -> None:
    """One clear sentence on stderr; a second part may show the place."""
    print(f"hardgap: {sentence}", file=sys.stderr)


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


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> None:
    """A table on stdout; columns named in `right` are aligned as numbers."""
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    for number, column in enumerate(columns):  # ids and numbers are never broken over lines
        kept = number == 0 or column in right
        table.add_column(column, justify="right" if column in right else "left", no_wrap=kept)
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))  # Text: brackets are not markup
    out().print(table)


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
