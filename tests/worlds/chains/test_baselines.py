"""The baselines of Experiment 2: what is certain about them, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from hardgap.worlds.chains.baselines import SYMBOLIC_METHODS, UNKNOWN, SymbolicMethod, learned_tables
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.gap import ChainGap, Sets

ARITHMETIC = Arithmetic.of("^|&LR", bits=4)
METHODS = {method.name: method for method in SYMBOLIC_METHODS}


@pytest.fixture(scope="module")
def sets() -> Sets:
    return ChainGap(ARITHMETIC, "^|").sets(train=3_000, evaluate=1, test=20, seed=0)


@pytest.mark.parametrize("method", SYMBOLIC_METHODS, ids=lambda method: method.name)
def test_the_common_contract(method: SymbolicMethod, sets: Sets) -> None:
    """Same seed, same answer; one example's answer does not depend on the others; better than chance on seen chains."""
    train = sets.train[:700]
    namer, again = (method.fit(ARITHMETIC, train, seed=1) for _ in range(2))
    answers = namer(sets.test_seen.inputs)
    assert answers.shape[0] == len(sets.test_seen)
    assert answers.shape[-1] == (1 if method.answers == "f" else 2)
    assert np.array_equal(answers, again(sets.test_seen.inputs))
    assert np.array_equal(answers[3:5], namer(sets.test_seen.inputs[3:5]))
    times = 1 if method.name == "KRR of index" else 2  # the mean of two classes is a third one between them
    chances = ARITHMETIC.size if method.answers == "f" else ARITHMETIC.chains
    assert method.accuracy(namer, sets.test_seen) > times / chances


@pytest.mark.parametrize("name", ["KNN", "MLP"])
def test_a_chain_that_is_no_class_is_never_named(name: str, sets: Sets) -> None:
    method = METHODS[name]
    assert method.accuracy(method.fit(ARITHMETIC, sets.train[:700], 0), sets.test_holdout) == 0


def test_the_oracle_is_always_right_where_the_answer_is_unique(sets: Sets) -> None:
    oracle = METHODS["Oracle"]
    namer = oracle.fit(ARITHMETIC, sets.train, 0)
    assert oracle.accuracy(namer, sets.test_seen) == oracle.accuracy(namer, sets.test_holdout) == 1
    asked = sets.test_seen.inputs.copy()
    asked[:, 3] = (asked[:, 3] + 1) % ARITHMETIC.size
    fits = ARITHMETIC.fits(asked[:, :-1]).any(axis=1)
    assert 0 < fits.sum() < len(fits)
    assert ((namer(asked) == -1).all(axis=1) == ~fits).all()  # where nothing fits, nothing is named


def test_learned_tables_hold_only_true_entries_and_nearly_all(sets: Sets) -> None:
    tables = learned_tables(ARITHMETIC, sets.train)
    truth = np.stack([one.table(4) for one in ARITHMETIC.operators])
    known = tables != UNKNOWN
    assert np.array_equal(tables[known], truth[known])
    assert 0.8 < known.mean() < 1
    method = METHODS["Learned Tables"]
    assert method.accuracy(method.fit(ARITHMETIC, sets.train, 0), sets.test_holdout) > 0.8


def test_a_value_is_judged_by_f_alone(sets: Sets) -> None:
    method = METHODS["KRR of f"]
    examples = sets.test_holdout
    assert method.accuracy(lambda inputs: examples.values[:, -1:], examples) == 1
    assert method.accuracy(lambda inputs: examples.values[:, -1:] + 1, examples) == 0
    learned = method.fit(ARITHMETIC, sets.train[:400], 0)(sets.train[:400].inputs)
    assert (
        learned == sets.train[:400].values[:, -1:]
    ).mean() > 3 / ARITHMETIC.size  # it has learned of what it was shown


def test_unknown_entries_fit_nothing() -> None:
    """One example shows three entries; the last row of a table is not read in place of an unknown one."""
    arithmetic = Arithmetic.of("^|&", bits=2)
    example = arithmetic.examples(np.array([[0, 1]]), np.array([[1, 2, 1]]), np.array([0]))  # 1 ^ 2 = 3; 3 | 1 = 3
    tables = learned_tables(arithmetic, example)
    assert np.argwhere(tables != UNKNOWN).tolist() == [[0, 1, 2], [1, 3, 0], [1, 3, 1]]
    for shown, last in (("chain", [1, 3, 1]), ("fresh", [1, 3, 0])):  # e, c, d alone; e, u, f alone
        tables = learned_tables(arithmetic, example, **({"chain": False, "fresh": False} | {shown: True}))
        assert np.argwhere(tables != UNKNOWN).tolist() == [[0, 1, 2], last]
    named = METHODS["Learned Tables"].fit(arithmetic, example, 0)(example.inputs)
    assert named.tolist() == [[0, 1]]
    inputs = np.array([[3, 3, 3, 0, 0]])  # no entry of these was shown, so nothing fits, not even the first chain
    assert METHODS["Learned Tables"].fit(arithmetic, example, 0)(inputs).tolist() == [[UNKNOWN, UNKNOWN]]


@pytest.mark.parametrize("part", ["Learned Tables (chains)", "Learned Tables (derivations)"])
def test_a_part_of_what_is_shown_names_fewer_chains_than_all_of_it(part: str, sets: Sets) -> None:
    few = sets.train[:400]
    some, whole = (METHODS[name].fit(ARITHMETIC, few, 0) for name in (part, "Learned Tables"))
    assert 0 < METHODS[part].accuracy(some, sets.test_seen) < METHODS[part].accuracy(whole, sets.test_seen)


def test_the_index_is_that_of_the_chains_text_in_ascii_order_and_within_one_is_more_than_nearest(sets: Sets) -> None:
    nearest, within = METHODS["KRR of index"], METHODS["KRR of index ±1"]
    texts = sorted(a.symbol + b.symbol for a in ARITHMETIC.operators for b in ARITHMETIC.operators)
    one, two = (method.fit(ARITHMETIC, sets.train[:500], 0)(sets.test_seen.inputs) for method in (nearest, within))
    assert two.shape == (len(one), 2, 2)
    places = [[texts.index(ARITHMETIC.chain_text(ops)) if ops[0] != UNKNOWN else None for ops in row] for row in two]
    assert all(None in pair or pair[1] - pair[0] == 1 for pair in places)  # neighbours in that order
    named = (two == one).all(axis=2).any(axis=1)
    assert named.all()  # the nearest is one of the two
    assert nearest.accuracy(lambda _: one, sets.test_seen) < within.accuracy(lambda _: two, sets.test_seen)
