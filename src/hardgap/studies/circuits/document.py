"""What docs/circuits.md shows, from the committed files and nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hardgap.report.document import Content, markdown
from hardgap.studies.alternative_rule import alternative_rule, alternative_tables
from hardgap.studies.circuits.study import circuit_study_tables, circuits
from hardgap.studies.circuits.study_figure import circuit_study_figure
from hardgap.studies.ledger import read_claims

BLOCKS = ("circuits", "alternative-rule")


def content(results: Path) -> Content:
    claims = read_claims(results, [circuits, alternative_rule])
    desk = {one.name: [one] for one in claims if one.scale == "desk"}
    opened, failed = desk[circuits.name], desk[alternative_rule.name]
    tables = {"circuits": circuit_study_tables(opened), "alternative-rule": alternative_tables(failed)}
    blocks = {name: markdown(several) for name, several in tables.items()}
    return Content(blocks, {"circuits-study": partial(circuit_study_figure, opened)})
