"""The measured tables and the figures of docs/tempered.md, made from the committed results and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hardgap.studies  # noqa: F401  (declares the trials)
from hardgap.report.document import Figures, markdown
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.studies.tempered.figures import FIGURES, tempered_figure
from hardgap.studies.tempered.measure import measure_trial
from hardgap.studies.tempered.search import search_table
from hardgap.studies.tempered.tables import tempered_table
from hardgap.studies.trial import TRIALS

SEARCH = "search"
BLOCKS = (*TRIALS, SEARCH)
"""The tables that a page may show."""


def measured(results: Path) -> dict[str, dict[str, Any]]:
    """What every trial measured, from exported runs; Rules 150, D and G at T = 1 are the main table's."""
    with TemporaryDirectory() as folder:
        store = _taken_in(Path(folder), [results / "tempered", results / "main"])
        return {name: measure_trial(trial, "desk", store) for name, trial in TRIALS.items()}


def sections(found: dict[str, dict[str, Any]], results: Path) -> dict[str, str]:
    """The table of each trial, and of the search before them, as Markdown."""
    with TemporaryDirectory() as folder:
        search = search_table(_taken_in(Path(folder), [results / "tempered" / "search"]))
    tables = {name: tempered_table(data) for name, data in found.items()} | {SEARCH: search}
    return {name: markdown([table]) for name, table in tables.items()}


def figures(found: dict[str, dict[str, Any]]) -> Figures:
    """What the page may show."""
    return {f"tempered-{name}": partial(tempered_figure, found[name]) for name in FIGURES}


def _taken_in(folder: Path, results: Iterable[Path]) -> Store:
    store = Store(folder)
    for one in results:
        import_runs(store, one)
    return store
