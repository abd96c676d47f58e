"""From a model spec to a network, and a check that tells a plug-in's author what is wrong with it."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor, nn

from hardgap.errors import BadInput
from hardgap.nn.conv import Conv
from hardgap.nn.encoder import Encoder
from hardgap.nn.spec import ConvSpec, EncoderSpec, PluginSpec
from hardgap.plugins import first_line, load_plugin


def build_model(spec: EncoderSpec | ConvSpec | PluginSpec, *, width: int, seed: int) -> nn.Module:
    """A fresh network whose initial weights are a pure function of the spec, the width and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(spec, EncoderSpec):
            return Encoder(width, **spec.model_dump(exclude={"kind"}))
        if isinstance(spec, ConvSpec):
            return Conv(**spec.model_dump(exclude={"kind"}))
        if isinstance(spec, PluginSpec):
            return _plugin(spec, width)
        assert_never(spec)


def _plugin(spec: PluginSpec, width: int) -> nn.Module:
    factory = load_plugin("--model", spec.factory, spec.source)
    # Somebody else's code may raise anything; its author gets the reason, not our traceback.
    try:
        model = factory(width, **spec.args)
    except Exception as error:
        raise BadInput(
            f"--model {spec.factory} cannot be called as factory(width, **args): {first_line(error)}"
        ) from error
    check_model(model, width=width, name=spec.factory)
    assert isinstance(model, nn.Module)
    return model


def check_model(model: object, *, width: int, name: str = "the model") -> None:
    """Raise `BadInput` with the first thing that keeps `model` from being trained here, if any.

    A model is a `torch.nn.Module` from rows of reals `[rows, width]` to logits of the same shape; rows do
    not influence one another, the same row always gets the same answer, and gradients reach both the
    parameters and the input (unrolling feeds predictions back).
    """
    if not isinstance(model, nn.Module):
        raise BadInput(f"{name} gave a {type(model).__name__}, not a torch.nn.Module")
    if not any(p.requires_grad for p in model.parameters()):
        raise BadInput(f"{name} has no trainable parameter")
    rows = torch.rand(3, width, generator=torch.Generator().manual_seed(0))
    was_training = model.training
    logits = _forward(model, rows.requires_grad_(), name)
    try:
        _check_rows_apart(model.eval(), rows.detach(), name)
    finally:
        model.train(was_training)
    _check_gradients(model, logits, rows, name)


def _forward(model: nn.Module, rows: Tensor, name: str) -> Tensor:
    try:
        logits = model(rows)
    except Exception as error:
        raise BadInput(f"{name} fails on rows of shape {tuple(rows.shape)}: {first_line(error)}") from error
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


def _check_gradients(model: nn.Module, logits: Tensor, rows: Tensor, name: str) -> None:
    if not logits.requires_grad:
        raise BadInput(f"{name} gives logits without a gradient; remove torch.no_grad() or detach()")
    trainable = [p for p in model.parameters() if p.requires_grad]
    reached = torch.autograd.grad(logits.square().sum(), [*trainable, rows], allow_unused=True)
    if all(gradient is None for gradient in reached[:-1]):
        raise BadInput(f"{name} has parameters, but none of them influences the logits")
    if reached[-1] is None:
        raise BadInput(f"{name} passes no gradient to its input, which unrolling needs")
