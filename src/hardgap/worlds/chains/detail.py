"""What an evaluation of Experiment 2 holds beside its accuracies; files from elsewhere are held to it."""

from __future__ import annotations

from hardgap.core.specs import Share, Spec


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
