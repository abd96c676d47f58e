"""Adam for a network: the native engine's own where that is what trains it."""

from __future__ import annotations

from torch import nn

from hardgap.core.loop import Adam, plain_adam
from hardgap.core.specs import Optimiser
from hardgap.nn.encoder import PARTS, Encoder
from hardgap.nn.native.adam import NativeAdam
from hardgap.nn.native.fitting import network_of
from hardgap.nn.native.library import Library
from hardgap.nn.seq2seq import Seq2Seq


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
