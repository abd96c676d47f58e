"""The measured tables and figures of docs/symbolic.md and docs/coverage.md, from the committed results alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report.document import Content, Figures, markdown
from hardgap.studies.ledger import read_claims
from hardgap.studies.measure import StudyResult
from hardgap.studies.study import choose
from hardgap.studies.symbolic.baselines_study import baseline_tables
from hardgap.studies.symbolic.bounds import bound_tables
from hardgap.studies.symbolic.cells import ambiguity_table, measures_table, paper_table, seeds_table, verdict_table
from hardgap.studies.symbolic.coverage_figure import coverage_figure, symbolic_table_figure
from hardgap.studies.symbolic.coverage_tables import coverage_tables
from hardgap.studies.symbolic.figures import FIGURES
from hardgap.studies.symbolic.table import CELLS
from hardgap.studies.symbolic.tables import analysis_tables
from hardgap.studies.symbolic.words import symbolic_words


@dataclass(frozen=True)
class SymbolicResults:
    """All that was measured of Experiment 2 at desk scale."""

    cells: list[StudyResult]  # of the paper's table
    weaker: list[StudyResult]  # its familiar ones with the weaker filter
    coverage: StudyResult  # every pair held out in turn
    baselines: StudyResult  # what similarity makes of them
    bounds: StudyResult  # what the best reader could score
    analyses: dict[str, Any]  # `hardgap symbolic analyse --json`, or a report without runs


def content(results: Path) -> Content:
    """All that pages may show, from the folder of measured runs."""
    measured = read_measured(results)
    return Content(sections(measured), figures(measured))


def read_measured(results: Path) -> SymbolicResults:
    """What the folder holds: runs, `symbolic/baselines/`, `symbolic/analyses-desk.json`."""
    claims = read_claims(results, choose(["symbolic", "ambiguity", "bounds"]))
    found = {one.name: one for one in claims if one.scale == "desk"}
    shown = [one for one in found.values() if one.study.tables == CELLS]
    cells, weaker = ([one for one in shown if one.study.ours == ours] for ours in (False, True))
    analyses = _read_analyses(results / "symbolic" / "analyses-desk.json")
    coverage, baselines, bounds = (found[name] for name in ("symbolic/coverage", "symbolic/baselines", "bounds"))
    return SymbolicResults(cells, weaker, coverage, baselines, bounds, analyses)


def _read_analyses(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"runs": []}
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        analysis_tables(report["runs"])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise BadInput(f"{path} is not what `hardgap symbolic analyse --json` prints: {error}") from error
    found: dict[str, Any] = report
    return found


def sections(measured: SymbolicResults) -> dict[str, str]:
    """Every block by its name, as Markdown."""
    words = {WORDS: symbolic_words(measured.cells, measured.weaker, measured.coverage)}
    return {name: markdown(make(measured)) for name, make in TABLES.items()} | words


def _one_a_pair(opened: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first network of each pair and condition, as the paper has it; the ledger has them all."""
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for run in opened:
        first.setdefault((run["holdout"], run["condition"]), run)
    return list(first.values())


def _tested(result: StudyResult) -> StudyResult:
    """Without the numbers that our data leave no choice about; the report has them too."""
    return replace(result, arms=tuple(arm for arm in result.arms if arm.comparison.word != "no test"))


TABLES: dict[str, Callable[[SymbolicResults], list[Table]]] = {
    "table": lambda measured: [paper_table(measured.cells, by) for by in ("eval-holdout", "eval-seen", "final")],
    "verdicts": lambda measured: [verdict_table(measured.cells)],
    "ambiguity": lambda measured: [ambiguity_table(measured.cells, measured.weaker)],
    "seeds": lambda measured: [seeds_table(measured.cells)],
    "measures": lambda measured: [measures_table(measured.cells)],
    "pairs": lambda measured: coverage_tables([measured.coverage])[:1],
    "baselines": lambda measured: coverage_tables([measured.coverage])[1:2],
    "coverage": lambda measured: coverage_tables([measured.coverage])[2:],
    "baseline-verdicts": lambda measured: baseline_tables([_tested(measured.baselines)]),
    "bounds": lambda measured: bound_tables([measured.bounds]),
    "analyses": lambda measured: analysis_tables(_one_a_pair(measured.analyses["runs"]), on_page=True),
}
WORDS = "symbolic-words"
BLOCKS = (*TABLES, WORDS)
"""The tables that a page may show, and README's sentences."""


def figures(measured: SymbolicResults) -> Figures:
    """What the page may show; analyses of the first network."""
    makers: Figures = {
        "symbolic-table": lambda: symbolic_table_figure(measured.cells),
        "symbolic-coverage": lambda: coverage_figure([measured.coverage]),
    }
    for run in measured.analyses["runs"][:1]:
        makers |= {f"symbolic-{name}": partial(draw, run) for name, draw in FIGURES.items() if name in run["analyses"]}
    return makers
