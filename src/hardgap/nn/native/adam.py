"""Clipping and Adam's update, a call each: the formulas of PyTorch, and a state of the same form as its Adam's.

It does not derive from PyTorch's class, whose constructor imports a compiler: seconds for every worker.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
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
    """For parameters that the native engine gives gradients, all of them at once: float32, on the CPU, contiguous."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, library: Library) -> None:
        self.param_groups: list[dict[str, Any]] = [{"lr": lr}]
        self._parameters, self._library = list(parameters), library
        self._steps, self._moments = 0, dict[int, tuple[Tensor, Tensor]]()

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self._parameters:
            parameter.grad = None

    def clip(self, most: float) -> None:
        gradients = list(self._gradients().values())
        self._library.clip(len(gradients), _sizes(gradients), pointers(gradients), most)

    def step(self) -> None:
        gradients = self._gradients()
        if not gradients:
            return
        self._steps += 1
        given = [self._parameters[place] for place in gradients]
        means, squares = zip(*map(self._moments_of, gradients), strict=True)
        self._library.adam(
            len(given), _sizes(given), pointers(given), pointers(list(gradients.values())), pointers(means),
            pointers(squares), self.param_groups[0]["lr"], *BETAS, EPS, self._steps,
        )  # fmt: skip
        torch.autograd.graph.increment_version(given)

    def state_dict(self) -> dict[str, Any]:
        count = torch.tensor(float(self._steps))
        own = {place: {"step": count, "exp_avg": one, "exp_avg_sq": two} for place, (one, two) in self._moments.items()}
        return {"state": own, "param_groups": self.param_groups}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        own = state["state"]
        self._moments = {place: (one["exp_avg"].clone(), one["exp_avg_sq"].clone()) for place, one in own.items()}
        self._steps = max((int(one["step"]) for one in own.values()), default=0)

    def _gradients(self) -> dict[int, Tensor]:
        """Of the parameters that have one, by their place; the kernel reads and writes them where they lie."""
        found = {}
        for place, parameter in enumerate(self._parameters):
            if (gradient := parameter.grad) is not None:
                if not gradient.is_contiguous():
                    gradient = parameter.grad = gradient.contiguous()
                found[place] = gradient
        return found

    def _moments_of(self, place: int) -> tuple[Tensor, Tensor]:
        if place not in self._moments:
            like = self._parameters[place].detach()
            self._moments[place] = torch.zeros_like(like), torch.zeros_like(like)
        return self._moments[place]


def _sizes(tensors: Sequence[Tensor]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(tensors))(*[tensor.numel() for tensor in tensors])


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
