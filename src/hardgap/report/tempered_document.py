"""The measured tables and the figures of docs/tempered.md, made from the committed results and from nothing else.

python -m hardgap.report.tempered_document docs/tempered.md     # also draws the figures that it shows
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hardgap.studies  # noqa: F401  (declares the trials)
from hardgap.errors import BadInput
from hardgap.report.document import fill, markdown
from hardgap.report.figures import save_figure
from hardgap.report.tempered import measure_trial
from hardgap.report.tempered_figures import FIGURES, tempered_figure
from hardgap.report.tempered_tables import tempered_table
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.studies.trial import TRIALS

RESULTS = (Path("results/tempered"), Path("results/main"))
"""Rule 150, D and G at T = 1 are the main table's runs."""


def measured(folders: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """What every trial measured, from exported runs."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for results in folders:
            import_runs(store, results)
        return {name: measure_trial(trial, "desk", store) for name, trial in TRIALS.items()}


def sections(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The table of each trial as Markdown."""
    return {name: markdown([tempered_table(data)]) for name, data in found.items()}


def main(arguments: list[str]) -> None:
    """Write the page and its figures."""
    if len(arguments) != 1:
        raise BadInput("say which page: docs/tempered.md")
    page, found = Path(arguments[0]), measured(RESULTS)
    text = fill(page.read_text(encoding="utf-8"), sections(found))
    page.write_text(text, encoding="utf-8")
    for name in FIGURES:
        if (figure := f"figures/tempered-{name}.svg") in text:
            save_figure(tempered_figure(found[name]), page.parent / figure)


if __name__ == "__main__":
    main(sys.argv[1:])
