"""The clauses behind `completions.searched`: what a candidate table computes on a window, as a SAT formula.

One variable stands for each hidden entry of the table. The centre of a window after t steps is an entry chosen by
its 2·radius + 1 predecessors, each of which is the centre of a narrower window after t - 1 steps; so the variables
are shared between all windows that overlap, and windows without a hidden pattern inside cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pysat.solvers import Solver  # type: ignore[import-untyped]

from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule

# A value known without the solver is a bool; otherwise the number of a variable.
Value = bool | int


class Cones:
    """A SAT solver over the completions of a gap, to which windows and forbidden completions can be added."""

    def __init__(self, gap: Gap) -> None:
        self._gap = gap
        self._entry: dict[int, int] = {pattern: i for i, pattern in enumerate(gap.hidden, start=1)}
        self._variables = len(self._entry)
        self._known: dict[tuple[int, int], Value] = {}
        self._solver = Solver(name="glucose4")

    def close(self) -> None:
        self._solver.delete()

    def propose(self, wrong_at: int | None = None) -> Rule | None:
        """A completion that satisfies everything required so far, or None if there is none."""
        assumptions = [] if wrong_at is None else [-self._true_literal(self._gap.rule, wrong_at)]
        if not self._solver.solve(assumptions=assumptions):
            return None
        model = self._solver.get_model()
        table = self._gap.rule.table.copy()
        for pattern, variable in self._entry.items():
            table[pattern] = model[variable - 1] > 0
        return Rule.from_table(table)

    def forbid(self, completion: Rule) -> None:
        """From now on propose only completions that differ from this one."""
        self._solver.add_clause([-self._true_literal(completion, p) for p in self._entry])

    def require(self, steps: int, window: int, target: bool) -> None:
        """From now on propose only completions that bring the window's centre to the target."""
        value = self._centre(steps, window)
        if not isinstance(value, bool):
            self._solver.add_clause([value if target else -value])

    def _true_literal(self, rule: Rule, pattern: int) -> int:
        return self._entry[pattern] if rule.table[pattern] else -self._entry[pattern]

    def _centre(self, steps: int, window: int) -> Value:
        if steps == 1:
            return self._output(window)
        if (steps, window) not in self._known:
            inputs = [self._centre(steps - 1, part) for part in self._parts(steps, window)]
            self._known[steps, window] = self._lookup(inputs)
        return self._known[steps, window]

    def _parts(self, steps: int, window: int) -> list[int]:
        """The windows of the centre's predecessors, left to right."""
        radius = self._gap.rule.radius
        mask = (1 << (2 * radius * (steps - 1) + 1)) - 1
        return [window >> shift & mask for shift in range(2 * radius, -1, -1)]

    def _output(self, pattern: int) -> Value:
        return self._entry.get(pattern, bool(self._gap.rule.table[pattern]))

    def _lookup(self, inputs: list[Value]) -> Value:
        """The table's entry at the pattern that the inputs form."""
        if all(isinstance(value, bool) for value in inputs):
            return self._output(_number(inputs))
        self._variables += 1
        result = self._variables
        for pattern, unless in _cases(inputs):
            output = self._output(pattern)
            if isinstance(output, bool):
                self._solver.add_clause([*unless, result if output else -result])
            else:
                self._solver.add_clause([*unless, -output, result])
                self._solver.add_clause([*unless, output, -result])
        return result


def _number(bits: Sequence[Value]) -> int:
    return int("".join("1" if bit else "0" for bit in bits), 2)


def _cases(inputs: list[Value]) -> list[tuple[int, list[int]]]:
    """Every pattern that the inputs can form, with the literals that say they do not form it.

    >>> _cases([True, 7, False])  # variable 7 between two known cells
    [(4, [7]), (6, [-7])]
    """
    cases: list[tuple[int, list[int]]] = [(0, [])]
    for value in inputs:
        if isinstance(value, bool):
            cases = [(2 * pattern + value, unless) for pattern, unless in cases]
        else:
            zero = [(2 * pattern, [*unless, value]) for pattern, unless in cases]
            one = [(2 * pattern + 1, [*unless, -value]) for pattern, unless in cases]
            cases = zero + one
    return cases
