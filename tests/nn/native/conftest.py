"""What the tests of the native engine share: every build that this processor runs, and a measure of error."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from hardgap.nn.encoder import Encoder
from hardgap.nn.native import engine

Answer = tuple[Tensor, dict[str, Tensor]]
"""A result, and the gradients by name."""


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


def _assert_as_exact(model: Encoder, answer: Callable[[Encoder], Answer]) -> None:
    native = answer(model)
    with engine.using("eager"):
        eager, exact = answer(model), answer(copy.deepcopy(model).double())
    assert _error(native[0], exact[0]) <= 10 * _error(eager[0], exact[0]) + 1e-6
    # Some gradients are sums of large terms that cancel: what is left of them is no measure.
    least = 0.01 * max(float(gradient.norm()) for gradient in exact[1].values())
    for name, gradient in exact[1].items():
        assert _error(native[1][name], gradient, least) <= 10 * _error(eager[1][name], gradient, least) + 2e-6, name


@pytest.fixture(scope="session")
def unkinked() -> Callable[..., Encoder]:
    """Makes a random network without a hidden unit near 0, where rounding would decide whether a gradient passes."""
    return _unkinked


@pytest.fixture(scope="session")
def assert_as_exact() -> Callable[[Encoder, Callable[[Encoder], Answer]], None]:
    """Native is as near to float64 as eager float32 is, but for a small factor; results and gradients."""
    return _assert_as_exact
