"""Small networks that the suite sets beside the paper's encoder; each leaves out, or builds in, one thing.

    relative   attention that knows how far apart two cells are on the ring, and not where they are
    rotary     attention whose queries and keys are turned by their position
    looped     one layer, used over and over: depth with shared weights
    gru        reads the row from both sides
    mixer      mixes positions, then features, by fixed weights: no attention
    mlp        the whole row through two hidden layers
    linear     the whole row through one matrix

All map rows `[rows, width]` to logits of that shape. Shapes as in `nn/encoder.py`. `relative`,
`rotary` and `gru` answer rows of any width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from hardgap.nn.encoder import AttentionParts, FeedForward, Layer
from hardgap.nn.spec import ReferenceSpec

FAR = 5
"""Cells so far apart on the ring, or farther, are all equally far to `relative`; rows of 11 have none farther."""
WRAPPED = 4
"""Cells beyond each end, from the other end of the ring, that `gru` reads before a row begins."""


class RelativeAttention(AttentionParts):
    """Softmax attention with a learned bias for each head and signed distance on the ring."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__(dim, heads)
        self.bias = nn.Parameter(torch.randn(heads, 2 * FAR + 1))

    def forward(self, x_BWD: Tensor) -> Tensor:
        width = x_BWD.shape[1]
        place = torch.arange(width, device=x_BWD.device)
        away_QK = (place[None, :] - place[:, None] + width // 2) % width - width // 2
        bias_HQK = self.bias[:, away_QK.clamp(-FAR, FAR) + FAR]
        return _attend(self, x_BWD, lambda x_BHWE: x_BHWE, bias_HQK)


class RotaryAttention(AttentionParts):
    """Softmax attention; pairs of dimensions of queries and keys are turned by an angle for each position."""

    def forward(self, x_BWD: Tensor) -> Tensor:
        width, size = x_BWD.shape[1], x_BWD.shape[2] // self.heads
        speed_P = 10_000 ** (-torch.arange(0, size, 2, device=x_BWD.device) / size)
        angle_WP = torch.arange(width, device=x_BWD.device)[:, None] * speed_P
        return _attend(self, x_BWD, lambda x_BHWE: _turned(x_BHWE, angle_WP))


def _turned(x_BHWE: Tensor, angle_WP: Tensor) -> Tensor:
    first, second = x_BHWE.chunk(2, -1)
    cos, sin = angle_WP.cos(), angle_WP.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


def _attend(
    parts: AttentionParts, x_BWD: Tensor, place: Callable[[Tensor], Tensor], bias_HQK: Tensor | float = 0.0
) -> Tensor:
    B, W, D = x_BWD.shape
    q_BHWE, k_BHWE, v_BHWE = parts.qkv(x_BWD).view(B, W, 3, parts.heads, -1).permute(2, 0, 3, 1, 4)
    scores_BHQK = place(q_BHWE) @ place(k_BHWE).transpose(-1, -2) * (D // parts.heads) ** -0.5 + bias_HQK
    mixed_BHWE = scores_BHQK.softmax(-1) @ v_BHWE
    out: Tensor = parts.output(mixed_BHWE.transpose(1, 2).reshape(B, W, D))
    return out


class Stack(nn.Module):
    """A number of layers over embedded cells, the same one again and again if `loops` says so; then a logit a cell."""

    def __init__(
        self, dim: int, layers: list[nn.Module], loops: int = 1, positions: nn.Parameter | None = None
    ) -> None:
        super().__init__()
        self.embed, self.positions = nn.Linear(1, dim), positions
        self.layers, self.loops = nn.ModuleList(layers), loops
        self.readout = nn.Linear(dim, 1)

    def forward(self, cells_BW: Tensor) -> Tensor:
        x_BWD = self.embed(cells_BW.unsqueeze(-1))
        if self.positions is not None:
            x_BWD = x_BWD + self.positions
        for _ in range(self.loops):
            for layer in self.layers:
                x_BWD = layer(x_BWD)
        logits_BW: Tensor = self.readout(x_BWD).squeeze(-1)
        return logits_BW


class Mixing(nn.Module):
    """A layer of the MLP-mixer: across positions, then across features, each added and normalised."""

    def __init__(self, width: int, dim: int, ffn: int) -> None:
        super().__init__()
        self.across, self.within = FeedForward(width, ffn), FeedForward(dim, ffn)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x_BWD: Tensor) -> Tensor:
        x_BWD = self.norm1(x_BWD + self.across(x_BWD.mT).mT)
        out: Tensor = self.norm2(x_BWD + self.within(x_BWD))
        return out


class BothWays(nn.Module):
    """A GRU from the left and one from the right, over the row with a few cells of the ring beyond its ends."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.gru = nn.GRU(1, dim, batch_first=True, bidirectional=True)
        self.readout = nn.Sequential(nn.Linear(2 * dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, 1))

    def forward(self, cells_BW: Tensor) -> Tensor:
        width = cells_BW.shape[1]
        reach = torch.arange(-WRAPPED, width + WRAPPED, device=cells_BW.device) % width
        read_BWD = self.gru(cells_BW[:, reach].unsqueeze(-1))[0][:, WRAPPED:-WRAPPED]
        logits_BW: Tensor = self.readout(read_BWD).squeeze(-1)
        return logits_BW


def build_reference(spec: ReferenceSpec, width: int) -> nn.Module:
    """The network of that name."""
    dim, heads, ffn, layers = spec.dim, spec.heads, spec.ffn, spec.layers
    match spec.network:
        case "relative" | "rotary":
            attention = RelativeAttention if spec.network == "relative" else RotaryAttention
            return Stack(dim, [_with_attention(attention(dim, heads), dim, heads, ffn) for _ in range(layers)])
        case "looped":
            positions = nn.Parameter(torch.randn(width, dim))
            return Stack(dim, [Layer(dim, heads, ffn)], loops=layers, positions=positions)
        case "mixer":
            return Stack(dim, [Mixing(width, dim, ffn) for _ in range(layers)])
        case "gru":
            return BothWays(dim)
        case "mlp":
            hidden = 4 * dim
            return nn.Sequential(
                nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, width)
            )
        case "linear":
            return nn.Linear(width, width)


def _with_attention(attention: nn.Module, dim: int, heads: int, ffn: int) -> Layer:
    """The encoder's layer with another attention."""
    layer = Layer(dim, heads, ffn)
    layer.attention = attention  # type: ignore[assignment]
    return layer
