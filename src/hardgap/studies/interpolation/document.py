"""What docs/baselines.md shows of the temporal baseline, from the committed files and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from hardgap.core.table import Table
from hardgap.report.document import Content, markdown
from hardgap.studies.interpolation.published import TEMPORAL
from hardgap.studies.interpolation.study import EVERY_CELL, temporal
from hardgap.studies.ledger import read_claims
from hardgap.studies.numbers import span
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import parse_rule

BLOCKS = ("temporal",)


def content(results: Path) -> Content:
    (claim,) = read_claims(results, [temporal])
    verdicts = {(arm.labels["pattern"], arm.labels["method"]): arm.comparison.verdict for arm in claim.arms}
    reports = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("baselines/temporal-*.json"))
    ]
    return Content({"temporal": markdown([_table(reports, verdicts)])}, {})


def _table(reports: Iterable[dict[str, Any]], verdicts: Mapping[Any, str]) -> Table:
    """A row a pattern and method; a column a number of cells that were learned from."""
    found: dict[tuple[int, str, object], list[float]] = {}
    for report in reports:
        pattern = next(p for (p,) in TEMPORAL if report["about"] == Gap(parse_rule("150"), (p,)).describe())
        if report["setting"]["width"] == EVERY_CELL["width"] and report["setting"]["rows"] == EVERY_CELL["rows"]:
            for method, told in report["methods"].items():
                found.setdefault((pattern, method, report["setting"]["size"]), []).append(100 * told["holdout"])
    sizes = sorted({size for _, _, size in found if isinstance(size, int)})
    columns = [f"{size:,} cells" for size in sizes] + ["every cell"]
    rows = [
        [pattern, method, value, *(_told(found.get((pattern, method, size), [])) for size in (*sizes, "all")),
         verdicts[pattern, method]]
        for (pattern,), methods in TEMPORAL.items()
        for method, value in methods.items()
    ]  # fmt: skip
    right = ["published", *columns]
    title = "Right on hidden cells of t = 1, %: mean, and smallest to largest of the seeds"
    return Table(title, ["hidden", "method", *right, "verdict, from every cell"], rows, right)


def _told(values: list[float]) -> str:
    return "" if not values else f"{fmean(values):.1f}" + (f" [{span(values, '.1f')}]" if len(values) > 1 else "")
