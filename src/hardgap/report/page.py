"""A self-contained HTML page: no scripts, no fonts, nothing fetched; light and dark, for a phone and for paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report import render
from hardgap.report.verdicts import Verdict, Word

LONG = 24
"""Tables of more rows are folded; on paper they are open."""
MARKS: dict[Word, tuple[str, str]] = {
    "reproduced": ("✓", "good"), "holds": ("✓", "good"), "differs": ("≠", "bad"),
    "does not hold as written": ("✗", "bad"), "inconclusive": ("?", "open"), "not run": ("○", "none"),
    "no test": ("–", "none"), "paper is silent": ("–", "none"),
}  # fmt: skip
"""A sign and a colour for each word; colours are told apart by anybody, and never stand alone."""
STYLE = """
:root { color-scheme: light dark; --text: #222; --dim: #595959; --page: #fff; --line: #ddd; --code: #f3f3f3;
  --marked: #fdecea; --good: #00674d; --good-back: #d9f0e8; --bad: #a33b00; --bad-back: #fde4d3; --open: #5c4a00;
  --open-back: #fbf0c4; --none: #595959; --none-back: #ececec; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e4e4; --dim: #a8a8a8; --page: #16181b; --line: #3a3d42;
  --code: #26292e; --marked: #4a2320; --good: #7fe0bf; --good-back: #10382c; --bad: #ffb38a; --bad-back: #4a2410;
  --open: #f3dd7d; --open-back: #3d3512; --none: #b5b5b5; --none-back: #2c2f34; } }
body { font: 17px/1.55 Georgia, serif; color: var(--text); background: var(--page); max-width: 46rem;
  margin: 3rem auto; padding: 0 1rem; overflow-wrap: break-word; }
body.wide { max-width: 62rem; }
h1 { font-size: 2rem; line-height: 1.2; margin-bottom: .3rem; } h2 { margin-top: 2.6rem; font-size: 1.3rem; }
a { color: inherit; } .lead { color: var(--dim); margin-top: 0; }
figure { margin: 1rem 0; padding: .6rem; background: #fff; border: 1px solid var(--line); border-radius: 6px; }
svg { width: 100%; height: auto; display: block; }
.scroll, figure { overflow-x: auto; } .scroll { margin: 1rem 0; } .scroll td { max-width: 24rem; }
table { border-collapse: collapse; font: 15px/1.4 system-ui, sans-serif; }
.scroll table { font-size: 14px; width: max-content; }
caption { text-align: left; color: var(--dim); padding-bottom: .3rem; }
th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { border-bottom: 2px solid var(--dim); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.marked { background: var(--marked); }
code { background: var(--code); padding: .1rem .3rem; border-radius: 3px; font-size: .88em; }
summary { cursor: pointer; color: var(--dim); font: 14px/1.6 system-ui, sans-serif; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--dim); font-size: .9rem; }
.badge { display: inline-block; font: 600 13px/1.35 system-ui, sans-serif; padding: .12rem .5rem; border-radius: 4px; }
.good { color: var(--good); background: var(--good-back); } .bad { color: var(--bad); background: var(--bad-back); }
.open { color: var(--open); background: var(--open-back); } .none { color: var(--none); background: var(--none-back); }
.dot { display: inline-block; width: 1.15rem; text-align: center; font: 600 12px/1.25rem system-ui, sans-serif;
  border-radius: 3px; margin: 0 2px 2px 0; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; list-style: none; }
.counts li { padding: .4rem .8rem; border-radius: 6px; font: 14px/1.3 system-ui, sans-serif; }
.counts b { font-size: 1.6rem; display: block; }
.matrix { width: 100%; } .matrix td:first-child { width: 42%; }
.matrix td:nth-child(2) { min-width: 7.5rem; } .matrix td:nth-child(3) { min-width: 11rem; }
.matrix td:nth-child(4) { min-width: 10rem; padding-right: 0; } .matrix a { text-decoration: none; }
.matrix a:hover, .matrix a:focus { text-decoration: underline; }
.matrix tr.group th { padding-top: 1.1rem; font-size: 15px; border-bottom: 1px solid var(--dim); }
.claim { margin: 1.4rem 0; padding-left: .9rem; border-left: 3px solid var(--line); } .claim p { margin: .25rem 0; }
.claim small { color: var(--dim); font: 14px/1.45 system-ui, sans-serif; }
@media (max-width: 640px) { body { margin: 1.2rem auto; font-size: 16px; } h1 { font-size: 1.6rem; }
  .matrix thead { display: none; } .matrix tr { padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .matrix tr, .matrix td, .matrix tr.group th { display: block; } .matrix td:first-child { width: auto; }
  .matrix td, .matrix tr.group th { border: 0; padding: 0; }
  .matrix td { margin: .2rem 0; } .matrix td:empty { display: none; } svg { min-width: 38rem; }
  .matrix td[data-name]::before { content: attr(data-name) ": "; color: var(--dim); } }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } .scroll { overflow: visible; }
  .scroll table { font-size: 7.5pt; width: auto; } .scroll td { max-width: none; }
  th, td { padding-right: .4rem; } td.number, th.number { white-space: normal; }
  figure, .claim, tr { break-inside: avoid; } h2 { break-after: avoid; }
  details::details-content { content-visibility: visible; height: auto; } summary { display: none; }
  .badge, .dot, .counts li { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


@dataclass
class Page:
    """Headings, paragraphs, tables and figures in the order they are added."""

    title: str
    lead: str
    parts: list[str] = field(default_factory=list)
    wide: bool = False

    def heading(self, text: str) -> None:
        self.parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """A paragraph; text between backticks is set as code."""
        self.parts.append(f"<p>{inline(text)}</p>")

    def figure(self, svg: str, description: str) -> None:
        """An SVG on a white card; its names are made its own, so that several can stand on one page."""
        start, own = svg.index("<svg"), f"f{len(self.parts)}-"
        body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{own}", svg[start:])
        self.parts.append(f'<figure role="img" tabindex="0" aria-label="{escape(description)}">{body}</figure>')

    def table(self, table: Table, marked: Sequence[int] = ()) -> None:
        """A table; rows whose index is in `marked` stand out. It scrolls where it is wide, and is folded where long."""
        focus = f'role="region" tabindex="0" aria-label="{escape(table.title)}"'  # so that a keyboard scrolls it
        shown = f'<div class="scroll" {focus}>{render.html(_notes_second(table), marked)}</div>'
        if len(table.rows) > LONG:
            shown = f"<details><summary>{escape(table.title)} ({len(table.rows)} rows)</summary>{shown}</details>"
        self.parts.append(shown)

    def html(self, footer: str) -> str:
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
            f"<body{' class=wide' if self.wide else ''}>"
            f'<h1>{escape(self.title)}</h1><p class="lead">{escape(self.lead)}</p>\n'
            + "\n".join(self.parts)
            + f"\n<footer>{escape(footer)}</footer></body></html>\n"
        )

    def write(self, path: Path, footer: str) -> None:
        try:
            path.write_text(self.html(footer), encoding="utf-8")
        except OSError as error:
            raise BadInput(f"cannot write {path}: {error.strerror}") from error


def _notes_second(table: Table) -> Table:
    """The words about each row beside its name, where they are seen without scrolling."""
    if not table.notes:
        return table
    flat = table.flat
    rows = [[row[0], row[-1], *row[1:-1]] for row in flat.rows]
    return replace(flat, columns=[flat.columns[0], "", *flat.columns[1:-1]], rows=rows)


def inline(text: str) -> str:
    """Text between backticks as code."""
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(escape(text).split("`")))


def badge(verdict: Verdict) -> str:
    """A verdict as a sign, a colour and its words."""
    sign, kind = MARKS[verdict.word]
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span> {escape(verdict.verdict)}</span>'


def dot(verdict: Verdict, about: str) -> str:
    """One of many verdicts as its sign; the words come up when it is pointed at."""
    sign, kind = MARKS[verdict.word]
    settles = f"; {verdict.settles}" if verdict.settles else ""
    said = escape(f"{about}: {verdict.verdict}{settles}".removeprefix(": "))
    return f'<span class="dot {kind}" title="{said}" role="img" aria-label="{said}">{sign}</span>'
