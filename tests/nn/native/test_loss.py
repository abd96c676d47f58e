"""The whole unrolled loss in one call: every regime, with its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from hardgap.nn.encoder import Encoder
from hardgap.nn.native import engine
from hardgap.nn.native.adam import library_of
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.unrolling import (
    Chance,
    current_temperature,
    drawn_temperature,
    fed_back,
    give_temperature,
    on_cells,
    summed_loss,
    unrolled_loss,
)

pytestmark = pytest.mark.usefixtures("one_thread")
Make = Callable[..., Encoder]
TEMPERED = {"start": 4.0, "end": 4.0}
REGIMES: dict[str, dict[str, Any]] = {
    "one step": {"feedback": "none"},
    "soft": {},
    "long": {"steps": 7, "weights": [1, 0, 2, 1, 1, 0.5, 3]},
    "tempered": {"temperature": TEMPERED},
    "cold": {"temperature": {"start": 0.25, "end": 0.25}},
    "only hidden cells": {"temperature": TEMPERED, "cells": "hidden"},
    "only visible cells": {"temperature": TEMPERED, "cells": "visible"},
    "straight through": {"temperature": TEMPERED, "backward": 2.0},
    "identity": {"backward": "identity"},
    "hard": {"feedback": "hard"},
    "hard, identity": {"feedback": "hard", "backward": "identity"},
    "hard, bent": {"feedback": "hard", "backward": 4.0},
    "learned": {"temperature": {"start": 2.0, "shape": "learned"}},
    "learned on hidden cells": {"temperature": {"start": 2.0, "shape": "learned"}, "cells": "hidden"},
    "noise": {"noise": 0.5},
    "a temperature a row": {"temperature": {"start": 8.0, "end": 0.5, "shape": "random"}},
    "rounded": {"rounded": 0.5},
    "everything": {
        "noise": 0.3, "rounded": 0.3, "cells": "hidden", "temperature": {"start": 8.0, "end": 0.5, "shape": "random"},
    },
}  # fmt: skip
SIZES: dict[str, dict[str, int]] = {
    "narrowest": {"width": 3, "dim": 6, "heads": 3, "ffn": 5, "rows": 7},
    "widest": {"width": 256, "dim": 8, "heads": 2, "ffn": 16, "rows": 2},
    "small": {"width": 11, "dim": 16, "heads": 2, "ffn": 24, "rows": 15},
    "the paper's": {"width": 101, "dim": 64, "heads": 4, "ffn": 128, "rows": 2},
}


def data(steps: int, rows: int, width: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, targets, and which cells are visible."""
    generator = torch.Generator().manual_seed(seed)
    bits = torch.randint(0, 2, (1 + steps, rows, width), generator=generator).float()
    visible = (torch.rand(steps, rows, width, generator=generator) < 0.8).float()
    return bits[0], bits[1:], visible


def answer(model: Encoder, regime: Unrolling, rows: int, seed: int = 0) -> tuple[Tensor, dict[str, Tensor]]:
    kind = model.positions.dtype
    start, targets, visible = (part.to(kind) for part in data(regime.steps, rows, model.width, seed))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        loss = (unrolled_loss if kind == torch.float32 else with_the_same_draws)(model, start, targets, visible, regime)
    assert ("_Loss" in str(loss.grad_fn)) == (library_of(model) is not None)
    # A learned temperature has nothing to do where nothing is fed back.
    named = dict(model.named_parameters())
    found = torch.autograd.grad(loss / 10, list(named.values()))
    return loss.detach(), dict(zip(named, found, strict=True))


def with_the_same_draws(model: Encoder, start: Tensor, targets: Tensor, visible: Tensor, regime: Unrolling) -> Tensor:
    """The loss in float64, where noise, temperatures and what is rounded are those that float32 draws."""
    chance = Chance(lambda like: torch.randn(like.shape).to(like), lambda like: torch.rand(like.shape).to(like))

    def temperature(t: int) -> float | Tensor:
        drawn = regime.temperature.shape == "random"
        return drawn_temperature(regime.temperature, start.float()) if drawn else current_temperature(model, regime, 0)

    unrolled = fed_back(model, start, regime, on_cells(regime, temperature, visible), chance)
    return summed_loss(unrolled, targets, visible, regime)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", REGIMES)
def test_loss_and_gradients_of_a_regime_are_those_of_float64(
    build: str, unkinked: Make, assert_as_exact: Callable[..., None], name: str, size: str
) -> None:
    regime, sizes = Unrolling(**REGIMES[name]), dict(SIZES[size])
    rows = sizes.pop("rows")
    model = give_temperature(unkinked(5, **sizes), regime)
    assert_as_exact(model, lambda network: answer(network, regime, rows))


@pytest.mark.parametrize("name", ["soft", "tempered", "hard", "everything"])
def test_loss_and_gradients_of_trained_networks_are_those_of_float64(
    build: str, trained: Encoder, assert_trained_as_exact: Callable[..., None], name: str
) -> None:
    assert_trained_as_exact(trained, lambda network: answer(network, Unrolling(**REGIMES[name]), rows=3))


@settings(max_examples=3)
@given(
    width=st.sampled_from([3, 8, 17, 64, 101, 256]),
    steps=st.integers(1, 5),
    rows=st.integers(1, 3),
    seed=st.integers(0, 99),
)
@example(width=256, steps=4, rows=1, seed=0)
@example(width=255, steps=2, rows=2, seed=1)
def test_any_width_and_any_number_of_steps(
    build: str, unkinked: Make, assert_as_exact: Callable[..., None], width: int, steps: int, rows: int, seed: int
) -> None:
    regime = Unrolling(steps=steps, temperature={"start": 1.5, "end": 1.5})
    model = unkinked(seed, width, layers=1)
    assert_as_exact(model, lambda network: answer(network, regime, rows, seed))


def test_gradients_are_finite_differences(build: str, unkinked: Make) -> None:
    regime, model = Unrolling(temperature=TEMPERED), unkinked(8, 17)
    _, gradients = answer(model, regime, rows=4)
    length = sum(float(gradient.square().sum()) for gradient in gradients.values()) ** 0.5

    def moved(by: float) -> float:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter += by * gradients[name] / length
        return float(answer(model, regime, rows=4)[0]) / 10

    slope = (moved(2e-3) - moved(-4e-3)) / 4e-3
    assert slope == pytest.approx(length, rel=2e-2)


def test_hidden_targets_reach_neither_loss_nor_gradient(build: str, unkinked: Make) -> None:
    model, regime = unkinked(9, 11), Unrolling()
    rows, targets, visible = data(4, 12, 11)
    losses = []
    for fill in (0.0, 1.0):
        model.zero_grad()
        loss = unrolled_loss(model, rows, torch.where(visible > 0, targets, fill), visible, regime)
        loss.backward()
        losses.append((loss, [parameter.grad.clone() for parameter in model.parameters()]))
    assert torch.equal(losses[0][0], losses[1][0])
    assert all(map(torch.equal, losses[0][1], losses[1][1]))


@pytest.mark.parametrize("size", [1e6, float("nan")])
def test_huge_logits_and_nan_end_as_in_eager(build: str, unkinked: Make, size: float) -> None:
    model = unkinked(10, 9, dim=16, heads=2)
    with torch.no_grad():
        model.readout.weight *= size
    loss, gradients = answer(model, Unrolling(), rows=5)
    with engine.using("eager"):
        expected, of_eager = answer(model, Unrolling(), rows=5)
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=0, equal_nan=True)
    for name, gradient in of_eager.items():
        assert torch.equal(gradients[name].isfinite(), gradient.isfinite()), name


def test_targets_of_another_kind_are_left_to_pytorch(build: str, unkinked: Make) -> None:
    rows, targets, visible = data(4, 3, 7)
    model = unkinked(0, 7, dim=8, heads=2)
    expected = unrolled_loss(model, rows, targets, visible, Unrolling())
    found = unrolled_loss(model, rows, targets.double(), visible.double(), Unrolling())
    assert "_Loss" not in str(found.grad_fn)
    torch.testing.assert_close(found.float(), expected, rtol=1e-5, atol=0)
    transposed = unrolled_loss(model, rows, targets.mT.contiguous().mT, visible.mT.contiguous().mT, Unrolling())
    assert torch.equal(transposed, expected), "they need not be contiguous"


def test_one_call_is_what_is_made(build: str, unkinked: Make) -> None:
    rows, targets, visible = data(4, 3, 7)
    model = unkinked(0, 7, dim=8, heads=2)
    assert "_Loss" in str(unrolled_loss(model, rows, targets, visible, Unrolling()).grad_fn)
    handle = model.register_forward_hook(lambda *_: None)
    assert "_Loss" not in str(unrolled_loss(model, rows, targets, visible, Unrolling()).grad_fn)
    handle.remove()
