"""Dropout in the kernel: loss and gradients are those of float64 with the very same numbers dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.nn.encoder import PARTS, Encoder
from hardgap.nn.native import engine
from hardgap.nn.native.fitting import network_of
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.unrolling import unrolled_loss

pytestmark = pytest.mark.usefixtures("one_thread")
Make = Callable[..., Encoder]
SHARE, SEED = 0.25, 7
PATTERNS, ATTENDED, HIDDEN, FED = range(4)
QUERIES, CELLS_OF_A_GROUP = 64, 128


def scrambled(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    x = (x ^ x >> np.uint32(16)) * np.uint32(0x7FEB352D)
    x = (x ^ x >> np.uint32(15)) * np.uint32(0x846CA68B)
    return x ^ x >> np.uint32(16)


def of(key: int, *parts: int) -> np.uint32:
    found = np.array([key], np.uint32)
    for part in parts:
        found = scrambled(found ^ scrambled(np.array([part + 1], np.uint32)))
    return found[0]


class Replayed(nn.Module):
    """Drops what the kernel drops, by where it lies there: `[rows, heads, queries, keys]` or `[rows, cells, …]`."""

    def __init__(self, key: int, layer: int, places: Iterator[int], model: Encoder, vector: int) -> None:
        super().__init__()
        self.key, self.layer, self.places, self.calls = key, layer, places, 0
        self.width, self.vector = model.width, vector
        self.group = max(1, CELLS_OF_A_GROUP // self.width) if self.width < CELLS_OF_A_GROUP else 1

    def forward(self, x: Tensor) -> Tensor:
        place = next(self.places)
        t, self.calls = self.calls // (2 if place in (ATTENDED, FED) else 1), self.calls + 1
        at = self._of_patterns(x.shape) if place == PATTERNS else self._of_states(x.shape)
        keys = np.array([of(self.key, row - row % self.group, t, self.layer, place) for row in range(len(x))])
        drawn = scrambled(at.astype(np.uint32) ^ keys.reshape(-1, *[1] * (x.ndim - 1)))
        kept = np.where(drawn < np.uint32(SHARE * 2**32), 0, np.float32(1 / (1 - SHARE)))
        return x * torch.from_numpy(kept).to(x)

    def _padded(self, count: int) -> int:
        return -(-count // self.vector) * self.vector

    def _of_patterns(self, shape: torch.Size) -> NDArray[np.int64]:
        row, head, query, key = np.ogrid[tuple(map(slice, shape))]
        heads, width = shape[1], self.width
        first = query // QUERIES * QUERIES
        columns = -(-np.minimum(width - first, QUERIES) // self.vector) * self.vector
        of_a_head = width * self._padded(width)
        return (row % self.group * heads + head) * of_a_head + width * first + key * columns + query - first

    def _of_states(self, shape: torch.Size) -> NDArray[np.int64]:
        row, cell, number = np.ogrid[tuple(map(slice, shape))]
        return (row % self.group * self.width + cell) * self._padded(shape[2]) + number


def replaying(model: Encoder, key: int, vector: int) -> Encoder:
    """The same network in float64, with the kernel's own dropout."""
    exact = Encoder(model.width, dim=model.readout.in_features, heads=model.layers[0].attention.heads,
                    layers=len(model.layers), ffn=model.layers[0].ffn.expand.out_features)  # fmt: skip
    exact.load_state_dict(model.state_dict())
    for number, layer in enumerate(exact.layers):
        for part, places in ((layer.attention, [PATTERNS]), (layer.ffn, [HIDDEN]), (layer, [ATTENDED, FED])):
            endless = iter(places * 99)
            part.drop = Replayed(key, number, endless, model, vector)
    return exact.double()


def dropping(model: Encoder, share: float) -> Encoder:
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = share
    return model


def data(width: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    bits = torch.randint(0, 2, (5, rows, width), generator=generator).float()
    return bits[0], bits[1:], (torch.rand(4, rows, width, generator=generator) < 0.8).float()


def answer(model: Encoder, rows: int, **regime: Any) -> tuple[Tensor, list[Tensor]]:
    start, targets, visible = (part.to(model.positions.dtype) for part in data(model.width, rows))
    torch.default_generator.manual_seed(SEED)
    loss = unrolled_loss(model, start, targets, visible, Unrolling(**regime))
    assert ("_Loss" in str(loss.grad_fn)) == (model.positions.dtype == torch.float32)
    return loss.detach(), list(torch.autograd.grad(loss, list(model.parameters())))


@pytest.mark.parametrize(
    ("width", "rows", "sizes"),
    [
        (11, 25, {"dim": 64, "heads": 4, "layers": 2, "ffn": 128}),
        (101, 2, {"dim": 16, "heads": 2, "layers": 2, "ffn": 24}),
        (7, 3, {"dim": 6, "heads": 3, "layers": 1, "ffn": 5}),
        (130, 2, {"dim": 8, "heads": 1, "layers": 3, "ffn": 16}),
    ],
    ids=["desk", "as wide as the paper's", "small", "three panels of queries"],
)
def test_loss_and_gradients_are_those_of_the_same_numbers_dropped(
    build: str, unkinked: Make, width: int, rows: int, sizes: dict[str, int]
) -> None:
    model = dropping(unkinked(5, width, **sizes), SHARE)
    torch.default_generator.manual_seed(SEED)
    key, library = int(torch.randint(2**32, ())), engine.current()
    assert library is not None
    found, exact = answer(model, rows), answer(replaying(model, key, library.vector()), rows)
    torch.testing.assert_close(found[0].double(), exact[0], rtol=1e-5, atol=0)
    largest = max(float(gradient.abs().max()) for gradient in exact[1])
    for (name, _), one, other in zip(model.named_parameters(), found[1], exact[1], strict=True):
        assert torch.isclose(one.double(), other, rtol=1e-3, atol=1e-5 * largest).all(), name


def test_draws_are_those_of_the_generator_and_as_many_as_asked_for() -> None:
    torch.manual_seed(0)
    model = dropping(Encoder(9, dim=8, heads=2, ffn=16), SHARE)
    with engine.using("native"):
        one, again = answer(model, 5), answer(model, 5)
        torch.default_generator.manual_seed(SEED + 1)
        start, targets, visible = data(9, 5)
        other = unrolled_loss(model, start, targets, visible, Unrolling())
    assert torch.equal(one[0], again[0])
    assert all(map(torch.equal, one[1], again[1]))
    assert not torch.equal(one[0], other.detach())
    keys = scrambled(np.arange(2**20, dtype=np.uint32) ^ of(123, 4, 5))
    for share in (0.1, 0.5, 0.9):
        assert abs((keys < np.uint32(share * 2**32)).mean() - share) < 0.003  # six standard deviations at most


def test_what_is_dropped_alike_is_native_while_training_and_a_plain_network_after() -> None:
    torch.manual_seed(0)
    model, cells = dropping(Encoder(9, dim=8, heads=2, ffn=16), SHARE), torch.rand(3, 9)
    with engine.using("native"):
        network = network_of(model, cells, PARTS)
        assert network is not None
        assert network.dropout == SHARE
        assert "_Logits" not in str(model(cells).grad_fn)  # alone, while it drops, it is PyTorch's
        model.eval()
        assert "_Logits" in str(model(cells).grad_fn)
        torch.testing.assert_close(model(cells), model.eager(cells))
        model.train().layers[0].ffn.eval()
        assert network_of(model, cells, PARTS) is None
        model.train().layers[1].drop.p = 0.5
        assert network_of(model, cells, PARTS) is None
        assert network_of(dropping(model, 1.0), cells, PARTS) is None
