"""Balance, the held-out pair, ambiguity filters and disjoint parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.sampling import PARTS, allocate, balanced_weights, draw, held_out_chains, part_of

ARITHMETIC = Arithmetic()


def drawn(part: str, holdout: str = "^|", total: int = 2_520, **changes: object) -> Examples:
    hidden = held_out_chains(ARITHMETIC, ARITHMETIC.parse_chain(holdout))
    counts = allocate(balanced_weights(ARITHMETIC, ~hidden), total)
    settings: dict[str, object] = {"rivals": np.ones(49, bool), "seed": 3, "stream": 0}
    return draw(ARITHMETIC, counts, part, **(settings | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("holdout", range(49))
def test_every_pair_can_be_held_out_in_balance(holdout: int) -> None:
    """By hand: pairs that share an operator with the held-out one in its slot get 1/42, the others 5/252."""
    hidden = np.arange(49) == holdout
    weights = balanced_weights(ARITHMETIC, ~hidden).reshape(7, 7)
    first, second = divmod(holdout, 7)
    expected = np.full((7, 7), 5 / 252)
    expected[first, :] = expected[:, second] = 1 / 42
    expected[first, second] = 0
    np.testing.assert_allclose(weights, expected, atol=1e-11)


def test_a_pair_is_held_out_in_any_slots_of_a_longer_chain() -> None:
    arithmetic = Arithmetic.of("^|&", length=3)
    hidden = held_out_chains(arithmetic, arithmetic.parse_chain("|&"))
    texts = [arithmetic.chain_text(ops) for ops in arithmetic.ops_of(np.arange(arithmetic.chains))]
    assert [text for text, is_hidden in zip(texts, hidden, strict=True) if is_hidden] == [t for t in texts if "|&" in t]
    weights = balanced_weights(arithmetic, ~hidden).reshape(3, 3, 3)
    for others in ((1, 2), (0, 2), (0, 1)):
        np.testing.assert_allclose(weights.sum(axis=others), 1 / 3, atol=1e-9)
    assert not weights.ravel()[hidden].any()


def test_training_examples_are_balanced_exactly_and_never_of_the_held_out_pair() -> None:
    found = drawn("train")
    for slot in (0, 1):
        assert np.bincount(found.ops[:, slot]).tolist() == [360] * 7
    assert not (found.ops == ARITHMETIC.parse_chain("^|")).all(axis=1).any()
    again = ARITHMETIC.examples(found.ops, found.inputs[:, :3], found.inputs[:, 4])
    assert np.array_equal(again.inputs, found.inputs)
    assert np.array_equal(again.values, found.values)


def test_unambiguous_examples_fit_their_own_pair_only() -> None:
    found = drawn("train")
    assert (ARITHMETIC.fits(found.evidence).sum(axis=1) == 1).all()
    unfiltered = ARITHMETIC.fits(drawn("train", rivals=None).evidence).sum(axis=1)
    assert (unfiltered > 1).mean() > 0.5


def test_parts_never_share_evidence() -> None:
    """In a small world, where without care they would."""
    arithmetic = Arithmetic.of("^|&R", bits=3)
    counts = np.full(16, 200)
    sets = [draw(arithmetic, counts, part, rivals=None, seed=0, stream=i) for i, part in enumerate(PARTS)]
    seen = [{tuple(row) for row in one.evidence.tolist()} for one in sets]
    assert not (seen[0] & seen[1]) | (seen[0] & seen[2]) | (seen[1] & seen[2])
    assert all(len(one) == 3_200 for one in sets)


def test_parts_depend_on_the_seed_and_have_their_sizes() -> None:
    evidence = np.random.default_rng(0).integers(0, 64, (20_000, 4))
    parts = part_of(ARITHMETIC, evidence, 0)
    np.testing.assert_allclose(np.bincount(parts) / 20_000, [0.75, 0.125, 0.125], atol=0.01)
    assert 0.2 < (part_of(ARITHMETIC, evidence, 1) != parts).mean() < 0.6


def test_same_arguments_same_examples_other_stream_other_examples() -> None:
    first, again, other = drawn("train"), drawn("train"), drawn("train", stream=1)
    assert np.array_equal(first.inputs, again.inputs)
    assert not np.array_equal(first.inputs, other.inputs)


def test_longer_chains_are_drawn_in_rounds_that_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    arithmetic = Arithmetic(bits=4, length=3)
    asked: list[int] = []
    of = Arithmetic.examples
    monkeypatch.setattr(Arithmetic, "examples", lambda *given: asked.append(len(given[1])) or of(*given))
    monkeypatch.setattr("hardgap.worlds.chains.sampling.MOST_AT_ONCE", 2_000)
    found = draw(arithmetic, np.full(343, 20), "train", rivals=None, seed=0, stream=0)
    assert np.array_equal(np.bincount(arithmetic.index_of(found.ops)), np.full(343, 20))
    assert max(asked) <= 2_000 < len(found)


def test_a_pair_without_unambiguous_examples_is_refused() -> None:
    arithmetic = Arithmetic.of("^|L", bits=1)  # on single bits LSHIFT gives 0, whatever came before
    with pytest.raises(BadInput, match="have no train example that could be kept with 1-bit words"):
        draw(arithmetic, np.full(9, 5), "train", rivals=np.ones(9, bool), seed=0, stream=0)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20).filter(any), st.integers(0, 10_000))
def test_allocation_adds_up_and_stays_within_one(shares: list[int], total: int) -> None:
    weights = np.array(shares) / sum(shares)
    counts = allocate(weights, total)
    assert counts.sum() == total
    assert np.abs(counts - weights * total).max() < 1 + 1e-6
    assert not counts[weights == 0].any()


def test_scrambling_touches_the_chosen_examples_only() -> None:
    found = drawn("train")
    where = found.ops[:, 0] == 2
    dice = found.scrambled(where, size=64, operators=7, seed=1)
    for name in ("ops", "inputs", "values"):
        assert np.array_equal(getattr(dice, name)[~where], getattr(found, name)[~where])
        assert not np.array_equal(getattr(dice, name)[where], getattr(found, name)[where])
