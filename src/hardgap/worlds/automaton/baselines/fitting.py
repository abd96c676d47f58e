"""Fit a method on visible examples, whatever they look like, and ask it in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.dummy import DummyClassifier

from hardgap.core.errors import BadInput
from hardgap.worlds.automaton.baselines.methods import Estimator, Features, Labels, Method


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
