"""Corruption and substitution, asked of the oracle, whose answers are known exactly, and of blind namers."""

from __future__ import annotations

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.nn.seq2seq import build_seq2seq
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.worlds.chains.baselines import SYMBOLIC_METHODS
from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.circuits.inputs import corruption, network_namer, substitution, surgery
from hardgap.worlds.chains.gap import ChainGap
from hardgap.worlds.chains.tokens import Codec

ARITHMETIC = Arithmetic.of("^|&LR", bits=4)
ORACLE = next(method for method in SYMBOLIC_METHODS if method.name == "Oracle")


@pytest.fixture(scope="module")
def base() -> Examples:
    return ChainGap(ARITHMETIC, "^|").sets(train=96, evaluate=1, test=30, seed=0).test_holdout


def test_the_oracle_follows_every_swap_and_keeps_the_rest(base: Examples) -> None:
    found = substitution(ORACLE.fit(ARITHMETIC, base, 0), ARITHMETIC, base, seed=0)
    assert [(one.swapped, one.target) for one in found] == [(s, t) for s in ("c, d", "a, b") for t in "^|&LR"]
    assert all(one.follows == one.keeps == 1 for one in found if one.examples)
    assert sum(one.examples for one in found) > 150


def test_only_the_swapped_inputs_change(base: Examples) -> None:
    asked: list[np.ndarray] = []

    def note(inputs: np.ndarray) -> np.ndarray:
        asked.append(inputs)
        return np.zeros((len(inputs), 2), np.int64)

    found = [one for one in substitution(note, ARITHMETIC, base, seed=0) if one.examples]
    kept = {"c, d": [0, 1, 4], "a, b": [2, 3, 4]}
    for one, inputs in zip(found, asked, strict=True):
        truth = {tuple(row) for row in base.inputs[:, kept[one.swapped]].tolist()}
        assert {tuple(row) for row in inputs[:, kept[one.swapped]].tolist()} <= truth
        assert (ARITHMETIC.fits(inputs[:, :4]).sum(axis=1) == 1).all()
        assert one.follows == (one.target == "^")  # this namer says ^ to everything
        assert one.keeps == (one.swapped == "c, d")  # the base is ^|


def test_surgery_shows_one_example_and_touches_only_what_it_says(base: Examples) -> None:
    before, second, first = surgery(ORACLE.fit(ARITHMETIC, base, 0), ARITHMETIC, base, seed=0)
    assert [one.swapped for one in (before, second, first)] == [None, "c, d", "a, b"]
    assert before.inputs in {tuple(row) for row in base.inputs.tolist()}
    assert before.named == (0, 1)
    assert (second.inputs[:2], second.inputs[4]) == (before.inputs[:2], before.inputs[4])
    assert first.inputs[2:] == before.inputs[2:]
    targets = [ARITHMETIC.parse_chain(one.target or "")[0] for one in (second, first)]
    assert second.named == (0, targets[0])  # the oracle follows, and keeps the other
    assert first.named == (targets[1], 1)


def test_surgery_does_without_right_answers(base: Examples) -> None:
    shown = surgery(lambda inputs: np.full((len(inputs), 2), -1), ARITHMETIC, base, seed=0)
    assert [one.named for one in shown] == [(-1, -1)] * 3
    with pytest.raises(BadInput, match="two operators, not 3"):
        surgery(lambda inputs: inputs, Arithmetic.of("^|&", length=3), base, seed=0)


def test_corruption_of_the_oracle_and_of_a_blind_namer(base: Examples) -> None:
    changed = corruption(ORACLE.fit(ARITHMETIC, base, 0), ARITHMETIC, base.inputs, seed=0)
    assert changed.shape == (5, 2)
    assert (changed[:4].max(axis=1) > 0.2).all()
    assert changed[4].tolist() == [0, 0]  # u says nothing about the operators
    assert not corruption(lambda inputs: np.zeros((len(inputs), 2), np.int64), ARITHMETIC, base.inputs, seed=0).any()
    copying = corruption(lambda inputs: inputs[:, [0, 4]], ARITHMETIC, base.inputs, seed=0)
    assert copying.tolist() == [[1, 0], [0, 0], [0, 0], [0, 0], [0, 1]]  # a replaced value always differs


def test_a_network_is_a_namer(base: Examples) -> None:
    codec = Codec(ARITHMETIC)
    shape = {"vocabulary": codec.vocabulary, "inputs": 5, "outputs": 16}
    model = build_seq2seq(Seq2SeqSpec(dim=8, heads=2, layers=1, ffn=8), **shape, seed=0)
    named = network_namer(model, codec)(base.inputs)
    assert named.shape == (30, 2)
    assert named.min() >= -1
    assert named.max() < 5


def test_longer_chains_are_refused(base: Examples) -> None:
    with pytest.raises(BadInput, match="two operators, not 3"):
        substitution(lambda inputs: inputs, Arithmetic.of("^|&", length=3), base, seed=0)
