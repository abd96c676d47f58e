"""Is a construction exact? Every row of small widths, random rows of wide ones, and a bound for all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from hardgap.nn.hooks import recorded
from hardgap.theory.construction import EPSILON, Construction, norm_scale, offsets
from hardgap.worlds.automaton.rollout import patterns_of, step

WIDE = 101
BATCH_CELLS = 1 << 16
BATCH_SCORES = 1 << 23  # attention scores a head


@dataclass(frozen=True)
class Check:
    """What was compared at one width. `margin` is the smallest logit on the right side; negative means wrong,
    -inf not even a number.
    """

    width: int
    rows: int
    exhaustive: bool
    wrong: int
    margin: float

    @property
    def exact(self) -> bool:
        return self.wrong == 0 and self.margin > 0


def every_row(width: int) -> NDArray[np.uint8]:
    """All 2^W rows, `[2^W, W]`, the first cell the most significant bit."""
    return ((np.arange(1 << width)[:, None] >> np.arange(width - 1, -1, -1)) & 1).astype(np.uint8)


def random_rows(width: int, rows: int, seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 2, (rows, width), dtype=np.uint8)


def check_rows(construction: Construction, rows: NDArray[np.uint8], *, exhaustive: bool = False) -> Check:
    """Compare the sign of every logit with the rules applied one after the other."""
    wrong, margin = 0, float("inf")
    for batch in _batches(rows):
        targets = batch
        for rule in construction.rules:
            targets = step(rule, targets)
        signed = np.nan_to_num(_logits(construction, batch) * (2.0 * targets - 1), nan=-np.inf)
        wrong += int((signed <= 0).sum())
        margin = min(margin, float(signed.min()))
    return Check(construction.width, len(rows), exhaustive, wrong, margin)


def check_widths(build: Callable[[int], Construction], widths: Iterable[int] = range(3, 13)) -> list[Check]:
    """Every row of each of the widths, then random rows of one wide network."""
    checks = [check_rows(build(width), every_row(width), exhaustive=True) for width in widths]
    return [*checks, check_rows(build(WIDE), random_rows(WIDE, 128, seed=0))]


def _batches(rows: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    width = rows.shape[1]
    size = max(1, min(BATCH_CELLS // width, BATCH_SCORES // width**2))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _logits(construction: Construction, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    dtype = construction.model.positions.dtype
    with torch.no_grad():
        logits: NDArray[np.float64] = construction.model(torch.from_numpy(rows).to(dtype)).double().numpy()
    return logits


def activation(construction: Construction, rows: NDArray[np.uint8], name: str) -> torch.Tensor:
    """One named value of the network on these rows."""
    with recorded(construction.model, [name]) as found:
        _logits(construction, rows)
    return found[name][0]


def detectors_fire(construction: Construction, rows: NDArray[np.uint8]) -> bool:
    """Whether, at every cell, exactly the hidden unit of that cell's pattern fires (full construction)."""
    fires = (activation(construction, rows, "layers.0.ffn.post") > 0).numpy()[..., : construction.rules[0].patterns]
    patterns = patterns_of(rows, construction.radius)
    return bool((fires == (patterns[..., None] == np.arange(construction.rules[0].patterns))).all())


def routing(construction: Construction) -> NDArray[np.float64]:
    """The attention that each head of the first block pays to its neighbour, `[heads in use, W]`.

    Queries and keys read the position code alone, so one row stands for all.
    """
    row = np.zeros((1, construction.width), dtype=np.uint8)
    pattern_HQK = activation(construction, row, "layers.0.attention.pattern")[0]
    here = torch.arange(construction.width)
    heads = [
        pattern_HQK[h, here, (here + offset) % construction.width]
        for h, offset in enumerate(offsets(construction.radius))
    ]
    return torch.stack(heads).double().numpy()


def certified_margin(construction: Construction) -> float:
    """A lower bound on the margin of a single-block construction over *all* rows of its width.

    It takes the construction as built and the routing as measured, and follows the intervals of the margin
    lemmas through the block; rounding after the attention (about 1e-6 in float32) is not included. 0 if the
    detectors cannot be guaranteed.
    """
    cells, dim = 2 * construction.radius + 1, construction.spec.dim
    low = 2 * float(routing(construction).min()) - 1  # a routed bit lies in ±[low, 1] (paper's margin lemma)
    largest = norm_scale(2 * ((cells - 1) * max(low, 0.0) ** 2 + 2), dim)
    smallest = norm_scale(2 * cells + 2, dim)
    threshold = (cells - 1) * smallest
    active_low = smallest * (1 + (cells - 1) * low) - threshold
    silent_high = largest * (cells - 1 - low) - threshold
    if active_low <= 0 or silent_high >= 0:
        return 0.0
    pair = active_low  # what reaches the readout pair; the rest of the stream is at most `rest`
    rest = (2 * cells + 2) * largest**2
    for _ in range(2 * construction.spec.layers - 1):
        scale = 1 / ((rest + 2 * pair**2) / dim + EPSILON) ** 0.5
        pair, rest = pair * scale, rest * scale**2
    weight = construction.model.readout.weight.abs().max().item()
    fired = 2 * weight * pair
    bias = abs(construction.model.readout.bias.item())
    return min(fired - bias, bias) if bias else fired
