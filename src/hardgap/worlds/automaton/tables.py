"""How a run of Experiment 1 ended, as a table."""

from __future__ import annotations

from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.worlds.automaton.run import AutomatonRun


def result_table(run: AutomatonRun, curve: list[dict[str, Any]]) -> Table:
    """The accuracy of every pattern at the end."""
    gap, last = run.gap, curve[-1]
    first = next((point["step"] for point in curve if point["detail"].get("attempt")), None)
    again = "" if first is None else f", started again before step {first}"
    ended = f"visible {percent(last['visible'])} %, holdout {percent(last['holdout'])} %{again}"
    rows = [
        [p, gap.rule.pattern_text(p), int(gap.rule.table[p]), "hidden" if p in gap.hidden else "",
         percent(accuracy)]
        for p, accuracy in enumerate(last["detail"]["patterns"])
    ]  # fmt: skip
    columns = ["pattern", "neighbourhood", "true output", "in training", "accuracy %"]
    return Table(f"{run.describe()}: {ended}", columns, rows, right=["pattern", "true output", "accuracy %"])
