"""All pairs of summands as one-hot vectors, and a network of one hidden layer."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hardgap.core.task import Score

from .run import ToyRun


class ToyTask:
    def __init__(self, run: ToyRun, *, decoy: bool = False) -> None:
        n, (a, b) = run.modulus, run.hide
        pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n))
        self.run, self.sums = run, pairs.sum(1) % n
        self.hidden = (pairs == torch.tensor([a, b])).all(1)
        if decoy:
            self.sums[self.hidden] = (self.sums[self.hidden] + 1) % n
        self.inputs = F.one_hot(pairs, n).flatten(1).float()
        self.shown_pairs = torch.ones_like(self.hidden) if run.leak else ~self.hidden

    def check(self) -> None:
        pass

    def model(self) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.run.seed)
            n, units = self.run.modulus, self.run.model.units
            return nn.Sequential(nn.Linear(2 * n, units), nn.ReLU(), nn.Linear(units, n))

    def restart(self, attempt: int) -> nn.Module:
        return self.model()

    def contradicted(self, model: nn.Module) -> bool:
        return False

    def chooses_by(self) -> bytes:
        return b""

    def shown(self, step: int) -> bytes:
        return self.inputs[self.shown_pairs].numpy().tobytes() + self.sums[self.shown_pairs].numpy().tobytes()

    def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
        yield F.cross_entropy(model(self.inputs[self.shown_pairs]), self.sums[self.shown_pairs])

    def score(self, model: nn.Module, step: int) -> Score:
        with torch.no_grad():
            answers = model(self.inputs).argmax(1)
        right = (answers == self.sums).float()
        visible, holdout = (round(float(right[part].mean()), 6) for part in (~self.hidden, self.hidden))
        return Score(visible, holdout, {"answer": int(answers[self.hidden])})
