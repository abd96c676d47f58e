"""The kernel as functions that autograd knows: the encoder alone, and its whole unrolled loss."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch._utils import _unflatten_dense_tensors
from torch.autograd.function import once_differentiable

from hardgap.nn.native.library import Library

Eager = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Network:
    """An encoder's sizes and its parameters in the order that the kernel has them."""

    library: Library
    width: int
    dim: int
    heads: int
    ffn: int
    layers: int
    parameters: tuple[Tensor, ...]
    dropout: float = 0.0
    """The share that is dropped now; while it is not 0 there is a loss alone."""

    @property
    def sizes(self) -> ctypes.Array[ctypes.c_int32]:
        return (ctypes.c_int32 * 5)(self.width, self.dim, self.heads, self.ffn, self.layers)


@dataclass(frozen=True)
class Feedback:
    """What is fed back after each timestep but the last; tensors are `[steps - 1, rows, width]`.

    `inverse_temperature` is 1/T of all cells, or one a cell, through which gradients pass. `backward`: 0 for the
    value's own gradient, 1/T of the sigmoid whose gradient it is otherwise, -1 for a slope of a quarter.
    """

    inverse_temperature: float | Tensor = 1.0
    backward: float = 0.0
    hard: bool = False
    noise: Tensor | None = None
    rounded: Tensor | None = None


class _Regime(ctypes.Structure):
    _fields_ = [("inverse_temperature", ctypes.c_float), ("backward", ctypes.c_float), ("hard", ctypes.c_int32)]


def logits(network: Network, cells: Tensor, eager: Eager) -> Tensor:
    """`[rows, width]` cells to logits; `eager` does the same with PyTorch, for gradients of gradients."""
    if torch.is_grad_enabled() and (cells.requires_grad or any(p.requires_grad for p in network.parameters)):
        found: Tensor = _Logits.apply(network, eager, cells, *network.parameters)  # type: ignore[no-untyped-call]
        return found
    return _forward(network, cells.contiguous(), None)


def loss(
    network: Network, rows: Tensor, targets: Tensor, mask: Tensor, weights: Sequence[float], feedback: Feedback
) -> Tensor:
    """The summed cross-entropy of all timesteps, with gradients for the parameters and for 1/T.

    What dropout drops is drawn from PyTorch's generator: a key, from which the kernel draws on.
    """
    inverse = feedback.inverse_temperature
    inverse = inverse.contiguous() if isinstance(inverse, Tensor) else inverse
    arrays = rows.contiguous(), targets.contiguous(), mask.contiguous()
    found: Tensor = _Loss.apply(network, arrays, weights, feedback, inverse, *network.parameters)  # type: ignore[no-untyped-call]
    return found


def _forward(network: Network, cells: Tensor, memory: Tensor | None) -> Tensor:
    library, sizes, found = network.library, network.sizes, torch.empty_like(cells)
    work = floats(library.work_floats(sizes))
    library.forward(
        sizes, pointers(network.parameters), len(cells), address(cells), address(found), address(memory), address(work)
    )  # fmt: skip
    return found


class _Logits(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, network: Network, eager: Eager, cells: Tensor, *_: Tensor) -> Tensor:
        cells = cells.contiguous()
        ctx.network, ctx.eager = network, eager
        ctx.memory = floats(network.library.memory_floats(network.sizes, len(cells)))
        ctx.save_for_backward(cells, *network.parameters)
        return _forward(network, cells, ctx.memory)

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        (d,) = upstream
        cells, *parameters = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody wants gradients of these gradients
            return None, None, *_again(ctx.eager, cells, parameters, d)
        network, d = ctx.network, d.contiguous()
        library, sizes = network.library, network.sizes
        dcells = torch.empty_like(cells) if ctx.needs_input_grad[2] else None
        gradients = floats(sum(p.numel() for p in parameters))
        work = floats(library.work_floats(sizes))
        library.backward(
            sizes, pointers(parameters), len(cells), address(cells), address(ctx.memory), address(d), address(dcells),
            addresses_in(gradients, parameters), address(work),
        )  # fmt: skip
        return None, None, dcells, *split(gradients, parameters)


def _again(eager: Eager, cells: Tensor, parameters: list[Tensor], d: Tensor) -> list[Tensor | None]:
    """The gradients once more, by PyTorch and with a graph of their own."""
    inputs = [cells, *parameters]
    wanted = [tensor for tensor in inputs if tensor.requires_grad]
    found = iter(torch.autograd.grad(eager(cells), wanted, d, create_graph=True, allow_unused=True))
    return [next(found) if tensor.requires_grad else None for tensor in inputs]


class _Loss(torch.autograd.Function):
    """Gradients are made together with the loss, group by group, and handed out on the way back."""

    @staticmethod
    def forward(
        ctx: Any,
        network: Network,
        arrays: tuple[Tensor, Tensor, Tensor],
        weights: Sequence[float],
        feedback: Feedback,
        inverse: float | Tensor,
        *_: Tensor,
    ) -> Tensor:
        (rows, targets, mask), library, sizes = arrays, network.library, network.sizes
        per_cell = inverse if isinstance(inverse, Tensor) else None
        ctx.dinverse = None if per_cell is None else torch.empty_like(per_cell)
        ctx.gradients = floats(sum(p.numel() for p in network.parameters))
        work = floats(library.loss_floats(sizes, len(weights)))
        plain = inverse if isinstance(inverse, float) else 1.0
        steps = (ctypes.c_float * len(weights))(*weights)
        kept = feedback.noise, feedback.rounded
        key = int(torch.randint(2**32, ())) if network.dropout else 0
        value = library.loss(
            sizes, pointers(network.parameters), len(rows), len(weights), address(rows), address(targets),
            address(mask), steps, ctypes.byref(_Regime(plain, feedback.backward, feedback.hard)),
            _each_step(len(weights) - 1, per_cell, *kept, ctx.dinverse), key, network.dropout,
            addresses_in(ctx.gradients, network.parameters), address(work),
        )  # fmt: skip
        ctx.like = network.parameters
        return torch.tensor(value, dtype=torch.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Any) -> Any:
        (d,) = upstream
        dinverse = ctx.dinverse * d if ctx.needs_input_grad[4] else None
        return None, None, None, None, dinverse, *split(ctx.gradients * d, ctx.like)


def _each_step(steps: int, *arrays: Tensor | None) -> ctypes.Array[ctypes.c_void_p]:
    """For every timestep the addresses of its part of each array."""
    found = [None if array is None else array[t].data_ptr() for t in range(steps) for array in arrays]
    return (ctypes.c_void_p * len(found))(*found)


def split(flat: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Parts of one array in the shapes of the parameters."""
    parts: tuple[Tensor, ...] = _unflatten_dense_tensors(flat, parameters)  # type: ignore[no-untyped-call]
    return parts


def addresses_in(flat: Tensor, parameters: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    """Where the parts of `split` lie."""
    ends = accumulate((p.numel() * flat.element_size() for p in parameters), initial=flat.data_ptr())
    return (ctypes.c_void_p * len(parameters))(*list(ends)[:-1])


def floats(count: int) -> Tensor:
    """Memory for the kernel, whatever type and device tensors have by default."""
    return torch.empty(count, dtype=torch.float32, device="cpu")


def pointers(tensors: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    """Where the numbers of each lie, for the kernel."""
    return (ctypes.c_void_p * len(tensors))(*[tensor.data_ptr() for tensor in tensors])


def address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()
