"""Feedback of a user's own: what is fed back is theirs, its code belongs to the run, and it can be gone on with."""

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
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ownfeedback.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ownfeedback", raising=False)


def run_with(name: str) -> AutomatonRun:
    run = tempered("smoke", "30", (3,))
    return named(run.changed(unrolling__own=f"ownfeedback:{name}"))


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


def test_its_code_belongs_to_the_run() -> None:
    run = run_with("clipped")
    ((path, source),) = run.plugins().items()
    assert (path, len(source or "")) == ("ownfeedback:clipped", 64)
    assert run.id != tempered("smoke", "30", (3,)).id
    assert f"fed back by ownfeedback:clipped {str(source)[:6]}, T=8" in run.describe()
    assert leak_certificate(run, steps=1).passed


def test_data_brings_no_feedback() -> None:
    run = tempered("smoke", "30", (3,)).changed(unrolling__own="ownfeedback:clipped")
    with pytest.raises(Untrusted):
        build_trainer(run).run()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("wrong_shape", "must give finite numbers of the logits' shape"),
        ("detached", "passes no gradient to the logits"),
        ("raising", r"ownfeedback:raising fails on logits of shape \(3, 9\): not today"),
        ("missing", "ownfeedback:missing cannot be imported"),
    ],
)
def test_what_cannot_be_fed_back_is_refused_before_training(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=why):
        queue(Store(tmp_path / "store"), run_with(name))


def test_hard_feedback_is_not_ones_own() -> None:
    with pytest.raises(BadInput, match="takes the place of soft feedback"):
        run_with("soft").changed(unrolling__feedback="hard")


def test_old_runs_keep_their_identities() -> None:
    assert "own" not in tempered("smoke", "30", (3,)).asked()["unrolling"]
    assert torch.is_grad_enabled()
