"""Whether the native engine can stand in for an encoder: only where nobody could tell the difference.

A hook on a part, a part that was replaced, another device or dtype, or a tensor that stands for more than its values
(vmap, forward-mode derivatives, autocast, tracing): all that is left to PyTorch.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn.modules import module as modules

from hardgap.nn.native import engine
from hardgap.nn.native.functions import Network

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
LEAST_DIM = 2
"""Normalised, a single number is 0; what rounding leaves of it would be made 300 times as large."""
MOST_DIM, MOST_FFN = 128, 512
"""Larger networks gain nothing: their products want to be cut for the cache, not for registers alone."""
OF_A_REGIME = "log_temperature"
"""A parameter that a regime adds to the network and that its forward does not read."""
OF_A_LAYER = ("attention.qkv", "attention.output", "norm1", "ffn.expand", "ffn.contract", "norm2")


def network_of(encoder: nn.Module, cells: Tensor, parts: Collection[type]) -> Network | None:
    """The encoder as the kernel takes it, or None. `parts` are the types of module that it is made of."""
    library = engine.current()
    if library is None or not is_plain(cells) or cells.ndim != 2 or not len(cells) or is_watched():
        return None
    named: dict[str, Tensor | None] = dict(encoder._parameters)
    dropouts: list[nn.Dropout] = []
    if not collect(encoder, "", parts, named, dropouts):
        return None
    dropped = {dropout.p if dropout.training else 0.0 for dropout in dropouts}
    if len(dropped) != 1 or 1.0 in dropped:
        return None
    layers = encoder._modules["layers"]
    assert layers is not None
    tensors = [tensor for name in names(len(layers._modules)) if (tensor := named.get(name)) is not None]
    if len(tensors) != len(named) - (OF_A_REGIME in named) or not all(map(is_plain, tensors)):
        return None
    heads = [layer.get_submodule("attention").__dict__["heads"] for layer in layers.children()]
    sizes = _sizes(heads, tensors)
    if cells.shape[1] != sizes[0] or [tensor.shape for tensor in tensors] != shapes(*sizes):
        return None
    return Network(library, *sizes, tuple(tensor.contiguous() for tensor in tensors), *dropped)


def is_hooked(module: nn.Module) -> bool:
    """Whether calling the module does more than its forward, or what computes is not its class's."""
    hooks = module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks
    return bool(hooks) or not {"forward", "eager"}.isdisjoint(module.__dict__)


def collect(
    module: nn.Module, prefix: str, parts: Collection[type], found: dict[str, Tensor | None], dropouts: list[nn.Dropout]
) -> bool:
    """Gather the parameters by name, and what drops; False if anything below the module is not as it was made."""
    for name, child in module._modules.items():
        if child is None or type(child) not in parts or is_hooked(child) or _is_altered(child):
            return False
        for key, tensor in child._parameters.items():
            found[f"{prefix}{name}.{key}"] = tensor
        if isinstance(child, nn.Dropout):
            dropouts.append(child)
        if child._modules and not collect(child, f"{prefix}{name}.", parts, found, dropouts):
            return False
    return True


def _is_altered(part: nn.Module) -> bool:
    """Whether a part of PyTorch's does more, or something else, than the kernel."""
    if isinstance(part, nn.LayerNorm):
        return part.eps != 1e-5
    if isinstance(part, nn.Embedding):
        told = part.padding_idx, part.max_norm, part.sparse, part.scale_grad_by_freq
        return told != (None, None, False, False)
    return False


def is_plain(tensor: Tensor) -> bool:
    """Whether the kernel can read a tensor's numbers."""
    return (
        type(tensor) in (Tensor, nn.Parameter)
        and tensor.dtype == torch.float32
        and tensor.is_cpu
        and tensor.layout == torch.strided
    )


def is_watched() -> bool:
    """Whether PyTorch's operations do more than compute at the moment."""
    return (
        torch._C._functorch.peek_interpreter_stack() is not None
        or torch._C._len_torch_dispatch_stack() > 0
        or forward_ad._current_level >= 0
        or torch.is_autocast_enabled("cpu")
        or torch._C._get_tracing_state() is not None
        or torch.compiler.is_compiling()
        or any(getattr(modules, f"_global{kind}") for kind in HOOKS)
    )


def _sizes(heads: list[int], tensors: list[Tensor]) -> tuple[int, int, int, int, int]:
    """Width, dimensions, heads, hidden units, layers; all 0 where layers differ or do not fit."""
    width, dim = tensors[0].shape if tensors[0].ndim == 2 else (0, 0)
    ffn = len(tensors[3 + 2 * OF_A_LAYER.index("ffn.expand")]) if heads else 0
    if len(set(heads)) != 1 or not LEAST_DIM <= dim <= MOST_DIM or dim % heads[0] or ffn > MOST_FFN:
        return 0, 0, 0, 0, 0
    return width, dim, heads[0], ffn, len(heads)


@cache
def names(layers: int) -> list[str]:
    """The parameters in the kernel's order."""
    inner = [f"layers.{i}.{part}" for i in range(layers) for part in OF_A_LAYER]
    return ["positions", *(f"{part}.{kind}" for part in ("embed", *inner, "readout") for kind in ("weight", "bias"))]


@cache
def shapes(width: int, dim: int, heads: int, ffn: int, layers: int) -> list[torch.Size]:
    """What shapes they have."""
    of_a_layer = [(3 * dim, dim), (dim, dim), (dim,), (ffn, dim), (dim, ffn), (dim,)]
    parts = [(dim, 1), *(of_a_layer * layers), (1, dim)]
    return [torch.Size(shape) for shape in [(width, dim), *(each for part in parts for each in (part, part[:1]))]]
