"""What the saturation log says, against a network whose gradients can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from hardgap.runs.execute import build_trainer
from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.saturation import saturation


class Line(nn.Module):
    """logit = a (2x - 1) for every cell."""

    def __init__(self, a: float) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.tensor(a, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.a * (2 * x - 1)


def look(a: float, temperature: float, truth: int) -> dict[str, float]:
    """One row of a hidden and a visible cell, both 1 at first; the hidden cell is seen again a step later."""
    targets = torch.tensor([[[truth, 1]], [[truth, 1]]]).double()
    hidden = torch.tensor([[[True, False]], [[False, False]]])
    regime = Unrolling(steps=2, temperature=Temperature(start=temperature, end=temperature))
    return saturation(Line(a), torch.ones(1, 2, dtype=torch.float64), targets, hidden, regime, step=0)


@pytest.mark.parametrize("temperature", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("truth", [0, 1])
def test_by_hand(temperature: float, truth: int) -> None:
    a = 3.0
    found = look(a, temperature, truth)
    fed = torch.sigmoid(torch.tensor(a / temperature, dtype=torch.float64))
    slope = float(fed * (1 - fed) / temperature)
    error = float(torch.sigmoid(a * (2 * fed - 1)) - truth)
    assert found["logit_hidden"] == found["logit_visible"] == a
    assert found["gradient_hidden"] == pytest.approx(abs(error * 2 * a * slope), rel=1e-3)
    assert found["pull_hidden"] == pytest.approx(-error * 2 * a * slope * (2 * truth - 1), rel=1e-3)


def test_certainty_stops_the_message_and_temperature_lets_it_through() -> None:
    unsure, sure, warmed = look(1.0, 1.0, 0), look(12.0, 1.0, 0), look(12.0, 8.0, 0)
    assert sure["gradient_hidden"] < unsure["gradient_hidden"] / 100
    assert warmed["gradient_hidden"] > 100 * sure["gradient_hidden"]
    assert min(unsure["pull_hidden"], sure["pull_hidden"], warmed["pull_hidden"]) > 0  # all towards the truth


@pytest.mark.usefixtures("one_thread")
def test_looking_changes_nothing(tiny: Callable[..., AutomatonRun]) -> None:
    plain, watched = build_trainer(tiny()), build_trainer(tiny(log_saturation=True))
    plain.run()
    watched.run()
    for name, tensor in plain.weights().items():
        assert torch.equal(tensor, watched.weights()[name])
    for seen, logged in zip(plain.curve, watched.curve, strict=True):
        detail = dict(logged.score.detail)
        assert detail.pop("saturation")["logit_hidden"] >= 0
        assert (seen.loss, seen.score.holdout, seen.score.detail) == (logged.loss, logged.score.holdout, detail)
