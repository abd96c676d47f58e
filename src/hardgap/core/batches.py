"""Which examples a training step sees: a pure function of (seed, step), so that a run goes on exactly where it was."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor


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
