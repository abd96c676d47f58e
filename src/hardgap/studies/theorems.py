"""The paper's theorems, lemmas and constructions, each with what was checked of it (`theory/registry.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from hardgap.core.parts import part
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.studies.measure import StudyResult
from hardgap.studies.published import Comparison, Found, Published
from hardgap.studies.study import Arm, study

if TYPE_CHECKING:
    from hardgap.theory.statement import Statement

STATEMENTS = 33
"""Checks of the registry, which is not loaded for their number alone."""


@dataclass(frozen=True)
class Proved(Published):
    """A sentence that holds or does not; the computed value is the checked statement."""

    def compare(self, found: Found) -> Comparison:
        return Comparison(found.value["verdict"])


@study("theorems", tables="hardgap.studies.theorems:theorem_tables")
def theorems(scale: Scale) -> Iterator[Arm]:
    """Similarity methods cannot fill the gap, and one block of the network can: each statement, as far as checked."""
    for place in range(STATEMENTS):
        yield Arm({"statement": place + 1}, (), Proved("§3.3, Appendix A"), partial(_checked, place))


def _checked(place: int, kept: Path) -> dict[str, object]:
    return _proved(place)


@cache
def _proved(place: int) -> dict[str, object]:
    statement: Statement = part("hardgap.theory.registry:CHECKS")[place]()
    return statement.as_json()


def theorem_tables(results: Sequence[StudyResult]) -> list[Table]:
    (result,) = results
    rows = [
        [arm.value["name"], "paper" if arm.value["published"] else "ours", arm.value["cases"], arm.comparison.verdict]
        for arm in result.arms
    ]
    return [
        Table(
            "Every statement, and what was checked of it",
            ["statement", "of", "cases", "verdict"],
            rows,
            detail=["cases"],
        )
    ]
