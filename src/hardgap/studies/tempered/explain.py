"""Ours: why the paper's feedback fails, tested by intervening on runs while they train.

An arm that intervenes is bitwise the run it intervenes on until then: the temperature changes at one step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardgap.core.specs import Scale
from hardgap.studies.study import Arm, Labels, study
from hardgap.studies.tempered.parts import shown
from hardgap.worlds.automaton.recipes import HOT, single_attempt, tempered
from hardgap.worlds.automaton.regime import Unrolling

RULE, PATTERNS = "150", (0, 3, 7)
"""Gaps that the paper's regime, in the ordinary budget, recovers on no seed, there or here."""
SEEDS = range(2)
STUCK, HEALTHY = 600, 150
EARLIER = (150, 300)
"""When a failing run is un-saturated (its visible accuracy long at 100 %, or earlier), and a healthy one saturated."""


def switched(before: float, after: float, at: int) -> dict[str, Any]:
    return {"start": before, "end": after, "over": at, "shape": "step"}


def warmed(at: int, **cells: str) -> dict[str, Any]:
    return {"temperature": switched(1, HOT, at), **cells}


ARMS: dict[str, dict[str, dict[str, Any]]] = {
    "left alone": {
        "T = 1": {"temperature": {}},
        "T = 8": {"temperature": {"start": HOT, "end": HOT}},
    },
    "T = 1, then T = 8": {
        **{f"from step {at}": warmed(at) for at in (*EARLIER, STUCK)},
        f"from step {STUCK}, hidden cells only": warmed(STUCK, cells="hidden"),
        f"from step {STUCK}, visible cells only": warmed(STUCK, cells="visible"),
    },
    f"T = 8, then colder from step {HEALTHY}": {
        "T = 1": {"temperature": switched(HOT, 1, HEALTHY)},
        "T = 0.25": {"temperature": switched(HOT, 0.25, HEALTHY)},
    },
}


@study("tempered/explain", **shown(more="explain", figure="explain"))
def explain(scale: Scale) -> Iterator[Arm]:
    """Is it saturation that stops recovery? Left alone, un-saturated when stuck, saturated when healthy."""
    for factor, values in ARMS.items():
        for value, change in values.items():
            regime = Unrolling.model_validate(change)
            starts = (single_attempt(tempered(scale, RULE, (pattern,))) for pattern in PATTERNS)
            runs = [run.but(unrolling=regime, log_saturation=True) for run in starts]
            labels: Labels = {"factor": factor, "value": value}
            yield Arm(labels, tuple(run.but(seed=seed) for run in runs for seed in SEEDS))
