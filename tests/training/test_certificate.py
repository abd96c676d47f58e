"""The leak certificate: it holds for every regime, and it catches what it is there to catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hardgap.automata.gap import Gap, Trajectory
from hardgap.runs.certificate import leak_certificate
from hardgap.runs.config import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rule": "D", "hide": [1, 4, 12, 17, 18, 24, 27, 29]},
        {"rule": "150", "hide": [0, 1, 2, 3, 4, 5, 6]},
        {"optimiser": {"batch": 5, "clip": 0.1, "schedule": "cosine", "warmup": 3}},
        {"model": {"kind": "conv", "channels": 4}},
    ],
    ids=["30", "D", "nearly all", "options", "conv"],
)
def test_coins_in_place_of_hidden_targets_change_no_bit(
    tiny: Tiny, regime: dict[str, Any], changes: dict[str, Any]
) -> None:
    run = tiny(width=9, train_rows=32, unrolling=regime, **changes)
    certificate = leak_certificate(run, steps=6)
    assert certificate.passed
    assert (certificate.run, certificate.steps) == (run.id, 6)


@pytest.mark.parametrize("coins", [2, 3])
def test_any_coins_will_do(tiny: Tiny, coins: int) -> None:
    assert leak_certificate(tiny(), steps=4, coins=coins).passed


@pytest.mark.parametrize("feedback", ["soft", "hard"])
def test_the_leaky_control_is_caught(tiny: Tiny, feedback: str) -> None:
    run = tiny(masking="first", unrolling={"feedback": feedback, "steps": 2})
    assert not leak_certificate(run, steps=1).passed


def test_the_leaky_mask_leaks_nothing_in_a_single_step(tiny: Tiny) -> None:
    assert leak_certificate(tiny(masking="first", unrolling={"feedback": "none", "steps": 1}), steps=6).passed


def test_one_supervised_hidden_cell_is_caught(
    tiny: Tiny, regime: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted leak: of all hidden cells, a single one is not masked."""
    honest = Gap.trajectory

    def leaking(self: Gap, rows: np.ndarray, steps: int) -> Trajectory:
        trajectory = honest(self, rows, steps)
        coins = trajectory.with_scrambled_hidden(1)
        told_apart = np.argwhere(trajectory.hidden & (coins.targets != trajectory.targets))
        trajectory.supervised[tuple(told_apart[0])] = True
        return trajectory

    monkeypatch.setattr(Gap, "trajectory", leaking)
    assert not leak_certificate(tiny(unrolling=regime), steps=3).passed


def test_true_inputs_in_place_of_predictions_are_caught(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted leak of another kind: the network is fed the true next row, hidden outputs included."""
    from hardgap.training import automaton
    from hardgap.training.unrolling import unrolled_loss

    def teacher_forced(model: Any, rows: Any, targets: Any, supervised: Any, regime: Any, step: int = 0) -> Any:
        from hardgap.training.spec import Unrolling

        alone, total = Unrolling(feedback="none", steps=1), 0.0
        inputs = [rows, *targets[:-1]]
        for t, fed in enumerate(inputs):
            total = total + unrolled_loss(model, fed, targets[t : t + 1], supervised[t : t + 1], alone)
        return total

    monkeypatch.setattr(automaton, "unrolled_loss", teacher_forced)
    assert not leak_certificate(tiny(), steps=3).passed
