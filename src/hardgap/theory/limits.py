"""How wide a row can be before floating point can no longer tell a neighbour on the circle from the next one.

On the circle of W positions the target outscores the runner-up by A·(1 - cos 2π/W) ≈ A·2π²/W², where A is the
free scale of the head. Rounding disturbs every score by a multiple of A·u, u being half the distance from 1 to
the next number, so a larger A does not help: the routing is lost once 2π²/W² is a few u. Each score takes four
roundings (the key's code, its gain, product and sum), the difference of two scores at most 8u·A:

    routing cannot fail while 2π²/W² > 8u, that is below W = π / (2√u)

and, one-sided, the attention on the target is at least 1 / (1 + 2·exp(-c·(1 - 8u·W²/2π²))) for sharpness c.
Above that width it may fail; the measured curve says when it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from math import exp, pi, sin, sqrt

import torch
from torch import Tensor

from hardgap.theory.construction import SHARPNESS

# A detector of a radius-1 rule still fires if both routed bits keep half of their size: 1 + 2·(2ρ-1) > 2.
NEEDED_MASS = 0.75
WINDOW = 8  # positions on each side of the target; farther ones score e^(-64·30) and less
MAX_SAMPLES = 4096
HEAD_SIZE = 6  # of the radius-1 block


@dataclass(frozen=True)
class RoutingPoint:
    """Attention on the right neighbour at one width: the least over positions, and the bound."""

    width: int
    measured: float
    predicted: float

    @property
    def routed(self) -> bool:
        return self.measured > NEEDED_MASS


def roundoff(dtype: torch.dtype) -> float:
    return float(torch.finfo(dtype).eps) / 2


def guaranteed_width(dtype: torch.dtype) -> float:
    """Below this width rounding cannot make a head miss its target.

    >>> [round(guaranteed_width(d)) for d in (torch.float16, torch.float32)]
    [71, 6434]
    """
    return pi / (2 * sqrt(roundoff(dtype)))


def predicted_mass(width: int, dtype: torch.dtype) -> float:
    """The lower bound on the attention that reaches the target; 0 where the bound says nothing."""
    gap = 2 * sin(pi / width) ** 2
    left = 1 - 8 * roundoff(dtype) / gap
    return 1 / (1 + 2 * exp(-SHARPNESS * left)) if left > 0 else 0.0


def measured_mass(width: int, dtype: torch.dtype) -> RoutingPoint:
    """The least attention on the right neighbour, computed as the encoder does, in the given precision.

    All positions up to 4096, beyond that as many drawn at random; only positions near the target compete.
    """
    here = _positions(width)
    side = min(WINDOW, (width - 1) // 2)
    there = (here[:, None] + 1 + torch.arange(-side, side + 1)) % width
    gain = sqrt(SHARPNESS * sqrt(HEAD_SIZE) / (2 * sin(pi / width) ** 2))
    turn = (gain * torch.tensor(_turn(width), dtype=torch.float64)).to(dtype)
    query = (_codes(here, width).to(dtype) @ turn.T) * HEAD_SIZE**-0.5
    key = _codes(there, width).to(dtype) * torch.tensor(gain, dtype=torch.float64).to(dtype)
    scores = (key @ query[:, :, None])[:, :, 0]
    mass = scores.softmax(-1)[:, side].double()
    return RoutingPoint(width, float(mass.nan_to_num(0.0).min()), predicted_mass(width, dtype))


def _positions(width: int) -> Tensor:
    if width <= MAX_SAMPLES:
        return torch.arange(width)
    return torch.randint(width, (MAX_SAMPLES,), generator=torch.Generator().manual_seed(0))


def _codes(positions: Tensor, width: int) -> Tensor:
    angles = 2 * pi * positions.double() / width
    return torch.stack([angles.cos(), angles.sin()], dim=-1)


def _turn(width: int) -> list[list[float]]:
    angle = 2 * pi / width
    cosine = 1 - 2 * sin(angle / 2) ** 2
    return [[cosine, -sin(angle)], [sin(angle), cosine]]


def widths_around(dtype: torch.dtype, points: int = 17) -> list[int]:
    """Widths from a tenth of the guaranteed one to ten times that, evenly on a logarithmic scale."""
    middle = guaranteed_width(dtype)
    return [max(3, round(middle * 10 ** (2 * i / (points - 1) - 1))) for i in range(points)]


def routing_curve(dtype: torch.dtype) -> list[RoutingPoint]:
    """Measured and predicted attention over a range of widths."""
    return [measured_mass(width, dtype) for width in widths_around(dtype)]


def measured_limit(curve: list[RoutingPoint]) -> int:
    """The largest width of the curve up to which nothing was misrouted."""
    routed = takewhile(lambda point: point.routed, sorted(curve, key=lambda point: point.width))
    return max((point.width for point in routed), default=0)
