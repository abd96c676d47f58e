"""The gap of Experiment 2 (paper §4.6): operators that never follow one another in training.

Five sets are drawn, each from its own stream and no evidence in two parts:

    train          seen chains only, balanced
    eval, test     of every seen chain the same number, and another, or as many, of each held-out chain

The test sets are reported. The evaluation sets are there to choose a checkpoint by.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from hardgap.errors import BadInput
from hardgap.operators.chains import Examples, Mask, World
from hardgap.operators.operators import Words
from hardgap.operators.sampling import Ambiguity, Part, allocate, balanced_weights, draw, held_out_chains


@dataclass(frozen=True)
class ChainGap:
    """A world in which operators side by side, `holdout`, are shown in no slots of any training chain.

    >>> ChainGap(World(), "^|").describe()
    'XOR→OR held out'
    """

    world: World
    holdout: str
    ambiguity: Ambiguity = "unambiguous"

    def __post_init__(self) -> None:
        ops = self.world.parse_chain(self.holdout)
        if not 2 <= len(ops) <= self.world.length:
            many = "2" if self.world.length == 2 else f"2 to {self.world.length}"
            raise BadInput(f"holdout {self.holdout!r}: write {many} operators side by side")
        if len(self.world.operators) < 3:
            raise BadInput("operators: at least 3 are needed, so that the others show what the held-out ones do")

    @cached_property
    def hidden(self) -> Mask:
        """For each chain of operators, whether it is held out."""
        return held_out_chains(self.world, self.world.parse_chain(self.holdout))

    def is_hidden(self, examples: Examples) -> Mask:
        return self.hidden[self.world.index_of(examples.ops)]

    def describe(self) -> str:
        names = (self.world.operators[op].name for op in self.world.parse_chain(self.holdout))
        return f"{'→'.join(names)} held out"

    def sets(self, *, train: int, evaluate: int, test: int, seed: int, seen: int | None = None) -> Sets:
        """`train` examples in all; `evaluate` and `test` examples of each chain, or `seen` of a seen one in both.

        A pure function of the arguments.
        """
        counts = allocate(balanced_weights(self.world, ~self.hidden), train)
        return Sets(
            self._draw(counts, "train", seed, 0),
            self._draw(np.where(self.hidden, 0, evaluate if seen is None else seen), "eval", seed, 1),
            self._draw(np.where(self.hidden, evaluate, 0), "eval", seed, 2),
            self._draw(np.where(self.hidden, 0, test if seen is None else seen), "test", seed, 3),
            self._draw(np.where(self.hidden, test, 0), "test", seed, 4),
        )

    def _draw(self, counts: Words, part: Part, seed: int, stream: int) -> Examples:
        rivals: Mask | None = np.ones(self.world.chains, bool)
        if self.ambiguity == "any":
            rivals = None
        elif self.ambiguity == "seen" and not counts[self.hidden].any():
            rivals = ~self.hidden
        return draw(self.world, counts, part, rivals=rivals, seed=seed, stream=stream)


@dataclass(frozen=True)
class Sets:
    """Everything that a run learns from, chooses a checkpoint by, and is judged on."""

    train: Examples
    eval_seen: Examples
    eval_holdout: Examples
    test_seen: Examples
    test_holdout: Examples

    def with_scrambled_hidden(self, gap: ChainGap, seed: int) -> Sets:
        """The same sets with every example of a held-out chain, in whichever set it stands, replaced by dice.

        Its operators, operands, results and derivation all go. Training that no such example reaches cannot tell
        the difference (the leak certificate), and neither can a choice of checkpoint by seen chains.
        """
        world = gap.world
        sets = [getattr(self, part.name) for part in fields(self)]
        return Sets(
            *(
                one.scrambled(gap.is_hidden(one), size=world.size, operators=len(world.operators), seed=seed + i)
                for i, one in enumerate(sets)
            )
        )
