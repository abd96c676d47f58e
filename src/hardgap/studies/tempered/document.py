"""The measured tables and the figures of docs/tempered.md, made from the committed results and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.parts import part
from hardgap.report.document import Content, Figures, markdown
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.studies.measure import StudyResult, judged, measure
from hardgap.studies.study import choose
from hardgap.studies.tempered.search import search_table
from hardgap.studies.tempered.words import tempered_words

SEARCH, WORDS, K_SWEEP = "search", "tempered-words", "k-sweep"
BLOCKS = (*(one.name.partition("/")[2] for one in choose(["tempered"])), SEARCH, WORDS, K_SWEEP)
"""The tables that a page may show, and README's sentences."""


def content(results: Path) -> Content:
    """All that pages may show, from the folder of measured runs."""
    found, sweep = read_measured(results), read_k_sweep(results)
    tables, figure = (part(str(path)) for path in (sweep[0].study.tables, sweep[0].study.figure))
    blocks = sections(found, results) | {K_SWEEP: markdown(tables(sweep))}
    return Content(blocks, figures(found) | {K_SWEEP: partial(figure, sweep)})


def read_k_sweep(results: Path) -> list[StudyResult]:
    """The paper's own budget beside the recipe's, which the page sets against `cliff`."""
    folder = results / K_SWEEP
    with TemporaryDirectory() as place:
        store = _taken_in(Path(place), [folder] if folder.is_dir() else [])
        return judged([measure(one, "desk", store) for one in choose([K_SWEEP])])


def read_measured(results: Path) -> dict[str, StudyResult]:
    """What every study measured, from exported runs; Rules 150, D and G at T = 1 are the main table's."""
    with TemporaryDirectory() as folder:
        store = _taken_in(Path(folder), [results / "tempered", results / "main"])
        found = [measure(one, "desk", store) for one in choose(["tempered"])]
    return {one.name.partition("/")[2]: one for one in found}


def sections(found: dict[str, StudyResult], results: Path) -> dict[str, str]:
    """The table of each study, and of the search before them, as Markdown."""
    with TemporaryDirectory() as folder:
        search = search_table(_taken_in(Path(folder), [results / "tempered" / "search"]))
    tables = {name: part(one.study.tables)([one]) for name, one in found.items()} | {SEARCH: [search]}
    return {name: markdown(several) for name, several in tables.items()} | {WORDS: tempered_words(found)}


def figures(found: dict[str, StudyResult]) -> Figures:
    """What the page may show."""
    return {
        f"tempered-{name}": partial(part(one.study.figure), [one]) for name, one in found.items() if one.study.figure
    }


def _taken_in(folder: Path, results: Iterable[Path]) -> Store:
    store = Store(folder)
    for one in results:
        import_runs(store, one)
    return store
