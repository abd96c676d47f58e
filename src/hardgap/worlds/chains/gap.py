"""The gap of Experiment 2 (paper §4.6): operators that never follow one another in training.

Five sets are drawn, each from its own stream and no evidence in two parts:

    train          seen chains only, balanced
    eval, test     of every seen chain the same number, and another, or as many, of each held-out chain

The test sets are reported. The evaluation sets are there to choose a checkpoint by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.worlds.chains.chains import Arithmetic, Examples, Mask
from hardgap.worlds.chains.operators import Words
from hardgap.worlds.chains.sampling import Ambiguity, Part, allocate, balanced_weights, draw, held_out_chains


@dataclass(frozen=True)
class ChainGap:
    """A world in which operators side by side, `holdout`, are shown in no slots of any training chain.

    >>> ChainGap(Arithmetic(), "^|").describe()
    'XOR→OR held out'
    """

    arithmetic: Arithmetic
    holdout: str
    ambiguity: Ambiguity = "unambiguous"

    def __post_init__(self) -> None:
        ops = self.arithmetic.parse_chain(self.holdout)
        if not 2 <= len(ops) <= self.arithmetic.length:
            many = "2" if self.arithmetic.length == 2 else f"2 to {self.arithmetic.length}"
            raise BadInput(f"holdout {self.holdout!r}: write {many} operators side by side")
        if len(self.arithmetic.operators) < 3:
            raise BadInput("operators: at least 3 are needed, so that the others show what the held-out ones do")

    @cached_property
    def hidden(self) -> Mask:
        """For each chain of operators, whether it is held out."""
        return held_out_chains(self.arithmetic, self.arithmetic.parse_chain(self.holdout))

    def is_hidden(self, examples: Examples) -> Mask:
        return self.hidden[self.arithmetic.index_of(examples.ops)]

    def describe(self) -> str:
        names = (self.arithmetic.operators[op].name for op in self.arithmetic.parse_chain(self.holdout))
        return f"{'→'.join(names)} held out"

    def sets(self, *, train: int, evaluate: int, test: int, seed: int, seen: int | None = None) -> Sets:
        """`train` examples in all; `evaluate` and `test` examples of each chain, or `seen` of a seen one in both.

        A pure function of the arguments.
        """
        counts = allocate(balanced_weights(self.arithmetic, ~self.hidden), train)
        return Sets(
            self._draw(counts, "train", seed, 0),
            self._draw(np.where(self.hidden, 0, evaluate if seen is None else seen), "eval", seed, 1),
            self._draw(np.where(self.hidden, evaluate, 0), "eval", seed, 2),
            self._draw(np.where(self.hidden, 0, test if seen is None else seen), "test", seed, 3),
            self._draw(np.where(self.hidden, test, 0), "test", seed, 4),
        )

    def _draw(self, counts: Words, part: Part, seed: int, stream: int) -> Examples:
        rivals: Mask | None = np.ones(self.arithmetic.chains, bool)
        if self.ambiguity == "any":
            rivals = None
        elif self.ambiguity == "seen" and not counts[self.hidden].any():
            rivals = ~self.hidden
        return draw(self.arithmetic, counts, part, rivals=rivals, seed=seed, stream=stream)

    def decoy(self) -> ChainGap:
        """This gap in a world that is wrong about every held-out chain (leak certificate)."""
        return _Decoy(self.arithmetic.decoy(self.hidden), self.holdout, self.ambiguity, truth=self)


@dataclass(frozen=True)
class _Decoy(ChainGap):
    """Training and whatever else shows seen chains alone is drawn in the wrong world, and must come out the same.

    Where held-out chains are to be drawn the truth draws, as the opposite of a chain may always be another chain, and
    then everything about their examples is replaced by dice: operators, operands, results and derivation.
    """

    truth: ChainGap = field(kw_only=True)

    def _draw(self, counts: Words, part: Part, seed: int, stream: int) -> Examples:
        if not counts[self.hidden].any():
            return super()._draw(counts, part, seed, stream)
        drawn = self.truth._draw(counts, part, seed, stream)
        arithmetic = self.arithmetic
        return drawn.scrambled(self.is_hidden(drawn), arithmetic.size, len(arithmetic.operators), seed=stream + 1)


@dataclass(frozen=True)
class Sets:
    """Everything that a run learns from, chooses a checkpoint by, and is judged on."""

    train: Examples
    eval_seen: Examples
    eval_holdout: Examples
    test_seen: Examples
    test_holdout: Examples
