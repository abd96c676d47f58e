"""Is the message about hidden cells getting through? Certainty of cells, and the gradient that reaches them.

Later timesteps can teach the network about a hidden cell only through what is fed back there. Once the
network is certain, sigmoid(logit / T) is flat, and the gradient that arrives is nearly nothing, right or wrong.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.unrolling import unroll


def saturation(
    model: nn.Module, rows: Tensor, targets: Tensor, hidden: Tensor, regime: Unrolling, step: int
) -> dict[str, Any]:
    """What stands at the first prediction, by kind of cell; `targets` and `hidden` are `[steps, rows, width]`.

    logit      mean |logit|
    gradient   mean |dL/dlogit|, L being the summed loss of all later timesteps on their visible cells
    pull       the mean of that gradient's component towards the truth: positive helps, negative misleads

    Hidden cells count as masked at every timestep, and timesteps as equal, whatever the run's masking and weights.
    """
    first, gradient = _gradient_from_later(model, rows, targets, (~hidden).to(rows.dtype), regime, step)
    towards = -gradient * (2 * targets[0] - 1)
    named = {"logit": first.abs(), "gradient": gradient.abs(), "pull": towards}
    kinds = {"hidden": hidden[0], "visible": ~hidden[0]}
    return {
        f"{name}_{kind}": float(f"{float(value[where].mean()):.5g}")
        for name, value in named.items()
        for kind, where in kinds.items()
    }


def _gradient_from_later(
    model: nn.Module, rows: Tensor, targets: Tensor, supervised: Tensor, regime: Unrolling, step: int
) -> tuple[Tensor, Tensor]:
    """The first logits, and the gradient that the loss of all later timesteps sends back to them."""
    first: list[Tensor] = []

    def cut(module: nn.Module, inputs: Any, logits: Tensor) -> Tensor | None:
        """Make the first logits the beginning of the graph."""
        if first:
            return None
        first.append(logits.detach().requires_grad_())
        return first[0]

    was_training = model.training
    model.eval()
    handle = model.register_forward_hook(cut)
    try:
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(step)  # noise on the feedback, if any
            loss = rows.new_zeros(())
            for t, logits in enumerate(unroll(model, rows, regime, step, supervised)):
                if t:
                    terms = F.binary_cross_entropy_with_logits(logits, targets[t], reduction="none")
                    loss = loss + (terms * supervised[t]).sum()
            gradient = torch.autograd.grad(loss, first[0])[0] if regime.steps > 1 else torch.zeros_like(first[0])
    finally:
        handle.remove()
        model.train(was_training)
    return first[0].detach(), gradient
