"""The Conv1D ceiling (paper §4.5): locality is built in, only the rule has to be learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hardgap.nn.encoder import Named


class Conv(nn.Module):
    """A circular convolution that sees `radius` cells on each side, then per-cell layers, then a logit.

    Paper is silent on its shape: the receptive field is exactly the neighbourhood, the rest is 1×1.
    """

    def __init__(self, *, channels: int = 64, layers: int = 2, radius: int = 1) -> None:
        super().__init__()
        self.radius = radius
        self.gather = nn.Conv1d(1, channels, 2 * radius + 1)
        self.mix = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(layers - 1))
        self.readout = nn.Conv1d(channels, 1, 1)
        self.hidden = nn.ModuleList(Named() for _ in range(layers))
        self.logits = Named()

    def forward(self, cells_BW: Tensor) -> Tensor:
        width = cells_BW.shape[-1]
        reach = torch.arange(-self.radius, width + self.radius, device=cells_BW.device) % width
        # Indexing rather than padding_mode="circular", which refuses rows narrower than the radius.
        x_BCW = self.hidden[0](torch.relu(self.gather(cells_BW[:, reach].unsqueeze(1))))
        for mix, name in zip(self.mix, self.hidden[1:], strict=True):
            x_BCW = name(torch.relu(mix(x_BCW)))
        logits_BW: Tensor = self.logits(self.readout(x_BCW).squeeze(1))
        return logits_BW
