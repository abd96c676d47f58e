"""Whether evaluations can be those of a run; files from elsewhere are held to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from hardgap.core.errors import BadInput
from hardgap.core.run import Run, validated
from hardgap.core.specs import Share, Spec

Stopping = Literal["budget", "solved", "diverged"]


class Evaluation(Spec, strict=True):
    """One line of the curve; what its detail holds depends on the experiment."""

    step: int = Field(ge=0, lt=2**63)
    loss: float | None
    visible: Share
    holdout: Share
    detail: dict[str, Any]


def check_curve(run: Run, curve: Sequence[dict[str, Any]]) -> None:
    """Refuse evaluations that this run cannot have: of another kind, out of order, or past its budget."""
    before = -1
    for number, data in enumerate(curve):
        try:
            before = _check_point(run, validated(Evaluation, data), before)
        except BadInput as error:
            raise BadInput(f"curve.{number}: {error}") from error
    if not curve:
        raise BadInput("its curve is empty")


def _check_point(run: Run, point: Evaluation, before: int) -> int:
    if not before < point.step <= run.budget.steps:
        raise BadInput(f"step {point.step} cannot come after {before} of at most {run.budget.steps} steps")
    run.check_detail(point.detail)
    return point.step
