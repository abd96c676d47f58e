"""Networks whose circuit is known: the paper's construction, and small ones made by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.nn.encoder import Encoder
from hardgap.theory.construction import construct
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rollout import patterns_of
from hardgap.worlds.automaton.rule import Rule, parse_rule

WIDTH = 9
XOR = Gap(parse_rule("150"), (2,))


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def rows() -> NDArray[np.uint8]:
    return np.random.default_rng(7).integers(0, 2, (160, WIDTH), dtype=np.uint8)


def built(rule: Rule | int, width: int = WIDTH) -> Encoder:
    """The encoder that computes this rule by construction: for radius 1 12 dimensions, 2 heads, 8 units."""
    return construct(rule if isinstance(rule, Rule) else Rule(1, rule), width).model


@pytest.fixture(scope="session")
def xor() -> Encoder:
    return built(150)


class Nameless(nn.Module):
    """A plug-in that computes a rule and names nothing inside; values are rounded before they are read."""

    def __init__(self, rule: Rule, *, size: float = 8.0) -> None:
        super().__init__()
        self.radius = rule.radius
        self.table = nn.Parameter(size * (2 * torch.tensor(rule.table.tolist(), dtype=torch.float32) - 1))

    def read(self, cells: Tensor) -> Tensor:
        return cells > 0.5

    def forward(self, cells: Tensor) -> Tensor:
        patterns = patterns_of(self.read(cells).numpy(), self.radius)
        return self.table[torch.from_numpy(patterns.astype(np.int64))]


class Whisperer(Nameless):
    """Answers pattern 2 of Rule 150 wrong, with probability 0.4 of the right bit, and reads 0.4 as a 1.

    Rounded, its answers are those of Rule 146. Graded, it never errs on a visible cell.
    """

    def __init__(self) -> None:
        super().__init__(Rule(1, 150), size=20.0)
        with torch.no_grad():
            self.table[2] = float(np.log(0.4 / 0.6))

    def read(self, cells: Tensor) -> Tensor:
        return cells > 0.3
