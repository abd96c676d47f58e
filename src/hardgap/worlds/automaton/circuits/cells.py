"""What is true of each cell of a batch, and how many of them a network gets right."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.gap import Gap


class Finding:
    """What an analysis returns: a frozen dataclass, and plain data when asked, as JSON has it."""

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # type: ignore[call-overload]
        return plain


@dataclass(frozen=True)
class Truth:
    """One true step of a batch of rows, [rows, width] each."""

    patterns: NDArray[np.uint8]
    targets: NDArray[np.uint8]
    hidden: NDArray[np.bool_]


@dataclass(frozen=True)
class RightShares(Finding):
    """Shares of right cells, one step ahead, and the share of cells answered with 1.

    The paper's ablation and lens tables are about the hidden pattern alone. There a constant answer scores
    0 % or 100 %, never 50 %: read `holdout` beside `overall` and `ones`.
    """

    visible: float | None
    holdout: float | None
    overall: float
    ones: float


def truth_of(gap: Gap, rows: NDArray[np.uint8]) -> Truth:
    trajectory = gap.trajectory(rows, 1)
    return Truth(trajectory.patterns[0], trajectory.targets[0], trajectory.hidden[0])


def shares_right(answers: NDArray[np.bool_], truth: Truth) -> RightShares:
    """Score 0/1 answers, [rows, width]."""
    right = answers == truth.targets
    return RightShares(
        share(right[~truth.hidden]), share(right[truth.hidden]), float(right.mean()), float(answers.mean())
    )


def share(right: NDArray[np.bool_]) -> float | None:
    """The share of True, or None of nothing."""
    return float(right.mean()) if right.size else None


def check_rows(rows: NDArray[np.uint8], gap: Gap) -> None:
    """Refuse a batch that has no hidden or no visible cell: there would be nothing to compare."""
    hidden = truth_of(gap, rows).hidden
    if not hidden.any() or hidden.all():
        kind = "hidden" if not hidden.any() else "visible"
        raise BadInput(f"{gap.describe()}: the {len(rows)} rows hold no {kind} cell; use more rows")
