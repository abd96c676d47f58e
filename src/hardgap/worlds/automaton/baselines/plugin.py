"""A user's own method joins by import path: `package.module:factory`.

The factory is called without arguments and gives a scikit-learn style classifier; a class such as
`sklearn.naive_bayes:GaussianNB` is a factory. If it has a `random_state`, the run's seed is put there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.plugins import blamed, load_plugin, trust
from hardgap.worlds.automaton.baselines.methods import METHODS, Estimator, Method, choose_methods, fit


def named_methods(names: Sequence[str], known: Sequence[Method] = METHODS) -> tuple[Method, ...]:
    """Known methods by name and a user's own by import path, in the order given.

    Import paths alone join the methods that are there anyway, so that the table compares them.
    """
    own = {name: load_method(name) for name in names if ":" in name}
    if len(own) == len(names):
        return (*known, *own.values())
    return tuple(own[name] if name in own else choose_methods([name], known)[0] for name in names)


def load_method(path: str) -> Method:
    """The method that an import path names, checked. Only users name methods; no file does."""
    trust([path])
    factory = load_plugin("method", path)

    def make(seed: int) -> Estimator:
        with blamed(f"method {path} cannot be called without arguments", of="method"):
            estimator: Any = factory()
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise BadInput(f"method {path} gave a {type(estimator).__name__} without `fit` and `predict`", of="method")
        if hasattr(estimator, "get_params") and "random_state" in estimator.get_params():
            estimator.set_params(random_state=seed)
        return estimator  # type: ignore[no-any-return]

    method = Method(path.partition(":")[2], make, path)
    check_method(method)
    return method


def check_method(method: Method) -> None:
    """Raise `BadInput` with the first thing that keeps a method from being compared here, if any.

    It must learn from features [examples, dimensions] and labels 0 or 1, answer 0 or 1 for each example, answer the
    same when asked again or made again with the same seed, and answer an example the same in any batch.
    """
    rng = np.random.default_rng(0)
    shown, asked = rng.normal(size=(40, 3)), rng.normal(size=(17, 3))
    labels = (shown.sum(1) > 0).astype(np.uint8)
    with blamed(f"method {method.settings} fails on 40 examples of 3 dimensions", of="method"):
        fitted, again = (fit(method, shown, labels, seed=1) for _ in range(2))
        first = fitted.predict(asked)
        apart = np.concatenate([fitted.predict(asked[i : i + 1]) for i in range(len(asked))])
    if not np.array_equal(first, again.predict(asked)):
        raise BadInput(
            f"method {method.settings} gives other answers with the same seed; take a `random_state`", of="method"
        )
    if not np.array_equal(first, apart):
        raise BadInput(f"method {method.settings} lets examples of one batch influence one another", of="method")
