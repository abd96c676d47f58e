"""Which inputs decide which operator (paper §4.6 and Appendix F): corrupt them, or substitute them surgically.

Both tests ask a namer, a function from inputs `[n, 5]` to the operators it reads out of them. A network is one
(`network_namer`); so is the oracle, for which the right answers are known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hardgap.core.errors import BadInput
from hardgap.nn.seq2seq import Seq2Seq
from hardgap.worlds.chains.baselines import Namer
from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.operators import Words
from hardgap.worlds.chains.task import decode_freely
from hardgap.worlds.chains.tokens import Codec

Swapped = Literal["a, b", "c, d"]


def network_namer(model: Seq2Seq, codec: Codec) -> Namer:
    """The operators that a network names at the end of its derivation; -1 where it names none."""
    return lambda inputs: codec.decode(decode_freely(model, codec, inputs)[0]).labels


def corruption(namer: Namer, arithmetic: Arithmetic, inputs: Words, *, seed: int) -> NDArray[np.float64]:
    """How often each named operator changes when one input is replaced by another value: `[inputs, slots]`.

    The new value is drawn from all others. The last row is u, which says nothing about the operators.
    """
    rng = np.random.default_rng([seed, 21])
    before = namer(inputs)
    changed = np.zeros((inputs.shape[1], arithmetic.length))
    for place in range(inputs.shape[1]):
        corrupted = inputs.copy()
        corrupted[:, place] = (inputs[:, place] + rng.integers(1, arithmetic.size, len(inputs))) % arithmetic.size
        changed[place] = (namer(corrupted) != before).mean(axis=0)
    return changed


@dataclass(frozen=True)
class Substitution:
    """One operator swapped for a target by changing only the inputs that decide it."""

    swapped: Swapped
    target: str
    examples: int  # base examples that allow such a change with a unique right answer
    follows: float | None  # share in which the target is named
    keeps: float | None  # share in which the untouched operator is still named


def substitution(namer: Namer, arithmetic: Arithmetic, base: Examples, *, seed: int) -> tuple[Substitution, ...]:
    """Both directions, every target operator (paper, Figure 3b).

    c, d   a and b stay; the second operator becomes the target
    a, b   c and d stay; the first operator becomes the target
    A change is drawn from all that leave the evidence unambiguous, so that naming the target is the only right answer.
    """
    if arithmetic.length != 2:
        raise BadInput(f"the substitution test is about chains of two operators, not {arithmetic.length}")
    found = []
    swaps: tuple[Swapped, ...] = ("c, d", "a, b")
    for swapped in swaps:
        slot = 1 if swapped == "c, d" else 0
        for target, one in enumerate(arithmetic.operators):
            rng = np.random.default_rng([seed, 22, slot, target])
            inputs, kept = substituted(arithmetic, base, slot, target, rng)
            if not len(inputs):
                found.append(Substitution(swapped, one.symbol, 0, None, None))
                continue
            named = namer(inputs)
            follows, keeps = (named[:, slot] == target).mean(), (named[:, 1 - slot] == kept).mean()
            found.append(Substitution(swapped, one.symbol, len(inputs), float(follows), float(keeps)))
    return tuple(found)


@dataclass(frozen=True)
class Surgery:
    """What is asked before or after a swap, and the operators that are named; `target` is None before."""

    swapped: Swapped | None
    target: str | None
    inputs: tuple[int, ...]
    named: tuple[int, ...]


def surgery(namer: Namer, arithmetic: Arithmetic, base: Examples, *, seed: int) -> tuple[Surgery, ...]:
    """One example before, with c and d swapped, and with a and b swapped (paper, Figure 3a).

    It is the first that allows both, of those that are named rightly before, if there are any; each swap is to the
    first other operator for which there is one. What is named after the swaps has no say in the choice.
    """
    if arithmetic.length != 2:
        raise BadInput(f"the substitution test is about chains of two operators, not {arithmetic.length}")
    right = (namer(base.inputs) == base.ops).all(axis=1)
    candidates = base[right] if right.any() else base
    rng = np.random.default_rng([seed, 23])
    for i in range(len(candidates)):
        one = candidates[i : i + 1]
        swaps = [swap for slot in (1, 0) if (swap := _first_swap(arithmetic, one, slot, rng)) is not None]
        if len(swaps) == 2:
            asked: list[tuple[Swapped | None, str | None, Words]] = [
                (None, None, one.inputs), ("c, d", *swaps[0]), ("a, b", *swaps[1])
            ]  # fmt: skip
            return tuple(Surgery(s, t, _row(inputs), _row(namer(inputs))) for s, t, inputs in asked)
    return ()


def _first_swap(arithmetic: Arithmetic, one: Examples, slot: int, rng: np.random.Generator) -> tuple[str, Words] | None:
    for target, other in enumerate(arithmetic.operators):
        if target != one.ops[0, slot] and len(inputs := substituted(arithmetic, one, slot, target, rng)[0]):
            return other.symbol, inputs
    return None


def _row(numbers: Words) -> tuple[int, ...]:
    return tuple(int(number) for number in numbers[0])


def substituted(
    arithmetic: Arithmetic, base: Examples, slot: int, target: int, rng: np.random.Generator
) -> tuple[Words, Words]:
    """The changed inputs of every base example that allows a change, and the operator that must stay."""
    ops = base.ops.copy()
    ops[:, slot] = target
    changes = arithmetic.size if slot else arithmetic.size**2  # any c, or any a and b
    row = np.repeat(np.arange(len(base)), changes)
    change = np.tile(np.arange(changes), len(base))
    operands = base.inputs[row, :3]
    if slot:
        operands[:, 2] = change
    else:
        operands[:, 0], operands[:, 1] = np.divmod(change, arithmetic.size)
    tried = arithmetic.examples(ops[row], operands, base.inputs[row, -1])
    allowed = np.ones(len(row), bool) if slot else tried.inputs[:, 3] == base.inputs[row, 3]
    allowed[allowed] = arithmetic.is_alone(tried[allowed], np.ones(arithmetic.chains, bool))
    chosen = _one_of_each(row, allowed, rng)
    return tried.inputs[chosen], base.ops[row[chosen], 1 - slot]


def _one_of_each(row: Words, allowed: NDArray[np.bool_], rng: np.random.Generator) -> Words:
    """For every row that has allowed candidates the index of one of them, drawn evenly."""
    candidates = rng.permutation(np.flatnonzero(allowed))
    _, first = np.unique(row[candidates], return_index=True)
    return candidates[first]
