"""One table, several renderings: Markdown, HTML, CSV, LaTeX, plain data, a DataFrame. The terminal's is in `cli/`."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args

from hardgap.core.errors import BadInput
from hardgap.core.table import Table

if TYPE_CHECKING:
    import pandas

Format = Literal["table", "markdown", "html", "csv", "latex", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "→": r"$\to$", "±": r"$\pm$",
         "ρ": r"$\rho$", "×": r"$\times$", "²": r"\textsuperscript{2}", "≤": r"$\leq$", "≥": r"$\geq$", "…": r"\dots{}",
         "–": "--", **{mark: f"\\{mark}" for mark in "&%$#_{}"}}  # fmt: skip


def markdown(table: Table) -> str:
    """The title, and the table below it."""
    rule = ["---:" if column in table.right else "---" for column in table.columns]
    lines: list[Sequence[object]] = [table.columns, rule, *table.rows]
    body = "\n".join("| " + " | ".join(_bar(cell) for cell in line) + " |" for line in lines)
    return f"{_bar(table.title)}:\n\n{body}\n"


def html(table: Table, marked: Sequence[int] = ()) -> str:
    """A table element with its caption; rows whose index is in `marked` stand out."""
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
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([table.columns, *([text(c) for c in row] for row in table.rows)])
    return written.getvalue()


def latex(table: Table) -> str:
    """A booktabs table with its caption, to be put into a paper as it is."""
    alignment = "".join("r" if column in table.right else "l" for column in table.columns)
    head, *body = (" & ".join(_tex(cell) for cell in line) + r" \\" for line in (table.columns, *table.rows))
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_tex(table.title)}}}", f"\\begin{{tabular}}{{{alignment}}}",
             r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]  # fmt: skip
    return "\n".join(lines) + "\n"


RENDERERS: dict[Format, Callable[[Table], str]] = {
    "markdown": markdown,
    "html": html,
    "csv": comma_separated,
    "latex": latex,
}


def plain(table: Table) -> dict[str, Any]:
    """The title, and the rows as names and values."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows}


def frame(table: Table) -> pandas.DataFrame:
    """A pandas DataFrame, where pandas is installed."""
    return data_frame(table.rows, list(table.columns))


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


def _bar(cell: object) -> str:
    return text(cell).replace("|", "\\|").replace("\n", " ")


def _tex(cell: object) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text(cell))
