"""Pages whose measured tables are written by a command, so that a page cannot say what was not measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report import render
from hardgap.report.figures import save_figure
from hardgap.runs.results import write_text

Figures = dict[str, Callable[[], Figure]]
"""What draws each figure that a page may show, by its name."""

BLOCK = re.compile(r"(<!-- measured: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read_page(page: Path, names: Iterable[str]) -> str:
    """The page's text, if it can be read and its marks are of blocks with these names."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{page} cannot be read: {error}") from error
    check_marks(text, names)
    return text


def check_marks(text: str, names: Iterable[str]) -> None:
    """Refuse a text without any mark, or with one of an unknown block."""
    known, marked = list(names), [match["name"] for match in BLOCK.finditer(text)]
    if not marked:
        raise BadInput("there is no mark `<!-- measured: … -->` with an `<!-- end -->` after it")
    for name in marked:
        if name not in known:
            raise BadInput(f"there is no block {name!r}; there is {', '.join(known)}")


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
    check_marks(text, found)
    return BLOCK.sub(lambda match: f"{match[1]}{found[match['name']]}{match[3]}", text)


def markdown(tables: Sequence[Table]) -> str:
    """Tables with their titles above them; a page says in its own words what a row claims."""
    if not tables:
        return "\nNot measured yet.\n\n"
    return "\n" + "\n".join(render.markdown(replace(table, notes=())) for table in tables) + "\n"
