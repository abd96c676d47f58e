"""The measured parts of docs/atlas.md."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hardgap.report.document import Content, markdown
from hardgap.studies.atlas_cells import (
    atlas_runs,
    atlas_words,
    cells_of,
    every_rule,
    forecast_table,
    trained_in_results,
)
from hardgap.studies.atlas_figure import draw_atlas

BLOCKS = ("atlas-words", "atlas-forecast")


def content(results: Path) -> Content:
    cells = cells_of(every_rule(), trained_in_results(results, atlas_runs()))
    blocks = {"atlas-words": atlas_words(cells), "atlas-forecast": markdown([forecast_table(cells)])}
    return Content(blocks, {"atlas": partial(draw_atlas, cells)})
