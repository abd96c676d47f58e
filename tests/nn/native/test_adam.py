"""Clipping and Adam's update, in a call each, are torch's to the last digits; the state is interchangeable."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from hardgap.core.loop import PlainAdam
from hardgap.nn.native import engine
from hardgap.nn.native.adam import NativeAdam
from hardgap.nn.native.library import load


def steps(optimiser: torch.optim.Adam | NativeAdam, parameters: list[torch.Tensor], count: int) -> None:
    for step in range(count):
        generator = torch.Generator().manual_seed(step)
        for parameter in parameters[:-1]:  # the last never gets a gradient
            parameter.grad = torch.randn(parameter.shape, generator=generator) * 10.0 ** (step % 7 - 3)
        optimiser.param_groups[0]["lr"] = 1e-3 / (1 + step)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)


def fresh() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(9)
    return [torch.randn(shape, generator=generator).requires_grad_() for shape in [(64, 64), (3,), (1, 5), (2,)]]


def test_updates_are_those_of_torch(build: str) -> None:
    ours, theirs = fresh(), fresh()
    native, eager = NativeAdam(ours, 1e-3, load(build)), torch.optim.Adam(theirs, lr=1e-3)
    steps(native, ours, 30)
    steps(eager, theirs, 30)
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, atol=1e-6, rtol=1e-5)
    mine, other = native.state_dict()["state"], eager.state_dict()["state"]
    assert mine.keys() == other.keys()
    for index in mine:
        assert mine[index].keys() == other[index].keys()
        assert mine[index]["step"] == other[index]["step"]
        torch.testing.assert_close(mine[index]["exp_avg_sq"], other[index]["exp_avg_sq"], atol=0, rtol=1e-5)


@pytest.mark.parametrize("most", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("odd", [1.0, 1e25, float("inf"), float("nan")])
def test_clipping_is_that_of_torch(build: str, most: float, odd: float) -> None:
    """Also of a gradient whose rows do not lie one after another; what is small enough stays as it is, to the bit."""
    ours, theirs = fresh(), fresh()
    for own, other in zip(ours[:-1], theirs[:-1], strict=True):  # the last has no gradient
        own.grad, other.grad = own.detach() / 2, own.detach() / 2
    for grad in (ours[0].grad, theirs[0].grad):
        assert grad is not None
        grad[3, 5] = odd
    assert ours[0].grad is not None
    ours[0].grad = ours[0].grad.T.contiguous().T
    before = [own.grad.clone() for own in ours if own.grad is not None]
    NativeAdam(ours, 1e-3, load(build)).clip(most)
    PlainAdam(theirs, lr=1e-3).clip(most)
    assert ours[-1].grad is None
    for own, other in zip(ours[:-1], theirs[:-1], strict=True):
        torch.testing.assert_close(own.grad, other.grad, atol=0, rtol=1e-5, equal_nan=True)
    if (odd, most) == (1.0, 1e6):
        assert all(own.grad is not None and torch.equal(own.grad, old) for own, old in zip(ours, before, strict=False))


def test_a_state_goes_on_bitwise(build: str) -> None:
    first, second = fresh(), fresh()
    begun, resumed = (NativeAdam(parameters, 1e-3, load(build)) for parameters in (first, second))
    steps(begun, first, 3)
    resumed.load_state_dict(begun.state_dict())
    with torch.no_grad():
        for new, old in zip(second, first, strict=True):
            new.copy_(old)
    steps(begun, first, 5)
    steps(resumed, second, 5)
    assert all(map(torch.equal, first, second))


def test_training_natively_does_not_load_a_compiler() -> None:
    if not engine.state_of(None).startswith("ready"):
        return
    code = """
import sys
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.runs.execute import build_trainer
trainer = build_trainer(AutomatonRun(rule="150", hide=(2,), width=5, train_rows=8, test_rows=8, budget={"steps": 2}))
trainer.run()
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
