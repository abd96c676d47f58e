"""Native where nobody could tell, eager wherever somebody looks inside or asks for more than values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hardgap.nn.encoder import PARTS, Encoder, Named
from hardgap.nn.native import engine
from hardgap.nn.native.fitting import network_of

pytestmark = pytest.mark.skipif(not engine.state_of(None).startswith("ready"), reason=engine.state_of(None))
CELLS = torch.rand(3, 7, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def model() -> Encoder:
    torch.manual_seed(0)
    return Encoder(7, dim=8, heads=2, layers=2, ffn=16)


def fits(model: Encoder, cells: Tensor = CELLS) -> bool:
    with engine.using("native"):
        return network_of(model, cells, PARTS) is not None


class Half(Named):
    def forward(self, x: Tensor) -> Tensor:
        return x / 2


CHANGES: dict[str, Callable[[Encoder], Any]] = {
    "a hook": lambda m: m.layers[0].attention.pattern.register_forward_hook(lambda *_: None),
    "a hook before": lambda m: m.layers[1].ffn.register_forward_pre_hook(lambda *_: None),
    "a hook on the way back": lambda m: m.layers[1].register_full_backward_hook(lambda *_: None),
    "a part replaced": lambda m: setattr(m.layers[0].ffn, "post", Half()),
    "another linear map": lambda m: setattr(m.layers[0].ffn, "contract", nn.Linear(16, 8, bias=False)),
    "a forward replaced": lambda m: setattr(m.layers[0].norm1, "forward", lambda x: x),
    "a parametrised weight": lambda m: nn.utils.parametrizations.weight_norm(m.readout),
    "another epsilon": lambda m: setattr(m.layers[0].norm1, "eps", 1e-3),
    "a layer more, of other heads": lambda m: setattr(m.layers[1].attention, "heads", 4),
    "heads that do not divide it": lambda m: [setattr(layer.attention, "heads", 3) for layer in m.layers],
    "double": lambda m: m.double(),
    "one weight in double": lambda m: m.readout.double(),
    "on no device": lambda m: m.to("meta"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_network_is_left_to_pytorch(model: Encoder, change: str) -> None:
    assert fits(model)
    CHANGES[change](model)
    assert not fits(model)


class Silent(Encoder):
    def eager(self, cells_BW: Tensor) -> Tensor:
        return cells_BW * 0


def test_an_encoder_that_computes_in_a_way_of_its_own_does(model: Encoder) -> None:
    with engine.using("native"):
        assert not Silent(7, dim=8, heads=2)(CELLS).any()
        assert model(CELLS).all()
        model.eager = lambda cells: cells * 0  # type: ignore[method-assign]
        assert not model(CELLS).any()


def test_cells_of_another_kind_are_left_to_pytorch(model: Encoder) -> None:
    assert not fits(model, CELLS.double())
    assert not fits(model, CELLS[:0])
    assert not fits(model, torch.rand(3, 8))
    assert not fits(model, torch.rand(2, 3, 7))
    with pytest.raises(RuntimeError), engine.using("native"):
        model(torch.rand(3, 8))


def test_a_hook_sees_and_changes_what_it_always_did(model: Encoder) -> None:
    seen: list[Tensor] = []
    with engine.using("native"):
        before = model(CELLS)
        handle = model.get_submodule("layers.0.attention.pattern").register_forward_hook(
            lambda _, __, out: seen.append(out) or torch.full_like(out, 1 / 7)
        )
        changed = model(CELLS)
        handle.remove()
        assert torch.equal(model(CELLS), before)
    assert seen[0].shape == (3, 2, 7, 7)
    assert not torch.allclose(changed, before)


def test_a_hook_on_the_whole_network_leaves_it_native(model: Encoder) -> None:
    model.register_forward_hook(lambda _, __, out: out * 2)
    with engine.using("native"):
        doubled = model(CELLS)
        torch.testing.assert_close(doubled / 2, model.eager(CELLS), atol=1e-5, rtol=1e-5)
        assert "MulBackward" in str(doubled.grad_fn)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # PyTorch's own, on the way to jvp
def test_transforms_of_pytorch_work_as_ever(model: Encoder) -> None:
    with engine.using("native"):
        one_by_one = torch.func.vmap(lambda row: model(row[None])[0])(CELLS)
        torch.testing.assert_close(one_by_one, model(CELLS), atol=1e-5, rtol=1e-5)
        _, along = torch.func.jvp(model, (CELLS,), (torch.ones_like(CELLS),))
        jacobian = torch.func.jacrev(lambda row: model(row[None])[0])(CELLS[0])
        torch.testing.assert_close(jacobian.sum(1), along[0], atol=1e-4, rtol=1e-4)
        changed = torch.func.functional_call(model, {"positions": model.positions + 1}, (CELLS,))
        assert not torch.allclose(changed, model(CELLS))
        with torch.autocast("cpu", torch.bfloat16):
            assert model(CELLS).dtype == torch.bfloat16


def test_copies_and_moves_keep_working(model: Encoder) -> None:
    with engine.using("native"):
        before = model(CELLS).detach()
        copied = copy.deepcopy(model)
        with torch.no_grad():
            copied.positions += 1
        assert torch.equal(model(CELLS), before)
        assert not torch.equal(copied(CELLS), before)
        assert torch.equal(model.double().float()(CELLS), before)
        model.load_state_dict(copied.state_dict())
        assert torch.equal(model(CELLS), copied(CELLS))


def test_gradients_go_where_they_are_wanted(model: Encoder) -> None:
    model.requires_grad_(False)
    model.readout.requires_grad_(True)
    with engine.using("native"):
        assert not model(CELLS).detach().requires_grad
        model(CELLS).sum().backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is not None] == [
        "readout.weight",
        "readout.bias",
    ]
    assert float(model.readout.bias.grad) == CELLS.numel()
