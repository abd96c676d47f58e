"""A network of your own in ten lines: `hardgap train 150 --hide 5 --model own_model:make` from this folder.

It maps rows of reals [rows, width] to logits of the same shape; `check_model` tells you what is wrong if it does not.

A run is gone on with from the network's `state_dict`: keep what it remembers in parameters or buffers, and draw noise
with torch, never with NumPy or `random`. A counter or a noise that shows in the first few passes is refused. What shows
later (a switch after 1,000 calls), or comes from a file, a clock or a module's globals, is not noticed.
"""

import torch
from torch import nn


class Local(nn.Module):
    """Looks at a window of cells through one hidden layer."""

    def __init__(self, radius: int = 1, hidden: int = 64) -> None:
        super().__init__()
        self.radius = radius
        self.layers = nn.Sequential(nn.Linear(2 * radius + 1, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        window = [rows.roll(shift, -1) for shift in range(self.radius, -self.radius - 1, -1)]
        return self.layers(torch.stack(window, -1)).squeeze(-1)


def make(width: int, radius: int = 1) -> nn.Module:
    return Local(radius)
