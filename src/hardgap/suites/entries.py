"""Who is judged: a network and the recipe that trains it. From both, and a gap, the runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.plugins import blamed, load_plugin, trust
from hardgap.core.run import named
from hardgap.core.specs import Scale, Spec
from hardgap.core.wording import did_you_mean
from hardgap.nn.spec import ConvSpec, EncoderSpec, ReferenceSpec
from hardgap.suites.gaps import SEEDS, SuiteGap
from hardgap.worlds.automaton.recipes import tempered, untempered, until_first_solved
from hardgap.worlds.automaton.run import AutomatonRun

NETWORKS: dict[str, tuple[Spec, str]] = {
    "linear": (ReferenceSpec(network="linear"), "one matrix over the whole row"),
    "mlp": (ReferenceSpec(network="mlp"), "two hidden layers over the whole row"),
    "conv": (ConvSpec(radius=3), "convolution over seven cells, then per cell"),
    "encoder": (EncoderSpec(), "the paper's encoder, two layers"),
    "one-layer": (EncoderSpec(layers=1), "the paper's encoder, one layer"),
    "wider": (EncoderSpec(dim=128, ffn=256), "the paper's encoder, twice as wide"),
    "gru": (ReferenceSpec(network="gru"), "a GRU from each side"),
    "relative": (ReferenceSpec(network="relative"), "encoder, distances on the ring instead of positions"),
    "looped": (ReferenceSpec(network="looped"), "encoder, one layer used twice"),
    "rotary": (ReferenceSpec(network="rotary"), "encoder, rotary positions"),
    "mixer": (ReferenceSpec(network="mixer"), "MLP-mixer, two layers"),
}
"""The references that are trained, the quickest first, each with what it is."""
RECIPES: dict[str, Callable[[AutomatonRun], AutomatonRun]] = {"untempered": untempered, "tempered": lambda run: run}
"""Both train for at most 1,570 steps and end at the first solved evaluation; `untempered` has T = 1, no restart."""
KEPT = ("rule", "hide", "masking", "width", "train_rows", "test_rows", "model", "seed", "initial", "device")
LOOKING = ("evaluate_every", "stop_after_solved", "solved_at")
"""What a recipe may not change: the question, and when hidden cells are looked at to end a run."""


@dataclass(frozen=True)
class Entry:
    """A network, by its reference's name or its import path, under a recipe, likewise."""

    network: str
    recipe: str = "tempered"

    @property
    def about(self) -> str:
        return NETWORKS[self.network][1] if self.network in NETWORKS else ""

    def runs(self, gap: SuiteGap, scale: Scale = "desk") -> list[AutomatonRun]:
        """The runs of a gap, one a seed."""
        return [self._with_model(self._start(gap, scale, seed)) for seed in range(SEEDS)]

    def _start(self, gap: SuiteGap, scale: Scale, seed: int) -> AutomatonRun:
        start = until_first_solved(tempered(scale, gap.rule, gap.hide)).but(width=gap.width, seed=seed)
        return RECIPES[self.recipe](start) if self.recipe in RECIPES else _own_recipe(self.recipe, start)

    def _with_model(self, run: AutomatonRun) -> AutomatonRun:
        if self.network in NETWORKS:
            return run.but(model=NETWORKS[self.network][0])
        return named(run.but(model=self.network))

    def check(self, gaps: Sequence[SuiteGap], scale: Scale) -> None:
        """Refuse what cannot be judged, before anything is trained: the network and its data are made once."""
        from hardgap.worlds import build_task

        if self.network not in NETWORKS and ":" not in self.network:
            from hardgap.suites.computed import COMPUTED

            names = [*NETWORKS, *COMPUTED]
            hint = did_you_mean(self.network, names) or did_you_mean(self.network.upper(), names)
            known = f"{', '.join(names)}, or your own package.module:factory"
            raise BadInput(f"there is no reference {self.network!r}{hint}: give {known}")
        if self.recipe not in RECIPES and ":" not in self.recipe:
            hint, known = did_you_mean(self.recipe, RECIPES), ", ".join(RECIPES)
            raise BadInput(
                f"recipe {self.recipe}{hint}: choose {known}, or your own package.module:function", of="recipe"
            )
        for gap in {gap.width: gap for gap in gaps}.values():
            task = build_task(self.runs(gap, scale)[0])
            task.check()
            task.model()

    def digest(self, gap: SuiteGap) -> int:
        """A seed that belongs to the network's code and config and to what the recipe makes of the run.

        Whoever changes one of them draws another private part.
        """
        run = self.runs(gap)[0].model_dump(mode="json")
        text = json.dumps([run[name] for name in ("model", "unrolling", "optimiser", "budget")], sort_keys=True)
        return int(hashlib.sha256(text.encode()).hexdigest()[:7], 16)


def _own_recipe(path: str, start: AutomatonRun) -> AutomatonRun:
    """What a user's function makes of the tempered run: another regime, optimiser or way of looking at it."""
    trust(path)
    change = load_plugin("recipe", path)
    with blamed(f"recipe {path} fails on {start.describe()}", of="recipe"):
        run: Any = change(start)
    if not isinstance(run, AutomatonRun):
        raise BadInput(f"recipe {path} gave a {type(run).__name__}: return the run, changed", of="recipe")
    changed = [name for name in KEPT if getattr(run, name) != getattr(start, name)]
    changed += [f"budget.{name}" for name in LOOKING if getattr(run.budget, name) != getattr(start.budget, name)]
    if changed:
        raise BadInput(f"recipe {path} changes {', '.join(changed)}, which the suite fixes", of="recipe")
    if run.budget.steps > start.budget.steps or run.unrolling.steps > start.unrolling.steps:
        most = f"{start.budget.steps} training steps and {start.unrolling.steps} unrolled ones"
        raise BadInput(f"recipe {path} asks for more than {most}", of="recipe")
    return named(run)  # it may name feedback or a loss of its own
