"""Does recovery depend on training in a stack? The same runs stacked, eager and native (`results/stacked.json`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardgap.core.table import Table
from hardgap.report.document import NOT_YET, Content, markdown
from hardgap.report.statistics import same_rate_p
from hardgap.runs.comparing import read_compared
from hardgap.runs.groups import without_seed

FILE, OTHERS = "stacked.json", "engines.json"
BLOCKS = ("stacked",)
Counts = dict[str, tuple[int, int]]


def content(results: Path) -> Content:
    stacked, others = read_compared(results / FILE), read_compared(results / OTHERS)
    return Content({"stacked": markdown([rates_table(stacked, others)]) if stacked else NOT_YET})


def rates_table(stacked: list[dict[str, Any]], others: list[dict[str, Any]]) -> Table:
    """A row a gap, and one for all: how many runs recovered, by what trained them, and Fisher's p."""
    ours, eager, native = _counts(stacked, "again"), _counts(others, "committed"), _counts(others, "again")
    rows = [
        [gap, *(f"{found[gap][0]} of {found[gap][1]}" for found in (ours, eager, native)),
         *(f"{same_rate_p(*ours[gap], *found[gap]):.2g}" for found in (eager, native))]
        for gap in ours
    ]  # fmt: skip
    columns = ["runs", "stacked", "eager", "native", "p against eager", "p against native"]
    return Table("Runs recovered, by what trained them", columns, rows, right=columns[1:])


def _counts(compared: list[dict[str, Any]], which: str) -> Counts:
    """Recovered and all runs of each gap, and of all gaps."""
    found: Counts = {}
    for one in compared:
        for gap in (without_seed(one["about"]), "all"):
            recovered, runs = found.pop(gap, (0, 0))
            found[gap] = recovered + one[which]["recovered"], runs + 1
    return found
