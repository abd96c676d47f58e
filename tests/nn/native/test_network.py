"""The native engine computes what the encoder computes: any sizes, any weights, every build; the same every time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from hardgap.nn.encoder import Encoder
from hardgap.nn.native import engine
from hardgap.nn.native.adam import library_of
from hardgap.theory.construction import construct
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.task import predict_rollout

pytestmark = pytest.mark.usefixtures("one_thread")
Make = Callable[..., Encoder]
SIZES = [{}, {"dim": 16, "heads": 2, "layers": 1, "ffn": 24}, {"dim": 9, "heads": 3, "layers": 3, "ffn": 5}]


def answer(model: Encoder, cells: Tensor, upstream: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits, and the gradients of the cells and of every parameter."""
    kind = next(model.parameters()).dtype
    cells = cells.detach().to(kind).requires_grad_()
    logits = model(cells)
    assert ("_Logits" in str(logits.grad_fn)) == (library_of(model) is not None)
    named = {"cells": cells, **dict(model.named_parameters())}
    found = torch.autograd.grad(logits, list(named.values()), upstream.to(kind))
    return logits.detach(), dict(zip(named, found, strict=True))


def random(rows: int, width: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Cells and a gradient of the logits."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(rows, width, generator=generator), torch.randn(rows, width, generator=generator)


WIDE = {"dim": 64, "heads": 4, "ffn": 128, "layers": 2}


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, int]:
    width = draw(st.sampled_from([3, 4, 5, 7, 11, 15, 16, 17, 31, 33, 48, 63, 64, 65, 101, 129, 256]))
    heads, of_a_head = draw(st.sampled_from([(1, 2), (2, 3), (2, 8), (4, 16), (3, 20), (2, 32), (1, 64)]))
    ffn, layers = draw(st.tuples(st.integers(1, 130), st.integers(1, 3)))
    return {"width": width, "dim": heads * of_a_head, "heads": heads, "ffn": ffn, "layers": layers}


@settings(max_examples=6)
@given(shape=shapes(), rows=st.integers(1, 30), seed=st.integers(0, 1000))
@example(shape={"width": 256, **WIDE}, rows=2, seed=0)
@example(shape={"width": 255, **WIDE}, rows=2, seed=1)
@example(shape={"width": 256, "dim": 6, "heads": 2, "ffn": 1, "layers": 3}, rows=1, seed=2)
def test_logits_and_gradients_are_those_of_float64(
    build: str, unkinked: Make, assert_as_exact: Callable[..., None], shape: dict[str, int], rows: int, seed: int
) -> None:
    cells, upstream = random(min(rows, 2) if shape["width"] > 32 else rows, shape["width"], seed)
    assert_as_exact(unkinked(seed, **shape), lambda model: answer(model, cells, upstream))


def test_trained_networks_answer_as_in_float64(
    build: str, trained: Encoder, assert_trained_as_exact: Callable[..., None]
) -> None:
    cells, upstream = random(6, trained.width)
    assert_trained_as_exact(trained, lambda model: answer(model, cells.round(), upstream))


def test_it_is_the_native_engine_that_answers(build: str) -> None:
    model = Encoder(11)
    assert "_Logits" in str(model(torch.zeros(2, 11)).grad_fn)
    with engine.using("eager"):
        assert "_Logits" not in str(model(torch.zeros(2, 11)).grad_fn)
    assert library_of(Encoder(11, dim=1, heads=1)) is None, "normalised, a single number is 0 but for rounding"


def test_with_and_without_gradients_alone_or_in_a_batch_the_logits_are_the_same_bits(
    build: str, unkinked: Make
) -> None:
    model, (cells, _) = unkinked(1, 11), random(30, 11)
    together = model(cells)
    with torch.no_grad():
        assert torch.equal(model(cells), together)
    assert torch.equal(model(cells.T.contiguous().T), together), "cells need not be contiguous"
    assert torch.equal(torch.cat([model(row[None]) for row in cells]), together), "whatever stands beside a row"


def test_a_gradient_can_be_asked_for_twice_and_differentiated(build: str, unkinked: Make) -> None:
    model, (cells, upstream) = unkinked(2, 7, **SIZES[1]), random(3, 7)
    logits = model(cells.requires_grad_())
    (first,) = torch.autograd.grad(logits, cells, upstream, retain_graph=True)
    (again,) = torch.autograd.grad(logits, cells, upstream, retain_graph=True)
    assert torch.equal(first, again)
    (third,) = torch.autograd.grad(logits, cells, upstream, create_graph=True)
    (second_order,) = torch.autograd.grad(third.square().sum(), cells)
    with engine.using("eager"):
        (expected,) = torch.autograd.grad(model(cells), cells, upstream, create_graph=True)
        (of_eager,) = torch.autograd.grad(expected.square().sum(), cells)
    torch.testing.assert_close(first, expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(second_order, of_eager, atol=1e-3, rtol=1e-3)


def test_parameters_changed_before_the_way_back_are_noticed(build: str, unkinked: Make) -> None:
    model = unkinked(3, 7, **SIZES[1])
    loss = model(random(3, 7)[0]).sum()
    with torch.no_grad():
        model.positions += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


WEIGHTS: dict[str, Callable[[Encoder], Any]] = {
    "NaN in a hidden unit": lambda m: m.layers[0].ffn.expand.weight[1, 1].fill_(float("nan")),
    "NaN in one cell's position": lambda m: m.positions[2].fill_(float("nan")),
    "NaN in the last norm": lambda m: m.layers[-1].norm2.weight[0].fill_(float("nan")),
    "infinite queries": lambda m: m.layers[0].attention.qkv.weight[0, 0].fill_(float("inf")),
    "infinite readout": lambda m: m.readout.weight[0, 0].fill_(float("inf")),
    "scores in the thousands": lambda m: m.layers[0].attention.qkv.weight.mul_(60),
    "logits in the millions": lambda m: m.readout.weight.mul_(1e6),
    "denormal keys": lambda m: m.layers[0].attention.qkv.weight.mul_(1e-39),
    "denormal readout": lambda m: m.readout.weight.mul_(1e-40),
    "all zero": lambda m: [p.zero_() for p in m.parameters()],
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_extreme_weights_do_as_in_eager(build: str, unkinked: Make, weights: str, sizes: dict[str, int]) -> None:
    model, (cells, upstream) = unkinked(4, 13, **sizes), random(4, 13)
    with torch.no_grad():
        WEIGHTS[weights](model)
    logits, gradients = answer(model, cells, upstream)
    with engine.using("eager"):
        expected, of_eager = answer(model, cells, upstream)
    assert torch.equal(logits.isfinite(), expected.isfinite())
    finite = expected.isfinite()
    scale = max(1.0, float(expected[finite].abs().max())) if finite.any() else 1.0
    torch.testing.assert_close(logits[finite], expected[finite], atol=1e-4 * scale, rtol=1e-4)
    for name in of_eager if finite.all() else ():
        size = max(1e-30, float(of_eager[name].abs().max()))
        assert float((gradients[name] - of_eager[name]).abs().max()) <= max(2e-3 * size, 1e-4), name


def test_in_the_kernel_and_only_there_denormals_count_as_zero(build: str, unkinked: Make) -> None:
    """Unlike eager, on purpose (vectors.h): numbers below 1.2e-38 are 0, and so is what only they would make."""
    model, (cells, upstream) = unkinked(4, 13, **SIZES[1]), random(4, 13)
    with torch.no_grad():
        model.readout.weight.fill_(1e-40)
        model.layers[-1].norm2.bias += 1  # or what is normalised would add up to 0
        model.readout.bias.zero_()
    logits, gradients = answer(model, cells, upstream)
    with engine.using("eager"):
        expected, of_eager = answer(model, cells, upstream)
    least = torch.finfo(torch.float32).tiny
    assert expected.all(), "eager keeps them, and still does after the kernel was called"
    assert expected.abs().max() < least
    assert not logits.any()
    behind = gradients.keys() - {"readout.weight", "readout.bias"}
    assert any(of_eager[name].any() for name in behind)
    assert not any(gradients[name].any() for name in behind)
    for name in ("readout.weight", "readout.bias"):  # which the readout's own weights have no part in
        torch.testing.assert_close(gradients[name], of_eager[name], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("rule", "width"), [("150", 7), ("110", 9), ("30", 16)])
def test_constructed_networks_compute_exactly(build: str, rule: str, width: int) -> None:
    made = construct(parse_rule(rule), width)
    rows = torch.tensor(list(product([0.0, 1.0], repeat=min(width, 9))))
    cells = torch.cat([rows, rows], 1)[:, :width]
    model = made.model.float()
    patterns = 4 * cells.roll(1, 1) + 2 * cells + cells.roll(-1, 1)
    truth = torch.tensor(parse_rule(rule).table)[patterns.long()]
    assert torch.equal((model(cells) > 0).long(), truth)


DIGEST = """
import hashlib, torch
from hardgap.nn.encoder import Encoder
torch.manual_seed(0)
model = Encoder(33)
model(torch.rand(9, 33)).square().sum().backward()
digest = hashlib.sha256(b"".join(p.grad.numpy().tobytes() for p in model.parameters())).hexdigest()
"""


@pytest.mark.skipif(not engine.state_of(None).startswith("ready"), reason=engine.state_of(None))
def test_bits_are_the_same_in_another_process() -> None:
    here: dict[str, str] = {}
    with torch.random.fork_rng(devices=[]), engine.using("native"):
        exec(DIGEST, here)
    environment = {"HARDGAP_ENGINE": "native", "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", DIGEST + "print(digest)"]
    there = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.strip()
    assert there == here["digest"]


@pytest.mark.parametrize("width", [3, 11, 12, 13])
def test_free_runs_are_the_same_whether_rows_are_remembered_or_not(build: str, unkinked: Make, width: int) -> None:
    """Narrow rows are asked for once each; in any company a row has the same logits, bit by bit."""
    model = unkinked(width, width)
    rows = (torch.rand(300, width, generator=torch.Generator().manual_seed(width)) < 0.5).float()
    with torch.no_grad():
        whole = model(rows)
        for some in (slice(1), slice(5, 8), slice(100, 263), torch.randperm(300)):
            assert torch.equal(model(rows[some]), whole[some])
        cells, expected = rows, []
        for _ in range(4):
            cells = (model(cells) > 0).float()
            expected.append(cells.numpy().astype(np.uint8))
    assert np.array_equal(predict_rollout(model, rows, 4), np.stack(expected))
