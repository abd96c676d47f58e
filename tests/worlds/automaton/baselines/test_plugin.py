"""A user's own method: it joins by import path, and what is wrong with it is said in one sentence."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.baselines.methods import METHODS, choose_methods
from hardgap.worlds.automaton.baselines.plugin import load_method, named_methods

OWN = """
import itertools
import numpy as np

class Ones:
    def fit(self, X, y):
        return self
    def predict(self, X):
        return np.ones(len(X), int)

class Shape(Ones):
    def predict(self, X):
        return np.ones((len(X), 2), int)

class Halves(Ones):
    def predict(self, X):
        return np.full(len(X), 0.5)

class Batchy(Ones):
    def predict(self, X):
        return (X[:, 0] > X[:, 0].mean()).astype(int)

class Moody(Ones):
    calls = itertools.count()
    def fit(self, X, y):
        self.mood = next(Moody.calls) % 2
        return self
    def predict(self, X):
        return np.full(len(X), self.mood)

class Broken(Ones):
    def fit(self, X, y):
        raise RuntimeError("no idea")

def needs_more(k):
    return Ones()

def nothing():
    return object()
"""
names = itertools.count()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with estimators, importable during the test."""
    name = f"own_methods_{next(names)}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_users_estimator_joins_the_table(own: str) -> None:
    methods = named_methods([f"{own}:Ones"])
    assert [method.name for method in methods] == [*(method.name for method in METHODS), "Ones"]
    assert methods[-1].make(0).predict(np.zeros((3, 2))).tolist() == [1, 1, 1]


def test_named_beside_known_ones_only_those_are_asked(own: str) -> None:
    assert [method.name for method in named_methods(["gp", f"{own}:Ones", "RBF svm"])] == ["GP", "Ones", "RBF SVM"]


def test_the_seed_becomes_the_random_state() -> None:
    assert load_method("sklearn.tree:DecisionTreeClassifier").make(11).random_state == 11  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Shape", "must answer 17 labels 0 or 1"),
        ("Halves", "must answer 17 labels 0 or 1"),
        ("Batchy", "lets examples of one batch influence one another"),
        ("Moody", "gives other answers with the same seed"),
        ("Broken", "fails on 40 examples of 3 dimensions: no idea"),
        ("needs_more", "cannot be called without arguments"),
        ("nothing", "gave a object without `fit` and `predict`"),
        ("absent", "cannot be imported"),
    ],
)
def test_what_is_wrong_is_said(own: str, name: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        load_method(f"{own}:{name}")


@pytest.mark.parametrize("path", ["no_such_module:x", ":x", "json:"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(BadInput, match="cannot be imported"):
        load_method(path)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="method svm: choose KNN, GP, RBF SVM, RF, KRR, majority"):
        choose_methods(["SVM"])
