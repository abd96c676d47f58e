"""How right a network is at each position: on wide rows it may have found the neighbours of some cells only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hardgap.nn.hooks import as_cells, logits_of
from hardgap.worlds.automaton.circuits.cells import Finding, share, truth_of
from hardgap.worlds.automaton.gap import Gap

RIGHT_AT = 0.95
"""A position is right from this share of its visible cells on."""
NEAR_GUESS = 0.15
"""One that is less than this above the commonest visible output knows nothing."""


@dataclass(frozen=True)
class Positions(Finding):
    """The share of visible cells that are right at each position; None at one that has none.

    guess   the share of visible cells that have the commonest output
    """

    accuracy: tuple[float | None, ...]
    guess: float

    @property
    def kinds(self) -> dict[str, list[float]]:
        """The positions' accuracy by what they know; whoever is right is not lost, however good a guess would be."""
        known = [found for found in self.accuracy if found is not None]
        lost = self.guess + NEAR_GUESS
        return {
            "right": [found for found in known if found >= RIGHT_AT],
            "between": [found for found in known if lost < found < RIGHT_AT],
            "lost": [found for found in known if found <= lost and found < RIGHT_AT],
        }

    @property
    def right(self) -> int:
        return len(self.kinds["right"])

    @property
    def lost(self) -> int:
        """Positions that know nothing."""
        return len(self.kinds["lost"])

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"right": self.right, "lost": self.lost, "kinds": self.kinds}


def accuracy_by_position(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> Positions:
    """One step ahead, over all rows."""
    truth = truth_of(gap, rows)
    right = (logits_of(model, as_cells(model, rows)).cpu().numpy() > 0) == truth.targets
    visible = ~truth.hidden
    ones = float(truth.targets[visible].mean())
    each = zip(right.T, visible.T, strict=True)
    return Positions(tuple(share(one[seen]) for one, seen in each), max(ones, 1 - ones))
