"""The paper's theorems, lemmas and constructions, each checked exactly (`theory/registry.py`): one arm a statement.

Checking takes a minute, so what was found is kept as a file; `hardgap prove` always checks anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hardgap.core.parts import part
from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.verdicts import NOT_RUN, Verdict, judge_statement
from hardgap.runs.store import Store
from hardgap.studies.kept import keep_file, kept_file
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.published import Found, Published
from hardgap.studies.study import Arm, study
from hardgap.theory.statement import Statement

FILE = "theorems.json"

STATEMENTS = 34
"""Checks of the registry, which is not loaded for their number alone."""
OURS = (9, 10, 12, 14, 15, 16, 30, 32, 33)
"""The places of those that are not the paper's."""


@dataclass(frozen=True)
class Proved(Published):
    """A sentence that holds or does not; the computed value is the checked statement."""

    def told(self, found: Found) -> str:
        return "" if found.value is None else str(found.value["cases"])

    def compare(self, found: Found) -> Verdict:
        one = found.value
        return NOT_RUN if one is None else judge_statement(one["holds"], one["detail"], one["as_far_as"])


SHOWN: dict[str, Any] = {
    "tables": "hardgap.studies.theorems:theorem_tables",
    "prepare": "hardgap.studies.theorems:prove_first",
    "folder": "theorems",
    "scaled": False,
}


@study("theorems", **SHOWN)
def theorems(scale: Scale) -> Iterator[Arm]:
    """Similarity methods cannot fill the gap, and one block of the network can: each statement, as far as checked."""
    return _arms(place for place in range(STATEMENTS) if place not in OURS)


@study("theorems/ours", ours=True, **SHOWN)
def further_theorems(scale: Scale) -> Iterator[Arm]:
    """How far the paper's statements extend: to other methods, other targets, any radius, and where they end."""
    return _arms(OURS)


def _arms(places: Iterable[int]) -> Iterator[Arm]:
    for place in places:
        yield Arm({"statement": place + 1}, (), Proved("§3.3, Appendix A"), partial(_checked, place))


def _checked(place: int, kept: Path) -> dict[str, Any] | None:
    statements = (kept_file(kept, FILE) or {"statements": []})["statements"]
    return statements[place] if place < len(statements) else None


def prove_first(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """Every statement that is not kept yet, all or none."""
    if is_late() or kept_file(kept, FILE) is not None:
        return
    found: list[dict[str, Any]] = []
    for place, check in enumerate(part("hardgap.theory.registry:CHECKS")):
        on_progress("checking statements", place, STATEMENTS)
        statement: Statement = check()
        found.append(statement.as_json())
    keep_file(kept, FILE, {"kind": "theorems", "statements": found})


def theorem_tables(results: Sequence[StudyResult]) -> list[Table]:
    known = [arm for one in results for arm in one.arms if arm.value is not None]
    rows = [
        [arm.value["name"], "paper" if arm.value["published"] else "ours", arm.comparison.verdict, arm.value["cases"]]
        for arm in known
    ]
    title, columns = "Every statement, and what was checked of it", ["statement", "of", "verdict", "cases"]
    return [Table(title, columns, rows, detail=["cases"], notes=[_note(arm) for arm in known])]


def _note(arm: Measured) -> str:
    return f"{arm.value['claim']}" + (f" ({arm.comparison.why})" if arm.comparison.why else "")
