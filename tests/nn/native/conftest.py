"""What the tests of the native engine share: every build that this processor runs, and a measure of error."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor

from hardgap.core.checkpoint import load_tensors
from hardgap.nn.encoder import Encoder
from hardgap.nn.native import engine
from hardgap.nn.native.adam import library_of

Answer = tuple[Tensor, dict[str, Tensor]]
"""A result, and the gradients by name."""
WEIGHTS = Path(__file__).parents[3] / "results" / "weights"
TRAINED = {
    "solved": "5b3ea385124a.step-00000500",
    "failed": "4b1596d99721.step-00000600",
    "width 101": "6b47cd83c3a6.step-00001000",
}
"""Committed networks of Rule 150: holdout 100 %, 0 %, and 70 % with visible cells at 90 %."""
KINK = 3e-4
"""How far off gradients of trained networks may be: it is chance whether a hidden unit within rounding of 0 passes one.

At width 101 one of 300,000 was 5e-7 from 0, and one build put it on the other side: 3e-5 of its layer's gradient."""

BEST = next((name for name in engine.BUILT if engine.state_of(name).startswith("ready")), engine.BUILT[-1])
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in engine.BUILT if name != BEST]


@pytest.fixture(params=[BEST, *OTHERS], scope="module")
def build(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each build in turn, in use; the fast tests ask the best one only."""
    if not engine.state_of(request.param).startswith("ready"):
        pytest.skip(f"{request.param}: {engine.state_of(request.param)}")
    with engine.using(request.param):
        yield request.param


def _unkinked(seed: int, width: int, **sizes: int) -> Encoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Encoder(width, **sizes)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter += 0.1 * torch.randn_like(parameter)
                if name.endswith("expand.bias"):
                    parameter += 4 * torch.randn_like(parameter).sign()
    return model


def _error(found: Tensor, exact: Tensor, least: float = 1e-12) -> float:
    """How far from the exact value, relative to its size, or to the least size that counts."""
    return float((found.double() - exact.double()).norm() / exact.double().norm().clamp(min=least))


def _assert_as_exact(model: Encoder, answer: Callable[[Encoder], Answer], floor: float = 2e-6) -> None:
    assert library_of(model) is not None, "nothing is compared where both sides are eager"
    native = answer(model)
    with engine.using("eager"):
        eager, exact = answer(model), answer(copy.deepcopy(model).double())
    assert _error(native[0], exact[0]) <= 10 * _error(eager[0], exact[0]) + 1e-6
    # Some gradients are sums of large terms that cancel: what is left of them is no measure.
    least = 0.01 * max(float(gradient.norm()) for gradient in exact[1].values())
    for name, gradient in exact[1].items():
        assert _error(native[1][name], gradient, least) <= 10 * _error(eager[1][name], gradient, least) + floor, name


@pytest.fixture(scope="session")
def unkinked() -> Callable[..., Encoder]:
    """Makes a random network without a hidden unit near 0, where rounding would decide whether a gradient passes."""
    return _unkinked


@pytest.fixture(params=TRAINED)
def trained(request: pytest.FixtureRequest) -> Encoder:
    """A network as training left it, and not as chance did."""
    weights, _ = load_tensors(WEIGHTS / f"{TRAINED[request.param]}.safetensors")
    model = Encoder(len(weights["positions"]))
    model.load_state_dict(weights)
    return model


@pytest.fixture(scope="session")
def assert_as_exact() -> Callable[[Encoder, Callable[[Encoder], Answer]], None]:
    """Native is as near to float64 as eager float32 is, but for a small factor; results and gradients."""
    return _assert_as_exact


@pytest.fixture(scope="session")
def assert_trained_as_exact() -> Callable[[Encoder, Callable[[Encoder], Answer]], None]:
    """The same of trained networks, which have hidden units near 0."""
    return partial(_assert_as_exact, floor=KINK)
