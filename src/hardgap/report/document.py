"""Pages whose measured tables are written by a command, so that a page cannot say what was not measured."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from matplotlib.figure import Figure

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report import render
from hardgap.report.figures import save_figure
from hardgap.runs.results import write_text

Figures = dict[str, Callable[[], Figure]]
"""What draws each figure that a page may show, by its name."""


@dataclass(frozen=True)
class Content:
    """What pages may hold: blocks by name; figures, and files beside a page, for the pages that link to them."""

    blocks: dict[str, str]
    figures: Figures = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def __or__(self, other: Content) -> Content:
        return Content(self.blocks | other.blocks, self.figures | other.figures, self.files | other.files)


WIDTH, TOGETHER = 125, "\N{NO-BREAK SPACE}"
NOT_YET = "\nNot measured yet.\n\n"
BLOCK = re.compile(r"(<!-- measured: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read_page(page: Path, names: Iterable[str]) -> str:
    """The page's text, if it can be read and its marks are of blocks with these names."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{page} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{page} cannot be read: {error}") from error
    try:
        check_marks(text, names)
    except BadInput as error:
        raise BadInput(f"{page}: {error}") from error
    return text


def check_marks(text: str, names: Iterable[str]) -> None:
    """Refuse a text without any mark, or with one of an unknown block."""
    known, marked = list(names), marks(text)
    if not marked:
        raise BadInput("there is no mark `<!-- measured: … -->` with an `<!-- end -->` after it")
    for name in marked:
        if name not in known:
            raise BadInput(f"there is no block {name!r}; there is {', '.join(known)}")


def marks(text: str) -> list[str]:
    """The names of the blocks that a text marks, in order."""
    return [match["name"] for match in BLOCK.finditer(text)]


def write_page(page: Path, text: str, content: Content) -> list[Path]:
    """Fill the page's blocks; draw the figures and write the files that it links to. Which files were written."""
    wanted = {page: fill(text, content.blocks)}
    wanted |= {page.parent / name: written for name, written in content.files.items() if f"]({name})" in text}
    changed = [path for path, written in wanted.items() if _is_other(path, written)]
    for path in changed:
        write_text(path, wanted[path])
    return changed + [path for name, draw in content.figures.items() for path in _drawn(page, text, name, draw)]


def _is_other(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8") != text


def _drawn(page: Path, text: str, name: str, draw: Callable[[], Figure]) -> list[Path]:
    shown = re.search(rf"\]\(((?:[\w.-]+/)*figures/{name}\.svg)\)", text)
    if shown is None:
        return []
    path = page.parent / shown[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(draw(), path)
    return [path]


def fill(text: str, found: dict[str, str]) -> str:
    """The text with each block between its marks replaced; a mark of an unknown block is refused."""
    check_marks(text, found)
    return BLOCK.sub(lambda match: f"{match[1]}{found[match['name']]}{match[3]}", text)


def markdown(tables: Sequence[Table]) -> str:
    """Tables with their titles above them; a page says in its own words what a row claims."""
    if not tables:
        return NOT_YET
    return "\n" + "\n".join(render.markdown(replace(table, notes=())) for table in tables) + "\n"


def paragraph(text: str) -> str:
    """Sentences as a block, in lines as wide as the pages have them; no line begins with a percent sign."""
    kept = " ".join(text.split()).replace(" %", f"{TOGETHER}%")
    return "\n" + textwrap.fill(kept, WIDTH, break_on_hyphens=False).replace(TOGETHER, " ") + "\n\n"
