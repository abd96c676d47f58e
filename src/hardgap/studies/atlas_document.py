"""The measured parts of docs/atlas.md."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hardgap.report.document import Content, markdown
from hardgap.studies.atlas import missed
from hardgap.studies.atlas_cells import (
    atlas_runs,
    atlas_words,
    cells_of,
    every_rule,
    forecast_table,
    trained_in_results,
)
from hardgap.studies.atlas_figure import draw_atlas
from hardgap.studies.atlas_missed import missed_table, missed_words
from hardgap.studies.measure import measure, taken_in

BLOCKS = ("atlas-words", "atlas-forecast", "atlas-missed-words", "atlas-missed")


def content(results: Path) -> Content:
    cells = cells_of(every_rule(), trained_in_results(results, atlas_runs()))
    with taken_in(results, only={run.id for run in missed.runs("desk")}) as store:
        again = measure(missed, "desk", store)
    blocks = {
        "atlas-words": atlas_words(cells),
        "atlas-forecast": markdown([forecast_table(cells)]),
        "atlas-missed-words": missed_words(again),
        "atlas-missed": markdown([missed_table(again)]),
    }
    return Content(blocks, {"atlas": partial(draw_atlas, cells)})
