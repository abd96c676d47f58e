"""The training regimes (paper §1 and §3.4): predict several steps, feeding predictions back.

soft   the next input is sigmoid(logit / T); T = 1 is the paper's, a higher T keeps gradients alive
hard   the next input is the rounded prediction; gradients pass straight through the rounding
none   one step, nothing is fed back
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.plugins import blamed, load_plugin
from hardgap.worlds.automaton.native_loss import Temperatures, native_loss
from hardgap.worlds.automaton.regime import OwnFunction, Temperature, Unrolling, temperature_at

LOG_TEMPERATURE = "log_temperature"
"""The parameter of a network that learns its own temperature; a logarithm, so that T stays positive."""


def feed_back(
    logits: Tensor, feedback: str, temperature: float | Tensor = 1.0, backward: float | str | None = None
) -> Tensor:
    """The next input made from these logits; `backward` makes the gradient another than the value's own."""
    if feedback == "soft":
        plain = isinstance(temperature, float) and temperature == 1.0
        value = torch.sigmoid(logits) if plain else torch.sigmoid(logits / temperature)
        return value if backward is None else _straight_through(value, logits, backward)
    if feedback == "hard":
        rounded = (logits > 0).to(logits.dtype)
        return _straight_through(rounded, logits, 1.0 if backward is None else backward)
    raise ValueError(f"nothing is fed back under {feedback!r}")


def _straight_through(value: Tensor, logits: Tensor, backward: float | str) -> Tensor:
    """Forward: exactly `value`. Backward: the gradient of sigmoid(logit / backward), or that of logit / 4.

    A quarter is the slope of the sigmoid at its steepest, so `identity` is a sigmoid that never saturates.
    """
    bent = logits / 4 if isinstance(backward, str) else torch.sigmoid(logits if backward == 1.0 else logits / backward)
    return value.detach() + (bent - bent.detach())


def give_temperature(model: nn.Module, regime: Unrolling) -> nn.Module:
    """The network, with a temperature among its parameters where the regime learns one."""
    if regime.temperature.shape == "learned":
        start = torch.tensor(regime.temperature.start).log()
        model.register_parameter(LOG_TEMPERATURE, nn.Parameter(start))
    return model


def current_temperature(model: nn.Module, regime: Unrolling, step: int) -> float | Tensor:
    """T at this step; the network's own where it learns one."""
    if regime.temperature.shape == "learned":
        return model.get_parameter(LOG_TEMPERATURE).exp()
    return temperature_at(regime.temperature, step)


class Chance(NamedTuple):
    """Where what a regime draws comes from; each is given a tensor of the form that is wanted."""

    normal: Callable[[Tensor], Tensor] = torch.randn_like
    uniform: Callable[[Tensor], Tensor] = torch.rand_like


FRESH = Chance()


def unroll(
    model: nn.Module, rows: Tensor, regime: Unrolling, step: int = 0, supervised: Tensor | None = None
) -> Iterator[Tensor]:
    """Yield the logits of each unrolled timestep, starting from true rows.

    `supervised` (`[steps, rows, width]`, 1 where a cell is visible) is needed if only some cells are tempered.
    """
    return fed_back(model, rows, regime, _temperatures(model, rows, regime, step, supervised))


def fed_back(
    network: Callable[[Tensor], Tensor],
    rows: Tensor,
    regime: Unrolling,
    temperature: Temperatures,
    chance: Chance = FRESH,
) -> Iterator[Tensor]:
    """`unroll` where temperatures, and perhaps all that is drawn, are known."""
    cells = rows
    for t in range(regime.steps):
        logits = network(cells)
        yield logits
        if t + 1 < regime.steps:
            if regime.noise:
                logits = logits + regime.noise * chance.normal(logits)
            cells = _next_input(logits, regime, temperature(t))
            if regime.rounded:
                cells = _round_some(cells, chance.uniform(cells) < regime.rounded)


def _next_input(logits: Tensor, regime: Unrolling, temperature: float | Tensor) -> Tensor:
    if regime.own is None:
        return feed_back(logits, regime.feedback, temperature, regime.backward)
    cells: Tensor = _own("feedback", regime.own)(logits, temperature)
    return cells


@cache
def _own(asked: str, own: OwnFunction) -> Callable[..., Tensor]:
    function: Callable[..., Tensor] = load_plugin(asked, own.function, own.source)
    return function


def check_own(regime: Unrolling, width: int) -> None:
    """Refuse a user's own feedback or loss that does not give what it must, or through which no gradient passes."""
    logits = torch.linspace(-3, 3, regime.steps * 3 * width).view(regime.steps, 3, width).requires_grad_()
    if regime.own is not None:
        _check_one("feedback", regime.own, logits[0], logits[0].shape, regime.temperature.start)
    if regime.own_loss is not None:
        visible = (torch.arange(width) % 3 > 0).float().expand_as(logits)
        _check_one("loss", regime.own_loss, logits, torch.Size(), (logits.detach() > 1) * visible, visible)


def _check_one(asked: str, own: OwnFunction, logits: Tensor, shape: torch.Size, *others: object) -> None:
    name = f"{asked} {own.function}"
    with blamed(f"{name} fails on logits of shape {tuple(logits.shape)}"):
        given = _own(asked, own)(logits, *others)
    if not isinstance(given, Tensor) or given.shape != shape or not bool(given.isfinite().all()):
        what = f"finite numbers of the logits' shape {tuple(shape)}" if shape else "one finite number, as a tensor"
        raise BadInput(f"{name} must give {what}")
    if not given.requires_grad:
        raise BadInput(f"{name} passes no gradient to the logits, which training needs")


def _temperatures(
    model: nn.Module, rows: Tensor, regime: Unrolling, step: int, supervised: Tensor | None
) -> Temperatures:
    """T after each unrolled timestep, to be asked once for each: it may be drawn."""
    given = current_temperature(model, regime, step)

    def of(t: int) -> float | Tensor:
        return drawn_temperature(regime.temperature, rows) if regime.temperature.shape == "random" else given

    return on_cells(regime, of, supervised)


def on_cells(regime: Unrolling, temperature: Temperatures, supervised: Tensor | None) -> Temperatures:
    """The temperature on those cells that the regime tempers, and 1 on the others."""
    if regime.cells == "all":
        return temperature
    return lambda t: _only(regime.cells, temperature(t), supervised, t)


def _round_some(cells: Tensor, chosen: Tensor) -> Tensor:
    """The chosen cells rounded; gradients pass as if none were."""
    return cells + (torch.where(chosen, (cells > 0.5).to(cells.dtype), cells) - cells).detach()


def drawn_temperature(spec: Temperature, rows: Tensor) -> Tensor:
    """A temperature for each row, log-uniform between the two that are given."""
    low, high = math.log(spec.start), math.log(spec.end)
    return torch.exp(low + (high - low) * torch.rand(len(rows), 1, dtype=rows.dtype, device=rows.device))


def _only(cells: str, temperature: float | Tensor, supervised: Tensor | None, t: int) -> Tensor:
    """The temperature on the visible or on the hidden cells of a timestep, and 1 on the others."""
    if supervised is None:
        raise ValueError("which cells are visible must be known to temper only some")
    chosen = supervised[t] if cells == "visible" else 1 - supervised[t]
    return 1 + chosen * (temperature - 1)


def unrolled_loss(
    model: nn.Module, rows: Tensor, targets: Tensor, supervised: Tensor, regime: Unrolling, step: int = 0
) -> Tensor:
    """Summed cross-entropy over supervised cells, each timestep weighted; `[steps, rows, width]` targets.

    A hidden cell's term is multiplied by an exact 0, so its target reaches neither loss nor gradient.
    """
    temperatures = _temperatures(model, rows, regime, step, supervised)
    if not regime.own_functions:
        found = native_loss(model, rows, targets, supervised, regime, temperatures)
        if found is not None:
            return found
    return summed_loss(unroll(model, rows, regime, step, supervised), targets, supervised, regime)


def summed_loss(unrolled: Iterator[Tensor], targets: Tensor, supervised: Tensor, regime: Unrolling) -> Tensor:
    """`unrolled_loss` of the logits of each timestep; a loss of one's own is never shown a hidden cell's target."""
    if regime.own_loss is not None:
        return _own("loss", regime.own_loss)(torch.stack(list(unrolled)), targets * supervised, supervised)
    total = targets.new_zeros(())
    weights = regime.weights or (1.0,) * regime.steps
    for t, logits in enumerate(unrolled):
        terms = F.binary_cross_entropy_with_logits(logits, targets[t], reduction="none")
        total = total + weights[t] * (terms * supervised[t]).sum()
    return total
