"""The training regimes (paper §1 and §3.4): predict several steps, feeding predictions back.

soft   the next input is sigmoid(logit / T); T = 1 is the paper's, a higher T keeps gradients alive
hard   the next input is the rounded prediction; gradients pass straight through the rounding
none   one step, nothing is fed back
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hardgap.training.schedule import temperature_at
from hardgap.training.spec import Unrolling


def feed_back(logits: Tensor, feedback: str, temperature: float = 1.0) -> Tensor:
    """The next input made from these logits."""
    if feedback == "soft":
        return torch.sigmoid(logits / temperature) if temperature != 1.0 else torch.sigmoid(logits)
    if feedback == "hard":
        probability = torch.sigmoid(logits)
        rounded = (logits > 0).to(logits.dtype)
        # Forward: exactly the rounded value. Backward: the gradient of the probability.
        return rounded.detach() + (probability - probability.detach())
    raise ValueError(f"nothing is fed back under {feedback!r}")


def unroll(model: nn.Module, rows: Tensor, regime: Unrolling, step: int = 0) -> Iterator[Tensor]:
    """Yield the logits of each unrolled timestep, starting from true rows."""
    temperature = temperature_at(regime.temperature, step)
    cells = rows
    for t in range(regime.steps):
        logits = model(cells)
        yield logits
        if t + 1 < regime.steps:
            cells = feed_back(logits, regime.feedback, temperature)


def unrolled_loss(
    model: nn.Module, rows: Tensor, targets: Tensor, supervised: Tensor, regime: Unrolling, step: int = 0
) -> Tensor:
    """Summed cross-entropy over supervised cells, each timestep weighted; `[steps, rows, width]` targets.

    A hidden cell's term is multiplied by an exact 0, so its target reaches neither loss nor gradient.
    """
    total = rows.new_zeros(())
    weights = regime.weights or (1.0,) * regime.steps
    for t, logits in enumerate(unroll(model, rows, regime, step)):
        terms = F.binary_cross_entropy_with_logits(logits, targets[t], reduction="none")
        total = total + weights[t] * (terms * supervised[t]).sum()
    return total
