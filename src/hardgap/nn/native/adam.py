"""Adam's update as one call: the formulas of `torch.optim.Adam`, and a state of the same form.

It does not derive from PyTorch's class, whose constructor imports a compiler: seconds for every worker.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from hardgap.core.loop import Adam, plain_adam
from hardgap.core.specs import Optimiser
from hardgap.nn.encoder import PARTS, Encoder
from hardgap.nn.native.fitting import network_of
from hardgap.nn.native.functions import pointers
from hardgap.nn.native.library import Library
from hardgap.nn.seq2seq import Seq2Seq

BETAS, EPS = (0.9, 0.999), 1e-8


class NativeAdam:
    """For parameters that the native engine gives gradients: float32, on the CPU, contiguous."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, library: Library) -> None:
        self.param_groups: list[dict[str, Any]] = [{"lr": lr}]
        self._parameters, self._library = list(parameters), library
        self._state: dict[int, dict[str, Tensor]] = {}

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self._parameters:
            parameter.grad = None

    def step(self) -> None:
        trained = {i: p.grad.contiguous() for i, p in enumerate(self._parameters) if p.grad is not None}
        states = [self._state_of(i) for i in trained]
        for state in states:
            state["step"] += 1
        if not trained:
            return
        given = [self._parameters[i] for i in trained]
        self._library.adam(
            len(given), (ctypes.c_int64 * len(given))(*[p.numel() for p in given]), pointers(given),
            pointers(list(trained.values())), pointers([state["exp_avg"] for state in states]),
            pointers([state["exp_avg_sq"] for state in states]), self.param_groups[0]["lr"], *BETAS, EPS,
            float(states[0]["step"]),
        )  # fmt: skip
        torch.autograd.graph.increment_version(given)

    def state_dict(self) -> dict[str, Any]:
        return {"state": dict(self._state), "param_groups": self.param_groups}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._state = {i: {key: value.clone() for key, value in own.items()} for i, own in state["state"].items()}

    def _state_of(self, index: int) -> dict[str, Tensor]:
        if index not in self._state:
            zeros = [torch.zeros_like(self._parameters[index]) for _ in range(2)]
            self._state[index] = {"step": torch.tensor(0.0), "exp_avg": zeros[0], "exp_avg_sq": zeros[1]}
        return self._state[index]


def adam_for(model: nn.Module, chosen: Optimiser) -> Adam:
    """Where `fused` is asked for an encoder, it is PyTorch's; an encoder-decoder has the engine's own either way."""
    if (library := library_of(model)) is not None and (not chosen.fused or isinstance(model, Seq2Seq)):
        return NativeAdam(model.parameters(), chosen.learning_rate, library)
    return plain_adam(model, chosen)


def library_of(model: nn.Module) -> Library | None:
    """The native engine, if it is what trains this network now."""
    if type(model) is Encoder:
        encoder = network_of(model, model.positions.new_zeros(1, model.width), PARTS)
        return encoder.library if encoder else None
    if type(model) is Seq2Seq and (network := model.native_network()) is not None:
        return network.library
    return None
