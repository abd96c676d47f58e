"""Ways to train, by name: the paper's, and the one that recovers reliably (docs/tempered.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hardgap.runs.config import AutomatonRun
from hardgap.studies.scales import base
from hardgap.studies.study import Scale
from hardgap.training.spec import Temperature, Unrolling

Recipe = Literal["paper", "tempered"]
TEMPERATURE = 8.0
TEN_EPOCHS = 1570
"""Ten of the paper's epochs of 157 steps: the budget of the tempered recipe at every scale but smoke."""


def soft(temperature: float, *, steps: int = 4) -> Unrolling:
    """Soft feedback at one temperature throughout; T = 1 is the paper's."""
    return Unrolling(steps=steps, temperature=Temperature(start=temperature, end=temperature))


def tempered(scale: Scale, rule: str, hide: tuple[int, ...], *, steps: int = TEN_EPOCHS) -> AutomatonRun:
    """The paper's soft unrolling with two numbers changed: feedback at T = 8, gradient norm at most 1."""
    run = base(scale, rule, hide)
    optimiser = run.optimiser.model_copy(update={"clip": 1.0})
    budget = run.budget if scale == "smoke" else run.budget.model_copy(update={"steps": steps})
    return run.but(unrolling=soft(TEMPERATURE), optimiser=optimiser, budget=budget)


def until_first_solved(run: AutomatonRun) -> AutomatonRun:
    """Stop at the first solved evaluation, where only the steps to recovery are asked for."""
    return run.but(budget=run.budget.model_copy(update={"stop_after_solved": 1, "evaluate_every": 25}))


def untempered(run: AutomatonRun) -> AutomatonRun:
    """The control of a tempered run: the paper's T = 1, everything else the same, seed included."""
    return run.but(unrolling=run.unrolling.model_copy(update={"temperature": Temperature()}))


RECIPES: dict[Recipe, Callable[[Scale, str, tuple[int, ...]], AutomatonRun]] = {"paper": base, "tempered": tempered}
