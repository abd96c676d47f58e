"""All analyses by name, and a loop over them that says why one does not apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hardgap.core.errors import BadInput
from hardgap.core.run import only
from hardgap.core.task import Trained
from hardgap.core.wording import did_you_mean
from hardgap.nn.hooks import DoesNotApply
from hardgap.worlds.automaton.circuits.ablation import ablate_heads, ablate_layers
from hardgap.worlds.automaton.circuits.attention import attention_maps
from hardgap.worlds.automaton.circuits.cells import Finding, check_rows
from hardgap.worlds.automaton.circuits.consistency import check_consistency
from hardgap.worlds.automaton.circuits.lens import logit_lens
from hardgap.worlds.automaton.circuits.neurons import parity_neurons
from hardgap.worlds.automaton.circuits.patching import patch_activations
from hardgap.worlds.automaton.circuits.polynomial import fit_polynomial
from hardgap.worlds.automaton.circuits.positions import accuracy_by_position
from hardgap.worlds.automaton.circuits.probes import linear_probes
from hardgap.worlds.automaton.circuits.recovered import recover_rule
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import AutomatonTask, split_rows


@dataclass(frozen=True)
class Subject:
    """A network, the gap it was trained across, and rows that it was not trained on.

    regime     how it was trained; feedback in the consistency check follows it
    step       steps that it was trained for, since its last start; the regime's end if not said
    untrained  the same network before training, the control of the probes
    """

    model: nn.Module
    gap: Gap
    rows: NDArray[np.uint8]
    regime: Unrolling = field(default_factory=Unrolling)
    untrained: nn.Module | None = None
    seed: int = 0
    step: int | None = None


CELLS = 6_000
"""About as many cells of a run's test rows are looked at."""


def subject_of(trained: Trained, seed: int = 0) -> Subject:
    """What is opened of a trained network: its run's gap and test rows, and the regime that it was last trained in."""
    (run,), task = only(AutomatonRun, [trained.run]), trained.task
    assert isinstance(task, AutomatonTask)
    return Subject(trained.model, run.gap, rows_of(run), task.unrolling, trained.untrained, seed, trained.step)


def rows_of(run: AutomatonRun) -> NDArray[np.uint8]:
    """Test rows of the run: as many as hold about `CELLS` cells, at least 64."""
    rows = split_rows(run.width, run.train_rows, run.test_rows, run.seed)[1]
    return rows[: max(64, CELLS // run.width)]


ANALYSES: dict[str, Callable[[Subject], Finding]] = {
    "polynomial": lambda s: fit_polynomial(s.model, s.gap, s.rows, seed=s.seed),
    "rule": lambda s: recover_rule(s.model, s.gap, s.rows, seed=s.seed),
    "consistency": lambda s: check_consistency(s.model, s.gap, s.rows, regime=s.regime, step=s.step, seed=s.seed),
    "layers": lambda s: ablate_layers(s.model, s.gap, s.rows),
    "heads": lambda s: ablate_heads(s.model, s.gap, s.rows),
    "lens": lambda s: logit_lens(s.model, s.gap, s.rows),
    "probes": lambda s: linear_probes(s.model, s.gap, s.rows, untrained=s.untrained),
    "patching": lambda s: patch_activations(s.model, s.gap, s.rows, seed=s.seed),
    "attention": lambda s: attention_maps(s.model, s.gap, s.rows),
    "neurons": lambda s: parity_neurons(s.model, s.gap, s.rows),
    "positions": lambda s: accuracy_by_position(s.model, s.gap, s.rows),
}


@dataclass(frozen=True)
class Opening:
    """What was found, by analysis, and why the others do not apply to this network."""

    results: dict[str, Finding]
    does_not_apply: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        found = {name: result.as_dict() for name, result in self.results.items()}
        return found | {"does_not_apply": self.does_not_apply}


def open_network(
    subject: Subject, only: Iterable[str] = (), on_start: Callable[[str], None] = lambda name: None
) -> Opening:
    """Run the analyses named in `only`, or all of them; `on_start` hears each name before it runs."""
    names = check_names(only)
    check_rows(subject.rows, subject.gap)
    subject.model.eval()
    results: dict[str, Finding] = {}
    reasons: dict[str, str] = {}
    for name in names:
        on_start(name)
        try:
            results[name] = ANALYSES[name](subject)
        except DoesNotApply as reason:
            reasons[name] = str(reason)
    return Opening(results, reasons)


def open_trained(trained: Trained, only: Sequence[str], seed: int) -> dict[str, Any]:
    """What is found inside a network of a store, as plain data by analysis, and why others do not apply."""
    names = check_names(only)
    return open_network(subject_of(trained, seed), names).as_dict()


def check_names(only: Iterable[str]) -> list[str]:
    """The analyses asked for, in the order of the table; all if none is named."""
    asked = list(only)
    for name in asked:
        if name not in ANALYSES:
            hint = did_you_mean(name, ANALYSES)
            raise BadInput(f"{name}: there is no such analysis{hint}; choose from {', '.join(ANALYSES)}", of="only")
    return [name for name in ANALYSES if not asked or name in asked]
