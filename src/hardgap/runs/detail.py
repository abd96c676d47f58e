"""What an evaluation may hold beside its accuracies, experiment by experiment; files from elsewhere are held to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from hardgap.core.errors import BadInput
from hardgap.core.run import Run, validated
from hardgap.core.specs import ROLLOUT_STEPS, Spec
from hardgap.worlds.automaton.run import AutomatonRun

Share = Annotated[float, Field(ge=0, le=1)]
Shares = list[Share | None]  # None: there was no such cell
Stopping = Literal["budget", "solved", "diverged"]


class Saturation(Spec, strict=True):
    """See `core/saturation.py`."""

    logit_hidden: float
    logit_visible: float
    gradient_hidden: float
    gradient_visible: float
    pull_hidden: float
    pull_visible: float


class AutomatonDetail(Spec, strict=True):
    """Accuracy by pattern, and at every step of a free run; `attempt` counts restarts."""

    patterns: Shares
    rollout_visible: Shares
    rollout_holdout: Shares
    saturation: Saturation | None = None
    attempt: int | None = Field(None, gt=0)


class Judged(Spec, strict=True):
    """What was right about the answers; under label-only there is no f."""

    exact: Share
    pair: Share
    valid: Share
    tokens: Share
    f: Share | None = None


class Chosen(Spec, strict=True):
    """Exact answers on the evaluation set, by which a checkpoint is chosen."""

    seen: Share
    holdout: Share


class SymbolicDetail(Spec, strict=True):
    """Answers on the test set, on the evaluation set, and by seen chain."""

    seen: Judged
    holdout: Judged
    eval: Chosen
    chains: dict[str, Share]


class Evaluation(Spec, strict=True):
    """One line of the curve; what its detail holds depends on the experiment."""

    step: int = Field(ge=0)
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
    if not isinstance(run, AutomatonRun):
        validated(SymbolicDetail, point.detail)
        return point.step
    detail = validated(AutomatonDetail, point.detail)
    steps = max(ROLLOUT_STEPS, run.unrolling.steps)
    found = tuple(map(len, (detail.patterns, detail.rollout_visible, detail.rollout_holdout)))
    if found != (run.gap.rule.patterns, steps, steps):
        raise BadInput("detail holds more or fewer numbers than this run has patterns and steps")
    return point.step
