"""Every way in which somebody's network can be unfit, and the sentence its author reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hardgap.errors import BadInput
from hardgap.nn.build import build_model, check_model
from hardgap.nn.spec import ConvSpec, EncoderSpec, PluginSpec
from hardgap.plugins import trust

WIDTH = 6


class Net(nn.Module):
    """A linear map of the row, passed through whatever spoils it."""

    def __init__(self, spoil: Callable[[nn.Module, Tensor], Any] = lambda net, x: net.linear(x)) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.spoil = spoil

    def forward(self, x: Tensor) -> Any:
        return self.spoil(self, x)


class Squeezing(nn.Module):
    """Right for three rows, wrong for one, as `squeeze()` without a dimension makes it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).squeeze()


def fails(error: Exception) -> Callable[[nn.Module, Tensor], Any]:
    def spoil(net: nn.Module, x: Tensor) -> Any:
        raise error

    return spoil


def frozen() -> nn.Module:
    net = Net()
    for parameter in net.parameters():
        parameter.requires_grad_(False)
    return net


def unused() -> nn.Module:
    return Net(lambda net, x: x * 2)


UNFIT: dict[str, tuple[Callable[[], object], str]] = {
    "not a module": (lambda: "a string", "the model gave a str, not a torch.nn.Module"),
    "a class": (lambda: Net, "the model gave a type, not a torch.nn.Module"),
    "no parameters": (nn.Identity, "no trainable parameter"),
    "frozen": (frozen, "no trainable parameter"),
    "wrong width": (lambda: nn.Linear(WIDTH + 1, WIDTH), r"fails on rows of shape \(3, 6\): mat1 and mat2"),
    "double precision": (lambda: Net().double(), "fails on rows of shape"),
    "key error": (lambda: Net(fails(KeyError("layer"))), "fails on rows of shape .*layer"),
    "attribute error": (lambda: Net(fails(AttributeError("no attribute 'norm'"))), "no attribute 'norm'"),
    "assertion": (lambda: Net(fails(AssertionError())), r"fails on rows of shape \(3, 6\): AssertionError"),
    "one logit": (lambda: nn.Linear(WIDTH, 1), r"rows \(3, 6\) to logits of the same shape, not \(3, 1\)"),
    "a tuple": (lambda: Net(lambda net, x: (net.linear(x), None)), "same shape, not tuple"),
    "integers": (lambda: Net(lambda net, x: net.linear(x).long()), "not finite floating-point"),
    "nan": (lambda: Net(lambda net, x: net.linear(x) / 0), "not finite floating-point"),
    "random": (lambda: Net(lambda net, x: net.linear(x) + torch.rand(1)), "must be deterministic"),
    "batch mean": (lambda: Net(lambda net, x: net.linear(x) - x.mean(0)), "one row of a batch influence another"),
    "squeeze": (Squeezing, r"must map rows \(1, 6\) to logits of the same shape, not \(6,\)"),
    "no grad": (lambda: Net(lambda net, x: net.linear(x).detach()), "logits without a gradient"),
    "unused": (unused, "none of them influences the logits"),
    "rounded input": (lambda: Net(lambda net, x: net.linear(x.detach())), "passes no gradient to its input"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_an_unfit_model_is_refused_with_the_reason(case: str) -> None:
    make, words = UNFIT[case]
    with pytest.raises(BadInput, match=words):
        check_model(make(), width=WIDTH)


@pytest.mark.parametrize("training", [True, False])
def test_a_refused_or_accepted_model_keeps_its_mode(training: bool) -> None:
    fit, unfit = Net().train(training), UNFIT["random"][0]()
    assert isinstance(unfit, nn.Module)
    unfit.train(training)
    check_model(fit, width=WIDTH)
    with pytest.raises(BadInput):
        check_model(unfit, width=WIDTH)
    assert fit.training is unfit.training is training


@pytest.mark.parametrize(
    "make",
    [
        Net,
        lambda: nn.Sequential(nn.Linear(WIDTH, 9), nn.Dropout(0.5), nn.Linear(9, WIDTH)),
        lambda: build_model(EncoderSpec(dim=8, heads=2, layers=1, ffn=16), width=WIDTH, seed=0),
        lambda: build_model(ConvSpec(channels=4), width=WIDTH, seed=0),
    ],
    ids=["linear", "dropout", "encoder", "conv"],
)
def test_fit_models_pass(make: Callable[[], nn.Module]) -> None:
    check_model(make(), width=WIDTH)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("somebodys_nets")
    monkeypatch.setitem(sys.modules, "somebodys_nets", module)
    trust(["somebodys_nets:make"])
    return module


def plugged(**args: Any) -> nn.Module:
    return build_model(PluginSpec(factory="somebodys_nets:make", args=args), width=WIDTH, seed=0)


def test_a_plugin_takes_its_arguments_and_its_seed(plugin: ModuleType) -> None:
    plugin.make = lambda width, hidden=3: nn.Sequential(nn.Linear(width, hidden), nn.Linear(hidden, width))
    model = plugged(hidden=4)
    assert isinstance(model, nn.Sequential)
    assert model[0].out_features == 4
    again, state = plugged(hidden=4), torch.random.get_rng_state()
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    plugged(hidden=4)
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_plugin_that_cannot_be_found_is_named(plugin: ModuleType) -> None:
    trust(["no.such:thing"])
    with pytest.raises(BadInput, match=r"--model no\.such:thing cannot be imported"):
        build_model(PluginSpec(factory="no.such:thing"), width=WIDTH, seed=0)
    with pytest.raises(BadInput, match="--model somebodys_nets:make cannot be imported"):
        plugged()


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (lambda: Net(), r"cannot be called as factory\(width"),
        (fails(ValueError("bad size")), r"cannot be called as factory\(width, \*\*args\)"),
        (lambda width: 1 / 0, "division by zero"),
        (lambda width: None, "somebodys_nets:make gave a NoneType"),
        (lambda width: nn.Identity(), "somebodys_nets:make has no trainable parameter"),
    ],
)
def test_a_plugin_that_makes_nothing_of_use_is_refused(plugin: ModuleType, factory: Any, words: str) -> None:
    plugin.make = factory
    with pytest.raises(BadInput, match=words):
        plugged()


def test_a_plugin_that_breaks_while_imported_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_nets.py").write_text("def make(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    trust(["broken_nets:make"])
    with pytest.raises(BadInput, match="--model broken_nets:make cannot be imported: invalid syntax"):
        build_model(PluginSpec(factory="broken_nets:make"), width=WIDTH, seed=0)
