"""The paper's GF(2) solver (Appendix E): how much of a row's hidden cells later steps pin down, by XOR alone.

Computed, not trained. Paper is silent: which pattern of Rule 150 is hidden and how many rows are solved. Its numbers
are those of patterns 2 and 5, which the rule's symmetries exchange (docs/identifiability.md has others).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import listed
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.published import Number
from hardgap.studies.study import Arm, study
from hardgap.studies.theorems import Proved
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.linear import Systems, paper_systems
from hardgap.worlds.automaton.rule import parse_rule

PUBLISHED = {
    1: {"identified": 0.0, "unknowns": 12.5, "constraints": 0.0, "rank": 0.0},
    2: {"identified": 100.0, "unknowns": 12.5, "constraints": 31.4, "rank": 12.5},
    3: {"identified": 100.0, "unknowns": 12.5, "constraints": 58.8, "rank": 12.5},
    4: {"identified": 100.0, "unknowns": 12.5, "constraints": 101.2, "rank": 12.5},
}
PATTERN, WIDTH, ROWS = 2, 101, 1_000
TOLERANCE = 0.03
"""Of a published mean, for the rows that were drawn; whether all of a row is determined is no matter of chance."""


@study("gf2", tables="hardgap.studies.gf2:gf2_tables", scaled=False)
def gf2(scale: Scale) -> Iterator[Arm]:
    """Two timesteps of Rule 150 determine every hidden cell, whichever pattern is hidden, and one determines none.

    The paper says so without naming a pattern; its numbers are those of pattern 2, and true of that.
    """
    for steps, numbers in PUBLISHED.items():
        for quantity, value in numbers.items():
            tolerance = 0.0 if quantity == "identified" else TOLERANCE * value
            number = Number("GF(2) Constraint Solver Results", value, tolerance)
            yield Arm({"steps": steps, "quantity": quantity}, (), number, partial(_mean, steps, quantity))
    yield Arm({"steps": 2, "quantity": "whichever pattern is hidden"}, (), Proved("§4.3"), _whichever)


def _whichever(kept: Path) -> dict[str, object]:
    """As a checked statement: that two steps determine every row's hidden cells, of every pattern."""
    shares = {pattern: float(_solved(2, pattern).identified.mean()) for pattern in range(8)}
    told = listed(f"pattern {pattern} {100 * share:.0f} %" for pattern, share in shares.items() if share < 1)
    return {"holds": min(shares.values()) == 1, "detail": f"of rows: {told}", "as_far_as": "", "cases": f"{ROWS} rows"}


def _mean(steps: int, quantity: str, kept: Path) -> float:
    """Over the rows; in percent for the share of rows that are determined."""
    found = getattr(_solved(steps), quantity).mean()
    return round(float(100 * found if quantity == "identified" else found), 2)


@cache
def _solved(steps: int, pattern: int = PATTERN) -> Systems:
    rows = np.random.default_rng(0).integers(0, 2, (ROWS, WIDTH), dtype=np.uint8)
    return paper_systems(Gap(parse_rule("150"), (pattern,)), rows, steps)


def gf2_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a number or statement: published, computed, verdict."""
    (result,) = results
    columns = ["timesteps", "mean of", "published", "computed", "verdict", "why"]
    title = f"GF(2), Rule 150, pattern {PATTERN} hidden, {ROWS:,} rows of {WIDTH} cells (identified: % of rows)"
    rows = [_row(arm) for arm in result.arms]
    return [Table(title, columns, rows, right=["timesteps", "published", "computed"], detail=["why"])]


def _row(arm: Measured) -> list[object]:
    numbers = [arm.published.value, arm.value] if isinstance(arm.published, Number) else ["", ""]
    return [*arm.labels.values(), *numbers, arm.comparison.verdict, arm.comparison.why]
