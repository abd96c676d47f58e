"""Every pattern in many contexts: the intervention behind the polynomial and the recovered rule.

A context is a row, a position in it, and all cells outside that position's neighbourhood. Writing each of
the patterns into the neighbourhood and leaving the rest alone tells what the network does with a pattern
from what it does with the surroundings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardgap.nn.hooks import as_cells, logits_of
from hardgap.worlds.automaton.gap import Gap

CONTEXTS = 416
"""Contexts a network is asked in; positions take turns, so each has about the same number."""


@dataclass(frozen=True)
class Grid:
    """Logits of the centre cell, [contexts, patterns], and the position of each context."""

    logits: NDArray[np.float64]
    positions: NDArray[np.intp]


def pattern_grid(
    model: nn.Module, gap: Gap, rows: NDArray[np.uint8], *, contexts: int = CONTEXTS, seed: int = 0
) -> Grid:
    """Ask the network for every pattern in `contexts` contexts drawn from the rows."""
    rng = np.random.default_rng(seed)
    width, patterns = rows.shape[1], gap.rule.patterns
    positions = np.arange(contexts) % width
    surroundings = rows[rng.integers(0, len(rows), contexts)]
    written = np.repeat(surroundings[:, None], patterns, axis=1)  # [contexts, patterns, width]
    offsets = np.arange(-gap.rule.radius, gap.rule.radius + 1)
    bits = (np.arange(patterns)[:, None] >> np.arange(len(offsets))[::-1]) & 1  # most significant cell first
    where = (positions[:, None] + offsets) % width
    written[np.arange(contexts)[:, None, None], np.arange(patterns)[:, None], where[:, None]] = bits
    logits = logits_of(model, as_cells(model, written.reshape(-1, width)))
    centre = torch.from_numpy(np.repeat(positions, patterns)).to(logits.device)
    answers = logits.gather(1, centre[:, None]).reshape(contexts, patterns)
    return Grid(answers.double().cpu().numpy(), positions)
