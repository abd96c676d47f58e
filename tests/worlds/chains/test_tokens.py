"""Derivations as tokens and back, in all conditions."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from hardgap.worlds.chains.chains import MOST_OPERATORS, Arithmetic, Examples
from hardgap.worlds.chains.operators import Operator
from hardgap.worlds.chains.tokens import Codec, Condition

ARITHMETICS = [Arithmetic(), Arithmetic.of("^&L", bits=3, length=1), Arithmetic.of("^|dR", bits=4, length=3)]


def drawn(arithmetic: Arithmetic, n: int = 60) -> Examples:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, arithmetic.size, (n, arithmetic.length + 2))
    ops = rng.integers(0, len(arithmetic.operators), (n, arithmetic.length))
    return arithmetic.examples(ops, numbers[:, :-1], numbers[:, -1])


def read(codec: Codec, text: str) -> np.ndarray:
    return np.array([codec.texts.index(word) for word in text.split()])


def test_the_papers_vocabulary_and_lengths() -> None:
    codec = Codec(Arithmetic())
    assert codec.vocabulary == 75
    assert codec.layout == ("a", "op1", "b", "=", "e", ";", "e", "op2", "u", "=", "f", ";", "op1", "op2", "<end>")
    assert Codec(Arithmetic(), "label-only").layout == ("op1", "op2", "<end>")


def test_a_derivation_by_hand() -> None:
    arithmetic = Arithmetic()
    example = arithmetic.examples(np.array([arithmetic.parse_chain("^|")]), np.array([[12, 7, 33]]), np.array([21]))
    written = "<begin> 12 ^ 7 = 11 ; 11 | 21 = 31 ; ^ | <end>"
    assert Codec(arithmetic).write(Codec(arithmetic).encode(example)[0]) == written
    assert (
        Codec(arithmetic, "label-only").write(Codec(arithmetic, "label-only").encode(example)[0]) == "<begin> ^ | <end>"
    )
    opaque = Codec(arithmetic, "opaque", seed=4)
    letters = ["ABCDEFG"[opaque.letters[op]] for op in (0, 1)]
    expected = written.replace("^", letters[0]).replace("|", letters[1])
    assert opaque.write(opaque.encode(example)[0]) == expected


@pytest.mark.parametrize("condition", get_args(Condition))
@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=["two", "one", "three"])
def test_round_trip(arithmetic: Arithmetic, condition: Condition) -> None:
    codec, examples = Codec(arithmetic, condition, seed=1), drawn(arithmetic)
    tokens = codec.encode(examples)
    assert tokens.shape == (60, 1 + len(codec.layout))
    assert (tokens[:, 0] == codec.begin).all()
    assert tokens.max() < codec.vocabulary
    answer = codec.decode(tokens[:, 1:])
    assert np.array_equal(answer.labels, examples.ops)
    if condition == "label-only":
        assert answer.values is None
    else:
        assert np.array_equal(answer.values, examples.values)
    assert all(np.array_equal(read(codec, codec.write(row)), row) for row in tokens[:5])


def test_tokens_of_the_wrong_kind_are_no_answer() -> None:
    codec = Codec(Arithmetic())
    answer = codec.decode(read(codec, "12 7 ^ = ; 11 11 = 21 = ^ ; 3 <end> <end>")[None])
    assert answer.labels.tolist() == answer.values.tolist() == [[-1, -1]]  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(6))
def test_opaque_letters_are_a_renumbering_other_than_the_familiar_one(seed: int) -> None:
    letters = Codec(Arithmetic.of("^|"), "opaque", seed).letters
    assert letters.tolist() == [1, 0]


def test_there_are_letters_for_as_many_operators_as_a_world_may_have() -> None:
    own = tuple(Operator(chr(0x3B1 + i), f"OWN{i}", lambda a, b, mask: a) for i in range(MOST_OPERATORS))
    codec = Codec(Arithmetic(own), "opaque")
    assert len(codec.legend) == len(own)
    assert len(codec.texts) == codec.vocabulary
