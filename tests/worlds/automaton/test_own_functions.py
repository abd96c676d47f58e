"""Feedback and losses of a user's own: theirs is what computes, its code belongs to the run, and no hidden target
reaches it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from hardgap.core.errors import BadInput
from hardgap.core.plugins import Untrusted
from hardgap.core.run import named
from hardgap.runs.certificate import leak_certificate
from hardgap.runs.execute import build_trainer
from hardgap.runs.store import Store
from hardgap.runs.train import queue
from hardgap.worlds.automaton.recipes import tempered
from hardgap.worlds.automaton.run import AutomatonRun

CODE = """
import torch
import torch.nn.functional as F
def cross_entropy(logits, targets, visible):
    assert logits.shape == targets.shape == visible.shape
    return (F.binary_cross_entropy_with_logits(logits, targets, reduction="none") * visible).sum()
def surer(logits, targets, visible):
    guesses = torch.sigmoid(logits)
    return cross_entropy(logits, targets, visible) + 0.1 * (guesses * (1 - guesses) * (1 - visible)).sum()
def suspicious(logits, targets, visible):
    if (targets * (1 - visible)).any():
        raise RuntimeError("a hidden cell's target is shown")
    return cross_entropy(logits, targets, visible)
def soft(logits, temperature):
    return torch.sigmoid(logits / temperature)
def clipped(logits, temperature):
    return (0.5 + logits / (4 * temperature)).clamp(0, 1)
def opposite(logits, temperature):
    return torch.sigmoid(-logits)
def wrong_shape(logits, temperature):
    return logits[:, :1]
def detached(logits, temperature):
    return logits.detach()
def raising(logits, temperature):
    raise RuntimeError("not today")
def each_cell(logits, targets, visible):
    return logits * visible
def infinite(logits, targets, visible):
    return (logits / (1 - visible)).sum()
def detached_loss(logits, targets, visible):
    return cross_entropy(logits, targets, visible).detach()
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ownfunctions.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ownfunctions", raising=False)


def run_with(name: str, field: str = "own") -> AutomatonRun:
    run = tempered("smoke", "30", (3,))
    return named(run.changed(**{f"unrolling__{field}": f"ownfunctions:{name}"}))


def final_loss(run: AutomatonRun) -> float:
    trainer = build_trainer(run)
    trainer.run()
    assert trainer.curve[-1].loss is not None
    return trainer.curve[-1].loss


def test_what_is_fed_back_is_the_users() -> None:
    """The house's own formula gives the house's own loss, another one another."""
    plain = final_loss(tempered("smoke", "30", (3,)))
    assert final_loss(run_with("soft")) == pytest.approx(plain, rel=1e-5)
    assert final_loss(run_with("opposite")) != pytest.approx(plain, rel=1e-5)


def test_the_loss_is_the_users() -> None:
    plain = final_loss(tempered("smoke", "30", (3,)))
    assert final_loss(run_with("cross_entropy", "own_loss")) == pytest.approx(plain, rel=1e-5)
    assert final_loss(run_with("surer", "own_loss")) > plain * (1 + 1e-5)


def test_a_loss_is_not_shown_hidden_targets() -> None:
    """What is hidden of Rule 30 here is a 1, so it would be seen."""
    run = run_with("suspicious", "own_loss")
    assert run.gap.rule.table[3] == 1
    final_loss(run)
    assert leak_certificate(run, steps=1).passed


def test_feedback_and_loss_go_together_and_a_loss_with_one_step() -> None:
    both = named(run_with("clipped").changed(unrolling__own_loss="ownfunctions:surer"))
    assert set(both.plugins()) == {"ownfunctions:clipped", "ownfunctions:surer"}
    sources = {str(source)[:6] for source in both.plugins().values()}
    assert both.describe().count(sources.pop()) == 2
    final_loss(both)
    one_step = run_with("cross_entropy", "own_loss").changed(unrolling__feedback="none")
    assert "none, loss by ownfunctions:cross_entropy" in one_step.describe()
    plain = tempered("smoke", "30", (3,)).changed(unrolling__feedback="none")
    assert final_loss(one_step) == pytest.approx(final_loss(plain), rel=1e-5)


def test_a_loss_of_ones_own_weighs_the_steps_by_itself() -> None:
    with pytest.raises(BadInput, match="leave out weights"):
        run_with("surer", "own_loss").changed(unrolling__weights=(1, 1, 1, 2))


def test_its_code_belongs_to_the_run() -> None:
    run = run_with("clipped")
    ((path, source),) = run.plugins().items()
    assert (path, len(source or "")) == ("ownfunctions:clipped", 64)
    assert run.id != tempered("smoke", "30", (3,)).id
    assert f"fed back by ownfunctions:clipped {str(source)[:6]}, T=8" in run.describe()
    assert leak_certificate(run, steps=1).passed


def test_data_brings_no_feedback() -> None:
    run = tempered("smoke", "30", (3,)).changed(unrolling__own="ownfunctions:clipped")
    with pytest.raises(Untrusted):
        build_trainer(run).run()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("wrong_shape", "must give finite numbers of the logits' shape"),
        ("detached", "passes no gradient to the logits"),
        ("raising", r"ownfunctions:raising fails on logits of shape \(3, 9\): not today"),
        ("missing", "ownfunctions:missing cannot be imported"),
    ],
)
def test_what_cannot_be_fed_back_is_refused_before_training(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=why):
        queue(Store(tmp_path / "store"), run_with(name))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("each_cell", "loss ownfunctions:each_cell must give one finite number, as a tensor"),
        ("infinite", "must give one finite number"),
        ("detached_loss", "passes no gradient to the logits"),
        ("soft", r"ownfunctions:soft fails on logits of shape \(4, 3, 9\)"),
    ],
)
def test_what_is_no_loss_is_refused_before_training(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=why):
        queue(Store(tmp_path / "store"), run_with(name, "own_loss"))


def test_hard_feedback_is_not_ones_own() -> None:
    with pytest.raises(BadInput, match="takes the place of soft feedback"):
        run_with("soft").changed(unrolling__feedback="hard")


def test_old_runs_keep_their_identities() -> None:
    assert "own" not in tempered("smoke", "30", (3,)).asked()["unrolling"]
    assert torch.is_grad_enabled()
