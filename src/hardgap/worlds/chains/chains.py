"""Chains of operators and the operators that fit an observed chain.

A chain of k operators runs from left to right: ((x0 op1 x1) op2 x2) … = d. The network sees the operands, d and a
fresh operand u, and must find the operators and use them again with u as the last operand. With the paper's k = 2:
(a op1 b) op2 c = d, and the derivation is a op1 b = e; e op2 u = f.

A chain of operators is numbered as the digits of a number, the first operator most significant. Arrays:

    ops        [examples, k]       operator indices
    inputs     [examples, k + 3]   x0 … xk, d, u
    evidence   [examples, k + 2]   the inputs without u: all that speaks about the operators
    values     [examples, k]       the results of the derivation; the last one is f
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.worlds.chains.operators import PAPER_OPERATORS, Operator, Words, parse_operator

Mask = NDArray[np.bool_]
MOST_BITS = 8
MOST_CHAINS = 5_000
MOST_OPERATORS = 32


@dataclass(frozen=True)
class Arithmetic:
    """The operators, the word size and the length of a chain; the paper's by default."""

    operators: tuple[Operator, ...] = PAPER_OPERATORS
    bits: int = 6
    length: int = 2

    def __post_init__(self) -> None:
        symbols = [one.symbol for one in self.operators]
        if not 2 <= len(symbols) <= MOST_OPERATORS or len(set(symbols)) < len(symbols):
            names = " ".join(symbols)
            raise BadInput(f"operators {names}: 2 to {MOST_OPERATORS} are needed, each with its own symbol")
        if not 1 <= self.bits <= MOST_BITS:
            raise BadInput(f"bits {self.bits}: words of 1 to {MOST_BITS} bits are possible")
        # The length is judged first: a large power takes for ever.
        if not 1 <= self.length <= MOST_CHAINS.bit_length() or len(symbols) ** self.length > MOST_CHAINS:
            raise BadInput(f"length {self.length}: at least 1, with at most {MOST_CHAINS:,} chains of operators in all")

    @classmethod
    def of(
        cls, operators: Iterable[str], bits: int = 6, length: int = 2, sources: Mapping[str, str] | None = None
    ) -> Arithmetic:
        """The world whose operators are named by symbols, names or import paths; `sources` is the code of these."""
        known = sources or {}
        return cls(tuple(parse_operator(text, known.get(text)) for text in operators), bits, length)

    @property
    def size(self) -> int:
        """How many integers there are."""
        return 1 << self.bits

    @property
    def chains(self) -> int:
        """How many chains of operators there are: the paper's 49 pairs."""
        return int(len(self.operators) ** self.length)

    @property
    def input_names(self) -> tuple[str, ...]:
        """a, b, c, d, u as in the paper where a chain has two operators, else x0, x1, … d, u."""
        operands = ("a", "b", "c") if self.length == 2 else tuple(f"x{i}" for i in range(self.length + 1))
        return (*operands, "d", "u")

    @cached_property
    def _results(self) -> Words:
        """`[first operand · size + second operand, operator]`: one row answers for every operator."""
        return np.stack([one.table(self.bits).ravel() for one in self.operators], axis=-1)

    def apply(self, ops: Words, first: Words, second: Words) -> Words:
        """The result of each operator on its two operands, elementwise."""
        found: Words = self._results[first * self.size + second, ops]
        return found

    def results(self, ops: Words, operands: Words) -> Words:
        """Every partial result of chains from left to right: `[n, k]` and `[n, k + 1]` to `[n, k]`."""
        found = np.empty_like(ops)
        state = operands[:, 0]
        for slot in range(self.length):
            found[:, slot] = state = self.apply(ops[:, slot], state, operands[:, slot + 1])
        return found

    def fits(self, evidence: Words) -> Mask:
        """Which chains of operators are consistent with each evidence: `[n, k + 2]` to `[n, chains]`."""
        bits = self._fitting_bits(evidence)[:, :, None] >> np.arange(len(self.operators), dtype=np.uint32)
        return (bits & 1).astype(bool).reshape(len(evidence), self.chains)

    def is_alone(self, examples: Examples, rivals: Mask) -> Mask:
        """For each example, whether no rival chain (`[chains]`) but its own fits its evidence."""
        at_once = max(1, 2**24 // self.chains)
        pieces = (examples[i : i + at_once] for i in range(0, max(1, len(examples)), at_once))
        return np.concatenate([self._is_alone(piece, rivals) for piece in pieces])

    def _is_alone(self, examples: Examples, rivals: Mask) -> Mask:
        count = len(self.operators)
        bits = self._fitting_bits(examples.evidence)
        bits &= rivals.reshape(-1, count) @ (np.uint32(1) << np.arange(count, dtype=np.uint32))
        before, last = np.divmod(self.index_of(examples.ops), count)
        bits[np.arange(len(bits)), before] &= ~(np.uint32(1) << last.astype(np.uint32))
        return np.asarray(~bits.any(axis=1))

    @cached_property
    def _last_bits(self) -> NDArray[np.uint32]:
        """For a state, the last operand and d, the last operators that fit, one bit each: `[size · size · size]`."""
        found = np.zeros((self.size**2, self.size), np.uint32)
        for index, results in enumerate(self._results.T):
            found[np.arange(len(found)), results] |= np.uint32(1) << np.uint32(index)
        return found.ravel()

    def _fitting_bits(self, evidence: Words) -> NDArray[np.uint32]:
        """`[n, chains without their last operator]`, a bit for each last operator that fits.

        Looking up the last operator for all at once makes this as cheap as enumerating the others.
        """
        states = evidence[:, :1]
        for slot in range(self.length - 1):
            rows = states * self.size + evidence[:, slot + 1, None]
            states = self._results[rows].reshape(len(evidence), rows.shape[1] * len(self.operators))
        rows = (states * self.size + evidence[:, -2, None]) * self.size + evidence[:, -1:]
        found: NDArray[np.uint32] = self._last_bits[rows]
        return found

    def examples(self, ops: Words, operands: Words, fresh: Words) -> Examples:
        """Chains with these operators and operands, and their true derivations with the fresh operand."""
        results = self.results(ops, operands)
        values = results.copy()
        before = results[:, -2] if self.length > 1 else operands[:, 0]
        values[:, -1] = self.apply(ops[:, -1], before, fresh)
        return Examples(ops, np.column_stack([operands, results[:, -1], fresh]), values)

    def decoy(self, hidden: Mask) -> Arithmetic:
        """This world with the opposite of every result of the hidden chains, `[chains]` (leak certificate)."""
        return _Decoy(self.operators, self.bits, self.length, hidden=hidden)

    def index_of(self, ops: Words) -> Words:
        """The number of each chain of operators, `[n, k]` to `[n]`."""
        weights = len(self.operators) ** np.arange(self.length)[::-1]
        return ops @ weights

    def ops_of(self, index: Words) -> Words:
        """The operators of each chain by its number, `[n]` to `[n, k]`."""
        weights = len(self.operators) ** np.arange(self.length)[::-1]
        return index[:, None] // weights % len(self.operators)

    def parse_chain(self, text: str) -> tuple[int, ...]:
        """The operator indices of symbols written side by side.

        >>> Arithmetic().parse_chain("^|")
        (0, 1)
        """
        symbols = [one.symbol for one in self.operators]
        if not text or any(symbol not in symbols for symbol in text):
            raise BadInput(f"operators {text!r}: write symbols side by side, out of {' '.join(symbols)}")
        return tuple(symbols.index(symbol) for symbol in text)

    def chain_text(self, ops: Iterable[int]) -> str:
        return "".join(self.operators[int(op)].symbol for op in ops)


@dataclass(frozen=True, eq=False)
class _Decoy(Arithmetic):
    """All bits of what a hidden chain gives after its first operator are flipped; every other chain is as it was.

    `is_alone` stays true: which examples are ambiguous is asked of all chains, openly (`sampling.py`).
    """

    hidden: Mask = field(kw_only=True)

    def results(self, ops: Words, operands: Words) -> Words:
        found = super().results(ops, operands)
        found[:, 1:] ^= self._flip(ops)
        return found

    def examples(self, ops: Words, operands: Words, fresh: Words) -> Examples:
        found = super().examples(ops, operands, fresh)
        found.values[:, -1:] ^= self._flip(ops)
        return found

    def fits(self, evidence: Words) -> Mask:
        found = super().fits(evidence)
        for chain in np.flatnonzero(self.hidden):
            ops = np.repeat(self.ops_of(np.array([chain])), len(evidence), axis=0)
            found[:, chain] = self.results(ops, evidence[:, :-1])[:, -1] == evidence[:, -1]
        return found

    def _flip(self, ops: Words) -> Words:
        """`[n, 1]`: all bits of a word where the chain is hidden, else none."""
        return np.where(self.hidden[self.index_of(ops)], self.size - 1, 0)[:, None]


@dataclass(frozen=True)
class Examples:
    """Chains with what the network sees, what it should answer, and the operators behind it."""

    ops: Words
    inputs: Words
    values: Words

    @property
    def evidence(self) -> Words:
        return self.inputs[:, :-1]

    def __len__(self) -> int:
        return len(self.ops)

    def __getitem__(self, chosen: Words | Mask | slice) -> Examples:
        return Examples(self.ops[chosen], self.inputs[chosen], self.values[chosen])

    def scrambled(self, where: Mask, size: int, operators: int, seed: int) -> Examples:
        """The same examples with everything about those in `where` replaced by dice (leak certificate)."""
        rng = np.random.default_rng(seed)
        parts = [(self.ops, operators), (self.inputs, size), (self.values, size)]
        return Examples(*(np.where(where[:, None], rng.integers(0, n, part.shape), part) for part, n in parts))
