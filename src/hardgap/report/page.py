"""A self-contained HTML page: no scripts, no fonts, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report import render

STYLE = """
body { font: 17px/1.55 Georgia, serif; color: #222; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 2rem; line-height: 1.2; margin-bottom: .3rem; } h2 { margin-top: 2.6rem; font-size: 1.3rem; }
.lead { color: #555; margin-top: 0; } svg { width: 100%; height: auto; margin: .5rem 0; }
table { border-collapse: collapse; font: 15px/1.4 system-ui, sans-serif; margin: 1rem 0; }
th, td { padding: .3rem .9rem; border-bottom: 1px solid #ddd; text-align: left; } th { border-bottom: 2px solid #888; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.marked { background: #fdecea; } code { background: #f3f3f3; padding: .1rem .3rem; border-radius: 3px; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid #ddd; color: #666; font-size: .9rem; }
"""


@dataclass
class Page:
    """Headings, paragraphs, tables and figures in the order they are added."""

    title: str
    lead: str
    parts: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        self.parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """A paragraph; text between backticks is set as code."""
        pieces = escape(text).split("`")
        self.parts.append("<p>" + "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces)) + "</p>")

    def figure(self, svg: str, description: str) -> None:
        start = svg.index("<svg")
        self.parts.append(f'<figure role="img" aria-label="{escape(description)}">{svg[start:]}</figure>')

    def table(self, table: Table, marked: Sequence[int] = ()) -> None:
        """A table; rows whose index is in `marked` stand out."""
        self.parts.append(render.html(table, marked))

    def html(self, footer: str) -> str:
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
            f'<h1>{escape(self.title)}</h1><p class="lead">{escape(self.lead)}</p>\n'
            + "\n".join(self.parts)
            + f"\n<footer>{escape(footer)}</footer></body></html>\n"
        )

    def write(self, path: Path, footer: str) -> None:
        try:
            path.write_text(self.html(footer), encoding="utf-8")
        except OSError as error:
            raise BadInput(f"cannot write {path}: {error.strerror}") from error
