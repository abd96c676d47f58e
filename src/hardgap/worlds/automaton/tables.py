"""How a run of Experiment 1 ended, as a table."""

from __future__ import annotations

from typing import Any

from hardgap.core.table import Table
from hardgap.worlds.automaton.run import AutomatonRun


def result_table(run: AutomatonRun, curve: list[dict[str, Any]]) -> Table:
    """The accuracy of every pattern at the end."""
    gap, last = run.gap, curve[-1]
    again = f", started again at step {run.budget.restart_at}" if last["detail"].get("attempt") else ""
    ended = f"visible {100 * last['visible']:.1f} %, holdout {100 * last['holdout']:.1f} %{again}"
    rows = [
        [p, gap.rule.pattern_text(p), int(gap.rule.table[p]), "hidden" if p in gap.hidden else "",
         "" if accuracy is None else f"{100 * accuracy:.1f}"]
        for p, accuracy in enumerate(last["detail"]["patterns"])
    ]  # fmt: skip
    columns = ["pattern", "neighbourhood", "true output", "in training", "accuracy %"]
    return Table(f"{run.describe()}: {ended}", columns, rows, right=["pattern", "true output", "accuracy %"])
