"""Ways to train, by name: the paper's, and one with warmer feedback and one restart (docs/tempered.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hardgap.core.specs import Scale
from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

Recipe = Literal["paper", "tempered"]
HOT = 8.0
"""The temperature of the tempered recipe; half of it after a restart."""
TEN_EPOCHS = 1570
"""Ten of the paper's epochs of 157 steps: the budget of the tempered recipe at every scale but smoke."""

RESTART = 600
"""The step of those at which a network that contradicts what is visible starts again."""
ROUNDED = 0.3
"""The share of what is fed back that is rounded, where graded values would be smuggled through."""


def soft(temperature: float, *, steps: int = 4) -> Unrolling:
    """Soft feedback at one temperature throughout; T = 1 is the paper's."""
    return Unrolling(steps=steps, temperature=Temperature(start=temperature, end=temperature))


def tempered(scale: Scale, rule: str, hide: tuple[int, ...], *, steps: int = TEN_EPOCHS) -> AutomatonRun:
    """The paper's soft unrolling fed back at T = 8, the gradient clipped, and one restart at T = 4.

    After 600 of 1,570 steps, a network whose free run gets visible cells wrong starts again from other weights.
    """
    run = base(scale, rule, hide)
    optimiser = run.optimiser.model_copy(update={"clip": 1.0})
    length = run.budget.steps if scale == "smoke" else steps
    budget = run.budget.model_copy(update={"steps": length, "restart_at": max(1, RESTART * length // TEN_EPOCHS)})
    return run.but(unrolling=soft(HOT), optimiser=optimiser, budget=budget)


def until_first_solved(run: AutomatonRun) -> AutomatonRun:
    """Stop at the first solved evaluation, where only the steps to recovery are asked for."""
    return run.but(budget=run.budget.model_copy(update={"stop_after_solved": 1, "evaluate_every": 25}))


def untempered(run: AutomatonRun) -> AutomatonRun:
    """The control of a tempered run: the paper's T = 1 and no restart, everything else the same, seed included."""
    return single_attempt(run).but(unrolling=run.unrolling.model_copy(update={"temperature": Temperature()}))


def single_attempt(run: AutomatonRun) -> AutomatonRun:
    """The same run without a restart."""
    return run.but(budget=run.budget.model_copy(update={"restart_at": None}))


RECIPES: dict[Recipe, Callable[[Scale, str, tuple[int, ...]], AutomatonRun]] = {"paper": base, "tempered": tempered}

OPTIONS = {
    "unroll": "unrolling.feedback",
    "unroll_steps": "unrolling.steps",
    "step_weights": "unrolling.weights",
    "temperature": "unrolling.temperature",
    "rounded": "unrolling.rounded",
    "masking": "masking",
    "width": "width",
    "positions": "model.positions",
    "position_std": "model.position_std",
    "dropout": "model.dropout",
    "steps": "budget.steps",
    "until_solved": "budget.stop_after_solved",
    "restart_at": "budget.restart_at",
    "batch": "optimiser.batch",
    "learning_rate": "optimiser.learning_rate",
    "clip": "optimiser.clip",
    "schedule": "optimiser.schedule",
    "log_saturation": "log_saturation",
    "seed": "seed",
    "device": "device",
}
"""Options that change a recipe, each with the field that it sets; what some are follows from those before them."""
