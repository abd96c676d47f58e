"""How a run of the toy ended."""

from __future__ import annotations

from typing import Any

from hardgap.core.table import Table

from .run import ToyRun


def result_table(run: ToyRun, curve: list[dict[str, Any]]) -> Table:
    a, b = run.hide
    rows = [[f"{a} + {b}", (a + b) % run.modulus, curve[-1]["detail"]["answer"]]]
    return Table("The sum that was never shown", ["sum", "true", "answered"], rows, ["true", "answered"])
