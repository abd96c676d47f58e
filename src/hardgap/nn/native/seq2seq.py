"""The encoder-decoder of Experiment 2 through the kernel: its loss, its logits, its greedy answers.

As for the encoder (`fitting.py`), only where nobody could tell the difference; each function gives None elsewhere.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from hardgap.nn.native import engine, fitting
from hardgap.nn.native.functions import address, addresses_in, floats, pointers, split
from hardgap.nn.native.library import Library

BLOCK = ("ffn.expand", "ffn.contract")
ENCODER_LAYER = ("attention.qkv", "attention.output", "norm1", *BLOCK, "norm2")
DECODER_LAYER = ("causal.qkv", "causal.output", "norm1", "cross.qkv", "cross.output", "norm2", *BLOCK, "norm3")

METHODS = frozenset({"forward", "encode", "remember", "decode"})
"""What nobody may have replaced on the network itself."""
MOST_VOCABULARY = 2048
"""Measured up to here: with 2,047 tokens a step is 2.3 times as fast as eager's."""


@dataclass(frozen=True)
class Network:
    """An encoder-decoder's sizes and its parameters in the order that the kernel has them."""

    library: Library
    inputs: int
    places: int
    vocabulary: int
    dim: int
    heads: int
    ffn: int
    layers: int
    parameters: tuple[Tensor, ...]

    @property
    def sizes(self) -> ctypes.Array[ctypes.c_int32]:
        return (ctypes.c_int32 * 7)(
            self.inputs, self.places, self.vocabulary, self.dim, self.heads, self.ffn, self.layers
        )

    def takes(self, tokens: Tensor, most: int) -> bool:
        """Whether these are rows of tokens that it knows, and at most so many in a row."""
        if type(tokens) is not Tensor or tokens.dtype != torch.int64 or not tokens.is_cpu or tokens.ndim != 2:
            return False
        if not tokens.numel() or tokens.shape[1] > most:
            return False
        least, largest = tokens.aminmax()
        return int(least) >= 0 and int(largest) < self.vocabulary


def network_of(model: nn.Module, parts: Collection[type]) -> Network | None:
    """The encoder-decoder as the kernel takes it, or None. `parts` are the types of module that it is made of."""
    library = engine.current()
    if library is None or fitting.is_watched() or not METHODS.isdisjoint(model.__dict__):
        return None
    named: dict[str, Tensor | None] = dict(model._parameters)
    dropouts: list[nn.Dropout] = []
    if not fitting.collect(model, "", parts, named, dropouts) or any(dropout.p for dropout in dropouts):
        return None  # dropout: also where it does nothing, since a run is decoded by what trained it
    layers = len(model.get_submodule("encoder")._modules)
    tensors = [tensor for name in names(layers) if (tensor := named.get(name)) is not None]
    if len(tensors) != len(named) or not all(map(fitting.is_plain, tensors)):
        return None
    sizes = _sizes(model, layers, tensors)
    if sizes is None or [tensor.shape for tensor in tensors] != shapes(*sizes):
        return None
    return Network(library, *sizes, tuple(tensor.contiguous() for tensor in tensors))


def loss(network: Network, inputs: Tensor, sequences: Tensor) -> Tensor | None:
    """The mean cross-entropy of every token of the sequences but the first, with gradients for the parameters."""
    if not _fit(network, inputs, sequences, network.places + 1) or sequences.shape[1] < 2:
        return None
    found: Tensor = _Loss.apply(network, inputs.contiguous(), sequences.contiguous(), *network.parameters)  # type: ignore[no-untyped-call]
    return found


def logits(network: Network, inputs: Tensor, tokens: Tensor) -> Tensor | None:
    """Of the tokens after each of these, `[rows, tokens, vocabulary]`; where no gradient is wanted."""
    wanted = torch.is_grad_enabled() and any(p.requires_grad for p in network.parameters)
    if wanted or not _fit(network, inputs, tokens, network.places):
        return None
    library, sizes, (rows, length) = network.library, network.sizes, tokens.shape
    inputs, tokens = inputs.contiguous(), tokens.contiguous()
    found = floats(rows * length * network.vocabulary).view(rows, length, network.vocabulary)
    work = floats(library.seq2seq_floats(sizes, length))
    library.seq2seq_logits(
        sizes, pointers(network.parameters), rows, length, address(inputs), address(tokens), address(found),
        address(work),
    )  # fmt: skip
    return found


def greedy(network: Network, inputs: Tensor, begin: int, steps: int) -> tuple[Tensor, Tensor] | None:
    """The likeliest token after `begin`, one after another, and its probability: both `[rows, steps]`."""
    rows = len(inputs)
    tokens = torch.full((rows, steps + 1), begin, dtype=torch.int64, device="cpu")
    if not 0 < steps <= network.places or not _fit(network, inputs, tokens, steps + 1):
        return None
    library, sizes, inputs = network.library, network.sizes, inputs.contiguous()
    confidence, work = floats(rows * steps), floats(library.greedy_floats(sizes, steps))
    library.greedy(
        sizes, pointers(network.parameters), rows, steps, address(inputs), address(tokens), address(confidence),
        address(work),
    )  # fmt: skip
    return tokens[:, 1:].contiguous(), confidence.view(rows, steps)


def _fit(network: Network, inputs: Tensor, tokens: Tensor, most: int) -> bool:
    """Whether the network knows these tokens; otherwise PyTorch says what is wrong with them."""
    fitting_inputs = network.takes(inputs, network.inputs) and inputs.shape[1] == network.inputs
    return fitting_inputs and len(inputs) == len(tokens) and network.takes(tokens, most)


class _Loss(torch.autograd.Function):
    """Gradients are made together with the loss, group by group, and handed out on the way back."""

    @staticmethod
    def forward(ctx: Any, network: Network, inputs: Tensor, sequences: Tensor, *_: Tensor) -> Tensor:
        library, sizes, length = network.library, network.sizes, sequences.shape[1] - 1
        ctx.like, ctx.gradients = network.parameters, floats(sum(p.numel() for p in network.parameters))
        work = floats(library.seq2seq_floats(sizes, length))
        value = library.seq2seq_loss(
            sizes, pointers(network.parameters), len(inputs), length, address(inputs), address(sequences),
            addresses_in(ctx.gradients, network.parameters), address(work),
        )  # fmt: skip
        return torch.tensor(value, dtype=torch.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Any) -> Any:
        return None, None, None, *split(ctx.gradients * upstream[0], ctx.like)


def _sizes(model: nn.Module, layers: int, tensors: list[Tensor]) -> tuple[int, int, int, int, int, int, int] | None:
    """Those of `Network`, if all its attentions agree and it is not too large."""
    attentions = [part.__dict__ for part in model.modules() if "heads" in part.__dict__]
    told = {(part["dim"], part["heads"], part["scale"]) for part in attentions}
    first, (vocabulary, dim) = tensors[:3], tensors[0].shape
    if len(told) != 1 or len(attentions) != 3 * layers or any(tensor.ndim != 2 for tensor in first):
        return None
    ((of_attention, heads, scale),) = told
    ffn = len(tensors[3 + 2 * ENCODER_LAYER.index("ffn.expand")])
    fits = fitting.LEAST_DIM <= dim <= fitting.MOST_DIM and ffn <= fitting.MOST_FFN and vocabulary <= MOST_VOCABULARY
    if not fits or of_attention != dim or dim % heads or scale != (dim // heads) ** -0.5:
        return None
    return len(first[1]), len(first[2]), vocabulary, dim, heads, ffn, layers


@cache
def names(layers: int) -> list[str]:
    """The parameters in the kernel's order."""
    encoder = [f"encoder.{i}.{part}" for i in range(layers) for part in ENCODER_LAYER]
    decoder = [f"decoder.{i}.{part}" for i in range(layers) for part in DECODER_LAYER]
    pairs = [*encoder, "encoder_norm", *decoder, "decoder_norm", "readout"]
    first = ["embed.weight", "input_positions", "output_positions"]
    return [*first, *(f"{part}.{kind}" for part in pairs for kind in ("weight", "bias"))]


@cache
def shapes(inputs: int, places: int, vocabulary: int, dim: int, heads: int, ffn: int, layers: int) -> list[torch.Size]:
    """What shapes they have."""
    attention, block = [(3 * dim, dim), (dim, dim), (dim,)], [(ffn, dim), (dim, ffn), (dim,)]
    encoder, decoder = (attention + block) * layers, (attention + attention + block) * layers
    parts = [*encoder, (dim,), *decoder, (dim,), (vocabulary, dim)]
    first = [(vocabulary, dim), (inputs, dim), (places, dim)]
    return [torch.Size(shape) for shape in [*first, *(each for part in parts for each in (part, part[:1]))]]
