"""The convolution sees exactly the neighbourhood, all around the ring."""

from __future__ import annotations

import pytest
import torch

from hardgap.nn.build import build_model
from hardgap.nn.conv import Conv
from hardgap.nn.encoder import activation_names
from hardgap.nn.spec import ConvSpec


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_a_logit_depends_on_its_neighbourhood_and_on_nothing_else(radius: int) -> None:
    width = 11
    model = build_model(ConvSpec(channels=16, radius=radius), width=width, seed=0)
    cells = torch.rand(1, width, generator=torch.Generator().manual_seed(1))
    influence = torch.autograd.functional.jacobian(lambda x: model(x)[0], cells)[:, 0]
    distance = (torch.arange(width)[:, None] - torch.arange(width)[None]) % width
    distance = torch.minimum(distance, width - distance)
    assert (influence[distance > radius] == 0).all()
    assert (influence[distance <= radius] != 0).any()
    assert (influence.diagonal() != 0).all()


def test_it_commutes_with_rotation_but_not_with_reflection() -> None:
    model = build_model(ConvSpec(channels=8, layers=3), width=9, seed=3)
    cells = torch.rand(4, 9, generator=torch.Generator().manual_seed(2))
    for shift in range(9):
        torch.testing.assert_close(model(cells.roll(shift, -1)), model(cells).roll(shift, -1))
    assert not torch.allclose(model(cells.flip(-1)), model(cells).flip(-1))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_rows_narrower_than_the_neighbourhood_wrap(width: int) -> None:
    model = Conv(channels=4, radius=3)
    cells = torch.rand(2, width, generator=torch.Generator().manual_seed(4))
    wide = cells.repeat(1, 12)  # the same ring, unrolled
    torch.testing.assert_close(model(cells), model(wide)[:, :width])


def test_its_activations_are_named_too() -> None:
    assert activation_names(Conv(channels=4, layers=3)) == ["hidden.0", "hidden.1", "hidden.2", "logits"]
