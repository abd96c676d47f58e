"""Tidy tables as files: CSV, Parquet, LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.core.wording import as_text
from hardgap.report import render
from hardgap.runs.results import write_text

Kind = Literal["csv", "parquet", "latex"]
Rows = Sequence[dict[str, Any]]
ENDINGS: dict[Kind, str] = {"csv": "csv", "parquet": "parquet", "latex": "tex"}


def check_kind(kind: Kind) -> None:
    """Refuse a kind whose package is not here, with the command that installs it."""
    if kind == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise BadInput("Parquet needs pyarrow: pip install 'hardgap[parquet]'") from None


def write_rows(kind: Kind, name: str, rows: Rows, folder: Path) -> Path:
    """Write FOLDER/NAME.csv, .parquet or .tex; rows of several worlds have nothing where a field is not theirs."""
    path = folder / f"{name}.{ENDINGS[kind]}"
    columns = list(dict.fromkeys(column for row in rows for column in row))
    WRITERS[kind](path, columns, rows)
    return path


def _csv(path: Path, columns: list[str], rows: Rows) -> None:
    write_text(path, render.comma_separated(_table("", columns, rows)))


def _latex(path: Path, columns: list[str], rows: Rows) -> None:
    """What is the same in every row would only take room: it is said in the caption."""
    told = {column: _cell(rows[0].get(column)) for column in columns} if rows else {}
    same = {c: said for c, said in told.items() if len(rows) > 1 and all(_cell(row.get(c)) == said for row in rows)}
    caption = "; ".join(f"{column} {said}" for column, said in same.items() if said not in (None, ""))
    write_text(path, render.latex(_table(caption, [column for column in columns if column not in same], rows)))


def _parquet(path: Path, columns: list[str], rows: Rows) -> None:
    import pyarrow
    import pyarrow.parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    table = pyarrow.table({column: _arrow([row.get(column) for row in rows]) for column in columns})
    partial = path.with_name(f".{path.name}.part")
    pyarrow.parquet.write_table(table, partial)
    partial.replace(path)


def _arrow(values: list[Any]) -> Any:
    """A column; one that holds values of several kinds, as arguments of networks may, is text."""
    import pyarrow

    try:
        return pyarrow.array(values)
    except (pyarrow.ArrowException, OverflowError):
        return pyarrow.array([None if value is None else as_text(value) for value in values])


def _table(title: str, columns: list[str], rows: Rows) -> Table:
    numbers = [c for c in columns if all(isinstance(row.get(c), int | float | None) for row in rows)]
    return Table(title, columns, [[_cell(row.get(column)) for column in columns] for row in rows], numbers)


def _cell(value: Any) -> object:
    return as_text(value) if isinstance(value, list | bool) else value


WRITERS: dict[Kind, Callable[[Path, list[str], Rows], None]] = {"csv": _csv, "parquet": _parquet, "latex": _latex}
