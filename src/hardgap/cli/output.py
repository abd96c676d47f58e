"""How commands speak: data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.box import HEAVY_HEAD
from rich.console import Console
from rich.text import Text

from hardgap.cli.tables import printable, table_lines
from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report.render import RENDERERS, Format


def flag(text: str, name: str | None = None) -> Parameter:
    """What is given or not: there is no --no-… of it."""
    return Parameter(name=name, negative="", help=text)


StoreFolder = Annotated[Path, Parameter(name="--store", env_var="HARDGAP_STORE", help="Folder that keeps the runs.")]
Engine = Annotated[
    Literal["auto", "native", "eager"] | None,
    Parameter(name="--engine", help="What computes; a run that has begun goes on with its own if not given, or auto."),
]
Stack = Annotated[
    int | None,
    Parameter(name="--stack", help="Train so many runs of one shape as one network, for a GPU; docs/stacking.md."),
]
Place = Annotated[
    str, Parameter(name="--on", help="Where to train: local, ray, ray://HOST:PORT or slurm (docs/scale.md).")
]
Json = Annotated[bool, flag("Print all data as JSON instead.", "--json")]
Trust = Annotated[bool, flag("Run the plug-ins that a stored run names: somebody's code.", "--trust")]
STORE = Path("hardgap-runs")
UNBROKEN = 100_000
"""How wide a line may get where no terminal shows it: nothing is broken in a pipe or a file."""
ENDLESS = re.compile(r"\S{500,}")


class _Out(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `main` ends quietly; rich would exit with 1


class _Err(Console):
    def on_broken_pipe(self) -> None:
        """Nobody reads what is said beside the data any more: the work goes on."""


def out() -> Console:
    """Where data goes. A pipe gets whole lines, so that nothing is cut."""
    return _Out(file=sys.stdout, width=None if sys.stdout.isatty() else UNBROKEN, highlight=False)


def err() -> Console:
    """Where progress and complaints go."""
    return _Err(file=sys.stderr, width=None if sys.stderr.isatty() else UNBROKEN, highlight=False)


def complain(sentence: str) -> None:
    """One clear sentence on stderr; a second part may show the place. Of what is endless, its beginning is shown."""
    print(f"hardgap: {ENDLESS.sub(lambda found: found[0][:60] + '…', sentence)}", file=sys.stderr)


def complain_in_between(sentence: str) -> None:
    """`complain` for a signal's answer, which may come in the middle of a `print` or of a line being drawn."""
    os.write(2, f"\nhardgap: {sentence}\n".encode())


def choose_engine(engine: str | None, stack: int | None = None, on: str = "local") -> None:
    """Take the engine that was asked for, here and in workers; refused if it is not there, or stacks nothing."""
    from hardgap.nn.native.engine import choose
    from hardgap.runs.stackable import check_stack

    choose(engine)
    try:
        check_stack(stack, on)
    except BadInput as error:
        raise error.about("--stack") from error


def show_written(asked: Path, written: Sequence[Path]) -> None:
    """Which files a command wrote, and whether the one that was asked for needed it."""
    if asked not in written:
        err().print(f"{asked} is up to date")
    for path in written:
        err().print(f"{path} written")


def show_json(data: Any) -> None:
    """Of a list, one line a row: quicker to write, to read and to search than one line a value."""
    if isinstance(data, list):
        print("[" + ",\n ".join(json.dumps(row, allow_nan=False) for row in data) + "]")
    else:
        print(json.dumps(data, indent=1, allow_nan=False))


@dataclass(frozen=True)
class Output:
    """How a command answers: the one way in which tables, and the data behind them, reach stdout."""

    json: Json = False
    format: Annotated[
        Format, Parameter(help="How tables are printed; json: their cells. Several tables are one as csv.")
    ] = "table"

    def __post_init__(self) -> None:
        if self.json and self.format != "table":
            raise BadInput(f"--json and --format {self.format}: choose one of them")

    @property
    def for_a_program(self) -> bool:
        """Whether something else than a terminal is meant, so that nothing is left out and nothing is added."""
        return self.json or self.format != "table"

    def show(self, data: Any, tables: Iterable[Table]) -> None:
        """The data as JSON, or the tables; those of a generator are only made if they are wanted."""
        if self.json:
            show_json(data)
        elif self.format == "table":
            for table in tables:
                show_table(table)
        else:
            print(RENDERERS[self.format](list(tables)), end="")

    def say(self, words: str) -> None:
        """Words around tables. They go to stderr where stdout is to hold tables alone; JSON has its own."""
        if not self.json:
            (err() if self.for_a_program else out()).print(words, markup=False)


Show = Annotated[Output, Parameter(name="*")]
TABLES = Output()


def show_table(table: Table) -> None:
    """A table on stdout.

    It is as wide as the terminal at most, and as wide as its content in a pipe. Columns of `detail` are left out
    first, from the last on, while the table is wider than that (its least width: what numbers, verdicts and words of
    the first column need, 24 characters for each column of words, 3 between two); then rows are stacked.
    """
    console = out()
    if table.title:
        console.print(Text(printable(table.title), "bold"))
    lines = table_lines(table, console.width, HEAVY_HEAD.substitute(console.options))
    for style, group in groupby(lines, key=itemgetter(1)):
        console.out("\n".join(line for line, _ in group), style=style or None, highlight=False)
