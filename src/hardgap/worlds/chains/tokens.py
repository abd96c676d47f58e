"""A chain's derivation as tokens, in the three conditions of the paper (Appendix F).

    familiar     12 ^ 7 = 11 ; 11 | 21 = 31 ; ^ |
    opaque       the same with letters for the operators: 12 C 7 = 11 ; 11 A 21 = 31 ; C A
    label-only   ^ |

The vocabulary holds the integers, then the operators, then `=`, `;`, begin and end: 64 + 7 + 4 = 75 in the paper's
arithmetic. Every sequence of a condition has the same length, so nothing is padded. The network's input is the integers
themselves. All embeddings are learned from scratch, so opaque letters are another numbering of the same tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import Literal

import numpy as np

from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.operators import Words

Condition = Literal["familiar", "opaque", "label-only"]
STRUCTURE = ("=", ";", "<begin>", "<end>")
LETTERS = ascii_uppercase + ascii_lowercase


@dataclass(frozen=True)
class Answer:
    """What a sequence of tokens says; -1 where a token of another kind stands in the place."""

    labels: Words  # [n, k], the operators named at the end
    values: Words | None  # [n, k], the results, f last; None under label-only


@dataclass(frozen=True)
class Codec:
    """Between examples and tokens in one condition. `seed` draws the opaque letters."""

    arithmetic: Arithmetic
    condition: Condition = "familiar"
    seed: int = 0

    @property
    def vocabulary(self) -> int:
        return self.arithmetic.size + len(self.arithmetic.operators) + len(STRUCTURE)

    @property
    def begin(self) -> int:
        return self._structure("<begin>")

    @property
    def legend(self) -> dict[str, str]:
        """Which operator each opaque letter stands for; empty in the other conditions."""
        if self.condition != "opaque":
            return {}
        letters = (LETTERS[place] for place in self.letters)
        return {letter: one.symbol for letter, one in sorted(zip(letters, self.arithmetic.operators, strict=True))}

    @cached_property
    def letters(self) -> Words:
        """`letters[operator]` is the operator's place among the operator tokens."""
        count = len(self.arithmetic.operators)
        if self.condition != "opaque":
            return np.arange(count)
        rng = np.random.default_rng([self.seed, 12])
        drawn = rng.permutation(count)
        while np.array_equal(drawn, np.arange(count)):  # else it would be the familiar condition under another name
            drawn = rng.permutation(count)
        return drawn

    @cached_property
    def layout(self) -> tuple[str, ...]:
        """What stands in each place after `<begin>`: a b c u, e f, op1 op2 (the paper's letters), `=`, `;`, `<end>`."""
        names, k = self.arithmetic.input_names, self.arithmetic.length
        labels = tuple(f"op{i + 1}" for i in range(k))
        if self.condition == "label-only":
            return (*labels, "<end>")
        values = [self._value_name(i) for i in range(k)]
        places: list[str] = []
        for i in range(k):
            left = names[0] if i == 0 else values[i - 1]
            right = "u" if i == k - 1 else names[i + 1]
            places += [left, labels[i], right, "=", values[i], ";"]
        return (*places, *labels, "<end>")

    def _value_name(self, step: int) -> str:
        if step == self.arithmetic.length - 1:
            return "f"
        return "e" if self.arithmetic.length == 2 else f"e{step + 1}"

    @cached_property
    def places(self) -> dict[str, tuple[int, ...]]:
        """Where in the layout each name stands, in order."""
        return {name: tuple(i for i, place in enumerate(self.layout) if place == name) for name in self.layout}

    def encode(self, examples: Examples) -> Words:
        """Sequences from `<begin>` to `<end>`, `[n, 1 + places]`."""
        columns = dict(zip(self.arithmetic.input_names, examples.inputs.T, strict=True))
        columns |= {self._value_name(i): column for i, column in enumerate(examples.values.T)}
        marks = self.arithmetic.size + self.letters[examples.ops]
        columns |= {f"op{i + 1}": column for i, column in enumerate(marks.T)}
        columns |= {name: np.full(len(examples), self._structure(name)) for name in STRUCTURE}
        return np.stack([columns[name] for name in ("<begin>", *self.layout)], axis=-1)

    def decode(self, tokens: Words) -> Answer:
        """What sequences without their `<begin>` say, `[n, places]`."""
        k = range(self.arithmetic.length)
        labels = np.stack([self._operators(tokens[:, self.places[f"op{i + 1}"][-1]]) for i in k], axis=-1)
        if self.condition == "label-only":
            return Answer(labels, None)
        values = np.stack([tokens[:, self.places[self._value_name(i)][0]] for i in k], axis=-1)
        return Answer(labels, np.where(values < self.arithmetic.size, values, -1))

    def _operators(self, tokens: Words) -> Words:
        place = tokens - self.arithmetic.size
        valid = (place >= 0) & (place < len(self.letters))
        return np.where(valid, np.argsort(self.letters)[np.where(valid, place, 0)], -1)

    def _structure(self, name: str) -> int:
        return self.arithmetic.size + len(self.arithmetic.operators) + STRUCTURE.index(name)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """How each token is written."""
        symbols = [one.symbol for one in self.arithmetic.operators]
        if self.condition == "opaque":
            symbols = list(LETTERS[: len(symbols)])
        return (*map(str, range(self.arithmetic.size)), *symbols, *STRUCTURE)

    def write(self, tokens: Words) -> str:
        """One sequence as text.

        >>> Codec(Arithmetic()).write(np.array([12, 64, 7, 71, 11, 72]))
        '12 ^ 7 = 11 ;'
        """
        return " ".join(self.texts[int(token)] for token in tokens)
