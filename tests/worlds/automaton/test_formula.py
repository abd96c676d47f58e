"""The formula parser against Python's own operators, and the column of every error."""

import operator
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.formula import MAX_NESTING, FormulaError, cell_names, parse_formula, variable_table
from hardgap.worlds.automaton.rule import parse_rule

BINARY = {"&": operator.and_, "^": operator.xor, "|": operator.or_}
LEVEL = {"|": 1, "^": 2, "&": 3, "~": 4}
NAMES = {1: ["L1", "C", "R1", "L", "R", "c"], 3: ["L3", "L2", "L1", "C", "R1", "R2", "R3", "L", "R", "r2"]}


def leaves(names):
    return st.sampled_from(names) | st.sampled_from(["0", "1"])


def trees(names):
    """A leaf is its text; a node is (operation, operand) or (operation, left, right)."""
    return st.recursive(
        leaves(names),
        lambda inner: st.tuples(st.just("~"), inner) | st.tuples(st.sampled_from("&^|"), inner, inner),
        max_leaves=25,
    )


def text_of(tree, level=0, brackets=()):
    """Write a tree with the fewest brackets, plus one more pair wherever `brackets` says so."""
    brackets = iter(brackets)

    def write(tree, level):
        extra = next(brackets, False)
        if isinstance(tree, str):
            text, own = tree, 9
        elif tree[0] == "~":
            text, own = "~" + write(tree[1], LEVEL["~"]), LEVEL["~"]
        else:
            own = LEVEL[tree[0]]
            text = f"{write(tree[1], own)} {tree[0]} {write(tree[2], own + 1)}"
        return f"({text})" if extra or own < level else text

    return write(tree, level)


def value_of(tree, cells):
    if isinstance(tree, str):
        name = tree.upper()
        return int(tree) if tree in "01" else cells[{"L": "L1", "R": "R1"}.get(name, name)]
    if tree[0] == "~":
        return 1 - value_of(tree[1], cells)
    return BINARY[tree[0]](value_of(tree[1], cells), value_of(tree[2], cells))


@pytest.mark.parametrize("radius", [1, 3])
def test_any_expression_means_what_it_means_in_python(radius):
    @given(trees(NAMES[radius]), st.lists(st.booleans(), max_size=40))
    @example(("^", "C", ("&", "C", "R1")), [])
    def check(tree, brackets):
        read_radius, number = parse_formula(text_of(tree, brackets=brackets), radius=radius)
        assert read_radius == radius
        patterns = product((0, 1), repeat=2 * radius + 1)
        expected = [value_of(tree, dict(zip(cell_names(radius), cells, strict=True))) for cells in patterns]
        assert number == sum(bit << p for p, bit in enumerate(expected))

    check()


def test_precedence_is_pythons():
    assert parse_formula("L1 | C ^ R1 & ~C") == parse_formula("L1 | (C ^ (R1 & (~C)))")
    assert parse_formula("~L1 & C") != parse_formula("~(L1 & C)")


def test_the_left_cell_is_the_most_significant():
    assert [parse_formula(name)[1] for name in ("L1", "C", "R1")] == [0b11110000, 0b11001100, 0b10101010]


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_a_variable_is_its_bit_of_the_pattern(radius):
    for place, name in enumerate(reversed(cell_names(radius))):
        table = variable_table(name, radius)
        assert [table >> p & 1 for p in range(2 ** (2 * radius + 1))] == [
            p >> place & 1 for p in range(2 ** (2 * radius + 1))
        ]


@pytest.mark.parametrize(("text", "radius"), [("C", 1), ("1", 1), ("R1", 1), ("L2", 2), ("C ^ r3", 3)])
def test_the_radius_is_the_smallest_that_holds_the_variables(text, radius):
    assert parse_formula(text)[0] == radius


def test_spacing_and_case_do_not_matter():
    assert parse_formula("\tl1^( c|R )\n") == parse_formula("L1 ^ (C | R1)") == (1, 30)


def test_a_radius_too_small_is_refused():
    with pytest.raises(BadInput, match="the formula 'L2 \\^ C' needs a radius of at least 2, not 1"):
        parse_formula("L2 ^ C", radius=1)


OPERAND = "expected a variable, 0, 1, ~ or ("


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, f"{OPERAND} but the formula ends"),
        ("C |  ", 4, f"{OPERAND} but the formula ends"),
        ("C ^ ~", 6, f"{OPERAND} but the formula ends"),
        ("L1 ^ & C", 6, f"{OPERAND} but found '&'"),
        ("C || R1", 4, f"{OPERAND} but found '|'"),
        ("()", 2, f"{OPERAND} but found ')'"),
        ("C & 10", 5, f"{OPERAND} but found '10'"),
        ("C & _x", 5, f"{OPERAND} but found '_x'"),
        ("C & !R1", 5, f"{OPERAND} but found '!' (write ~ instead)"),
        ("C R1", 3, "expected an operator (& ^ |) but found 'R1'"),
        ("C + R1", 3, "expected an operator (& ^ |) but found '+' (write ^ instead)"),
        ("C ∧ R1", 3, "expected an operator (& ^ |) but found '∧' (write & instead)"),
        ("C ~ R1", 3, "expected an operator (& ^ |) but found '~'"),
        ("(C R1)", 4, "expected an operator (& ^ |) or ) but found 'R1'"),
        ("L1 ^ (C | R1", 6, "this ( is never closed"),
        ("((C) ^ R1", 1, "this ( is never closed"),
        ("C) ^ R1", 2, "this ) closes nothing"),
        (") C", 1, "this ) closes nothing"),
        ("~)", 2, "this ) closes nothing"),
        ("C ^ L4", 5, "unknown variable 'L4' (the cells are L3 L2 L1 C R1 R2 R3)"),
        ("C1 & R1", 1, "unknown variable 'C1'"),
        ("C & ß", 5, "unknown variable 'ß'"),
        ("L1 xor C", 4, "write ^ instead of xor"),
        ("~" * (MAX_NESTING + 1) + "C", MAX_NESTING + 1, f"nested more than {MAX_NESTING} deep"),
        ("(" * 100_000, MAX_NESTING + 1, f"nested more than {MAX_NESTING} deep"),
    ],
)
def test_an_error_names_its_column_and_points_at_it(text, column, problem):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    sentence, shown, caret = str(caught.value).split("\n")
    assert sentence.startswith(f"cannot read the formula at column {column}: {problem}")
    assert caught.value.column == column
    pointed_at = shown[len(caret) - 1 : len(caret)]
    assert pointed_at == text[column - 1 : column]


def test_as_deep_as_allowed_is_read():
    assert parse_formula("(" * MAX_NESTING + "C" + ")" * MAX_NESTING) == (1, 204)
    assert parse_formula(" ^ ".join(["C"] * 10_001)) == (1, 204)


@given(st.text(alphabet="LRC0123 &|^~()!x\n", max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    for read in (parse_formula, parse_rule):
        with suppress(BadInput):  # any other exception fails the test
            read(text)
