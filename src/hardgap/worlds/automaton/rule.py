"""Rules of one-dimensional binary cellular automata: tables, numbers, names, symmetries, normal form.

One convention holds everywhere. A neighbourhood's cells are read left to right, most significant first, and
that number is its *pattern*: pattern 3 is `011`. Bit `p` of a rule's number is the output for pattern `p`, as
in Wolfram's numbering.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.formula import MAX_RADIUS, cell_names, parse_formula
from hardgap.worlds.automaton.gates import netlist_of

# The rules of the paper (§3.1), by the name that tables and commands use.
NAMED: dict[str, str] = {
    "150": "L1 ^ C ^ R1",
    "30": "L1 ^ (C | R1)",
    "106": "(L1 & C) ^ R1",
    "D": "L1 ^ ((C | R1) & (L2 | R2))",
    "G": "(L1 ^ (C | R1)) | (L2 & R2)",
}

_NUMBERED = re.compile(r"(?:r(?P<radius>[0-9]+):)?(?P<number>-?(?:0x[0-9a-f]+|[0-9]+))", re.IGNORECASE)
# An operator, a bracket or the name of a cell shows that a formula is meant, whatever else is wrong with it.
_FORMULA = re.compile(r"[&|^~()]|\b(?:[LR][0-9]*|C)\b", re.IGNORECASE)
_WAYS = "a name (150, 30, 106, D, G), a number from 0 to 255, r2:0x… or a formula such as 'L1 ^ (C | R1)'"


@dataclass(frozen=True, order=True)
class Rule:
    """A local rule, identified by its radius and its number.

    >>> Rule(1, 110).table.tolist()  # entry 6 answers for 110
    [0, 1, 1, 1, 0, 1, 1, 0]
    >>> [Rule(1, 110).pattern_text(p) for p in (3, 6)]
    ['011', '110']
    """

    radius: int
    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", operator.index(self.radius))
        object.__setattr__(self, "number", operator.index(self.number))
        if not 1 <= self.radius <= MAX_RADIUS:
            raise BadInput(f"radius {self.radius} is not supported: give 1 to {MAX_RADIUS}")
        if not 0 <= self.number < 1 << self.patterns:
            raise BadInput(_out_of_range(self.radius, str(self.number)))

    @classmethod
    def from_table(cls, table: ArrayLike) -> Rule:
        """Return the rule whose output for pattern `p` is `table[p]`; 8, 32 or 128 entries."""
        bits = np.asarray(table)
        radius = {8: 1, 32: 2, 128: 3}.get(bits.size)
        if radius is None or bits.ndim != 1:
            raise BadInput(f"a rule table has 8, 32 or 128 entries in one row, not shape {bits.shape}")
        if not np.isin(bits, (0, 1)).all():
            raise BadInput("a rule table holds only 0 and 1")
        return cls(radius, int("".join("1" if bit else "0" for bit in bits[::-1]), 2))

    @property
    def patterns(self) -> int:
        """How many neighbourhoods there are: 8, 32 or 128."""
        return 1 << (2 * self.radius + 1)

    @property
    def table(self) -> NDArray[np.uint8]:
        """The output for every pattern, read-only."""
        return _table(self.radius, self.number)

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the neighbourhood's cells, left to right."""
        return cell_names(self.radius)

    @property
    def name(self) -> str:
        """The shortest text that names this rule; `parse_rule` reads it back.

        >>> [parse_rule(text).name for text in ("l1^c^r1", "d", "r2:254")]
        ['150', 'D', 'r2:0x000000fe']
        """
        if self.radius == 1:
            return str(self.number)
        return _names().get(self, f"r{self.radius}:0x{self.number:0{self.patterns // 4}x}")

    @property
    def spec(self) -> str:
        """The canonical text of this rule: equal rules have equal specs."""
        return self.name

    def __str__(self) -> str:
        return self.name

    def _repr_html_(self) -> str:
        from hardgap.worlds.automaton.display import rule_html

        return rule_html(self)

    def pattern_text(self, pattern: int) -> str:
        """Write a pattern as its cells, left to right."""
        if not 0 <= pattern < self.patterns:
            last = self.patterns - 1
            raise BadInput(f"pattern {pattern} is out of range: rule {self.name} has patterns 0 to {last}")
        return f"{pattern:0{2 * self.radius + 1}b}"

    def parse_pattern(self, text: str) -> int:
        """Read a pattern written as its number (3) or as all its cells (011).

        All cells that begin with 1 are too many digits for a number, and a number does not begin with 0. Where fewer
        cells and a number with a 0 in front would be two patterns, neither is guessed.

        >>> [Rule(1, 30).parse_pattern(text) for text in ("3", "011", "110")]
        [3, 3, 6]
        """
        text, cells = text.strip(), 2 * self.radius + 1
        if re.fullmatch(f"[01]{{{cells}}}", text):
            return int(text, 2)
        # The length is judged before the value: Python refuses to read thousands of decimal digits.
        number = int(text) if re.fullmatch("[0-9]{1,9}", text) else -1
        if not 0 <= number < self.patterns:
            shown = text if len(text) <= 40 else f"{text[:40]}…"
            raise BadInput(
                f"Rule {self.name} has patterns 0 to {self.patterns - 1}, not {shown!r}: write a number, "
                f"or all {cells} cells such as {self.pattern_text(3)}"
            )
        if re.fullmatch("0[01]+", text) and int(text, 2) != number:
            short = self.pattern_text(int(text, 2))
            raise BadInput(f"{text} could be pattern {number} or the cells {short}: write {number} or {short}")
        return number

    def reflected(self) -> Rule:
        """Return the rule seen in a mirror: left and right change places.

        >>> Rule(1, 110).reflected().number
        124
        """
        bits = np.arange(self.patterns).reshape((2,) * (2 * self.radius + 1))
        return Rule.from_table(self.table[bits.transpose().ravel()])

    def complemented(self) -> Rule:
        """Return the rule seen in negative: 0 and 1 change places, in the neighbourhood and in the output.

        >>> Rule(1, 110).complemented().number
        137
        """
        return Rule.from_table(1 - self.table[::-1])

    def equivalence_class(self) -> tuple[Rule, ...]:
        """Return the rules that differ only by mirror and negative, this one included, smallest number first.

        >>> [rule.number for rule in Rule(1, 110).equivalence_class()]
        [110, 124, 137, 193]
        """
        mirrored = self.reflected()
        return tuple(sorted({self, mirrored, self.complemented(), mirrored.complemented()}))

    def anf(self) -> tuple[tuple[str, ...], ...]:
        """Return the algebraic normal form: the monomials whose XOR is the rule, low degree first.

        A monomial is the tuple of its variables, left to right; the constant 1 is the empty tuple.

        >>> Rule(1, 30).anf()
        (('L1',), ('C',), ('R1',), ('C', 'R1'))
        """
        present = np.flatnonzero(_moebius(self.table)).tolist()
        chosen = [[i for i, bit in enumerate(self.pattern_text(mask)) if bit == "1"] for mask in present]
        chosen.sort(key=lambda indices: (len(indices), indices))
        return tuple(tuple(self.cells[i] for i in indices) for indices in chosen)

    def anf_text(self) -> str:
        """Write the normal form as a formula.

        >>> Rule(1, 30).anf_text()
        'L1 ^ C ^ R1 ^ C & R1'
        """
        return " ^ ".join(" & ".join(monomial) or "1" for monomial in self.anf()) or "0"

    def formula_text(self) -> str:
        """Write a short formula for this rule: the one it is known by, or else one found by decomposition.

        The formula may not mention the outermost cells; `parse_formula(text, radius)` keeps the radius.

        >>> Rule(1, 54).formula_text()
        'C ^ (L1 | R1)'
        """
        return NAMED.get(self.name) or netlist_of(self.radius, self.number).formula_text()


@lru_cache(maxsize=1024)
def parse_rule(text: str) -> Rule:
    """Read a rule from a name, an elementary number, a wider number or a formula.

    A bare number is always an elementary rule, so `"1"` is rule 1 and not the constant.

    >>> parse_rule("G") == parse_rule("(L1 ^ (C | R1)) | (L2 & R2)")
    True
    """
    text = text.strip()
    name = next((name for name in NAMED if name.casefold() == text.casefold()), None)
    if name is not None:
        return Rule(*parse_formula(NAMED[name]))
    if match := _NUMBERED.fullmatch(text):
        return _numbered(int((match["radius"] or "1")[:9]), match["number"])
    if match := re.match(r"r[0-9]+:", text, re.IGNORECASE):
        raise BadInput(f"unknown rule {text[:40]!r}: after {match[0]} comes a decimal or 0x… number")
    if _FORMULA.search(text):
        return Rule(*parse_formula(text))
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    raise BadInput(f"unknown rule {shown!r}{_suggestion(text)}: give {_WAYS}")


def _numbered(radius: int, digits: str) -> Rule:
    # The length is judged before the value: Python refuses to read thousands of decimal digits.
    if 1 <= radius <= MAX_RADIUS and len(digits) > 64:
        raise BadInput(_out_of_range(radius, digits))
    return Rule(radius, int(digits[:64], 16 if "x" in digits.lower() else 10))


def _out_of_range(radius: int, digits: str) -> str:
    shown = digits if len(digits) <= 48 else f"{digits[:40]}…"
    last = "255" if radius == 1 else f"0x{(1 << (1 << (2 * radius + 1))) - 1:x}"
    wider = " (a wider rule is written r2:NUMBER or r3:NUMBER)" if radius == 1 else ""
    return f"rule number {shown} is out of range: radius {radius} has rules 0 to {last}{wider}"


def _suggestion(text: str) -> str:
    bare = re.sub(r"^\s*(?:rule|eca|ca)[\s_#-]*", "", text, flags=re.IGNORECASE)
    if bare != text and (bare.upper() in NAMED or re.fullmatch(r"[0-9]{1,3}", bare)):
        return f" (did you mean {bare.upper()!r}?)"
    close = get_close_matches(text.upper(), NAMED, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


@cache
def _names() -> dict[Rule, str]:
    return {Rule(*parse_formula(formula)): name for name, formula in NAMED.items()}


@lru_cache(maxsize=4096)
def _table(radius: int, number: int) -> NDArray[np.uint8]:
    raw = np.frombuffer(number.to_bytes((1 << (2 * radius + 1)) // 8, "little"), dtype=np.uint8)
    table = np.unpackbits(raw, bitorder="little")
    table.flags.writeable = False
    return table


def _moebius(table: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return every monomial's coefficient, indexed by the pattern in which exactly its variables are 1."""
    result = table.copy()
    for low, high in halves(result):
        high ^= low
    return result


def halves(values: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """For each bit of a pattern, views of `values` `[..., patterns]` where it is 0 and, in that order, where it is 1.

    What is done to them in place, bit after bit, makes a fast transform over all subsets of the cells.
    """
    for bit in range(values.shape[-1].bit_length() - 1):
        pairs = values.reshape(*values.shape[:-1], -1, 2, 1 << bit)
        yield pairs[..., 0, :], pairs[..., 1, :]
