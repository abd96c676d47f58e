"""Leaks that were planted, one after the other: the certificate catches each, or it is named here as out of reach.

Both trainings run in this process, where a leak can be planted; `tests/runs/test_witness.py` has two processes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hardgap.core.plugins import trust
from hardgap.core.run import Run, validated
from hardgap.runs.certificate import Certificate, certified_steps, not_covered
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import AutomatonTask
from hardgap.worlds.chains import gap as chain_gap
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.run import SymbolicRun

Tiny = Callable[..., AutomatonRun]
Certify = Callable[[Run, int], Certificate]
Patch = pytest.MonkeyPatch
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def long(tiny: Tiny) -> AutomatonRun:
    """An epoch of 30 steps, two of them in all."""
    one_step = {"feedback": "none", "steps": 1}
    sizes = {"train_rows": 60, "optimiser": {"batch": 2}, "budget": {"steps": 60, "evaluate_every": 60}}
    return tiny(unrolling=one_step, **sizes)


def differs_in(found: Certificate) -> tuple[str, int]:
    assert found.difference is not None
    return found.difference.what, found.difference.step


# Experiment 1


def unmask_from(step: int, patch: Patch) -> None:
    """From this step on every cell is supervised, hidden or not."""
    honest = AutomatonTask.losses

    def leaking(self: AutomatonTask, model: nn.Module, now: int) -> Iterator[Tensor]:
        if now == step:
            self.training[1][:] = True
        yield from honest(self, model, now)

    patch.setattr(AutomatonTask, "losses", leaking)


def test_a_leak_that_starts_after_20_steps_is_caught_within_an_epoch(
    long: AutomatonRun, certify_here: Certify, monkeypatch: Patch
) -> None:
    unmask_from(20, monkeypatch)
    assert certify_here(long, 20).passed  # as many as were compared before one epoch was
    assert differs_in(certify_here(long, certified_steps(long))) == ("the batch", 21)


def test_a_leak_that_starts_after_the_steps_is_out_of_reach_and_said_to_be(
    long: AutomatonRun, certify_here: Certify, monkeypatch: Patch
) -> None:
    unmask_from(40, monkeypatch)
    assert certified_steps(long) == long.epoch == 30
    assert certify_here(long, 30).passed
    assert "a leak that starts after these steps" in not_covered(long, 30)
    assert not certify_here(long, 60).passed
    assert not not_covered(long, 60)


@pytest.mark.parametrize("row", [0, 31])
def test_one_unmasked_cell_of_one_row_is_caught(
    tiny: Tiny, certify_here: Certify, monkeypatch: Patch, regime: dict[str, Any], row: int
) -> None:
    """Wherever it stands: an epoch shows every row, and the opposite of a target is never that target."""
    honest = Gap.trajectory

    def leaking(self: Gap, rows: np.ndarray, steps: int) -> Trajectory:
        found = honest(self, rows, steps)
        where = np.argwhere(found.hidden[:, row:])[0] + [0, row, 0]
        found.supervised[tuple(where)] = True
        return found

    monkeypatch.setattr(Gap, "trajectory", leaking)
    run = tiny(train_rows=40, test_rows=40, optimiser={"batch": 6}, unrolling=regime)
    assert differs_in(certify_here(run, run.epoch))[0] == "the batch"


def test_initial_weights_from_the_rules_table_are_caught(tiny: Tiny, certify_here: Certify, monkeypatch: Patch) -> None:
    honest = AutomatonTask.model

    def leaking(self: AutomatonTask) -> nn.Module:
        model = honest(self)
        with torch.no_grad():
            next(model.parameters()).view(-1)[: self.gap.rule.patterns] += torch.tensor(self.gap.rule.table.tolist())
        return model

    monkeypatch.setattr(AutomatonTask, "model", leaking)
    assert differs_in(certify_here(tiny(), 1)) == ("initial weights", 0)


def test_a_leak_through_the_score_is_caught(tiny: Tiny, certify_here: Certify, monkeypatch: Patch) -> None:
    """The network is drawn to what is right on hidden test cells whenever it is evaluated."""
    honest = AutomatonTask.score

    def leaking(self: AutomatonTask, model: nn.Module, step: int) -> Any:
        score = honest(self, model, step)
        with torch.no_grad():
            next(model.parameters()).mul_(1 + score.holdout)
        return score

    monkeypatch.setattr(AutomatonTask, "score", leaking)
    assert differs_in(certify_here(tiny(), 2)) == ("the weights", 1)


def test_the_end_of_a_solved_run_is_not_compared_and_said_not_to_be(tiny: Tiny, certify_here: Certify) -> None:
    stops = {"steps": 7, "evaluate_every": 1, "stop_after_solved": 1, "solved_at": 1e-9}
    run = tiny(budget=stops)
    found = certify_here(run, 7)
    assert (found.passed, found.steps) == (True, 7)
    assert any("the run ends" in sentence for sentence in not_covered(run, 7))


class ReadsTheMask(nn.Module):
    """A network that looks at the gradient of its own answers: where it is exactly zero, nothing is supervised."""

    masks: ClassVar[list[Tensor]] = []

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, rows: Tensor) -> Tensor:
        logits: Tensor = self.linear(rows)
        if logits.requires_grad:
            logits.register_hook(lambda gradient: self.masks.append(gradient == 0))
        return logits


def test_a_plugin_that_reads_the_mask_is_out_of_reach_and_said_to_be(
    tiny: Tiny, certify_here: Certify, monkeypatch: Patch
) -> None:
    """It is given the same in both worlds: the mask is true in both, and at later steps it tells of hidden outputs."""
    module = ModuleType("reading_nets")
    module.make = ReadsTheMask  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "reading_nets", module)
    monkeypatch.setattr(ReadsTheMask, "masks", [])
    trust(["reading_nets:make"])
    one_step = {"feedback": "none", "steps": 1}
    run = tiny(model={"kind": "plugin", "factory": "reading_nets:make"}, unrolling=one_step, optimiser={"batch": 16})
    assert certify_here(run, 1).passed
    assert any("exactly zero gradients" in sentence for sentence in not_covered(run, 1))
    task = AutomatonTask(run)
    read = next(mask for mask in ReadsTheMask.masks if mask.shape == (16, 7))
    assert torch.equal(read, ~task.training[1][0, task.batch_rows(0)])


# Experiment 2


def symbolic(**changes: Any) -> SymbolicRun:
    base = {
        "holdout": "^&", "operators": ["^", "|", "&", "R"], "bits": 4, "ambiguity": "seen",
        "train_examples": 150, "eval_examples": 4, "test_examples": 6, "optimiser": {"batch": 64},
        "budget": {"steps": 7, "evaluate_every": 7}, "model": {"dim": 8, "heads": 2, "layers": 1, "ffn": 16},
    }  # fmt: skip
    return validated(SymbolicRun, base | changes)


Agreement = Callable[[Arithmetic, np.ndarray, np.ndarray], np.ndarray]


def asked_of_the_world(arithmetic: Arithmetic, held_out: np.ndarray, operands: np.ndarray) -> np.ndarray:
    return arithmetic.results(held_out, operands)[:, -1]


def worked_out(arithmetic: Arithmetic, held_out: np.ndarray, operands: np.ndarray) -> np.ndarray:
    first = arithmetic.apply(held_out[:, 0], operands[:, 0], operands[:, 1])
    return arithmetic.apply(held_out[:, 1], first, operands[:, 2])


def oversample(truth: Agreement, patch: Patch) -> None:
    """Seen pairs are shown the more often, the more often they give what the held-out pair gives."""
    honest = chain_gap.balanced_weights

    def leaking(arithmetic: Arithmetic, allowed: np.ndarray) -> np.ndarray:
        operands = np.random.default_rng(0).integers(0, arithmetic.size, (500, 3))
        held_out = arithmetic.ops_of(np.repeat(np.flatnonzero(~allowed), 500))
        wanted = truth(arithmetic, held_out, operands)
        share = [
            (arithmetic.results(arithmetic.ops_of(np.full(500, chain)), operands)[:, -1] == wanted).mean()
            for chain in range(arithmetic.chains)
        ]
        weights = honest(arithmetic, allowed) * (0.1 + np.array(share))
        return weights / weights.sum()

    patch.setattr(chain_gap, "balanced_weights", leaking)


@pytest.mark.parametrize("ambiguity", ["unambiguous", "seen", "any"])
def test_oversampling_by_the_truth_is_caught(certify_here: Certify, monkeypatch: Patch, ambiguity: str) -> None:
    oversample(asked_of_the_world, monkeypatch)
    run = symbolic(ambiguity=ambiguity)
    assert differs_in(certify_here(run, run.epoch))[0] == "the batch"


def test_examples_that_also_fit_the_held_out_pair_shown_twice_are_caught(
    certify_here: Certify, monkeypatch: Patch
) -> None:
    honest = chain_gap.draw

    def leaking(arithmetic: Arithmetic, counts: np.ndarray, *rest: Any, **more: Any) -> Any:
        found = honest(arithmetic, counts, *rest, **more)
        fit = arithmetic.fits(found.evidence)[:, arithmetic.index_of(np.array([arithmetic.parse_chain("^&")]))[0]]
        return found[np.concatenate([np.flatnonzero(fit), np.arange(len(found))])[: len(found)]]

    monkeypatch.setattr(chain_gap, "draw", leaking)
    run = symbolic(ambiguity="any")
    assert not certify_here(run, run.epoch).passed


def test_oversampling_by_what_single_operators_give_is_out_of_reach_and_said_to_be(
    certify_here: Certify, monkeypatch: Patch
) -> None:
    """Each operator is shown in other pairs, so no world that training may see can be wrong about it."""
    oversample(worked_out, monkeypatch)
    run = symbolic()
    assert certify_here(run, run.epoch).passed
    assert any("from single operators" in sentence for sentence in not_covered(run, run.epoch))


def test_what_the_filter_of_ambiguous_examples_asks_of_the_held_out_pair_is_said() -> None:
    said = [any("left out as ambiguous" in one for one in not_covered(symbolic(ambiguity=name), 7))
            for name in ("unambiguous", "seen", "any")]  # fmt: skip
    assert said == [True, False, False]
