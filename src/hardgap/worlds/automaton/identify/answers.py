"""Does what is visible of a rollout determine what is hidden? Three answers that assume less and less.

| criterion | asks about                        | assumes                                             | rules  |
| `gf2`     | a row's hidden cells of step 1    | the whole rule is an XOR, hidden entry included     | affine |
| `strict`  | a row's hidden cells, every step  | the visible entries                                 | any    |
| `rule`    | the hidden entries of the table   | that some local rule of this radius made the data   | any    |

docs/identifiability.md says what each means and what came out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, silent
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.completions import Completions, completions
from hardgap.worlds.automaton.identify.evidence import MAX_WINDOW, every_row, rows_shown
from hardgap.worlds.automaton.identify.linear import affine_form, paper_systems
from hardgap.worlds.automaton.identify.strict import strict_cells

Criterion = Literal["gf2", "strict", "rule"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
Start = Callable[[str], None]  # told which part of an answer begins

# A completion search for each row alone takes milliseconds; the share is known well enough from this many.
ROWS_ALONE = 50


@dataclass(frozen=True)
class Gf2Answer:
    """The columns of the paper's table: means over rows, and the share of rows with full rank."""

    unknowns: float
    constraints: float
    rank: float
    rows_identified: float


@dataclass(frozen=True)
class StrictAnswer:
    """Shares of hidden cells, rows and (row, hidden entry) pairs that the supervised cells determine."""

    unknowns: float  # mean over rows
    cells_known: float
    rows_identified: float
    entries_read: float  # a row determines at least one cell that the entry made
    cells_known_with_mask: float
    rows_identified_with_mask: float


@dataclass(frozen=True)
class RuleAnswer:
    """The completions that fit the given rows, a single row, or every row there could be."""

    shown: Completions
    rows_identified: float  # the share of single rows that leave only the true rule
    limit: Completions | None  # from every row of every width; None where those are too many to list

    @property
    def best(self) -> Completions:
        return self.limit or self.shown

    def as_dict(self) -> dict[str, Any]:
        limit = completions_dict(self.limit) if self.limit else None
        return {"shown": completions_dict(self.shown), "rows_identified": self.rows_identified, "every_row": limit}


@dataclass(frozen=True)
class Identifiability:
    """The answers by the criteria that were asked for; `gf2` is None for a rule that is not affine."""

    gap: Gap
    steps: int
    rows: int
    width: int
    gf2: Gf2Answer | None = None
    strict: StrictAnswer | None = None
    rule: RuleAnswer | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as `hardgap identify --json` prints them."""
        return {
            "rule": self.gap.rule.name,
            "hidden": list(self.gap.hidden),
            "steps": self.steps,
            "rows": self.rows,
            "width": self.width,
            "gf2": asdict(self.gf2) if self.gf2 else None,
            "strict": asdict(self.strict) if self.strict else None,
            "rule_level": self.rule.as_dict() if self.rule else None,
        }


def identify(
    gap: Gap,
    rows: NDArray[np.uint8],
    steps: int,
    criteria: tuple[Criterion, ...] = CRITERIA,
    *,
    limit: int = 16,
    on_progress: Progress = silent,
) -> Identifiability:
    """Judge by the chosen criteria these initial rows, `[rows, width]`; `limit` completions are listed by name.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> rows = np.random.default_rng(0).integers(0, 2, (20, 31), dtype=np.uint8)
    >>> answer = identify(Gap(parse_rule("30"), (0, 5)), rows, steps=2)
    >>> answer.rule.best.identified, answer.gf2
    (True, None)
    """
    if rows.ndim != 2 or not rows.size:
        raise BadInput(f"rows need the shape [rows, width] with at least one of each, not {rows.shape}")
    if gap.masking != "every":
        raise BadInput("a leaky mask shows the hidden outputs themselves: identifiability is about masking every step")
    affine = affine_form(gap.rule) is not None
    begun, total = count(), sum(PARTS[criterion] for criterion in criteria)

    def start(doing: str) -> None:
        on_progress(doing, next(begun), total)

    return Identifiability(
        gap,
        steps,
        rows=rows.shape[0],
        width=rows.shape[1],
        gf2=_gf2(gap, rows, steps, start) if "gf2" in criteria and affine else None,
        strict=_strict(gap, rows, steps, start) if "strict" in criteria else None,
        rule=_rule(gap, rows, steps, limit, start) if "rule" in criteria else None,
    )


def completions_dict(found: Completions) -> dict[str, Any]:
    """Plain values of a completion search; `others` lists wrong rules that fit, `complete` says whether all."""
    return {
        "identified": found.identified,
        "entries_determined": list(found.determined),
        "others": [rule.spec for rule in found.fitting[1:]],
        "complete": found.complete,
    }


PARTS: dict[Criterion, int] = {"gf2": 1, "strict": 2, "rule": 3}


def _gf2(gap: Gap, rows: NDArray[np.uint8], steps: int, start: Start) -> Gf2Answer:
    start("gf2: elimination")
    systems = paper_systems(gap, rows, steps)
    return Gf2Answer(
        unknowns=float(systems.unknowns.mean()),
        constraints=float(systems.constraints.mean()),
        rank=float(systems.rank.mean()),
        rows_identified=float(systems.identified.mean()),
    )


def _strict(gap: Gap, rows: NDArray[np.uint8], steps: int, start: Start) -> StrictAnswer:
    start("strict: every hidden cell")
    plain = strict_cells(gap, rows, steps)
    start("strict: with the mask's place")
    masked = strict_cells(gap, rows, steps, mask=True)
    unknowns = int(plain.unknown.sum())
    return StrictAnswer(
        unknowns=unknowns / len(rows),
        cells_known=int(plain.known.sum()) / max(1, unknowns),
        rows_identified=float(plain.identified.mean()),
        entries_read=float(plain.entries.mean()),
        cells_known_with_mask=int(masked.known.sum()) / max(1, unknowns),
        rows_identified_with_mask=float(masked.identified.mean()),
    )


def _rule(gap: Gap, rows: NDArray[np.uint8], steps: int, limit: int, start: Start) -> RuleAnswer:
    start("rule: all the rows")
    shown = completions(rows_shown(gap, rows, steps), limit=limit)
    start("rule: rows alone")
    alone = [completions(rows_shown(gap, row[None], steps), limit=2).identified for row in rows[:ROWS_ALONE]]
    start("rule: every possible row")
    listable = 2 * gap.rule.radius * steps + 1 <= MAX_WINDOW
    everything = completions(every_row(gap, steps), limit=limit) if listable else None
    return RuleAnswer(shown, sum(alone) / len(alone), everything)
