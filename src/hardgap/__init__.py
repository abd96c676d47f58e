"""hardgap: has a neural network learned a rule it was never shown?

>>> import hardgap as hg
>>> run = hg.Automaton("L1 ^ (C & R1)", hide="101", scale="smoke")
>>> result = hg.train(run, store="runs")
>>> 0 <= result.holdout <= 1
True

The names below are public (docs/api.md). Everything else may change. They are loaded when they are used: this
import loads neither torch nor numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardgap.api.claims import list_studies, study
    from hardgap.api.configs import Automaton, Chains, grid
    from hardgap.api.result import Result, Results
    from hardgap.api.suites import suite
    from hardgap.api.training import results, sweep, train
    from hardgap.core.errors import BadInput
    from hardgap.core.plugins import trust

__version__ = "0.2.0"

__all__ = [
    "Automaton",
    "BadInput",
    "Chains",
    "Result",
    "Results",
    "grid",
    "list_studies",
    "results",
    "study",
    "suite",
    "sweep",
    "train",
    "trust",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hardgap' has no attribute {name!r}")
    from hardgap import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
