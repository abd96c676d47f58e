"""Accuracy by position, on networks that know the rule at some positions and nothing at the others."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from hardgap.worlds.automaton.circuits.positions import accuracy_by_position
from hardgap.worlds.automaton.circuits.tables import circuit_tables
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

from .conftest import WIDTH, XOR, Nameless


class KnowsSome(Nameless):
    """The rule at the first positions, zero at the others."""

    def __init__(self, rule: Rule, known: int) -> None:
        super().__init__(rule)
        self.known = known

    def forward(self, cells: torch.Tensor) -> torch.Tensor:
        lost = torch.arange(WIDTH) >= self.known
        return torch.where(lost, torch.full_like(cells, -1.0), super().forward(cells))


def test_positions_that_know_the_rule_are_told_from_those_that_guess(rows: NDArray[np.uint8]) -> None:
    for known in range(WIDTH + 1):
        found = accuracy_by_position(KnowsSome(Rule(1, 150), known), XOR, rows)
        assert (found.right, found.lost) == (known, WIDTH - known)
        assert found.accuracy[:known] == (1.0,) * known


def test_who_is_right_where_guessing_is_nearly_as_good_is_not_lost(rows: NDArray[np.uint8]) -> None:
    """Rule 1 answers 0 to all patterns but one: the guess alone is right in over 80 %."""
    gap = Gap(Rule(1, 1), (2,))
    knows, guesses = (accuracy_by_position(KnowsSome(Rule(1, 1), known), gap, rows) for known in (WIDTH, 0))
    assert knows.guess > 0.8
    assert (knows.right, knows.lost, guesses.right, guesses.lost) == (WIDTH, 0, 0, WIDTH)


def test_a_position_without_a_visible_cell_is_neither_right_nor_lost() -> None:
    rows = np.zeros((4, WIDTH), dtype=np.uint8)
    rows[:, 2] = 1  # 010 stands in the middle, and the entry of 010 is hidden
    found = accuracy_by_position(KnowsSome(Rule(1, 150), WIDTH), XOR, rows)
    assert found.accuracy[2] is None
    assert found.right == WIDTH - 1
    (table,) = circuit_tables({"positions": found.as_dict()})
    assert [row[:2] for row in table.rows] == [["right", WIDTH - 1], ["between", 0], ["know nothing", 0]]
