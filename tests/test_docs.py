"""Every link, path and module that the documentation names is there."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "hardgap"
MADE = {"generated", "_build"}
"""Folders of the site that are written by `make docs`."""
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "results" / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if not MADE & {*path.parts}),
    *sorted((ROOT / "docs" / "notebooks").glob("*.py")),
    *sorted(path for path in (ROOT / "examples").iterdir() if path.is_file()),
]
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
PLACE = re.compile(r"(?<![\w./*-])(?:[\w.*-]+/)*[\w*-]+\.(?:py|md|toml|svg|png|csv)(?![\w/-])")
ADDRESS = re.compile(r"https://[\w.-]+\.[a-z]+(?:/[^\s<>\"]*)?")  # by its form: nothing is fetched
WRITTEN = re.compile(r"<!-- file: (\S+) -->")  # a page's reader writes it (tests/test_blocks.py)
MODULE = re.compile(r"\bhardgap(?:\.[A-Za-z_]\w*)+")
FOLDERS = ("docs/", "examples/", "results/")


def missing(text: str, page: Path) -> list[str]:
    """What a text names and is not there."""
    named = [m["target"] for m in LINK.finditer(text)]
    links = [target for target in named if ":" not in target]
    elsewhere = [target for target in named if ":" in target]
    prose = LINK.sub("]", text)
    made = WRITTEN.findall(text)
    places = [found[0] for found in PLACE.finditer(prose) if found[0].endswith(".py") or found[0].startswith(FOLDERS)]
    modules = [found[0] for found in MODULE.finditer(prose)]
    return [
        *(f"link {link}" for link in links if not _linked(link, page)),
        *(f"address {link}" for link in elsewhere if not ADDRESS.fullmatch(link)),
        *(f"path {place}" for place in places if place not in made and not _placed(place)),
        *(f"module {name}" for name in modules if not _named(name)),
    ]


def _linked(link: str, page: Path) -> bool:
    """Whether the file is there, and has a heading of that name."""
    place, _, heading = link.partition("#")
    target = page.parent / place if place else page
    if not heading:
        return target.exists()
    return target.exists() and heading in [_anchor(line) for line in target.read_text().splitlines()]


def _anchor(line: str) -> str:
    """A heading as GitHub names it."""
    return re.sub(r"[^\w -]", "", line.lstrip("#").strip().lower()).replace(" ", "-") if line.startswith("#") else ""


def _placed(place: str) -> bool:
    """Whether it is there: from the root, from the package as the glossary has it, or anywhere in it if only named."""
    anywhere = [*PACKAGE.rglob(place), *(ROOT / "docs").rglob(place)] if "/" not in place else []
    return any([*ROOT.glob(place), *PACKAGE.glob(place), *anywhere])


def _named(name: str) -> bool:
    """Whether it is a module, or a name that a module has."""
    module, _, attribute = name.rpartition(".")
    if _found(name):
        return True
    return (origin := _found(module)) is not None and re.search(rf"\b{attribute}\b", origin.read_text()) is not None


def _found(module: str) -> Path | None:
    """The file of a module."""
    try:
        found = find_spec(module)
    except ModuleNotFoundError:  # what is asked for a submodule is no package
        return None
    return None if found is None else Path(str(found.origin))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    assert missing(page.read_text(), page) == []


def test_a_stranger_reads_readme_to_its_end() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[x](docs/nowhere.md)", ["link docs/nowhere.md"]),
        ("[x](docs/fidelity.md#no-such-heading)", ["link docs/fidelity.md#no-such-heading"]),
        ("[x](docs/fidelity.md#the-desk-scale), [y](https://example.org/z)", []),
        ("[y](http:/example/z), [z](https://example)", ["address http:/example/z", "address https://example"]),
        ("`worlds/automaton/rule.py`, `studies/symbolic/*.py` and `tests/conftest.py`", []),
        ("`gap.py` was `worlds/gap.py`, `results/no.csv`", ["path worlds/gap.py", "path results/no.csv"]),
        (
            "`tests/test_nothing.py`; `report/symbolic_*.py`",
            ["path tests/test_nothing.py", "path report/symbolic_*.py"],
        ),
        ("`hardgap.runs.store.Store`, `hardgap.core.errors`", []),
        (
            "`hardgap.runs.config`, hardgap.runs.store.Shop",
            ["module hardgap.runs.config", "module hardgap.runs.store.Shop"],
        ),
    ],
)
def test_what_is_not_there_is_found(text: str, found: list[str]) -> None:
    assert missing(text, ROOT / "README.md") == found
