"""The logit lens (paper §4.4): the readout applied to the stream at every level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardgap.nn.encoder import Encoder
from hardgap.nn.hooks import DoesNotApply, as_cells, levels, record
from hardgap.worlds.automaton.circuits.cells import Finding, RightShares, shares_right, truth_of
from hardgap.worlds.automaton.gap import Gap


@dataclass(frozen=True)
class LensReading(Finding):
    """How right the answers are that the readout gives at one level."""

    level: str
    title: str
    accuracy: RightShares

    def as_dict(self) -> dict[str, Any]:
        return {"level": self.level, "title": self.title, **self.accuracy.as_dict()}


@dataclass(frozen=True)
class Lens(Finding):
    readings: tuple[LensReading, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"levels": [reading.as_dict() for reading in self.readings]}


@torch.no_grad()
def logit_lens(model: nn.Module, gap: Gap, rows: NDArray[np.uint8]) -> Lens:
    """Read the answer at every level with the network's own readout.

    The encoder normalises after each sublayer and has no last normalisation of its own, so the readout
    fits every level as it is.
    """
    if not isinstance(model, Encoder):
        raise DoesNotApply(
            f"the logit lens needs one stream that every layer and the readout share; {type(model).__name__} has none"
        )
    truth = truth_of(gap, rows)
    titles = levels(model, rows.shape[1])
    values = record(model, as_cells(model, rows), list(titles))
    answers = {name: (model.readout(value).squeeze(-1) > 0).cpu().numpy() for name, value in values.items()}
    return Lens(tuple(LensReading(name, titles[name], shares_right(answers[name], truth)) for name in titles))
