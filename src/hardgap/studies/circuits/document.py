"""What docs/circuits.md shows, from the committed files and nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hardgap.report.document import Content, markdown
from hardgap.studies.circuits.study import circuit_study_tables, circuits
from hardgap.studies.circuits.study_figure import circuit_study_figure
from hardgap.studies.measure import judged, measure, taken_in

BLOCKS = ("circuits",)


def content(results: Path) -> Content:
    with taken_in() as store:
        found = judged([measure(circuits, "desk", store, results / circuits.folder)])
    tables = {"circuits": markdown(circuit_study_tables(found))}
    return Content(tables, {"circuits-study": partial(circuit_study_figure, found)})
