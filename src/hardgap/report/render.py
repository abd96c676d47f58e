"""One table, several renderings: Markdown, HTML, CSV, LaTeX, plain data, a DataFrame. The terminal's is in `cli/`.

Notes below rows are a last column in each.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args

from hardgap.core.errors import BadInput
from hardgap.core.table import Table

if TYPE_CHECKING:
    import pandas

Format = Literal["table", "markdown", "html", "csv", "latex", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
MATHS = {"→": "to", "±": "pm", "×": "times", "·": "cdot", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx",
         "∧": "wedge", "√": "surd", "∫": "int", "α": "alpha", "β": "beta", "γ": "gamma", "ε": "epsilon", "θ": "theta",
         "λ": "lambda", "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "χ": "chi", "Δ": "Delta", "Π": "Pi",
         "Σ": "Sigma", "Φ": "Phi"}  # fmt: skip
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}",
         "<": r"\textless{}", ">": r"\textgreater{}", "²": r"\textsuperscript{2}", "ⁿ": r"\textsuperscript{n}",
         "…": r"\dots{}", "–": "--", "−": "$-$", **{mark: f"\\{mark}" for mark in "&%$#_{}"},
         **{mark: f"$\\{name}$" for mark, name in MATHS.items()}}  # fmt: skip


def markdown(table: Table) -> str:
    """The title, and the table below it."""
    table = table.flat
    rule = ["---:" if column in table.right else "---" for column in table.columns]
    lines: list[Sequence[object]] = [table.columns, rule, *table.rows]
    body = "\n".join("| " + " | ".join(_bar(cell) for cell in line) + " |" for line in lines)
    return (f"{_bar(table.title)}:\n\n" if table.title else "") + f"{body}\n"


def html(table: Table, marked: Sequence[int] = ()) -> str:
    """A table element with its caption; rows whose index is in `marked` stand out."""
    table = table.flat
    numbers = ["" if column not in table.right else ' class="number"' for column in table.columns]
    head = "".join(f"<th{kind}>{escape(column)}</th>" for column, kind in zip(table.columns, numbers, strict=True))
    body = "".join(
        f"<tr{' class=marked' if place in marked else ''}>"
        + "".join(f"<td{kind}>{escape(text(cell))}</td>" for cell, kind in zip(row, numbers, strict=True))
        + "</tr>"
        for place, row in enumerate(table.rows)
    )
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"


def comma_separated(table: Table) -> str:
    """RFC 4180, the columns' names first; the title is left out, as no reader of CSV expects one."""
    written, flat = io.StringIO(), table.flat
    csv.writer(written, lineterminator="\n").writerows([flat.columns, *([text(c) for c in row] for row in flat.rows)])
    return written.getvalue()


def latex(table: Table) -> str:
    """A booktabs table with its caption, to be put into a paper as it is."""
    table = table.flat
    alignment = "".join("r" if column in table.right else "l" for column in table.columns)
    head, *body = (" & ".join(_tex(cell) for cell in line) + r" \\" for line in (table.columns, *table.rows))
    caption = [f"\\caption{{{_tex(table.title)}}}"] if table.title else []
    lines = [r"\begin{table}", r"\centering", *caption, f"\\begin{{tabular}}{{{alignment}}}", r"\toprule", head,
             r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]  # fmt: skip
    return "\n".join(lines) + "\n"


def plain(table: Table) -> dict[str, Any]:
    """The title, and the rows as names and values that JSON can hold."""
    flat = table.flat
    return {"title": flat.title, "rows": [dict(zip(flat.columns, map(_value, row), strict=True)) for row in flat.rows]}


def joined(tables: Sequence[Table]) -> Table:
    """Several tables as one: the first column names the table, and each fills the columns that it has."""
    if len(tables) == 1:
        return tables[0]
    columns = list(dict.fromkeys(column for table in tables for column in table.flat.columns))
    rows = [[table.title, *map(row.get, columns)] for table in tables for row in plain(table)["rows"]]
    return Table("", ["table", *columns], rows)


RENDERERS: dict[Format, Callable[[Sequence[Table]], str]] = {
    "markdown": lambda tables: "\n".join(map(markdown, tables)),
    "html": lambda tables: "".join(map(html, tables)),
    "csv": lambda tables: comma_separated(joined(tables)),
    "latex": lambda tables: "\n".join(map(latex, tables)),
    "json": lambda tables: json.dumps([plain(table) for table in tables], indent=1, allow_nan=False) + "\n",
}
"""Any number of tables as one text; in CSV, which holds one table, they are joined."""


def frame(table: Table) -> pandas.DataFrame:
    """A pandas DataFrame, where pandas is installed."""
    return data_frame(table.flat.rows, list(table.flat.columns))


def data_frame(rows: Sequence[Any], columns: list[str] | None = None) -> pandas.DataFrame:
    """Rows as a DataFrame, or one sentence how to have one."""
    try:
        import pandas
    except ImportError:
        raise BadInput("a DataFrame needs pandas: pip install 'hardgap[pandas]'") from None
    return pandas.DataFrame(rows, columns=columns)


class Shown(Table):
    """A table as notebooks and Python show it: `print` gives Markdown, a notebook HTML, `frame` a DataFrame.

    >>> print(Shown.of(Table("Powers", ["n", "n²"], [[2, 4]])).csv())
    n,n²
    2,4
    <BLANKLINE>
    """

    @classmethod
    def of(cls, table: Table) -> Shown:
        return cls(**vars(table))

    def __repr__(self) -> str:
        return markdown(self)

    def _repr_html_(self) -> str:
        return html(self)

    def frame(self) -> pandas.DataFrame:
        return frame(self)

    def csv(self) -> str:
        return comma_separated(self)

    def latex(self) -> str:
        return latex(self)


def text(cell: object) -> str:
    """What a cell shows."""
    return "" if cell is None else str(cell)


def _value(cell: object) -> object:
    """A cell as JSON has it: a number is one, whichever library made it."""
    cell = cell.item() if hasattr(cell, "item") else cell
    return cell if isinstance(cell, int | float | str | list | dict | None) else str(cell)


def _bar(cell: object) -> str:
    return text(cell).replace("|", "\\|").replace("\n", " ")


def _tex(cell: object) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text(cell))
