"""The whole unrolled loss in one call: every regime, with its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from hardgap.nn.encoder import Encoder
from hardgap.nn.native import engine
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.unrolling import give_temperature, unrolled_loss

Make = Callable[..., Encoder]
TEMPERED = {"start": 4.0, "end": 4.0}
EXACT: dict[str, dict[str, Any]] = {
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
}
DRAWN: dict[str, dict[str, Any]] = {
    "noise": {"noise": 0.5},
    "a temperature a row": {"temperature": {"start": 8.0, "end": 0.5, "shape": "random"}},
    "rounded": {"rounded": 0.5},
    "everything": {
        "noise": 0.3, "rounded": 0.3, "cells": "hidden", "temperature": {"start": 8.0, "end": 0.5, "shape": "random"},
    },
}  # fmt: skip


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
        loss = unrolled_loss(model, start, targets, visible, regime)
    # A learned temperature has nothing to do where nothing is fed back.
    named = dict(model.named_parameters())
    found = torch.autograd.grad(loss / 10, list(named.values()))
    return loss.detach(), dict(zip(named, found, strict=True))


@pytest.mark.parametrize("name", EXACT)
def test_loss_and_gradients_of_a_regime_are_those_of_float64(
    build: str, unkinked: Make, assert_as_exact: Callable[..., None], name: str
) -> None:
    regime = Unrolling(**EXACT[name])
    model = give_temperature(unkinked(5, 11, dim=16, heads=2, ffn=24), regime)
    assert_as_exact(model, lambda network: answer(network, regime, rows=15))


@settings(max_examples=3)
@given(
    width=st.sampled_from([3, 8, 17, 64, 101]), steps=st.integers(1, 5), rows=st.integers(1, 3), seed=st.integers(0, 99)
)
def test_any_width_and_any_number_of_steps(
    build: str, unkinked: Make, assert_as_exact: Callable[..., None], width: int, steps: int, rows: int, seed: int
) -> None:
    regime = Unrolling(steps=steps, temperature={"start": 1.5, "end": 1.5})
    model = unkinked(seed, width, layers=1)
    assert_as_exact(model, lambda network: answer(network, regime, rows, seed))


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_is_drawn_as_in_eager(build: str, unkinked: Make, name: str) -> None:
    regime = Unrolling(**DRAWN[name])
    model = unkinked(6, 11, dim=16, heads=2, ffn=24)
    loss, gradients = answer(model, regime, rows=20)
    with engine.using("eager"):
        expected, of_eager = answer(model, regime, rows=20)
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=0)
    for name, gradient in of_eager.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-3, atol=1e-4 * float(gradient.abs().max()))


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
