"""Circuits compute their rule, in as few gates as promised."""

from operator import and_, or_, xor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgap.worlds.automaton.formula import cell_names, parse_formula, variable_table
from hardgap.worlds.automaton.gates import Gate, Netlist, netlist_of
from hardgap.worlds.automaton.rule import NAMED


def table(netlist: Netlist) -> int:
    """The table that the gates compute."""
    values = [variable_table(name, netlist.radius) for name in cell_names(netlist.radius)]
    values.append((1 << (1 << len(values))) - 1)
    for gate in netlist.gates:
        values.append({"&": and_, "|": or_, "^": xor}[gate.operation](values[gate.left], values[gate.right]))
    return values[netlist.output]


def smallest_formula_sizes():
    """Return the least number of operators for each function of three variables, by plain relaxation."""
    size = {variable_table(name, 1): 0 for name in cell_names(1)} | {255: 0}
    changed = True
    while changed:
        pairs = [(a, b) for a in size for b in size]
        found: dict[int, int] = {}
        for a, b in pairs:
            for table in (a & b, a | b, a ^ b):
                found[table] = min(found.get(table, 99), size[a] + size[b] + 1)
        better = {table: cost for table, cost in found.items() if cost < size.get(table, 99)}
        size |= better
        changed = bool(better)
    return size


def test_every_elementary_circuit_is_right_and_a_smallest_formula():
    sizes = smallest_formula_sizes()
    for number in range(256):
        netlist = netlist_of(1, number)
        assert table(netlist) == number
        assert len(netlist.gates) <= sizes[number]
        assert parse_formula(netlist.formula_text(), radius=1) == (1, number)


@pytest.mark.parametrize(("name", "gates"), [("150", 2), ("30", 2), ("106", 2), ("D", 4), ("G", 4)])
def test_named_rules_take_no_more_gates_than_their_formula(name, gates):
    assert len(netlist_of(*parse_formula(NAMED[name])).gates) == gates


@given(st.integers(0, 2**32 - 1))
def test_radius_two_circuits_are_right_and_small(number):
    netlist = netlist_of(2, number)
    assert table(netlist) == number
    assert len(netlist.gates) <= 24
    assert parse_formula(netlist.formula_text(), radius=2) == (2, number)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_radius_three_circuits_are_right(number):
    netlist = netlist_of(3, number)
    assert table(netlist) == number
    assert len(netlist.gates) <= 90


def test_a_wrong_gate_is_noticed():
    right = netlist_of(1, 30)
    wrong = Netlist(1, (Gate("&", right.gates[0].left, right.gates[0].right), *right.gates[1:]), right.output)
    assert right.gates[0].operation != "&"
    assert table(wrong) != 30
