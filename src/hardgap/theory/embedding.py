"""The proposition on fixed-position neighbourhood embeddings and its corollary, on any encoder, trained or not.

The network's own embeddings are compared, in its own precision: at a fixed centre the position terms cancel in
exact arithmetic, and what is left over is rounding. The largest deviation is reported, and the corollary is
checked on the distances as they are, not as they should be.

The paper fixes a centre away from the ends of the row; rows are periodic here, so every centre is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hardgap.core.errors import BadInput
from hardgap.nn.encoder import Encoder
from hardgap.theory.cube import Ints, parity
from hardgap.theory.statement import Statement


@dataclass(frozen=True)
class EmbeddingGeometry:
    """How far the embedded neighbourhoods are from a scaled Hamming cube, over all centres.

    `deviation` is the largest relative error of |Φ(x)-Φ(q)|² against |Δ|²·d(x,q). `shells_apart` says whether
    at every centre and point all points at distance d are nearer than those at distance d+1.
    """

    delta: float
    deviation: float
    shells_apart: bool
    centres: int


def embedding_of(weights: dict[str, Tensor]) -> Encoder:
    """An encoder without blocks that embeds as the network with these weights does."""
    names = ("embed.weight", "embed.bias", "positions")
    if missing := [name for name in names if name not in weights]:
        raise BadInput(f"these weights have no {missing[0]}: they are not those of an encoder")
    width, dim = weights["positions"].shape
    encoder = Encoder(width, dim=dim, heads=1, layers=0, ffn=1, position_std=0.0)
    encoder = encoder.to(weights["positions"].dtype)
    encoder.load_state_dict({name: weights[name] for name in names}, strict=False)
    return encoder


def neighbourhood_embeddings(encoder: Encoder, radius: int = 1) -> Tensor:
    """Φ for every centre and neighbourhood, `[W, 2^(2r+1), (2r+1)·D]`, the leftmost cell first."""
    cells = 2 * radius + 1
    with torch.no_grad():
        values = encoder.embed(encoder.positions.new_tensor([[0.0], [1.0]]))
        table = values[:, None] + encoder.positions  # [bit, position, D], as the network adds them
    patterns = torch.arange(1 << cells)
    centres = torch.arange(encoder.width)
    slots = [
        table[patterns >> (cells - 1 - slot) & 1][:, (centres + slot - radius) % encoder.width] for slot in range(cells)
    ]
    return torch.cat(slots, dim=-1).transpose(0, 1)


def squared_distances(encoder: Encoder, radius: int = 1) -> NDArray[np.float64]:
    """|Φ_i(x)-Φ_i(q)|² for every centre i, `[W, patterns, patterns]`; only the embeddings are rounded."""
    points = neighbourhood_embeddings(encoder, radius).double()
    rows = [(points - points[:, q : q + 1]).square().sum(-1) for q in range(points.shape[1])]
    squares: NDArray[np.float64] = torch.stack(rows, dim=-1).numpy()
    return squares


def geometry(encoder: Encoder, radius: int = 1) -> EmbeddingGeometry:
    squares = squared_distances(encoder, radius)
    points = np.arange(squares.shape[1])
    hamming = np.bitwise_count(points[:, None] ^ points).astype(np.int64)
    delta = float(encoder.embed.weight.detach().double().norm())
    apart = hamming > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(squares / (delta**2 * hamming) - 1)[:, apart]
    shells = [squares[:, hamming == d] for d in range(int(hamming.max()) + 1)]
    ordered = all((low.max(1) < high.min(1)).all() for low, high in pairwise(shells))
    return EmbeddingGeometry(delta, float(errors.max()), ordered, len(squares))


def proposition(encoder: Encoder, *, name: str, tolerance: float = 1e-3) -> Statement:
    found = geometry(encoder)
    return Statement(
        name=f"Proposition ({name})",
        claim="at a fixed centre |Φ(x)-Φ(q)|² = |Δ|²·d(x,q): the embedded neighbourhoods are a Hamming cube",
        cases=f"{found.centres} centres × 64 pairs, |Δ| = {found.delta:.3g}",
        holds=found.deviation < tolerance and found.shells_apart,
        detail=f"largest relative deviation {found.deviation:.1e} (rounding of the sum of bit and position)",
    )


def corollary(encoder: Encoder, *, name: str, labels: Ints | None = None) -> Statement:
    y = parity(3) if labels is None else labels
    squares = squared_distances(encoder)
    rays = max(int(_prefix_votes(squares[i, p], y, p).max()) for i in range(len(squares)) for p in range(8))
    ridge = max(float(_ridge_votes(square, y).max()) for square in squares)
    columns = _columns_are_bits(neighbourhood_embeddings(encoder))
    return Statement(
        name=f"Corollary ({name})",
        claim="so similarity votes, GP / kernel ridge and trees on embeddings at a fixed centre fail for Rule 150",
        cases=f"{len(squares)} centres × 8 hidden patterns, every cut of the distances; ridge at 9 (γ, σ²)",
        holds=rays <= 0 and ridge < 0 and columns,
        detail=f"largest vote for the hidden label {rays}, nearest ridge prediction {ridge:.1e};"
        f" every coordinate {'is a function of one bit' if columns else 'mixes bits'}",
    )


def _prefix_votes(squares: NDArray[np.float64], labels: Ints, p: int) -> NDArray[np.int64]:
    """y(p)·vote of all points up to each occurring distance: the extreme non-increasing weightings."""
    others = np.array([q for q in range(labels.size) if q != p])
    order = others[np.argsort(squares[others], kind="stable")]
    sums = labels[p] * np.cumsum(labels[order])
    last_of_ties = np.append(np.diff(squares[order]) > 0, True)
    return np.asarray(sums[last_of_ties])


def _ridge_votes(squares: NDArray[np.float64], labels: Ints) -> NDArray[np.float64]:
    """y(p) times the ridge prediction at every p for a few widths (in units of |Δ|²) and noises."""
    unit = squares[0, 1]
    votes = []
    for gamma in (0.1, 1.0, 3.0):
        kernel = np.exp(-gamma * squares / unit)
        for noise in (0.01, 0.1, 1.0):
            inverse = np.linalg.inv(kernel + noise * np.eye(labels.size))
            votes.append(labels * (labels - (inverse @ labels) / np.diag(inverse)))
    return np.array(votes)


def _columns_are_bits(points: Tensor) -> bool:
    """Whether each coordinate depends on the bit of its own slot alone, at every centre."""
    width, patterns, size = points.shape
    cells = patterns.bit_length() - 1
    slots = points.view(width, patterns, cells, size // cells)
    for slot in range(cells):
        bit = torch.arange(patterns) >> (cells - 1 - slot) & 1
        zero, one = slots[:, bit == 0, slot], slots[:, bit == 1, slot]
        if not (torch.equal(zero, zero[:, :1].expand_as(zero)) and torch.equal(one, one[:, :1].expand_as(one))):
            return False
    return True
