"""Rules: numbering, names, symmetries, normal form and what is refused."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.formula import parse_formula
from hardgap.worlds.automaton.rule import NAMED, Rule, parse_rule

ELEMENTARY = [Rule(1, number) for number in range(256)]


@st.composite
def any_rule(draw, radii=(1, 2, 3)):
    radius = draw(st.sampled_from(radii))
    return Rule(radius, draw(st.integers(0, 2 ** (2 ** (2 * radius + 1)) - 1)))


def test_entry_of_a_pattern_is_that_bit_of_the_number():
    # Rule 110 is not symmetric: reading cells right to left would give 124, bits upside down 118.
    table = {"111": 0, "110": 1, "101": 1, "100": 0, "011": 1, "010": 1, "001": 1, "000": 0}
    rule = Rule(1, 110)
    assert {rule.pattern_text(p): int(rule.table[p]) for p in range(8)} == table


@pytest.mark.parametrize(
    ("name", "radius", "function"),
    [
        ("150", 1, lambda a, b, c: a ^ b ^ c),
        ("30", 1, lambda a, b, c: a ^ (b | c)),
        ("106", 1, lambda a, b, c: (a & b) ^ c),
        ("D", 2, lambda a, b, c, d, e: b ^ ((c | d) & (a | e))),
        ("G", 2, lambda a, b, c, d, e: (b ^ (c | d)) | (a & e)),
    ],
)
def test_named_rules_compute_what_the_paper_says(name, radius, function):
    rule = parse_rule(name)
    assert rule.radius == radius
    assert rule.table.tolist() == [function(*cells) for cells in product((0, 1), repeat=2 * radius + 1)]
    assert rule.name == name
    assert parse_rule(name.lower()) == rule


def test_named_elementary_rules_have_their_numbers():
    assert [parse_rule(NAMED[name]).number for name in ("150", "30", "106")] == [150, 30, 106]


def test_every_elementary_name_is_its_number_and_reads_back():
    for number, rule in enumerate(ELEMENTARY):
        assert rule.name == rule.spec == str(rule) == str(number)
        assert parse_rule(rule.name) == parse_rule(f"r1:{number}") == parse_rule(f"0x{number:X}") == rule


@given(any_rule())
def test_spec_reads_back_to_the_equal_rule(rule):
    assert parse_rule(rule.spec) == rule
    assert hash(parse_rule(rule.spec)) == hash(rule)


def test_wider_names_are_padded_lower_case_hexadecimal():
    assert parse_rule("R2:0xABC").name == "r2:0x00000abc"
    assert parse_rule("r2:10") == parse_rule(" r2:0xa ")
    assert parse_rule("r3:0xff").name == "r3:0x" + "0" * 30 + "ff"


def test_the_same_number_at_another_radius_is_another_rule():
    assert Rule(1, 30) != Rule(2, 30)


def test_a_bare_number_is_a_rule_and_not_a_constant():
    assert parse_rule("1") == Rule(1, 1)
    assert parse_rule("(1)") == Rule(1, 255)


@given(any_rule())
def test_table_and_number_say_the_same(rule):
    assert Rule.from_table(rule.table) == rule
    assert rule.table.dtype == np.uint8
    assert sum(int(bit) << p for p, bit in enumerate(rule.table)) == rule.number


def test_a_table_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        Rule(1, 30).table[0] = 1


def test_reflection_and_complement_of_every_elementary_rule():
    for rule in ELEMENTARY:
        value = {rule.pattern_text(p): int(rule.table[p]) for p in range(8)}
        mirrored, negative = rule.reflected(), rule.complemented()
        for p in range(8):
            text = rule.pattern_text(p)
            assert mirrored.table[p] == value[text[::-1]]
            assert negative.table[p] == 1 - value[text.translate(str.maketrans("01", "10"))]


@given(any_rule())
def test_symmetries_undo_themselves_and_share_a_class(rule):
    assert rule.reflected().reflected() == rule == rule.complemented().complemented()
    assert rule.reflected().complemented() == rule.complemented().reflected()
    members = rule.equivalence_class()
    assert rule in members
    assert all(member.equivalence_class() == members for member in members)


def test_there_are_88_elementary_classes():
    classes = {rule.equivalence_class() for rule in ELEMENTARY}
    assert len(classes) == 88
    assert sum(len(members) for members in classes) == 256
    assert [rule.number for rule in Rule(1, 30).equivalence_class()] == [30, 86, 135, 149]


@given(any_rule())
def test_normal_form_evaluates_to_the_table(rule):
    for p in (0, 1, rule.patterns // 2, rule.patterns - 2, rule.patterns - 1, rule.number % rule.patterns):
        cells = dict(zip(rule.cells, map(int, rule.pattern_text(p)), strict=True))
        monomials = [all(cells[cell] for cell in monomial) for monomial in rule.anf()]
        assert sum(monomials) % 2 == rule.table[p]


@given(any_rule())
def test_normal_form_reads_back_as_a_formula(rule):
    assert parse_formula(rule.anf_text(), radius=rule.radius) == (rule.radius, rule.number)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("150", "L1 ^ C ^ R1"),
        ("0", "0"),
        ("255", "1"),
        ("45", "1 ^ L1 ^ R1 ^ C & R1"),
        ("D", "L1 ^ L2 & C ^ L2 & R1 ^ C & R2 ^ R1 & R2 ^ L2 & C & R1 ^ L2 & C & R2 ^ L2 & R1 & R2 "
         "^ C & R1 & R2 ^ L2 & C & R1 & R2"),
    ],
)  # fmt: skip
def test_normal_form_in_words(rule, text):
    assert parse_rule(rule).anf_text() == text


@given(any_rule(radii=(1, 2)))
def test_formula_text_reads_back(rule):
    assert parse_formula(rule.formula_text(), radius=rule.radius) == (rule.radius, rule.number)


def test_formula_text_is_the_known_one_for_named_rules_and_short_for_others():
    assert parse_rule("D").formula_text() == NAMED["D"]
    assert parse_rule("r2:5").formula_text() == "~(L2 | L1 | C | R2)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("256", "rule number 256 is out of range: radius 1 has rules 0 to 255 (a wider rule is written"),
        ("-1", "rule number -1 is out of range: radius 1 has rules 0 to 255"),
        ("r2:0x100000000", "rule number 4294967296 is out of range: radius 2 has rules 0 to 0xffffffff"),
        ("r3:" + "9" * 5000, "999… is out of range: radius 3 has rules 0 to 0xffffffffffffffffffffffffffffffff"),
        ("r4:1", "radius 4 is not supported: give 1 to 3"),
        ("r0:1", "radius 0 is not supported: give 1 to 3"),
        ("r" + "9" * 5000 + ":1", "is not supported: give 1 to 3"),
        ("r2:", "unknown rule 'r2:': after r2: comes a decimal or 0x… number"),
        ("r2:xyz", "unknown rule 'r2:xyz': after r2: comes a decimal or 0x… number"),
        ("Rule 150", "unknown rule 'Rule 150' (did you mean '150'?): give a name"),
        ("rule-d", "unknown rule 'rule-d' (did you mean 'D'?): give a name"),
        ("15O", "unknown rule '15O' (did you mean '150'?): give a name"),
        ("", "unknown rule '': give a name (150, 30, 106, D, G), a number from 0 to 255, r2:0x… or a formula"),
        ("nonsense", "unknown rule 'nonsense': give a name"),
        ("z" * 500, "unknown rule '" + "z" * 40 + "…': give a name"),
        ("L4", "cannot read the formula at column 1: unknown variable 'L4'"),
    ],
)  # fmt: skip
def test_text_that_is_no_rule_is_refused(text, message):
    with pytest.raises(BadInput) as caught:
        parse_rule(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([0] * 7, "a rule table has 8, 32 or 128 entries in one row, not shape (7,)"),
        ([[0] * 4] * 2, "not shape (2, 4)"),
        ([0] * 7 + [2], "a rule table holds only 0 and 1"),
        ([0.5] * 8, "a rule table holds only 0 and 1"),
    ],
)
def test_a_table_that_is_no_rule_is_refused(table, message):
    with pytest.raises(BadInput) as caught:
        Rule.from_table(table)
    assert message in str(caught.value)


@pytest.mark.parametrize("pattern", [-1, 8])
def test_a_pattern_out_of_range_is_refused(pattern):
    with pytest.raises(BadInput, match=f"pattern {pattern} is out of range: rule 30 has patterns 0 to 7"):
        Rule(1, 30).pattern_text(pattern)


# Patterns by number or by all their cells


RADII = [Rule(1, 30), Rule(2, 30), Rule(3, 30)]


@pytest.mark.parametrize("rule", RADII, ids=lambda rule: f"radius {rule.radius}")
def test_every_pattern_is_read_by_its_number_and_by_its_cells(rule: Rule) -> None:
    for pattern in range(rule.patterns):
        assert rule.parse_pattern(str(pattern)) == pattern
        assert rule.parse_pattern(f" {rule.pattern_text(pattern)} ") == pattern


@pytest.mark.parametrize("rule", RADII, ids=lambda rule: f"radius {rule.radius}")
def test_digits_with_two_meanings_are_refused_with_both(rule: Rule) -> None:
    """Every text of zeros and ones up to a digit more than there are cells."""
    cells, ambiguous = 2 * rule.radius + 1, []
    for length in range(1, cells + 2):
        for text in map("".join, product("01", repeat=length)):
            number, short = int(text), int(text, 2)
            meant = {short} if length == cells else {number} & set(range(rule.patterns))
            if length != cells and text[0] == "0":  # cells cut short begin with 0, and so may a number
                meant |= {short} if meant else set()
            if len(meant) == 1:
                assert {rule.parse_pattern(text)} == meant
                continue
            with pytest.raises(BadInput) as refused:
                rule.parse_pattern(text)
            if meant:
                ambiguous.append(text)
                both = f"write {number} or {rule.pattern_text(short)}"
                assert f"{text} could be pattern {number} or the cells" in str(refused.value)
                assert both in str(refused.value)
                assert {rule.parse_pattern(one) for one in both.removeprefix("write ").split(" or ")} == meant
    assert len(ambiguous) == {1: 0, 2: 6, 3: 26}[rule.radius]
    assert rule.radius != 2 or ambiguous == ["010", "011", "0010", "0011", "000010", "000011"]


@pytest.mark.parametrize("text", ["", "x", "8", "10", "11", "0011", "1000", "-1", "+1", "1.0", "1_0", "٣", "9" * 5000])
def test_what_is_no_pattern_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(
        BadInput, match=r"Rule 30 has patterns 0 to 7, not .*: write a number, or all 3 cells such as 011"
    ):
        Rule(1, 30).parse_pattern(text)
