"""The leak certificate: it holds for every regime, and it catches what it is there to catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hardgap.runs.certificate import Certificate
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
Certify = Callable[..., Certificate]
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
def test_the_opposite_of_hidden_outputs_changes_no_bit(
    tiny: Tiny, certify_here: Certify, regime: dict[str, Any], changes: dict[str, Any]
) -> None:
    run = tiny(width=9, train_rows=32, unrolling=regime, **changes)
    certificate = certify_here(run, 6)
    assert certificate.passed
    assert (certificate.run, certificate.steps) == (run.id, 6)


@pytest.mark.parametrize("feedback", ["soft", "hard"])
def test_the_leaky_control_is_caught(tiny: Tiny, certify_here: Certify, feedback: str) -> None:
    run = tiny(masking="first", unrolling={"feedback": feedback, "steps": 2})
    assert not certify_here(run, 1).passed


def test_the_leaky_mask_leaks_nothing_in_a_single_step(tiny: Tiny, certify_here: Certify) -> None:
    assert certify_here(tiny(masking="first", unrolling={"feedback": "none", "steps": 1}), 6).passed


def test_true_inputs_in_place_of_predictions_are_caught(
    tiny: Tiny, certify_here: Certify, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted leak: the network is fed the true next row, hidden outputs included."""
    from hardgap.worlds.automaton import task as automaton
    from hardgap.worlds.automaton.unrolling import unrolled_loss

    def teacher_forced(model: Any, rows: Any, targets: Any, supervised: Any, regime: Any, step: int = 0) -> Any:
        from hardgap.worlds.automaton.regime import Unrolling

        alone, total = Unrolling(feedback="none", steps=1), 0.0
        inputs = [rows, *targets[:-1]]
        for t, fed in enumerate(inputs):
            total = total + unrolled_loss(model, fed, targets[t : t + 1], supervised[t : t + 1], alone)
        return total

    monkeypatch.setattr(automaton, "unrolled_loss", teacher_forced)
    assert not certify_here(tiny(), 3).passed
