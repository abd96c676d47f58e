"""Table 1 and Appendix C as studies: measured once from what a store holds, kept as files, compared with the paper.

`hardgap baselines` measures the same for any run, method and size; the committed files are in results/baselines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.runs.results import write_text
from hardgap.runs.store import Store
from hardgap.studies.interpolation.published import PUBLISHED, TEMPORAL
from hardgap.studies.kept import kept_file
from hardgap.studies.measure import StudyResult
from hardgap.studies.published import Number, Published, Spread
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import parse_rule

SAMPLING = 2.2
"""Points by which 2,000 asked cells may be off, at the 5 % level."""
HERE = "hardgap.studies.interpolation.study"


@study("interpolation/levels", tables=f"{HERE}:computed_tables", prepare=f"{HERE}:measure_levels")
def levels(scale: Scale) -> Iterator[Arm]:
    """No method gets a hidden pattern of Rule 150 right before the network's layers; after them a forest does."""
    for level, methods in PUBLISHED.items():
        for method, (low, high) in methods.items():
            compute = partial(_holdout_range, _levels_file(scale), level, method)
            yield Arm({"level": level, "method": method}, (), Spread("Table 1", low, high), compute)


@study("interpolation/temporal", tables=f"{HERE}:computed_tables", prepare=f"{HERE}:measure_temporal", scaled=False)
def temporal(scale: Scale) -> Iterator[Arm]:
    """Given the network's own input and supervision, forests and neighbours still miss the hidden pattern."""
    for (pattern,), methods in TEMPORAL.items():
        for method, value in methods.items():
            compute = partial(_holdout, _temporal_file(pattern), method)
            yield Arm({"pattern": pattern, "method": method}, (), Number("Appendix C", value, SAMPLING), compute)


def _levels_file(scale: Scale) -> str:
    return f"rule-150-{scale}.json"


def _temporal_file(pattern: int) -> str:
    return f"temporal-150-{pattern}.json"


def measure_levels(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """The first six solved Rule 150 networks of the store; without any there is nothing to measure."""
    if is_late() or kept_file(kept, _levels_file(scale)) is not None:
        return
    from hardgap.studies.interpolation.measure import Setting, as_report, measure_runs, solved_runs

    try:
        tables = measure_runs(store, solved_runs(store, "150"), setting := Setting(), on_progress)
    except BadInput:  # no solved run, or none with its weights
        return
    _keep(kept / _levels_file(scale), as_report(tables, setting))


def measure_temporal(
    scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]
) -> None:
    from hardgap.studies.interpolation.temporal import temporal_report

    for (pattern,) in TEMPORAL:
        if not is_late() and kept_file(kept, _temporal_file(pattern)) is None:
            gap = Gap(parse_rule("150"), (pattern,))
            _keep(kept / _temporal_file(pattern), temporal_report(gap, on_progress=on_progress))


def _keep(path: Path, report: dict[str, Any]) -> None:
    write_text(path, json.dumps(report, indent=1) + "\n")


def _holdout_range(name: str, level: str, method: str, kept: Path) -> list[float] | None:
    report = kept_file(kept, name) or {"table": []}
    return next((line["holdout"].get(method) for line in report["table"] if line["level"] == level), None)


def _holdout(name: str, method: str, kept: Path) -> float | None:
    found = (kept_file(kept, name) or {"methods": {}})["methods"].get(method)
    return None if found is None else round(100 * found["holdout"], 1)


def computed_tables(results: Sequence[StudyResult]) -> list[Table]:
    """One table a study: published, measured, verdict."""
    return [_table(one) for one in results]


def _table(one: StudyResult) -> Table:
    labels = list(one.arms[0].labels)
    rows = [
        [*a.labels.values(), _printed(a.published), _shown(a.value), a.comparison.verdict, a.comparison.why]
        for a in one.arms
    ]
    right = ["published %", "measured %"]
    return Table(f"{one.name}: {one.study.claim}", [*labels, *right, "verdict", "why"], rows, right, detail=["why"])


def _printed(published: Published | None) -> str:
    found = published.as_dict() if published is not None else {}
    return _shown([found["low"], found["high"]] if "low" in found else found.get("value"))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return " to ".join(f"{end:g}" for end in dict.fromkeys(value)) if isinstance(value, list) else f"{value:g}"
