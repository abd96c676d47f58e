"""What an evaluation of Experiment 1 holds beside its accuracies; files from elsewhere are held to it."""

from __future__ import annotations

from pydantic import Field

from hardgap.core.specs import Share, Spec

Shares = list[Share | None]  # None: there was no such cell


class Saturation(Spec, strict=True):
    """See `worlds/automaton/saturation.py`."""

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
