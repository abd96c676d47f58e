"""The unrolled loss through the native engine, wherever the network is an encoder that it can stand in for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from hardgap.nn.encoder import PARTS, Encoder
from hardgap.nn.native.fitting import is_hooked, is_plain, network_of
from hardgap.nn.native.functions import Feedback, Network, loss
from hardgap.worlds.automaton.regime import Unrolling

Temperatures = Callable[[int], "float | Tensor"]
"""T after a timestep; a tensor broadcasts over `[rows, width]`. Asked once for each, in order: some are drawn."""


def native_loss(
    model: nn.Module,
    rows: Tensor,
    targets: Tensor,
    supervised: Tensor,
    regime: Unrolling,
    temperatures: Temperatures,
) -> Tensor | None:
    """`unrolled_loss` with its gradients in one call, or None where it has to be computed step by step."""
    network = native_network(model, rows)
    fitting = all(is_plain(given) and given.shape == (regime.steps, *rows.shape) for given in (targets, supervised))
    if network is None or not fitting:
        return None
    weights = regime.weights or (1.0,) * regime.steps
    return loss(network, rows, targets, supervised, weights, _feedback(rows, regime, temperatures))


def native_network(model: nn.Module, rows: Tensor) -> Network | None:
    """The network as the native engine trains it, or None."""
    if type(model) is not Encoder or is_hooked(model) or rows.requires_grad or not torch.is_grad_enabled():
        return None
    return network_of(model, rows, PARTS)


def _feedback(rows: Tensor, regime: Unrolling, temperatures: Temperatures) -> Feedback:
    """What is drawn is drawn as `unroll` draws it: at each timestep noise, then temperatures, then what is rounded."""
    noise, inverse, rounded = [], [], []
    for t in range(regime.steps - 1):
        if regime.noise:
            noise.append(regime.noise * torch.randn_like(rows))
        inverse.append(1 / temperatures(t))
        if regime.rounded:
            rounded.append((torch.rand_like(rows) < regime.rounded).to(rows.dtype))
    backward = regime.backward if regime.feedback == "soft" or regime.backward is not None else 1.0
    return Feedback(
        inverse_temperature=_inverse(inverse, rows),
        backward=-1.0 if isinstance(backward, str) else 1 / backward if backward is not None else 0.0,
        hard=regime.feedback == "hard",
        noise=torch.stack(noise) if noise else None,
        rounded=torch.stack(rounded) if rounded else None,
    )


def _inverse(each: list[Any], rows: Tensor) -> float | Tensor:
    """One number where all timesteps and cells have the same."""
    if not any(isinstance(one, Tensor) for one in each):
        return float(each[0]) if each else 1.0
    return torch.stack([one.expand_as(rows) for one in each])
