"""Recovery in stacks beside recovery one at a time: counts by gap, and Fisher's p."""

from __future__ import annotations

from pathlib import Path

from hardgap.runs.comparing import read_compared
from hardgap.studies.stacking import content, rates_table

RESULTS = Path(__file__).parents[2] / "results"


def test_a_row_a_gap_and_one_for_all() -> None:
    thirty = read_compared(RESULTS / "engines.json")  # its native half stands in for stacked runs
    table = rates_table(thirty, thirty)
    assert table.rows[0] == [
        "Rule 150, pattern 001 hidden, soft×4, width 11",
        "3 of 10",
        "3 of 10",
        "3 of 10",
        "1",
        "1",
    ]
    assert table.rows[-1] == ["all", "17 of 30", "15 of 30", "17 of 30", "0.8", "1"]
    assert [row[4] for row in table.rows] == ["1", "1", "0.63", "0.8"]


def test_what_is_not_measured_is_said(tmp_path: Path) -> None:
    assert "Not measured yet." in content(tmp_path).blocks["stacked"]
