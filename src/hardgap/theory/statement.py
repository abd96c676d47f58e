"""What a check says about one statement."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Statement:
    """One statement, the finite cases that were exhausted, and the verdict.

    `published` tells the paper's statements from ours. `expected` is False for a sentence that is known not
    to hold as it is written: then `detail` carries the counterexample, and the corrected statement stands
    beside it in the registry. `as_far_as` says where the cases end, if the statement goes on beyond them.
    """

    name: str
    claim: str
    cases: str
    holds: bool
    detail: str
    published: bool = True
    expected: bool = True
    as_far_as: str = ""

    @property
    def verdict(self) -> str:
        if self.holds:
            return "holds"
        if self.expected:
            return "fails"
        return "does not hold as written" if self.published else "does not extend"

    @property
    def surprising(self) -> bool:
        """Whether the outcome differs from what the documentation records."""
        return self.holds != self.expected

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}
