"""The measured tables of docs/symbolic.md, made from the committed results and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.errors import BadInput
from hardgap.report.circuits_tables import TextTable
from hardgap.report.document import markdown
from hardgap.report.symbolic_coverage_tables import baselines_table, coverage_table, summary_table
from hardgap.report.symbolic_tables import analysis_tables
from hardgap.report.symbolic_verdict import measure_seeds, measures_table, paper_table, seeds_table, verdict_table
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.studies.study import Scale, choose
from hardgap.studies.symbolic_coverage import coverage_report, coverage_seeds, pair_results

SEEDS = 3


def sections(results: Path, scale: Scale) -> dict[str, str]:
    """Every block by its name, as Markdown."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        import_runs(store, results)
        measured = [measure_seeds(study, scale, store) for study in choose(["symbolic"])]
        pairs = pair_results(store, results / "baselines", scale, coverage_seeds(SEEDS))
    report = coverage_report(pairs, scale, "eval-holdout")
    tables = {
        "table": [paper_table(measured), paper_table(measured, "eval-seen"), paper_table(measured, "final")],
        "verdicts": [verdict_table(measured)],
        "seeds": [seeds_table(measured)],
        "measures": [measures_table(measured)],
        "coverage": [summary_table(report)],
        "pairs": [coverage_table(report)],
        "baselines": [baselines_table(report)],
        "analyses": _analyses(results / f"analyses-{scale}.json"),
    }
    return {name: markdown(found) for name, found in tables.items()}


def _analyses(path: Path) -> list[TextTable]:
    if not path.exists():
        return []
    try:
        return analysis_tables(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise BadInput(f"{path} is not what `hardgap symbolic analyse --json` prints: {error}") from error
