"""What similarity can do in Experiment 2 (paper, Appendix F), and two upper bounds.

Every method learns from training examples and names the operators behind other inputs; from these e and f follow by
calculation, so naming them all is the whole answer.

    KNN, MLP            classify the numbers (a, b, c, d, u), one class for each seen chain. The held-out chain is no
                        class, so 0 % is certain; the paper reports exactly that
    KNN, MLP by slot    ours: one answer for each slot, so that the held-out pair can be named
    KRR                 kernel ridge regression on one indicator for each operator of each slot, the largest wins
    KRR of f            the same regression on the final value itself, rounded: judged by f alone, names no operator
    KRR of index        regression on one number, the place of the chain's text among all chains' texts in ASCII order;
                        the nearest place is named
    KRR of index ±1     the same, and right if the place is less than 1 away: the nearest two places are named
    Oracle              tries every chain with the true operators
    Learned Tables      reads each operator's table off all that training shows, then tries every chain with these
    … (chains)          the same, off a op1 b = e and e op2 c = d alone
    … (derivations)     the same, off a op1 b = e and e op2 u = f alone
Where several chains fit, the oracle and the learned tables name the first; where none does, none. Paper is silent on
what KRR regresses and on what the tables are learned from. That KRR's is the index, within 1, is inferred from its
numbers (docs/symbolic.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hardgap.core.errors import BadInput
from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.operators import Words

Namer = Callable[[Words], Words]
"""From inputs `[n, k + 3]` to operators `[n, k]`, to m guesses of them `[n, m, k]`, or to f `[n, 1]`."""
Learn = Callable[[Arithmetic, Examples, int], Namer]
"""From the world, training examples and a seed."""
BATCH = 2048
MLP_PASSES = 40
UNKNOWN = -1


@dataclass(frozen=True)
class SymbolicMethod:
    """A name, at most how many training examples it is given, and how it learns from them."""

    name: str
    most_examples: int
    learn: Learn
    interpolates: bool = True
    answers: Literal["operators", "f"] = "operators"

    def fit(self, arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
        """Learn from the first examples of a shuffled set; the same seed gives the same answers."""
        if not len(train):
            raise BadInput(f"{self.name} has no example to learn from")
        name = self.learn(arithmetic, train[: self.most_examples], seed)
        return lambda inputs: np.concatenate([name(inputs[i : i + BATCH]) for i in range(0, len(inputs), BATCH)])

    def accuracy(self, namer: Namer, examples: Examples) -> float:
        """The share of examples of which everything that this method answers, or one of its guesses, is right."""
        truth = examples.ops if self.answers == "operators" else examples.values[:, -1:]
        guesses = namer(examples.inputs).reshape(len(examples), -1, truth.shape[1])
        return float((guesses == truth[:, None]).all(axis=2).any(axis=1).mean())


def numeric(arithmetic: Arithmetic, inputs: Words) -> NDArray[np.float64]:
    """The integers as numbers from 0 to 1."""
    return inputs / (arithmetic.size - 1)


def _by_chain(make: Callable[[int], Any], arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
    fitted = _fitted(make(seed), numeric(arithmetic, train.inputs), arithmetic.index_of(train.ops))
    return lambda inputs: arithmetic.ops_of(np.asarray(fitted.predict(numeric(arithmetic, inputs))))


def _by_slot(make: Callable[[int], Any], arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
    numbers = numeric(arithmetic, train.inputs)
    fitted = [_fitted(make(seed), numbers, train.ops[:, slot]) for slot in range(arithmetic.length)]
    return lambda inputs: np.stack([one.predict(numeric(arithmetic, inputs)) for one in fitted], axis=-1)


def _fitted(machine: Any, numbers: NDArray[np.float64], classes: Words) -> Any:
    with warnings.catch_warnings():  # the MLP's passes are fixed; that it could go on is known
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(numbers, classes)


def _kernel_ridge(arithmetic: Arithmetic, train: Examples, targets: NDArray[Any], alpha: float = 1e-2) -> Any:
    return make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", alpha=alpha)).fit(
        numeric(arithmetic, train.inputs), targets
    )


def _ridge_on_indicators(arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
    machine = _kernel_ridge(arithmetic, train, np.eye(len(arithmetic.operators))[train.ops].reshape(len(train), -1))

    def name(inputs: Words) -> Words:
        found = np.asarray(machine.predict(numeric(arithmetic, inputs)))
        return np.asarray(found.reshape(len(inputs), arithmetic.length, -1).argmax(axis=-1))

    return name


def _ridge_on_value(arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
    machine = _kernel_ridge(arithmetic, train, numeric(arithmetic, train.values[:, -1:]))
    return lambda inputs: np.rint(machine.predict(numeric(arithmetic, inputs)) * (arithmetic.size - 1)).astype(np.int64)


def _ridge_on_index(guesses: Sequence[np.ufunc], arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
    texts = [arithmetic.chain_text(ops) for ops in arithmetic.ops_of(np.arange(arithmetic.chains))]
    chain_at = np.argsort(np.array([text.encode() for text in texts]))
    place_of = np.argsort(chain_at)
    machine = _kernel_ridge(arithmetic, train, place_of[arithmetic.index_of(train.ops)], alpha=0.1)

    def name(inputs: Words) -> Words:
        found = machine.predict(numeric(arithmetic, inputs))
        places = np.stack([guess(found) for guess in guesses], axis=-1).astype(np.int64)
        inside = (places >= 0) & (places < arithmetic.chains)
        named = arithmetic.ops_of(chain_at[np.where(inside, places, 0)].ravel()).reshape(*places.shape, -1)
        return np.where(inside[..., None], named, UNKNOWN)

    return name


def _first_that_fits(arithmetic: Arithmetic, fits_NC: NDArray[np.bool_]) -> Words:
    """The operators of the first chain that fits each example; where none does, none."""
    return np.where(fits_NC.any(axis=1, keepdims=True), arithmetic.ops_of(fits_NC.argmax(axis=1)), UNKNOWN)


def _oracle(arithmetic: Arithmetic, train: Examples, seed: int) -> Namer:
    return lambda inputs: _first_that_fits(arithmetic, arithmetic.fits(inputs[:, :-1]))


def learned_tables(arithmetic: Arithmetic, train: Examples, *, chain: bool = True, fresh: bool = True) -> Words:
    """Each operator's results as far as training examples show them, else -1: `[operators, size, size]`.

    Of all operators but the last, what the derivation shows: a op1 b = e. Of the last, with `chain`, e op2 c = d, and
    with `fresh`, e op2 u = f.
    """
    tables = np.full((len(arithmetic.operators), arithmetic.size, arithmetic.size), UNKNOWN)
    left = np.column_stack([train.inputs[:, 0], train.values[:, :-1]])
    for slot in range(arithmetic.length - 1):
        tables[train.ops[:, slot], left[:, slot], train.inputs[:, slot + 1]] = train.values[:, slot]
    if fresh:
        tables[train.ops[:, -1], left[:, -1], train.inputs[:, -1]] = train.values[:, -1]
    if chain:
        tables[train.ops[:, -1], left[:, -1], train.inputs[:, -3]] = train.inputs[:, -2]
    return tables


def _learned_tables(arithmetic: Arithmetic, train: Examples, seed: int, **shown: bool) -> Namer:
    tables = learned_tables(arithmetic, train, **shown)

    def name(inputs: Words) -> Words:
        states = inputs[:, :1]
        for slot in range(arithmetic.length):
            results = tables[:, states, inputs[:, slot + 1, None]]
            results = np.where(states == UNKNOWN, UNKNOWN, results)  # -1 would index the last row
            states = np.moveaxis(results, 0, -1).reshape(len(inputs), -1)
        return _first_that_fits(arithmetic, states == inputs[:, -2, None])

    return name


def _knn(seed: int) -> Any:
    return KNeighborsClassifier(5)


def _mlp(seed: int) -> Any:
    return make_pipeline(StandardScaler(), MLPClassifier((64, 64), max_iter=MLP_PASSES, random_state=seed))


SYMBOLIC_METHODS = (
    SymbolicMethod("KNN", 50_000, partial(_by_chain, _knn)),
    SymbolicMethod("MLP", 20_000, partial(_by_chain, _mlp)),
    SymbolicMethod("KRR", 3_000, _ridge_on_indicators),
    SymbolicMethod("KRR of f", 3_000, _ridge_on_value, answers="f"),
    SymbolicMethod("KRR of index", 2_000, partial(_ridge_on_index, [np.rint])),
    SymbolicMethod("KRR of index ±1", 2_000, partial(_ridge_on_index, [np.floor, np.ceil])),
    SymbolicMethod("KNN by slot", 50_000, partial(_by_slot, _knn)),
    SymbolicMethod("MLP by slot", 20_000, partial(_by_slot, _mlp)),
    SymbolicMethod("Oracle", 2_000_000, _oracle, interpolates=False),
    SymbolicMethod("Learned Tables", 2_000_000, _learned_tables, interpolates=False),
    SymbolicMethod("Learned Tables (chains)", 2_000_000, partial(_learned_tables, fresh=False), interpolates=False),
    SymbolicMethod(
        "Learned Tables (derivations)", 2_000_000, partial(_learned_tables, chain=False), interpolates=False
    ),
)
