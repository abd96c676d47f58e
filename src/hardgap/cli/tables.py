"""Tables that can be read at any width.

Columns take the room they need while there is room. Where it is short, columns of words are broken over lines, but stay
`READABLE`; then columns of detail are left out, and what was left out is said; then rows are stacked, one field a line.
Numbers and verdicts are never broken in a table, words of the first column neither, and nothing is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from hardgap.core.table import Table

READABLE = 24
"""A column of words is not made narrower than this many characters."""
WHOLE = "verdict"
"""The column of this name is never broken."""
INDENT = 2

Line = tuple[str, str]
"""What is printed, and in which style."""


@dataclass(frozen=True)
class Column:
    """A name, a cell for each row; whether cells are numbers, may not be broken over lines, or only between words."""

    name: str
    cells: tuple[str, ...]
    right: bool
    whole: bool
    words: bool = False

    @cached_property
    def natural(self) -> int:
        """The width at which nothing is broken."""
        return max(_length(self.name), self._content)

    @cached_property
    def least(self) -> int:
        """The width below which it cannot be read."""
        unbroken = [*self.name.split(), *(word for cell in self.cells if self.words for word in cell.split())]
        words = max(map(_width, unbroken), default=0)
        return max(words, 1, self._content if self.whole else min(self._content, READABLE))

    @cached_property
    def _content(self) -> int:
        return max(map(_length, self.cells), default=0)


def columns_of(table: Table) -> list[Column]:
    """The columns of a table as text."""
    cells, right = [[printable(cell) for cell in row] for row in table.rows], table.right
    return [
        Column(name, tuple(row[place] for row in cells), name in right, name in right or name == WHOLE, place == 0)
        for place, name in enumerate(table.columns)
    ]


def table_lines(table: Table, width: int, box: Box) -> Iterator[Line]:
    """The table in at most `width` characters a line; notes stand below their rows, words over the whole width."""
    columns, detail, notes = columns_of(table), table.detail, table.notes
    for left_out in range(len(detail) + 1):
        dropped = detail[len(detail) - left_out :]
        shown = [column for column in columns if column.name not in dropped]
        if (widths := _fit(shown, width)) is not None:
            yield from _boxed(shown, widths, box, notes, width)
            if dropped:
                names = " · ".join(column.name for column in columns if column.name in dropped)
                said = f"Not shown at this width: {names}. A wider terminal, --json or --format shows all."
                yield from _plain(said, width, "dim")
            return
    yield from _stacked(columns, width, notes)


def printable(cell: object) -> str:
    """The cell's text without characters that would move a terminal's cursor."""
    text = "" if cell is None else str(cell)
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def _fit(columns: Sequence[Column], width: int) -> list[int] | None:
    """A width for each column: the narrow ones as they are, the wide ones all alike; None if there is no room."""
    room, best = width - 3 * len(columns) - 1, None
    for level in range(1, max(column.natural for column in columns) + 1):
        widths = [max(column.least, min(column.natural, level)) for column in columns]
        if sum(widths) > room:
            break
        best = widths
    return best


def _boxed(columns: Sequence[Column], widths: list[int], box: Box, notes: Sequence[str], width: int) -> Iterator[Line]:
    inside = sum(widths) + 3 * len(widths) - 3
    longest = min(INDENT + max(map(_length, notes), default=0), width - 4)
    if longest > inside:  # notes need more room than the rows: the last column takes what is left over
        widths, inside = [*widths[:-1], widths[-1] + longest - inside], longest
    padded = [each + 2 for each in widths]
    head, rule = (box.head_left, box.head_vertical, box.head_right), (box.mid_left, box.mid_vertical, box.mid_right)
    right = [column.right for column in columns]
    yield box.get_top(padded), ""
    yield from ((line, "bold") for line in _row([c.name for c in columns], widths, right, head))
    yield box.get_row(padded, "head"), ""
    for place, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        yield from ((line, "") for line in _row(cells, widths, right, rule))
        if notes:
            for part in _broken(notes[place], inside - INDENT):
                yield from ((line, "") for line in _row([" " * INDENT + part], [inside], [False], rule))
    yield box.get_bottom(padded), ""


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool], rule: tuple[str, str, str]) -> list[str]:
    """A row between vertical lines, as many lines high as its cells need."""
    first, between, last = rule
    columns = [_broken(cell, w) for cell, w in zip(cells, widths, strict=True)]
    return [
        f"{first} "
        + f" {between} ".join(_padded(part, w, r) for part, w, r in zip(parts, widths, right, strict=True))
        + f" {last}"
        for parts in zip_longest(*columns, fillvalue="")
    ]


def _stacked(columns: Sequence[Column], width: int, notes: Sequence[str]) -> Iterator[Line]:
    """Each row as its first cell, its note, and a line for every other cell that is not empty."""
    names = min(max((_length(column.name) for column in columns[1:]), default=0), width // 2)
    room = max(1, width - names - 2 * INDENT)
    for place, title in enumerate(columns[0].cells):
        yield from _plain(title, width, "bold")
        if notes:
            yield from _plain(notes[place], width, "", INDENT)
        for column in columns[1:]:
            if cell := column.cells[place]:
                for name, part in zip_longest(_broken(column.name, names), _broken(cell, room), fillvalue=""):
                    yield f"{' ' * INDENT}{_padded(name, names)}{' ' * INDENT}{part}".rstrip(), ""


def _plain(text: str, width: int, style: str, indent: int = 0) -> Iterator[Line]:
    return ((" " * indent + part, style) for part in _broken(text, width - indent))


def _broken(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, between words where that is possible."""
    if "\n" not in text and _width(text) <= width:
        return [text]
    return [line.plain.rstrip() for line in Text(text).wrap(_ANY, max(1, width))]


def _padded(text: str, width: int, right: bool = False) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _length(text: str) -> int:
    """Of the longest line."""
    return max(map(_width, text.split("\n")))


def _width(line: str) -> int:
    """How many places of a terminal it takes; most lines of a long table are plain."""
    return len(line) if line.isascii() else cell_len(line)


_ANY = Console()  # `Text.wrap` asks for one; how lines are broken does not depend on it
