"""Attention, lens, probes and head ablation on networks whose answers can be worked out another way."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hardgap.nn.seq2seq import Seq2Seq, build_seq2seq
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.worlds.chains.chains import Arithmetic, Examples
from hardgap.worlds.chains.circuits.activations import activations, cross_attention, head_ablations, logit_lens, probes
from hardgap.worlds.chains.tokens import Codec

ARITHMETIC = Arithmetic.of("^|&LR", bits=3)
CODEC = Codec(ARITHMETIC)


@pytest.fixture
def model() -> Seq2Seq:
    shape = {"vocabulary": CODEC.vocabulary, "inputs": 5, "outputs": 16}
    return build_seq2seq(Seq2SeqSpec(dim=8, heads=2, layers=2, ffn=8), **shape, seed=0).eval()


def drawn(n: int, seed: int) -> Examples:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 8, (n, 4))
    return ARITHMETIC.examples(rng.integers(0, 5, (n, 2)), numbers[:, :3], numbers[:, 3])


def test_attention_is_shared_among_the_inputs_and_follows_its_scores(model: Seq2Seq) -> None:
    found = cross_attention(model, CODEC, drawn(20, 0))
    assert list(found)[:5] == ["0:a", "1:op1", "2:b", "3:=", "4:e"]
    assert all(shares.sum() == pytest.approx(1) for shares in found.values())
    handle = model.get_submodule("decoder.0.cross.scores").register_forward_hook(
        lambda *_: torch.tensor([0.0, 0.0, 50.0, 0.0, 0.0]).expand(20, 2, 15, 5)
    )
    assert cross_attention(model, CODEC, drawn(20, 0))["10:f"][2] == pytest.approx(1)
    handle.remove()


def test_the_lens_after_the_last_layer_is_the_network_itself(model: Seq2Seq) -> None:
    examples = drawn(200, 1)
    found = logit_lens(model, CODEC, examples)
    assert list(found) == ["embedding", "after dec-0", "after dec-1"]
    logits = activations(model, CODEC, examples, ["logits"])["logits"]
    right = logits.argmax(-1).numpy() == CODEC.encode(examples)[:, 1:]
    assert found["after dec-1"] == {"op1": right[:, 1].mean(), "op2": right[:, 7].mean()}

    operators = CODEC.arithmetic.size + np.arange(len(CODEC.letters))
    named = operators[logits[..., operators].argmax(-1).numpy()] == CODEC.encode(examples)[:, 1:]
    among = logit_lens(model, CODEC, examples, among_operators=True)
    assert among["after dec-1"] == {"op1": named[:, 1].mean(), "op2": named[:, 7].mean()}


def test_a_probe_finds_what_is_planted_and_nothing_else(model: Seq2Seq) -> None:
    """The first operator is written into the activation at b, and only there."""
    learn, judge = drawn(400, 2), drawn(300, 3)
    layer = model.get_submodule("encoder.1.normed2")

    def plant(_: object, __: object, out: torch.Tensor) -> torch.Tensor:
        ops = torch.from_numpy((learn if len(out) == 400 else judge).ops[:, 0])
        noise = torch.randn(out.shape, generator=torch.Generator().manual_seed(4))
        noise[:, 1, :5] = 3.0 * torch.nn.functional.one_hot(ops, 5)
        return noise

    handle = layer.register_forward_hook(plant)
    found = probes(model, CODEC, learn, judge)
    handle.remove()
    assert found["b"]["op1"] == 1
    others = [found[place][op] for place in "abcdu" for op in ("op1", "op2") if (place, op) != ("b", "op1")]
    assert max(others) < 0.35


def test_silencing_a_head_equals_removing_its_part_of_the_output(model: Seq2Seq) -> None:
    inputs = torch.from_numpy(drawn(10, 5).inputs)

    def fingerprint(network: Seq2Seq) -> tuple[float, float]:
        _, confidence = network.greedy(inputs, CODEC.begin, 15)
        return float(confidence.sum()), 0.0

    found = {(one.attention, one.head): one.seen for one in head_ablations(model, fingerprint)}
    assert len(found) == 1 + 3 * 2 * 2
    assert len(set(found.values())) == len(found)
    weight = model.get_submodule("decoder.1.cross.output").weight
    with torch.no_grad():
        weight[:, 4:] = 0  # the columns of head 1
    assert fingerprint(model)[0] == pytest.approx(found["dec_cross_1", 1], rel=1e-6)
