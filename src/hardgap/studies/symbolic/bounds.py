"""Ours: what the best possible reader scores in Experiment 2, by how its examples are filtered and how it is judged.

The paper says neither how it treats examples that fit several pairs nor what counts as right. What no reader could
reach tells which of the possibilities it cannot have used. Computed, not trained: a minute or two, kept as one file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.runs.results import write_text
from hardgap.runs.store import Store
from hardgap.studies.measure import StudyResult
from hardgap.studies.study import Arm, study
from hardgap.studies.symbolic.published import COVERAGE, LENS, NETWORK
from hardgap.worlds.chains.bounds import also_fitted, best_pair, best_second, best_value, every_result, filters
from hardgap.worlds.chains.chains import Arithmetic

FILE = "bounds.json"


@study("bounds", tables="hardgap.studies.symbolic.bounds:bound_tables", ours=True, folder="symbolic/baselines",
       prepare="hardgap.studies.symbolic.bounds:compute_first")  # fmt: skip
def bounds(scale: Scale) -> Iterator[Arm]:
    """Filters that look at one operator at a time keep any reader below the paper's 88 to 94 % of seen pairs."""
    yield Arm({"of": "filters"}, compute=partial(_kept, "filters"))
    yield Arm({"of": "f"}, compute=partial(_kept, "f"))
    yield Arm({"of": "any pair that fits"}, compute=partial(_kept, "also fitted"))


def compute_first(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """Write the file if it is not there."""
    if any(arm.compute and arm.compute(kept) is None for arm in bounds.arms(scale)) and not is_late():
        found = {"kind": "symbolic-bounds", "about": bounds.claim} | computed(Arithmetic(), on_progress)
        write_text(kept / FILE, json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def computed(arithmetic: Arithmetic, on_progress: Progress) -> dict[str, Any]:
    """Every bound as a share."""
    d = every_result(arithmetic)
    by_filter = {}
    for done, (name, kept) in enumerate(named := filters(arithmetic, d).items()):
        on_progress(f"best reader, filter: {name}", done, len(named))
        values = {"kept": kept.mean(), "pair": best_pair(d, kept), "second": best_second(d, kept)}
        by_filter[name] = {key: round(float(value), 6) for key, value in values.items()}
    texts = [arithmetic.chain_text(ops) for ops in arithmetic.ops_of(np.arange(arithmetic.chains))]
    fitted = dict(zip(texts, also_fitted(d).ravel().round(6).tolist(), strict=True))
    value = best_value(d, lambda done, total: on_progress("best reader of f: operands a, b", done, total))
    return {"filters": by_filter, "f": round(value, 6), "also fitted": fitted}


def _kept(name: str, folder: Path) -> Any:
    """A part of the file; a file that is damaged counts as not there."""
    try:
        return json.loads((folder / FILE).read_text(encoding="utf-8"))[name]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def bound_tables(results: Sequence[StudyResult]) -> list[Table]:
    """By filter, and by what counts as right where nothing is dropped; empty if nothing was computed yet."""
    (result,) = results
    by_filter, f, fitted = (arm.value for arm in result.arms)
    return [_filters(by_filter), _scores(f, fitted)] if by_filter and f and fitted else []


def _filters(by_filter: dict[str, dict[str, float]]) -> Table:
    rows: list[list[object]] = [[name, *map(percent, found.values())] for name, found in by_filter.items()]
    low, high = COVERAGE["seen range"]
    read = [published["after dec-1", "op2"] for published in LENS.values()]
    rows.append(["paper, measured", "", f"{low:.0f} to {high:.0f}", f"{min(read):.1f} to {max(read):.1f}"])
    columns = ["examples are kept if", "kept %", "both operators %", "op2, e given %"]
    return Table(
        "The best that any reader could name, over all operands and pairs", columns, rows, columns[1:], ["kept %"]
    )


def _scores(f: float, fitted: dict[str, float]) -> Table:
    low, high = COVERAGE["seen range"]
    rows: list[list[object]] = [["f alone, seen pairs", percent(f), f"{low:.0f} to {high:.0f}"]]
    for pair, published in NETWORK.items():
        rows.append([f"any pair that fits, {pair} never named", percent(fitted[pair]), f"{published:.1f}"])
    title = "If no example is dropped: what could be scored without knowing the pair"
    return Table(
        title, ["counted as right", "at most %", "paper, measured %"], rows, ["at most %", "paper, measured %"]
    )
