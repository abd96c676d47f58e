"""Chains and the operators that fit them, against plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.operators import PAPER_OPERATORS

TABLES = [one.table(6).tolist() for one in PAPER_OPERATORS]


def drawn(arithmetic: Arithmetic, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ops = rng.integers(0, len(arithmetic.operators), (n, arithmetic.length))
    return ops, rng.integers(0, arithmetic.size, (n, arithmetic.length + 2))


def test_a_chain_by_hand() -> None:
    """(12 ^ 7) | 33 = 11 | 33 = 43; with u = 21: 11 | 21 = 31. Asymmetric operands tell the order."""
    arithmetic = Arithmetic()
    found = arithmetic.examples(np.array([arithmetic.parse_chain("^|")]), np.array([[12, 7, 33]]), np.array([21]))
    assert found.inputs.tolist() == [[12, 7, 33, 43, 21]]
    assert found.values.tolist() == [[11, 31]]
    shifted = arithmetic.examples(np.array([arithmetic.parse_chain("LR")]), np.array([[33, 1, 2]]), np.array([5]))
    assert (shifted.inputs.tolist(), shifted.values.tolist()) == ([[33, 1, 2, 1, 5]], [[2, 1]])


def test_ambiguity_equals_brute_force_over_all_49_pairs() -> None:
    arithmetic = Arithmetic()
    ops, numbers = drawn(arithmetic, 150)
    found = arithmetic.examples(ops, numbers[:, :3], numbers[:, 3])
    for (a, b, c, d, _), fits in zip(found.inputs.tolist(), arithmetic.fits(found.evidence), strict=True):
        expected = [TABLES[j][TABLES[i][a][b]][c] == d for i, j in product(range(7), repeat=2)]
        assert fits.tolist() == expected


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_evidence_of_a_small_world(length: int) -> None:
    """Two-bit words, three operators: all evidence there is, true d or not."""
    arithmetic = Arithmetic.of("^&L", bits=2, length=length)
    evidence = np.array(list(product(range(4), repeat=length + 2)))
    fits = arithmetic.fits(evidence)
    tables = [one.table(2) for one in arithmetic.operators]
    for index, ops in enumerate(product(range(3), repeat=length)):
        state = evidence[:, 0]
        for slot, op in enumerate(ops):
            state = tables[op][state, evidence[:, slot + 1]]
        assert np.array_equal(fits[:, index], state == evidence[:, -1])
        assert arithmetic.index_of(np.array([ops])).tolist() == [index]
        assert arithmetic.ops_of(np.array([index])).tolist() == [list(ops)]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_alone_means_that_no_rival_fits(length: int) -> None:
    arithmetic = Arithmetic.of("^|&R", bits=3, length=length)
    ops, numbers = drawn(arithmetic, 300, seed=length)
    found = arithmetic.examples(ops, numbers[:, :-1], numbers[:, -1])
    rivals = np.random.default_rng(5).random(arithmetic.chains) < 0.4
    fits = arithmetic.fits(found.evidence)
    own = arithmetic.index_of(found.ops)
    assert fits[np.arange(300), own].all()
    others = fits & rivals & (np.arange(arithmetic.chains) != own[:, None])
    assert np.array_equal(arithmetic.is_alone(found, rivals), ~others.any(axis=1))
    assert arithmetic.is_alone(found, np.zeros(arithmetic.chains, bool)).all()


def test_most_chains_are_ambiguous_when_drawn_uniformly() -> None:
    """The shares that docs/fidelity.md reports, to two points."""
    arithmetic = Arithmetic()
    ops, numbers = drawn(arithmetic, 20_000)
    unambiguous = arithmetic.is_alone(arithmetic.examples(ops, numbers[:, :3], numbers[:, 3]), np.ones(49, bool))
    assert 0.25 < unambiguous.mean() < 0.29
    chain = np.full_like(ops, 0) + np.array(arithmetic.parse_chain("^|"))
    alone = arithmetic.is_alone(arithmetic.examples(chain, numbers[:, :3], numbers[:, 3]), np.ones(49, bool))
    assert 0.09 < alone.mean() < 0.13


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"operators": "^^"}, "each with its own symbol"),
        ({"operators": "^"}, "2 to 32 are needed"),
        ({"operators": "^|", "bits": 9}, "bits 9"),
        ({"operators": "^|&", "length": 9}, "length 9"),
    ],
)
def test_impossible_worlds_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Arithmetic.of(**arguments)  # type: ignore[arg-type]


def test_unknown_symbols_are_refused() -> None:
    with pytest.raises(BadInput, match="write symbols side by side"):
        Arithmetic().parse_chain("^?")
