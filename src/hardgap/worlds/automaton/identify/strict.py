"""Criterion `strict` of identifiability, exactly and for any rule: which hidden cells does the whole rollout give away?

Every hidden cell is an unknown of its own: nothing is assumed about the hidden entries, not even that one entry has one
output. A course that a row could have taken agrees with what is visible if

* a supervised cell has its true value, and its neighbourhood before is a *visible* pattern with that output;
* a cell that is not supervised has its pattern's output where that pattern, in this course, is a visible one, and
  any value where it is a hidden one. With `mask` its pattern must be a hidden one.

A hidden cell is determined if it has one value in all courses that agree. `next_step` finds most such cells without
looking far; for the others a SAT solver is asked for a course that differs. The last step is followed by nothing, so
its hidden cells stay unknown, and two steps determine what `next_step` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pysat.solvers import Solver  # type: ignore[import-untyped]

from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.identify.cones import Value, cases
from hardgap.worlds.automaton.identify.next_step import DeterminedCells, next_step_cells

Cell = tuple[int, int]
"""The timestep, from 1, and the place in the row."""
Clauses = Iterator[list[int]]


def strict_cells(gap: Gap, rows: NDArray[np.uint8], steps: int, *, mask: bool = False) -> DeterminedCells:
    """Decide every hidden cell of steps 1 to `steps - 1`.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> rows = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 0]], dtype=np.uint8)
    >>> [int(strict_cells(Gap(parse_rule("150"), (0,)), rows, steps).known[0].sum()) for steps in (2, 3)]
    [4, 6]
    """
    near = next_step_cells(gap, rows, steps, mask=mask)
    if steps < 3:
        return near
    truth, known = gap.trajectory(rows, steps), near.known.copy()
    doubtful = near.unknown & ~near.known
    for row in np.flatnonzero(doubtful.any(axis=(0, 2))).tolist():
        unknown = {(t + 1, i) for t, i in np.argwhere(doubtful[:, row]).tolist()}
        course = _Course(gap, truth.states[:, row], truth.hidden[:, row], unknown, mask)
        for t, i in unknown - course.varying():
            known[t - 1, row, i] = True
    return replace(near, known=known)


class _Course:
    """One row's rollout with some cells unknown; cells whose value is clear, hidden or not, are known."""

    def __init__(
        self, gap: Gap, states: NDArray[np.uint8], hidden: NDArray[np.bool_], unknown: set[Cell], mask: bool
    ) -> None:
        self._gap, self._states, self._hidden, self._mask = gap, states, hidden, mask
        self._variable = {cell: number for number, cell in enumerate(sorted(unknown), start=1)}

    def varying(self) -> set[Cell]:
        """The unknown cells that are not as they truly are in some course that agrees with what is visible."""
        wrong = {-variable if self._states[cell] else variable: cell for cell, variable in self._variable.items()}
        found, open_ = set[Cell](), dict(wrong)
        with Solver(name="glucose4", bootstrap_with=self._clauses()) as solver:
            while open_:
                literal, _ = open_.popitem()
                if solver.solve(assumptions=[literal]):
                    found |= {wrong[one] for one in solver.get_model() if one in wrong} | {wrong[literal]}
                    open_ = {one: cell for one, cell in open_.items() if cell not in found}
        return found

    def _clauses(self) -> Clauses:
        """What the visible entries and the supervised cells say where an unknown cell is concerned."""
        width, reach = self._states.shape[1], range(-self._gap.rule.radius, self._gap.rule.radius + 1)
        below = {(t + 1, (i - offset) % width) for t, i in self._variable for offset in reach}
        for t, i in below | self._variable.keys():
            inputs = [self._value((t - 1, (i + offset) % width)) for offset in reach]
            yield from self._entry(t, i, inputs)

    def _value(self, cell: Cell) -> Value:
        return self._variable.get(cell) or bool(self._states[cell])

    def _entry(self, t: int, i: int, inputs: list[Value]) -> Clauses:
        """Which patterns the inputs can form, and what cell i of step t is then."""
        masked = bool(self._hidden[t - 1, i])
        value = self._value((t, i)) if t < len(self._states) - 1 or not masked else None
        for pattern, unless in cases(inputs):
            if self._gap.hidden_table[pattern]:
                if not masked:
                    yield unless
            elif masked and self._mask:
                yield unless
            elif value is not None:
                yield from _is(value, bool(self._gap.rule.table[pattern]), unless)


def _is(value: Value, output: bool, unless: list[int]) -> Clauses:
    """That the value is this output, unless one of the literals holds."""
    if not isinstance(value, bool):
        yield [*unless, value if output else -value]
    elif value != output:
        yield unless
