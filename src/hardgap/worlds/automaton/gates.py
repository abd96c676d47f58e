"""Netlists for rules: a truth table becomes a short list of two-input gates.

The search splits a table in two and goes on with the parts. Functions of three variables have their
smallest formula; above that, a split without shared variables (`(C | R1) & (L2 | R2)`) is taken where there
is one, and else one variable is expanded, whichever costs least. Tables that occur twice are computed once.
Beyond radius 1 the result is small, not proven smallest.

A table is an int whose bit `p` is the value for pattern `p`, as in `hardgap.worlds.automaton.formula`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from itertools import combinations
from operator import and_, attrgetter, or_, xor

from hardgap.worlds.automaton.formula import cell_names, variable_table

_OPERATIONS: dict[str, Callable[[int, int], int]] = {"&": and_, "|": or_, "^": xor}
_THREE = tuple(variable_table(name, 1) for name in cell_names(1))

Split = tuple[str, int, int]  # an operation and the two tables that it joins


@dataclass(frozen=True)
class Gate:
    """One of `& | ^` applied to two earlier values."""

    operation: str
    left: int
    right: int


@dataclass(frozen=True)
class Netlist:
    """Gates in the order of computation.

    Values are numbered: first the cells of the neighbourhood, left to right, then the constant 1, then the
    outputs of the gates. A negation is an XOR with the constant.
    """

    radius: int
    gates: tuple[Gate, ...]
    output: int

    @property
    def inputs(self) -> int:
        """How many values are given: the cells and the constant."""
        return 2 * self.radius + 2

    def formula_text(self) -> str:
        """Write the netlist as a formula.

        >>> netlist_of(1, 110).formula_text()
        'C ^ (R1 & (L1 | (C ^ R1)))'
        """
        texts = [(name, "") for name in (*cell_names(self.radius), "1")]
        for gate in self.gates:
            sides = [side for side in (gate.left, gate.right) if side != self.inputs - 1]
            if len(sides) < 2:  # an XOR with the constant
                texts.append((f"~{_bracketed(*texts[sides[0]], '~')}" if sides else "0", ""))
            else:
                parts = (_bracketed(*texts[side], gate.operation) for side in sides)
                texts.append((f" {gate.operation} ".join(parts), gate.operation))
        return texts[self.output][0]


def _bracketed(text: str, operation: str, around: str) -> str:
    return text if operation in ("", around) else f"({text})"


@lru_cache(maxsize=1024)
def netlist_of(radius: int, number: int) -> Netlist:
    """Return a netlist for the rule of that radius and number.

    >>> [len(netlist_of(1, number).gates) for number in (150, 30, 110)]
    [2, 2, 4]
    """
    return _Search(radius).netlist(number)


@dataclass(frozen=True)
class _Plan:
    """How a table is made: `operation` on two other tables, `cost` gates in all when nothing is shared."""

    cost: int
    operation: str = ""
    left: int = 0
    right: int = 0


_cost = attrgetter("cost")


@cache
def _smallest_formulas() -> dict[int, _Plan]:
    """Return a smallest formula for each of the 256 functions of three variables, cheapest first."""
    plans = {table: _Plan(0) for table in (*_THREE, 255)}
    levels = [list(plans)]
    while len(plans) < 256:
        cost = len(levels)
        for left, right in ((a, b) for i in range(cost) for a in levels[i] for b in levels[cost - 1 - i]):
            for operation, function in _OPERATIONS.items():
                plans.setdefault(function(left, right), _Plan(cost, operation, left, right))
        levels.append([table for table, plan in plans.items() if plan.cost == cost])
    return plans


class _Search:
    """The search for one radius."""

    def __init__(self, radius: int) -> None:
        self.radius = radius
        self.one = (1 << (1 << (2 * radius + 1))) - 1
        self.variables = [variable_table(name, radius) for name in cell_names(radius)]
        self.plans: dict[int, _Plan] = {}
        for chosen in combinations(self.variables, 3):
            self.learn(chosen)

    def learn(self, variables: tuple[int, ...]) -> None:
        """Enter the smallest formulas over these three variables."""
        tables = dict(zip((*_THREE, 255), (*variables, self.one), strict=True))
        for small, plan in _smallest_formulas().items():
            if plan.operation:
                left, right = tables[plan.left], tables[plan.right]
                tables[small] = _OPERATIONS[plan.operation](left, right)
                plan = _Plan(plan.cost, plan.operation, left, right)
            self.plans.setdefault(tables[small], plan)

    def netlist(self, table: int) -> Netlist:
        numbers = {known: i for i, known in enumerate((*self.variables, self.one))}
        gates: list[Gate] = []

        def emit(table: int) -> int:
            if table not in numbers:
                plan = self.plan(table)
                if table ^ self.one in numbers:
                    plan = _Plan(1, "^", table ^ self.one, self.one)
                gates.append(Gate(plan.operation, emit(plan.left), emit(plan.right)))
                numbers[table] = len(self.variables) + len(gates)
            return numbers[table]

        output = emit(table)
        return Netlist(self.radius, tuple(gates), output)

    def plan(self, table: int) -> _Plan:
        """Return the cheapest plan for a table, which may be to negate its complement."""
        if table not in self.plans:
            complement = table ^ self.one
            plan, other = self.cheapest(table), self.cheapest(complement)
            self.plans[table] = min(plan, _Plan(other.cost + 1, "^", complement, self.one), key=_cost)
            self.plans[complement] = min(other, _Plan(plan.cost + 1, "^", table, self.one), key=_cost)
        return self.plans[table]

    def cheapest(self, table: int) -> _Plan:
        cells = range(len(self.variables))
        support = [v for v in cells if self.fixed(table, v, 0) != self.fixed(table, v, 1)]
        splits = list(self.disjoint(table, support)) or list(self.expansions(table, support))
        plans = (_Plan(1 + self.plan(a).cost + self.plan(b).cost, op, a, b) for op, a, b in splits)
        return min(plans, key=_cost)

    def fixed(self, table: int, variable: int, value: int) -> int:
        """Return the table with one variable held at a value."""
        stride = 1 << (2 * self.radius - variable)
        if value:
            kept = table & self.variables[variable]
            return kept | kept >> stride
        kept = table & ~self.variables[variable]
        return kept | kept << stride

    def disjoint(self, table: int, support: list[int]) -> Iterator[Split]:
        """Yield every split in which the two sides share no variable."""
        first, rest = support[0], support[1:]
        for size in range(len(rest)):
            for chosen in combinations(rest, size):
                yield from self.between(table, (first, *chosen), tuple(v for v in rest if v not in chosen))

    def between(self, table: int, left: tuple[int, ...], right: tuple[int, ...]) -> Iterator[Split]:
        def over(variables: tuple[int, ...], join: Callable[[int, int], int]) -> int:
            return reduce(lambda t, v: join(self.fixed(t, v, 0), self.fixed(t, v, 1)), variables, table)

        def zeroed(variables: tuple[int, ...]) -> int:
            return reduce(lambda t, v: self.fixed(t, v, 0), variables, table)

        # In a(left) & b(right), a is "some choice of the right makes it true"; | is the dual. In a ^ b, both
        # sides can be read off at zero, where the constant is counted twice.
        constant = self.one * (table & 1)
        for operation, a, b in (
            ("&", over(right, or_), over(left, or_)),
            ("|", over(right, and_), over(left, and_)),
            ("^", zeroed(right), zeroed(left) ^ constant),
        ):
            if _OPERATIONS[operation](a, b) == table:
                yield operation, a, b

    def expansions(self, table: int, support: list[int]) -> Iterator[Split]:
        """Yield ways to choose between the tables at 0 and at 1 of one variable (Davio, Shannon)."""
        for v in support:
            variable, zero, one = self.variables[v], self.fixed(table, v, 0), self.fixed(table, v, 1)
            yield "^", zero, self.product(variable, zero ^ one)
            yield "^", one, self.product(variable ^ self.one, zero ^ one)
            if zero & one == zero:
                yield "|", zero, self.product(variable, one)
            if zero & one == one:
                yield "|", one, self.product(variable ^ self.one, zero)

    def product(self, literal: int, table: int) -> int:
        """Return `literal & table`, entering its plan at once: the two share no variable."""
        cost = 1 + self.plan(literal).cost + self.plan(table).cost
        self.plans.setdefault(literal & table, _Plan(cost, "&", literal, table))
        return literal & table
