"""Formulas over a cell and its neighbours, read without `eval`.

The language is Python's own bitwise language: `~` binds tighter than `&`, then `^`, then `|`, and parentheses
group. Variables name the cells of the neighbourhood, left to right `L3 L2 L1 C R1 R2 R3` (`L` and `R` are
`L1` and `R1`); `0` and `1` are constants. Case does not matter.

There is no syntax tree: the parser computes the truth table while it reads. A table is a Python int whose bit
`p` is the value for pattern `p`, which is exactly a rule's number in Wolfram's convention.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hardgap.core.errors import BadInput

MAX_RADIUS = 3
MAX_NESTING = 100  # brackets and negations inside one another: far from Python's own recursion limit

_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<symbol>\S))")
_PRECEDENCE = {"|": 1, "^": 2, "&": 3}
_INSTEAD = {"!": "~", "¬": "~", "+": "^", "⊕": "^", "*": "&", "·": "&", "∧": "&", "∨": "|"}
_WORDS = {"AND": "&", "OR": "|", "XOR": "^", "NOT": "~"}
_SHOWN = 90  # how much of a long formula an error shows around its column
_OPERAND = "a variable, 0, 1, ~ or ("


class FormulaError(BadInput):
    """A formula that cannot be read; `column` counts from 1 and the message shows it with a caret."""

    def __init__(self, problem: str, text: str, column: int) -> None:
        start = max(0, column - _SHOWN // 2) if len(text) > _SHOWN else 0
        shown = re.sub(r"\s", " ", text[start : start + _SHOWN])
        caret = " " * (column - 1 - start) + "^"
        super().__init__(f"cannot read the formula at column {column}: {problem}\n  {shown}\n  {caret}")
        self.column = column


@dataclass(frozen=True)
class _Token:
    text: str
    column: int


def cell_names(radius: int) -> tuple[str, ...]:
    """Name the cells of a neighbourhood, left to right.

    >>> cell_names(2)
    ('L2', 'L1', 'C', 'R1', 'R2')
    """
    distances = range(1, radius + 1)
    return (*(f"L{d}" for d in reversed(distances)), "C", *(f"R{d}" for d in distances))


def parse_formula(text: str, radius: int | None = None) -> tuple[int, int]:
    """Return the radius and the number of a formula; the radius is the smallest that holds its variables.

    >>> parse_formula("L1 ^ (C | R1)")
    (1, 30)
    >>> parse_formula("C", radius=2)  # the same cell among five
    (2, 4042322160)
    """
    tokens = _tokenize(text)
    needed = max((_reach(token, text) for token in tokens), default=1)
    if radius is not None and radius < needed:
        raise BadInput(f"the formula {text!r} needs a radius of at least {needed}, not {radius}")
    return _Parser(text, tokens, radius or needed).parse()


def variable_table(name: str, radius: int) -> int:
    """Return the table of one variable: bit `p` is that cell's value in pattern `p`."""
    cells = cell_names(radius)
    significance = len(cells) - 1 - cells.index(name)
    run = ((1 << (1 << significance)) - 1) << (1 << significance)  # zeros then ones, 2**significance of each
    period = 2 << significance
    return sum(run << start for start in range(0, 1 << len(cells), period))


def _tokenize(text: str) -> list[_Token]:
    return [
        _Token(match[match.lastgroup], match.start(match.lastgroup) + 1)
        for match in _TOKEN.finditer(text)
        if match.lastgroup
    ]


def _canonical(name: str) -> str:
    name = name.upper()
    return f"{name}1" if name in ("L", "R") else name


def _reach(token: _Token, text: str) -> int:
    """Return how far from the centre a variable looks (1 for anything else), refusing unknown names."""
    name = _canonical(token.text)
    if not name[0].isalpha() or name == "C":
        return 1
    if name in _WORDS:
        raise FormulaError(f"write {_WORDS[name]} instead of {name.lower()}", text, token.column)
    if name not in cell_names(MAX_RADIUS):
        known = " ".join(cell_names(MAX_RADIUS))
        raise FormulaError(f"unknown variable {token.text[:20]!r} (the cells are {known})", text, token.column)
    return int(name[1:])


class _Parser:
    """Precedence climbing; every value is a truth table."""

    def __init__(self, text: str, tokens: list[_Token], radius: int) -> None:
        self.text = text
        self.tokens = tokens
        self.position = 0
        self.radius = radius
        self.ones = (1 << (1 << (2 * radius + 1))) - 1
        self.open: list[_Token] = []  # the parentheses and negations we are inside of

    def parse(self) -> tuple[int, int]:
        number = self.expression(1)
        token = self.peek()
        if token is not None:
            raise self.unexpected(token, "an operator (& ^ |)")
        return self.radius, number

    def peek(self) -> _Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def expression(self, lowest: int) -> int:
        value = self.operand()
        while (token := self.peek()) is not None and _PRECEDENCE.get(token.text, 0) >= lowest:
            self.position += 1
            other = self.expression(_PRECEDENCE[token.text] + 1)
            value = {"&": value & other, "^": value ^ other, "|": value | other}[token.text]
        return value

    def operand(self) -> int:
        token = self.peek()
        if token is None:
            end = len(self.text.rstrip()) + 1
            raise FormulaError(f"expected {_OPERAND} but the formula ends", self.text, end)
        self.position += 1
        if token.text in ("0", "1"):
            return self.ones * int(token.text)
        if token.text[0].isalpha():
            return variable_table(_canonical(token.text), self.radius)
        if token.text in ("~", "("):
            return self.nested(token)
        raise self.unexpected(token, _OPERAND)

    def nested(self, opening: _Token) -> int:
        self.open.append(opening)
        if len(self.open) > MAX_NESTING:
            raise FormulaError(f"nested more than {MAX_NESTING} deep", self.text, opening.column)
        if opening.text == "~":
            value = self.ones ^ self.operand()
        else:
            value = self.expression(1)
            self.close(opening)
        self.open.pop()
        return value

    def close(self, opening: _Token) -> None:
        token = self.peek()
        if token is None:
            raise FormulaError("this ( is never closed", self.text, opening.column)
        if token.text != ")":
            raise self.unexpected(token, "an operator (& ^ |) or )")
        self.position += 1

    def unexpected(self, token: _Token, expected: str) -> FormulaError:
        if token.text == ")" and not any(opening.text == "(" for opening in self.open):
            return FormulaError("this ) closes nothing", self.text, token.column)
        hint = f" (write {_INSTEAD[token.text]} instead)" if token.text in _INSTEAD else ""
        return FormulaError(f"expected {expected} but found {token.text!r}{hint}", self.text, token.column)
