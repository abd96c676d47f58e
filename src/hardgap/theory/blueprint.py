"""One order for a construction: which rules, which network, which width; build it, verify it, describe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, silent
from hardgap.nn.spec import EncoderSpec
from hardgap.theory.composition import Code, compose
from hardgap.theory.construction import Construction, construct
from hardgap.theory.verification import Check, certified_margin, check_rows, every_row, random_rows
from hardgap.worlds.automaton.rule import Rule

MAX_WIDTH = 4096  # attention takes W² numbers a head; routing in float32 would allow 6,434


@dataclass(frozen=True)
class Blueprint:
    """`paper` asks for the paper's own architecture, `compact` for the fewest hidden units.

    Several rules are applied one after the other, a block each; `code` says how positions are written then.
    """

    rules: tuple[Rule, ...]
    width: int = 101
    paper: bool = False
    compact: bool = False
    code: Code | None = None

    def __post_init__(self) -> None:
        if not 3 <= self.width <= MAX_WIDTH:
            raise BadInput(f"width {self.width} is not possible: give 3 to {MAX_WIDTH}")
        if self.compact and len(self.rules) > 1:
            raise BadInput(
                "a compact construction has no room to clear its cells: it cannot be composed with other rules"
            )
        if self.code and len(self.rules) == 1:
            raise BadInput("a position code is chosen for compositions only: add another rule")

    def build(self, width: int | None = None) -> Construction:
        """The construction, at this blueprint's width or at another."""
        width, spec = width or self.width, EncoderSpec() if self.paper else None
        if len(self.rules) == 1:
            return construct(self.rules[0], width, spec=spec, compact=self.compact)
        # The one-hot code needs 2W+6 dimensions and heads as wide as a row: radius 1 outside the paper's 64.
        fits = not self.paper and self.rules[0].radius == 1
        return compose(self.rules, width, code=self.code or ("one-hot" if fits else "circle"), spec=spec)

    def verify(self, *, on_progress: Progress = silent) -> list[Check]:
        """Every row of widths 3 to 12 (10 for a composition), then rows of the width itself."""
        exhausted = range(3, 13 if len(self.rules) == 1 else 11)
        checks = []
        for width in exhausted:
            on_progress(f"every row of width {width}", 2**width, 2 ** (exhausted[-1] + 1))
            checks.append(check_rows(self.build(width), every_row(width), exhaustive=True))
        if self.width not in exhausted:
            rows = max(4, min(128, 2_000_000 // self.width**2))
            checks.append(check_rows(self.build(), random_rows(self.width, rows, seed=0)))
        return checks

    def bound(self) -> float | None:
        """The certified margin over all rows of the width; None for compositions."""
        return certified_margin(self.build()) if len(self.rules) == 1 else None

    def meta(self) -> dict[str, Any]:
        """What a weights file says about itself; `model` and `width` are what training starts from."""
        return {
            "kind": "construction",
            "rules": [rule.spec for rule in self.rules],
            "width": self.width,
            "model": self.build().spec.model_dump(),
            "compact": self.compact,
        }
