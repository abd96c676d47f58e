"""Every way in which somebody's network can be unfit, and the sentence its author reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hardgap.core.errors import BadInput
from hardgap.core.plugins import trust
from hardgap.nn.build import build_model, check_model
from hardgap.nn.spec import ConvSpec, EncoderSpec, PluginSpec

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


class Counting(Net):
    """Remembers, in a plain number, how often it was asked in training."""

    calls = 0

    def forward(self, x: Tensor) -> Any:
        self.calls += self.training
        return self.linear(x) * (1 + self.calls)


class Packing(Net):
    """Puts a plain value into its state_dict."""

    def get_extra_state(self) -> Any:
        return {"calls": 3}


class Buffered(Net):
    """The same, but in its state_dict: nothing is lost when it is gone on with."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Any:
        if self.training:
            self.calls += 1
        return self.linear(x) * (1 + self.calls)


class Averaging(Net):
    """Keeps a running mean of its rows in a plain attribute, and uses it from the next update on."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(WIDTH)

    def forward(self, x: Tensor) -> Any:
        mean = self.mean
        if torch.is_grad_enabled():
            self.mean = 0.9 * mean + 0.1 * x.detach().mean(0)
        return self.linear(x) - mean


def noisy(net: nn.Module, x: Tensor) -> Any:
    noise = torch.from_numpy(np.random.default_rng().normal(size=x.shape)).float()
    return net.linear(x) + (noise if net.training else 0)


ONE_NET = Net()


def drawn_by_numpy() -> nn.Module:
    net = Net()
    nn.init.constant_(net.linear.bias, float(np.random.default_rng().normal()))
    return net


def fails(error: BaseException) -> Callable[[nn.Module, Tensor], Any]:
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
    "exit": (lambda: Net(fails(SystemExit(3))), r"fails on rows of shape \(3, 6\): it calls exit\(3\)"),
    "numpy noise": (lambda: Net(noisy), "differently under the same weights and torch seed; keep what it remembers in"),
    "extra state": (Packing, "has a state_dict that holds more than tensors"),
    "counter": (Counting, "differently under the same weights and torch seed; keep what it remembers in"),
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


def test_the_check_leaves_a_network_as_the_passes_of_before_left_it(plugin: ModuleType) -> None:
    """Batch statistics move with every pass in training: the check of what is remembered must not add any."""
    plugin.make = lambda width: nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width))
    model = plugged()
    assert model[1].num_batches_tracked == 1  # type: ignore[index]


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
        Buffered,
        lambda: nn.Sequential(nn.Linear(WIDTH, 9), nn.BatchNorm1d(9), nn.Linear(9, WIDTH)),
        lambda: nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(WIDTH, 9)), nn.Linear(9, WIDTH)),
        lambda: nn.Sequential(nn.Linear(WIDTH, 9), nn.Dropout(0.5), nn.Linear(9, WIDTH)),
        lambda: build_model(EncoderSpec(dim=8, heads=2, layers=1, ffn=16), width=WIDTH, seed=0),
        lambda: build_model(ConvSpec(channels=4), width=WIDTH, seed=0),
    ],
    ids=["linear", "buffer", "batch norm", "spectral norm", "dropout", "encoder", "conv"],
)
def test_fit_models_pass(plugin: ModuleType, make: Callable[[], nn.Module]) -> None:
    check_model(make(), width=WIDTH)
    plugin.make = lambda width: make()
    plugged()


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
    with pytest.raises(BadInput, match=r"model no\.such:thing cannot be imported"):
        build_model(PluginSpec(factory="no.such:thing"), width=WIDTH, seed=0)
    with pytest.raises(BadInput, match="model somebodys_nets:make cannot be imported"):
        plugged()


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (lambda: Net(), r"cannot be called as factory\(width"),
        (fails(ValueError("bad size")), r"cannot be called as factory\(width, \*\*args\)"),
        (lambda width: 1 / 0, "division by zero"),
        (
            lambda width: sys.exit("no\nmore"),
            r"cannot be called as factory\(width, \*\*args\): it calls exit\('no\\nmore'\)",
        ),
        (lambda width: Averaging(), "with the weights of a trained network goes on differently from it; keep what it"),
        (lambda width: ONE_NET, "gave the same network twice"),
        (lambda width: drawn_by_numpy(), "gave other initial weights under the same torch seed"),
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
    with pytest.raises(BadInput, match="model broken_nets:make cannot be imported: invalid syntax"):
        build_model(PluginSpec(factory="broken_nets:make"), width=WIDTH, seed=0)


def test_a_plugin_that_exits_while_imported_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaving_nets.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    trust(["leaving_nets:make"])
    with pytest.raises(BadInput, match=r"model leaving_nets:make cannot be imported: it calls exit\(0\)"):
        build_model(PluginSpec(factory="leaving_nets:make"), width=WIDTH, seed=0)
