"""Networks of one's own, in a file, so that worker processes can import them."""

import torch
from torch import nn


class Window(nn.Module):
    """Sees a cell and `radius` neighbours on each side through one hidden layer."""

    def __init__(self, width: int, radius: int = 1, hidden: int = 64) -> None:
        super().__init__()
        self.radius = radius
        self.layers = nn.Sequential(nn.Linear(2 * radius + 1, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        seen = [rows.roll(shift, -1) for shift in range(self.radius, -self.radius - 1, -1)]
        return self.layers(torch.stack(seen, -1)).squeeze(-1)


class Whole(nn.Module):
    """Sees the whole row at once, with no idea of what is near what."""

    def __init__(self, width: int, hidden: int = 256) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.layers(rows)
