"""A run in a few numbers, from its curve.

The paper's post-LN network can blow up after it has converged, so where a run ended, the best it reached
and how it stood when first solved are told apart (docs/fidelity.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise, takewhile
from typing import Any

SUCCESS = 0.70
"""A run succeeds if its holdout accuracy reaches this (paper, cross-rule tables)."""


@dataclass(frozen=True)
class Summary:
    """Holdout and visible accuracy of one run at the moments that matter."""

    final_holdout: float
    final_visible: float
    best_holdout: float
    steps: int
    solved_step: int | None  # the first evaluation with both accuracies at least `solved_at`
    lasting_step: int | None  # the first of the evaluations, solved all, with which the run ended
    transition_step: int | None  # the first evaluation with holdout at least 50 %
    restarts: list[int]  # where another network went on: see `restarts`

    @property
    def success(self) -> bool:
        return self.final_holdout >= SUCCESS


def summarise(curve: list[dict[str, Any]], solved_at: float = 0.99) -> Summary:
    """The summary of a non-empty curve.

    Before anything is learned the holdout accuracy is arbitrary, so the evaluation at step 0 counts
    neither as best nor as transition.
    """
    trained = [point for point in curve if point["step"] > 0] or curve
    solved = [p["step"] for p in trained if min(p["visible"], p["holdout"]) >= solved_at]
    unsolved = [p["step"] for p in curve if min(p["visible"], p["holdout"]) < solved_at]
    lasting = [step for step in solved if step > max(unsolved, default=-1)]
    crossed = [p["step"] for p in trained if p["holdout"] >= 0.5]
    last = curve[-1]
    return Summary(
        final_holdout=last["holdout"],
        final_visible=last["visible"],
        best_holdout=max(point["holdout"] for point in trained),
        steps=last["step"],
        solved_step=solved[0] if solved else None,
        lasting_step=lasting[0] if lasting else None,
        transition_step=crossed[0] if crossed else None,
        restarts=restarts(curve),
    )


def recovered_step(holdout: Iterable[tuple[int, float]]) -> int | None:
    """The first of the evaluations (step, accuracy), recovered all, with which a run ended.

    Before training, chance may have it right, so step 0 does not count.

    >>> recovered_step([(0, 1.0), (25, 0.1), (50, 0.8), (75, 1.0)])
    50
    """
    trained = [(step, accuracy) for step, accuracy in holdout if step > 0]
    return min((step for step, _ in takewhile(lambda at: at[1] >= SUCCESS, reversed(trained))), default=None)


def restarts(curve: Sequence[dict[str, Any]]) -> list[int]:
    """Where a curve goes on with another network: for each restart, the step of the first evaluation after it.

    The restart itself came at or after the step of the evaluation before that one, whose score is still the old
    network's. A restart after the last evaluation leaves no trace in a curve.

    >>> point = {"visible": 1.0, "holdout": 0.0, "loss": None}
    >>> restarts([{"step": s, "detail": {"attempt": 1} if s > 600 else {}, **point} for s in (550, 600, 650, 700)])
    [650]
    """
    attempts = [point["detail"].get("attempt", 0) for point in curve]
    changed = (after != before for before, after in pairwise(attempts))
    return [point["step"] for point, new in zip(curve[1:], changed, strict=True) if new]


def summary_as_dict(curve: list[dict[str, Any]], solved_at: float) -> dict[str, Any]:
    """What a list shows of a curve, as plain data."""
    return asdict(summarise(curve, solved_at))
