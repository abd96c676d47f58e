"""From a model spec to a network, and a check that tells a plug-in's author what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import torch
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.plugins import blamed, load_plugin
from hardgap.nn.conv import Conv
from hardgap.nn.encoder import Encoder
from hardgap.nn.references import build_reference
from hardgap.nn.spec import ConvSpec, EncoderSpec, ModelSpec, PluginSpec, ReferenceSpec

OUTSIDE = "keep what it remembers in parameters or buffers and draw noise with torch, or a run cannot be gone on with"
UPDATES = 3
"""Made of a plug-in network, to see whether it can be gone on with."""


def build_model(spec: ModelSpec, *, width: int, seed: int) -> nn.Module:
    """A fresh network whose initial weights are a pure function of the spec, the width and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(spec, EncoderSpec):
            return Encoder(width, **spec.model_dump(exclude={"kind"}))
        if isinstance(spec, ConvSpec):
            return Conv(**spec.model_dump(exclude={"kind"}))
        if isinstance(spec, ReferenceSpec):
            return build_reference(spec, width)
        if isinstance(spec, PluginSpec):
            return _plugin(spec, width, seed)
        assert_never(spec)


def _plugin(spec: PluginSpec, width: int, seed: int) -> nn.Module:
    factory = load_plugin("model", spec.factory, spec.source)

    def make() -> Any:
        torch.manual_seed(seed)
        with blamed(f"model {spec.factory} cannot be called as factory(width, **args)", of="model"):
            return factory(width, **spec.args)

    model = make()
    check_model(model, width=width, name=spec.factory)
    assert isinstance(model, nn.Module)
    check_resumable(model, make, width=width, name=spec.factory)
    return model


def check_model(model: object, *, width: int, name: str = "the model") -> None:
    """Raise `BadInput` with the first thing that keeps `model` from being trained here, if any.

    A model is a `torch.nn.Module` from rows of reals `[rows, width]` to logits of the same shape; rows do
    not influence one another, the same row always gets the same answer, and gradients reach both the
    parameters and the input (unrolling feeds predictions back). What it remembers is in its `state_dict`, and
    what it draws comes from torch, so that a run can be gone on with exactly.
    """
    if not isinstance(model, nn.Module):
        raise BadInput(f"{name} gave a {type(model).__name__}, not a torch.nn.Module")
    if not any(p.requires_grad for p in model.parameters()):
        raise BadInput(f"{name} has no trainable parameter")
    rows = _some_rows(width)
    was_training = model.training
    logits = _forward(model, rows.requires_grad_(), name)
    try:
        _check_rows_apart(model.eval(), rows.detach(), name)
    finally:
        model.train(was_training)
    _check_gradients(model, logits, rows, name)
    _check_repeatable(model, rows.detach(), name)


def _some_rows(width: int) -> Tensor:
    return torch.rand(3, width, generator=torch.Generator().manual_seed(0))


def _forward(model: nn.Module, rows: Tensor, name: str) -> Tensor:
    with blamed(f"{name} fails on rows of shape {tuple(rows.shape)}"):
        logits = model(rows)
    if not isinstance(logits, Tensor) or logits.shape != rows.shape:
        shape = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise BadInput(f"{name} must map rows {tuple(rows.shape)} to logits of the same shape, not {shape}")
    if not logits.dtype.is_floating_point or not bool(logits.isfinite().all()):
        raise BadInput(f"{name} gave logits that are not finite floating-point numbers")
    return logits


def _check_rows_apart(model: nn.Module, rows: Tensor, name: str) -> None:
    with torch.no_grad():
        together, again = _forward(model, rows, name), _forward(model, rows, name)
        alone = torch.cat([_forward(model, row[None], name) for row in rows])
    if not torch.equal(together, again):
        raise BadInput(f"{name} answers the same rows differently in eval mode; it must be deterministic")
    if not torch.allclose(together, alone, atol=1e-4):
        raise BadInput(f"{name} lets one row of a batch influence another; each row must be answered alone")


def _check_repeatable(model: nn.Module, rows: Tensor, name: str) -> None:
    """The same weights and the same draws of torch give the same logits."""
    kept = _weights(model, name)
    answers = []
    for _ in range(2):
        answers.append(_seeded(model, rows, name))
        _load(model, kept, name)  # A pass may change buffers: they are part of the weights.
    if not torch.equal(*answers):
        raise BadInput(f"{name} answers the same rows differently under the same weights and torch seed; {OUTSIDE}")


def check_resumable(model: nn.Module, make: Callable[[], Any], *, width: int, name: str) -> None:
    """Raise `BadInput` if another network that `make` gives, with the weights of a trained one, goes on differently.

    Only some updates are looked at: what a network remembers elsewhere and shows later, or reads from a file or a
    clock, is not noticed.
    """
    trained, fresh = make(), make()
    if trained is model or fresh is trained:
        raise BadInput(f"{name} gave the same network twice; every call must make a new one")
    if not _same(_weights(trained, name), _weights(fresh, name)):
        raise BadInput(f"{name} gave other initial weights under the same torch seed; draw them with torch")
    rows = _some_rows(width)
    with blamed(f"{name} fails in the first updates of training"):
        _update(trained, rows, name)
    _load(fresh, _weights(trained, name), name)
    if not torch.equal(_seeded(trained, rows, name), _seeded(fresh, rows, name)):
        raise BadInput(f"{name} with the weights of a trained network goes on differently from it; {OUTSIDE}")


def _update(model: nn.Module, rows: Tensor, name: str) -> None:
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(UPDATES):
        optimiser.zero_grad()
        _forward(model, rows, name).square().mean().backward()  # type: ignore[no-untyped-call]
        optimiser.step()


def _load(model: nn.Module, weights: dict[str, Tensor], name: str) -> None:
    with blamed(f"{name} cannot take up its own state_dict"):
        model.load_state_dict(weights)


def _weights(model: nn.Module, name: str) -> dict[str, Tensor]:
    with blamed(f"{name} has a state_dict that holds more than tensors"):
        return {key: tensor.detach().clone() for key, tensor in model.state_dict().items()}


def _same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(tensor, other[key]) for key, tensor in one.items())


@torch.no_grad()
def _seeded(model: nn.Module, rows: Tensor, name: str) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return _forward(model, rows, name)


def _check_gradients(model: nn.Module, logits: Tensor, rows: Tensor, name: str) -> None:
    if not logits.requires_grad:
        raise BadInput(f"{name} gives logits without a gradient; remove torch.no_grad() or detach()")
    trainable = [p for p in model.parameters() if p.requires_grad]
    reached = torch.autograd.grad(logits.square().sum(), [*trainable, rows], allow_unused=True)
    if all(gradient is None for gradient in reached[:-1]):
        raise BadInput(f"{name} has parameters, but none of them influences the logits")
    if reached[-1] is None:
        raise BadInput(f"{name} passes no gradient to its input, which unrolling needs")
