"""The interpolation methods of Table 1 and a constant guess, behind one contract.

A method is a name and a factory: `make(seed)` gives a fresh scikit-learn style estimator that is fitted on
visible examples (features, 0/1 labels) and predicts 0/1 labels of others. Same seed, same answer; the answer for
one example does not depend on which others are asked for in the same call.

No hyper-parameter is searched: each method keeps scikit-learn's default or a fixed value, so that it is
deterministic and nothing can be tuned towards the hidden labels. Kernels measure distance in units of the data's
own spread (`UnitScale`), in the spirit of scikit-learn's `gamma="scale"`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from hardgap.core.errors import BadInput

Features = NDArray[np.float64]  # [examples, dimensions]
Labels = NDArray[np.uint8]  # [examples], 0 or 1


class Estimator(Protocol):
    """The part of scikit-learn's interface that a baseline needs."""

    def fit(self, X: Features, y: Labels) -> Any: ...

    def predict(self, X: Features) -> Any: ...


@dataclass(frozen=True)
class Method:
    """A baseline: its name in tables, a fresh estimator for a seed, and its settings in words."""

    name: str
    make: Callable[[int], Estimator]
    settings: str


@dataclass(frozen=True)
class Fitted:
    """A method after it has seen the visible examples; it can be asked any number of times."""

    name: str
    estimator: Estimator
    batch: int = 1024

    def predict(self, features: Features) -> Labels:
        """0/1 labels, one an example."""
        pieces = [features[i : i + self.batch] for i in range(0, len(features), self.batch)]
        answers = [_checked(self.name, piece, self.estimator.predict(piece)) for piece in pieces]
        return np.concatenate(answers) if answers else np.zeros(0, np.uint8)


def fit(method: Method, features: Features, labels: Labels, seed: int) -> Fitted:
    """Train on these examples. Where all of them have one label, every method answers that label."""
    if not len(labels):
        raise BadInput(f"{method.name} has no visible example to learn from")
    estimator = method.make(seed) if np.ptp(labels) else DummyClassifier(strategy="prior")
    estimator.fit(features, labels)
    return Fitted(method.name, estimator)


def _checked(name: str, asked: Features, answered: object) -> Labels:
    labels = np.asarray(answered)
    if labels.shape != (len(asked),) or not np.isin(labels, (0, 1)).all():
        raise BadInput(f"{name} must answer {len(asked)} labels 0 or 1, one an example")
    return labels.astype(np.uint8)


class UnitScale(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Divide by one number, so that the variances of all dimensions add up to 1 on the fitted examples.

    One number for all dimensions keeps every ratio of distances, and offsets cancel: the geometry that the paper's
    proposition on fixed positions speaks of. Standardising each dimension would bend it.
    """

    def fit(self, X: Features, y: object = None) -> Self:
        self.scale_ = float(np.sqrt(X.var(axis=0).sum())) or 1.0
        return self

    def transform(self, X: Features) -> Features:
        return X / self.scale_


class SignClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Regression on labels ±1, answered by its sign: exactly what Theorem 4 of the paper is about."""

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Features, y: Labels) -> Self:
        self.classes_ = np.array([0, 1])
        self.regressor.fit(X, 2.0 * y - 1.0)
        return self

    def predict(self, X: Features) -> Labels:
        return (np.asarray(self.regressor.predict(X)) > 0).astype(np.uint8)


class NearestVote(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Majority vote of the k nearest examples, or of all where there are fewer than k.

    A tree search, not a matrix product, so that ties between identical points do not depend on the batch.
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def fit(self, X: Features, y: Labels) -> Self:
        self.voters_ = KNeighborsClassifier(min(self.k, len(X)), algorithm="kd_tree").fit(X, y)
        self.classes_ = self.voters_.classes_
        return self

    def predict(self, X: Features) -> Labels:
        return np.asarray(self.voters_.predict(X), dtype=np.uint8)


def gaussian_process() -> Estimator:
    regressor = GaussianProcessRegressor(RBF(length_scale=np.sqrt(0.5)), alpha=0.01, optimizer=None)
    return make_pipeline(UnitScale(), SignClassifier(regressor))  # type: ignore[no-any-return]


def rbf_svm() -> Estimator:
    return make_pipeline(UnitScale(), SVC(kernel="rbf", gamma=1.0, C=1.0))  # type: ignore[no-any-return]


def forest(trees: int, seed: int) -> Estimator:
    return RandomForestClassifier(n_estimators=trees, random_state=seed, n_jobs=1)  # type: ignore[no-any-return]


def kernel_ridge() -> Estimator:
    regressor = KernelRidge(kernel="rbf", gamma=1.0, alpha=1.0)
    return make_pipeline(UnitScale(), SignClassifier(regressor))  # type: ignore[no-any-return]


KNN = Method("KNN", lambda seed: NearestVote(5), "k=5, Euclidean")
GP = Method("GP", lambda seed: gaussian_process(), "regression on ±1, RBF γ=1, noise 0.01")
SVM = Method("RBF SVM", lambda seed: rbf_svm(), "RBF γ=1, C=1")
FOREST = Method("RF", lambda seed: forest(100, seed), "100 trees")
RIDGE = Method("KRR", lambda seed: kernel_ridge(), "regression on ±1, RBF γ=1, α=1")
MAJORITY = Method("majority", lambda seed: DummyClassifier(strategy="prior"), "most common visible output")

PAPER_METHODS = (KNN, GP, SVM, FOREST)
"""The columns of Table 1; kernel ridge is in the theorems only."""
METHODS = (*PAPER_METHODS, RIDGE, MAJORITY)


def choose_methods(names: Iterable[str], known: Iterable[Method] = METHODS) -> tuple[Method, ...]:
    """The methods with these names, in any case; all of them if none is named."""
    by_name = {method.name.lower(): method for method in known}
    wanted = [name.strip().lower() for name in names]
    for name in wanted:
        if name not in by_name:
            choices = ", ".join(method.name for method in by_name.values())
            raise BadInput(f"method {name}: choose {choices}, or your own package.module:factory", of="method")
    return tuple(by_name[name] for name in wanted) or tuple(by_name.values())
