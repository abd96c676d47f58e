"""Pages whose measured tables are written by a command, so that a page cannot say what was not measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from hardgap.errors import BadInput
from hardgap.report.circuits_tables import TextTable
from hardgap.report.figures import save_figure
from hardgap.runs.results import write_text

Figures = dict[str, Callable[[], Figure]]
"""What draws each figure that a page may show, by its name."""

BLOCK = re.compile(r"(<!-- measured: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read_page(page: Path) -> str:
    """The page's text, or one sentence why there is none."""
    try:
        return page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{page} cannot be read: {error}") from error


def write_page(page: Path, text: str, blocks: dict[str, str], figures: Figures) -> list[Path]:
    """Fill the page's blocks, and draw the figures that it shows as `figures/NAME.svg`; the files that were written."""
    filled, written = fill(text, blocks), []
    if filled != text:
        write_text(page, filled)
        written.append(page)
    for name, draw in figures.items():
        if (figure := f"figures/{name}.svg") in text:
            path = page.parent / figure
            path.parent.mkdir(exist_ok=True)
            save_figure(draw(), path)
            written.append(path)
    return written


def fill(text: str, found: dict[str, str]) -> str:
    """The text with each block between its marks replaced; a mark of an unknown block is refused."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in found:
            raise BadInput(f"there is no block {name!r}; there is {', '.join(found)}")
        return f"{match[1]}{found[name]}{match[3]}"

    filled, count = BLOCK.subn(block, text)
    if not count:
        raise BadInput("there is no mark `<!-- measured: … -->` with an `<!-- end -->` after it")
    return filled


def markdown(tables: Sequence[TextTable]) -> str:
    """Tables with their titles above them; nothing measured is said in words."""
    if not tables:
        return "\nNot measured yet.\n\n"
    return "\n" + "\n".join(_markdown(table) for table in tables) + "\n"


def _markdown(table: TextTable) -> str:
    rule = ["---:" if column in table.right else "---" for column in table.columns]
    lines: list[Sequence[object]] = [table.columns, rule, *table.rows]
    body = "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)
    return f"{_cell(table.title)}:\n\n{body}\n"


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|")
