"""The runs by which the tempered recipe was found (results/tempered/search): no study, a table of what was tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from hardgap.core.table import Table
from hardgap.runs.store import Store
from hardgap.runs.summary import Summary, summarise
from hardgap.worlds.automaton.regime import regime_in_words
from hardgap.worlds.automaton.run import AutomatonRun

Finished = tuple[AutomatonRun, Summary]


def search_table(store: Store) -> Table:
    """Every setting in the store with its gaps and how many runs recovered, the most tried first."""
    settings: dict[tuple[Any, ...], list[Finished]] = defaultdict(list)
    runs = {row.id: row.config for row in store.rows() if isinstance(row.config, AutomatonRun)}
    for run_id, curve in store.curves(runs).items():
        setting = (regime_in_words(runs[run_id].unrolling), runs[run_id].budget.steps)
        settings[setting].append((runs[run_id], summarise(curve)))
    rows: list[list[object]] = [
        [words, _gaps(run for run, _ in found), f"{steps:,}", _recovered(found)]
        for (words, steps), found in sorted(settings.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    rows.append(["all of them", "", "", _recovered(one for found in settings.values() for one in found)])
    right = ["at most, steps", "recovered"]
    title = "What was tried at first, seeds 0 to 2, without a restart"
    return Table(title, ["fed back", "rule: patterns", *right], rows, right)


def _gaps(runs: Iterable[AutomatonRun]) -> str:
    """The hidden patterns by rule: `150: 3, 7; D: 16 together`."""
    by_rule: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for run in runs:
        by_rule[run.rule].add(run.hide)
    in_order = sorted(by_rule.items(), key=lambda item: item[0].rjust(3))  # 30 before 106
    return "; ".join(f"{rule}: {_patterns(hidden)}" for rule, hidden in in_order)


def _patterns(hidden: set[tuple[int, ...]]) -> str:
    if len(hidden) == 8:
        return "all eight"
    return ", ".join(
        str(patterns[0]) if len(patterns) == 1 else f"{len(patterns)} together" for patterns in sorted(hidden)
    )


def _recovered(found: Iterable[Finished]) -> str:
    outcomes = [summary.success for _, summary in found]
    return f"{sum(outcomes)}/{len(outcomes)}"
