"""The seven operators of Experiment 2 (paper, Appendix F) on n-bit integers, and a user's own.

An operator takes two integers and the mask of the word size (63 for six bits) and gives an integer within the mask.
It is called on whole arrays. A user's own joins in three lines and is named by its import path:

    @operator("x", "XNOR")
    def xnor(a, b, mask):
        return ~(a ^ b) & mask
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.core.plugins import blamed, load_plugin

Words = NDArray[np.int64]


@dataclass(frozen=True)
class Operator:
    """A symbol of one character, a name, and the function on arrays of integers."""

    symbol: str
    name: str
    function: Callable[[Words, Words, int], Words]

    def table(self, bits: int) -> Words:
        """Every result, `[first operand, second operand]`, checked to be integers of this word size.

        >>> PAPER_OPERATORS[0].table(2).tolist()[3]
        [3, 2, 1, 0]
        """
        mask = (1 << bits) - 1
        first, second = np.indices((mask + 1, mask + 1), dtype=np.int64)
        with blamed(f"operator {self.name} fails on arrays of integers"):
            results = np.asarray(self.function(first, second, mask))
        if results.shape != first.shape or not np.issubdtype(results.dtype, np.integer):
            raise BadInput(f"operator {self.name} must give one integer for every pair of integers")
        if results.min() < 0 or results.max() > mask:
            raise BadInput(f"operator {self.name} leaves the range 0 to {mask}; use the mask: `… & mask`")
        return results.astype(np.int64)


def operator(symbol: str, name: str) -> Callable[[Callable[[Words, Words, int], Words]], Operator]:
    """Turn a function of two integers and the mask into an operator."""
    if len(symbol) != 1 or symbol.isspace() or symbol.isdigit() or symbol in "=;,":
        raise BadInput(f"operator symbol {symbol!r}: one character is needed, not a digit, a blank or one of = ; ,")
    return lambda function: Operator(symbol, name, function)


PAPER_OPERATORS = (
    Operator("^", "XOR", lambda a, b, mask: a ^ b),
    Operator("|", "OR", lambda a, b, mask: a | b),
    Operator("&", "AND", lambda a, b, mask: a & b),
    Operator("r", "NOR", lambda a, b, mask: ~(a | b) & mask),
    Operator("d", "NAND", lambda a, b, mask: ~(a & b) & mask),
    Operator("L", "LSHIFT", lambda a, b, mask: (a << 1) & mask),  # by one place, whatever b is (paper, Appendix F)
    Operator("R", "RSHIFT", lambda a, b, mask: a >> 1),
)
"""In the order in which the paper names them; their symbols are the paper's compact labels."""


def parse_operator(text: str, source: str | None = None) -> Operator:
    """An operator by its symbol, by its name in any case, or by the import path of a user's own.

    `source` is the code that a user's own must have (`plugins.source_of`), if that is known.

    >>> parse_operator("d").name, parse_operator("nand").symbol
    ('NAND', 'd')
    """
    for known in PAPER_OPERATORS:
        if text == known.symbol or text.upper() == known.name:
            return known
    if ":" not in text:
        choices = ", ".join(f"{known.symbol} ({known.name})" for known in PAPER_OPERATORS)
        raise BadInput(f"operator {text!r} is not known; choose {choices}, or your own package.module:name")
    found = load_plugin("operator", text, source)
    if not isinstance(found, Operator):
        raise BadInput(
            f"operator {text} is a {type(found).__name__}; decorate the function with @operator(symbol, name)"
        )
    return found
