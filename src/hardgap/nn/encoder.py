"""The paper's network (§3.4): a post-LN transformer encoder from a row of cells to a row of logits.

Every intermediate value passes through a `Named` module, so that an analysis hooks it by its name:

    model.get_submodule("layers.0.attention.pattern").register_forward_hook(...)

`activation_names(model)` lists the names. Shape suffixes:

    B rows in the batch    W cells in a row    D model dimension    F hidden FFN units
    H attention heads      E dimensions of one head (D = H·E)       Q, K query and key positions (= W)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from hardgap.nn.native.fitting import network_of
from hardgap.nn.native.functions import logits

OFFSETS: dict[str, Callable[[int], Sequence[int]]] = {
    "near": lambda heads: [0] * heads,
    "spread": lambda heads: range(-((heads - 1) // 2), heads - (heads - 1) // 2),
}
"""Where heads begin to look: all at the cell itself, or each at a cell of its own, 3 heads at -1, 0 and 1."""
SHARPNESS = 2.0
"""How sharply they do, whatever size positions have: about a quarter of the attention on that cell at width 101."""


class Named(nn.Identity):
    """A value with a name: passes it on unchanged, and gives hooks a place to read or replace it."""


class AttentionParts(nn.Module):
    """What every attention has: projections, and names for what happens between them."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.q, self.k, self.v = Named(), Named(), Named()
        self.scores, self.pattern, self.mixed, self.out = Named(), Named(), Named(), Named()

    @torch.no_grad()
    def look_at(self, offsets: Sequence[int], width: int, sharpness: float) -> None:
        """Let each head begin by looking so many cells to the right, where positions are `waves`.

        Its keys are its queries, turned as far as waves turn on the way: then both are most alike that far apart.
        """
        queries_DD, keys_DD, _ = self.qkv.weight.chunk(3)
        queries_DD.mul_(sharpness)
        for offset, query_ED, key_ED in zip(
            offsets, queries_DD.chunk(self.heads), keys_DD.chunk(self.heads), strict=True
        ):
            key_ED.copy_(turned(query_ED, width, offset))
        self.qkv.bias[: 2 * len(queries_DD)] = 0


class Attention(AttentionParts):
    """Multi-head softmax self-attention over all cells, without masking."""

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__(dim, heads)
        self.drop = nn.Dropout(dropout)

    def forward(self, x_BWD: Tensor) -> Tensor:
        B, W, D = x_BWD.shape
        q_BHWE, k_BHWE, v_BHWE = self.qkv(x_BWD).view(B, W, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q_BHWE, k_BHWE, v_BHWE = self.q(q_BHWE), self.k(k_BHWE), self.v(v_BHWE)
        scale = (D // self.heads) ** -0.5
        scores_BHQK = self.scores((q_BHWE * scale) @ k_BHWE.transpose(-1, -2))
        pattern_BHQK = self.pattern(self.drop(scores_BHQK.softmax(-1)))
        mixed_BHWE = self.mixed(pattern_BHQK @ v_BHWE)
        out: Tensor = self.out(self.output(mixed_BHWE.transpose(1, 2).reshape(B, W, D)))
        return out


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them."""

    def __init__(self, dim: int, ffn: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.expand = nn.Linear(dim, ffn)
        self.contract = nn.Linear(ffn, dim)
        self.pre, self.post, self.out = Named(), Named(), Named()
        self.drop = nn.Dropout(dropout)

    def forward(self, x_BWD: Tensor) -> Tensor:
        hidden_BWF = self.post(self.drop(torch.relu(self.pre(self.expand(x_BWD)))))
        out: Tensor = self.out(self.contract(hidden_BWF))
        return out


class Layer(nn.Module):
    """One post-LN block: attention, add, normalise; feed forward, add, normalise.

    Dropout is where `nn.TransformerEncoderLayer` has it: in the attention's patterns, in the hidden units, and in what
    is added.
    """

    def __init__(self, dim: int, heads: int, ffn: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.attention = Attention(dim, heads, dropout)
        self.norm1 = nn.LayerNorm(dim)
        self.ffn = FeedForward(dim, ffn, dropout)
        self.drop = nn.Dropout(dropout)
        self.norm2 = nn.LayerNorm(dim)
        self.residual1, self.residual2 = Named(), Named()
        self.normed1, self.normed2 = Named(), Named()

    def forward(self, x_BWD: Tensor) -> Tensor:
        middle_BWD = self.normed1(self.norm1(self.residual1(x_BWD + self.drop(self.attention(x_BWD)))))
        out: Tensor = self.normed2(self.norm2(self.residual2(middle_BWD + self.drop(self.ffn(middle_BWD)))))
        return out


class Encoder(nn.Module):
    """Scalar embedding plus learned absolute positions, `layers` blocks, one logit a cell.

    Paper is silent: dropout (none unless asked for) and the scale of the position embeddings. They start as
    N(0, position_std²); with 0.02 nothing is learned, see docs/fidelity.md. `waves`, which make wide rows quicker
    to route, are ours, and so are `near` and `spread`: waves, and first attention that begins at cells near by
    (docs/tempered.md).
    """

    def __init__(
        self,
        width: int,
        *,
        dim: int = 64,
        heads: int = 4,
        layers: int = 2,
        ffn: int = 128,
        position_std: float = 1.0,
        positions: Literal["random", "waves", "near", "spread"] = "random",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = width
        self.embed = nn.Linear(1, dim)
        start_WD = torch.randn(width, dim) if positions == "random" else waves(width, dim)
        self.positions = nn.Parameter(start_WD * position_std)
        self.embedding = Named()
        made = [Layer(dim, heads, ffn, dropout) for _ in range(layers)]
        if positions in OFFSETS:
            made[0].attention.look_at(OFFSETS[positions](heads), width, SHARPNESS / position_std)
        self.layers = nn.ModuleList(made)
        self.readout = nn.Linear(dim, 1)
        self.logits = Named()

    def forward(self, cells_BW: Tensor) -> Tensor:
        own = "eager" in self.__dict__ or type(self).eager is not Encoder.eager  # somebody's own, which is to compute
        network = None if own else network_of(self, cells_BW, PARTS)
        if network is None or network.dropout:  # for which the kernel has the whole loss, and nothing else
            return self.eager(cells_BW)
        return logits(network, cells_BW, self.eager)

    def eager(self, cells_BW: Tensor) -> Tensor:
        """Through PyTorch, part by part: what the native engine computes where nobody looks inside."""
        x_BWD = self.embedding(self.embed(cells_BW.unsqueeze(-1)) + self.positions)
        for layer in self.layers:
            x_BWD = layer(x_BWD)
        logits_BW: Tensor = self.logits(self.readout(x_BWD).squeeze(-1))
        return logits_BW


PARTS = frozenset({Named, Attention, FeedForward, Layer, nn.Dropout, nn.Linear, nn.LayerNorm, nn.ModuleList})
"""What an encoder is made of."""


def waves(width: int, dim: int) -> Tensor:
    """Positions as sines and cosines that go 1, 2, 3, … times around the ring of cells; variance 1.

    A shift by a cell is then the same rotation everywhere, so one attention pattern learned serves all positions.

    >>> ring = waves(11, 64)
    >>> torch.allclose(ring[1] @ ring[2], ring[10] @ ring[0], atol=1e-4)
    True
    """
    angles_WP = torch.arange(width)[:, None] * _times_around(width, dim) * (2 * math.pi / width)
    return torch.stack([angles_WP.sin(), angles_WP.cos()], -1).flatten(1)[:, :dim] * math.sqrt(2)


def turned(weight_ED: Tensor, width: int, offset: int) -> Tensor:
    """A map of waves that finds at each cell what the given one finds `offset` cells before.

    >>> weight, ring = torch.randn(3, 64), waves(11, 64)
    >>> torch.allclose(turned(weight, 11, 2) @ ring[7], weight @ ring[5], atol=1e-4)
    True
    """
    angle_P = offset * _times_around(width, weight_ED.shape[1]) * (2 * math.pi / width)
    sines_EP, cosines_EP = weight_ED[:, ::2], weight_ED[:, 1::2]
    return torch.stack(
        [sines_EP * angle_P.cos() + cosines_EP * angle_P.sin(), cosines_EP * angle_P.cos() - sines_EP * angle_P.sin()],
        -1,
    ).flatten(1)


def _times_around(width: int, dim: int) -> Tensor:
    """How often each pair of a sine and a cosine goes around the ring."""
    pairs = torch.arange((dim + 1) // 2)
    return pairs % max(1, (width - 1) // 2) + 1  # faster waves than that repeat slower ones


def activation_names(model: nn.Module) -> list[str]:
    """The names under which a network's intermediate values can be hooked, in order of definition."""
    return [name for name, module in model.named_modules() if isinstance(module, Named)]
