"""The representation levels of Table 1: how a cell is described to an interpolation method.

    input                the 2r+1 bits around the cell                      (2r+1)
    neighbourhood        what the network makes of those cells, side by side: (2r+1)·D
    single position      of the cell alone:                                  D
where "what the network makes of a cell" is its embedding (value plus position, before any layer) or its hidden state
(after all layers, before the readout).

Any network qualifies whose `embedding` module gives the embeddings and whose `readout` module takes the hidden
states, as the encoder's do; a level that a network has no such module for is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.nn.hooks import as_cells
from hardgap.worlds.automaton.baselines.methods import Features

Source = Literal["bits", "embedding", "hidden"]
ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Level:
    """A way to describe a cell: where the numbers come from, and whether its neighbours are described too.

    At a fixed position, only cells of one position are compared (paper, Appendix A.1); otherwise all are pooled.
    """

    name: str
    source: Source
    neighbours: bool
    fixed_position: bool = False

    def title(self, dimensions: int) -> str:
        """The name with its size, as Table 1 prints it: `Nbhd. embedding (192-d)`."""
        return f"{self.name} ({dimensions}-{'bit' if self.source == 'bits' else 'd'})"


INPUT = Level("Input space", "bits", neighbours=True)
NEIGHBOURHOOD_EMBEDDING = Level("Nbhd. embedding", "embedding", neighbours=True)
FIXED_EMBEDDING = Level("Nbhd. embedding, fixed position", "embedding", neighbours=True, fixed_position=True)
SINGLE_EMBEDDING = Level("Single-pos. embedding", "embedding", neighbours=False)
SINGLE_HIDDEN = Level("Single-pos. hidden", "hidden", neighbours=False)
NEIGHBOURHOOD_HIDDEN = Level("Nbhd. hidden", "hidden", neighbours=True)

PAPER_LEVELS = (INPUT, NEIGHBOURHOOD_EMBEDDING, SINGLE_EMBEDDING, SINGLE_HIDDEN, NEIGHBOURHOOD_HIDDEN)
LEVELS = (INPUT, NEIGHBOURHOOD_EMBEDDING, FIXED_EMBEDDING, SINGLE_EMBEDDING, SINGLE_HIDDEN, NEIGHBOURHOOD_HIDDEN)
"""The paper's five, and the one that its appendix proves."""


@dataclass(frozen=True)
class View:
    """Rows as a network sees them: for each source an array [rows, width, dimensions], and its answers."""

    sources: dict[Source, NDArray[np.float32]]
    answers: NDArray[np.uint8]  # [rows, width], the network's own predictions

    def features(self, level: Level, radius: int, row: NDArray[np.int64], position: NDArray[np.int64]) -> Features:
        """[cells, dimensions]; neighbours stand left to right, and the row is a ring."""
        values = self.sources[level.source]
        if not level.neighbours:
            return values[row, position].astype(np.float64)
        around = (position[:, None] + np.arange(-radius, radius + 1)) % values.shape[1]
        together: Features = values[row[:, None], around].reshape(len(row), -1).astype(np.float64)
        return together


@torch.no_grad()
def look(model: nn.Module, rows: NDArray[np.uint8]) -> View:
    """Run rows through a network and keep what each level needs."""
    kept: dict[Source, list[Tensor]] = {"embedding": [], "hidden": []}
    answers, parts = [], dict(model.named_children())
    channels_first = isinstance(parts.get("readout"), nn.Conv1d)
    taps: dict[str, Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]] = {
        "embedding": lambda _, given, out: kept["embedding"].append(out),
        "readout": lambda _, given, out: kept["hidden"].append(given[0].mT if channels_first else given[0]),
    }
    hooks = [parts[name].register_forward_hook(tap) for name, tap in taps.items() if name in parts]
    try:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            answers.append((model(as_cells(model, rows[start : start + ROWS_AT_ONCE])) > 0).to(torch.uint8))
    finally:
        for hook in hooks:
            hook.remove()
    found: dict[Source, NDArray[np.float32]] = {"bits": rows[..., None].astype(np.float32)}
    for source, pieces in kept.items():
        if pieces and pieces[0].dim() == 3 and pieces[0].shape[1] == rows.shape[1]:
            found[source] = torch.cat(pieces).cpu().numpy()
    return View(found, torch.cat(answers).cpu().numpy())
