"""How a run of Experiment 2 ended, as a table."""

from __future__ import annotations

from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.selection import SELECTIONS, select_point

MEASURES = {"exact": "whole derivation", "pair": "operators", "f": "final value", "valid": "consistent derivation"}


def result_table(run: SymbolicRun, curve: list[dict[str, Any]]) -> Table:
    """What is right at each choice of checkpoint, on seen and on held-out chains."""
    rows = []
    for by in SELECTIONS:
        point = select_point(curve, by)
        for name, words in MEASURES.items():
            shares = [point["detail"][part].get(name) for part in ("seen", "holdout")]
            rows.append([by, point["step"], words, *map(percent, shares)])
    columns = ["checkpoint by", "step", "right", "seen %", "held out %"]
    return Table(run.describe(), columns, rows, right=["step", "seen %", "held out %"])
