"""The measured parts of docs/atlas.md."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hardgap.report.document import Content, markdown
from hardgap.studies.atlas.cells import atlas_runs, cells_of, forecast_table, trained_in_results
from hardgap.studies.atlas.figure import draw_atlas
from hardgap.studies.atlas.forecast import every_rule
from hardgap.studies.atlas.missed import missed_table, missed_words
from hardgap.studies.atlas.opened import opened_table, opened_words
from hardgap.studies.atlas.study import missed, opened
from hardgap.studies.atlas.words import atlas_words
from hardgap.studies.ledger import kept_in
from hardgap.studies.measure import measure, taken_in

BLOCKS = ("atlas-words", "atlas-forecast", "atlas-missed-words", "atlas-missed", "atlas-opened-words", "atlas-opened")


def content(results: Path) -> Content:
    cells = cells_of(every_rule(), trained_in_results(results, atlas_runs()))
    with taken_in(results, only={run.id for run in missed.runs("desk")}) as store:
        again = measure(missed, "desk", store)
        inside = measure(opened, "desk", store, kept_in(results, opened))
    blocks = {
        "atlas-words": atlas_words(cells),
        "atlas-forecast": markdown([forecast_table(cells)]),
        "atlas-missed-words": missed_words(again),
        "atlas-missed": markdown([missed_table(again)]),
        "atlas-opened-words": opened_words(inside, again),
        "atlas-opened": markdown([opened_table(inside)]),
    }
    return Content(blocks, {"atlas": partial(draw_atlas, cells)})
