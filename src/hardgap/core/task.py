"""What the loop needs to know of an experiment, and what every task needs: an order of examples, a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.run import Run


@dataclass(frozen=True)
class Score:
    """How well a network does: on what training shows (visible) and on what it never shows (holdout)."""

    visible: float
    holdout: float
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One evaluation: the score after `step` updates, and the mean training loss since the last one."""

    step: int
    loss: float | None
    score: Score

    def as_dict(self) -> dict[str, Any]:
        return {"step": self.step, "loss": self.loss, **asdict(self.score)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Point:
        return cls(data["step"], data["loss"], Score(data["visible"], data["holdout"], data["detail"]))


class Task(Protocol):
    """Data, loss and score of one run. Everything is a pure function of the config and the step."""

    def check(self) -> None:
        """Draw the data; refuse a run whose training or test examples show nothing."""

    def model(self) -> nn.Module:
        """A fresh network with its initial weights. Draws no data."""

    def restart(self, attempt: int) -> nn.Module:
        """Begin again: other initial weights, and whatever else is to be different the next time."""

    def contradicted(self, model: nn.Module) -> bool:
        """Whether what is visible of the training examples contradicts the network. Hidden targets have no say."""

    def shown(self, step: int) -> bytes:
        """All that training is given in this step's batch: inputs, and targets where the loss may look at them."""

    def losses(self, model: nn.Module, step: int) -> Iterator[Tensor]:
        """The loss of this step's batch (steps count from the last start), in pieces that add up to it.

        The loop calls `backward` on each piece before it asks for the next, so a wide batch needs the
        memory (and the cache) of one piece only.
        """

    def score(self, model: nn.Module, step: int) -> Score:
        """Accuracy on the test examples after `step` updates."""

    def chooses_by(self) -> bytes:
        """The examples by which a checkpoint is chosen without a look at hidden ones; empty if none is chosen."""


@dataclass(frozen=True)
class Trained:
    """A network of the store with what its training left: for those who want to open it.

    task       the task as it was then: after a restart, with the regime of the second attempt
    untrained  the network that it started from, the last time
    step       steps that it was trained for since then
    """

    run: Run
    model: nn.Module
    task: Task
    untrained: nn.Module
    step: int


class Batches:
    """Epochs are permutations; the last batch of one may be short."""

    def __init__(self, examples: int, size: int, seed: int, device: torch.device) -> None:
        self._examples, self._size, self._seed, self._device = examples, size, seed, device
        self._order = lru_cache(maxsize=1)(self._shuffle)

    def __call__(self, step: int) -> Tensor:
        """The places of this step's examples."""
        epoch, index = divmod(step, -(-self._examples // self._size))
        return self._order(epoch)[index * self._size : (index + 1) * self._size]

    def _shuffle(self, epoch: int) -> Tensor:
        order = np.random.default_rng([self._seed, 2, epoch]).permutation(self._examples)
        return torch.from_numpy(order).to(self._device)


def pick_device(name: str) -> torch.device:
    """`auto` is the fastest there is: cuda, then mps, then cpu."""
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next(device for device in ("cuda", "mps", "cpu") if available[device])
    if name not in available:
        raise BadInput(f"device {name}: choose auto, cpu, cuda or mps", of="device")
    if not available[name]:
        raise BadInput(f"device {name} is not available here; use cpu or auto", of="device")
    return torch.device(name)
