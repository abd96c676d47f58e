"""The native engine computes what the encoder-decoder computes: its loss, gradients, logits and greedy answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from hardgap.nn.native import engine
from hardgap.nn.seq2seq import Seq2Seq, build_seq2seq
from hardgap.nn.spec import Seq2SeqSpec

pytestmark = pytest.mark.usefixtures("one_thread")
PAPER = {"vocabulary": 75, "inputs": 5, "outputs": 16}
SMALL = {"vocabulary": 11, "inputs": 4, "outputs": 7, "dim": 12, "heads": 3, "layers": 2, "ffn": 10}


def made(seed: int, *, vocabulary: int, inputs: int, outputs: int, **sizes: int) -> Seq2Seq:
    """Random, with no weight at its neutral start and no hidden unit near 0, where rounding would decide."""
    model = build_seq2seq(Seq2SeqSpec(**sizes), vocabulary=vocabulary, inputs=inputs, outputs=outputs, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
            if name.endswith("expand.bias"):
                parameter += 4 * torch.randn(parameter.shape, generator=generator).sign()
    return model


def tokens(model: Seq2Seq, rows: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs, and sequences of so many tokens."""
    generator = torch.Generator().manual_seed(seed)
    shapes = (rows, len(model.input_positions)), (rows, length)
    first, second = (torch.randint(0, model.embed.num_embeddings, shape, generator=generator) for shape in shapes)
    return first, second


def loss_of(model: Seq2Seq, inputs: Tensor, sequences: Tensor) -> Tensor:
    """The mean cross-entropy by whichever engine is in use."""
    found = model.native_loss(inputs, sequences)
    if found is None:
        logits = model(inputs, sequences[:, :-1])
        found = F.cross_entropy(logits.flatten(0, 1), sequences[:, 1:].flatten())
    return found


def answer(model: Seq2Seq, inputs: Tensor, sequences: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits with the loss behind them, and the gradients of the loss by name."""
    loss, named = loss_of(model, inputs, sequences), dict(model.named_parameters())
    found = torch.autograd.grad(loss, list(named.values()))
    with torch.no_grad():
        logits = model(inputs, sequences[:, :-1])
    return torch.cat([logits.flatten(), loss.detach()[None]]), dict(zip(named, found, strict=True))


def assert_same_answers(model: Seq2Seq, inputs: Tensor, steps: int) -> None:
    """Greedy answers are eager's; where not, eager itself was as good as undecided at the first difference."""
    begin = model.embed.num_embeddings - 1
    found, confidence = model.greedy(inputs, begin, steps)
    with engine.using("eager"), torch.no_grad():
        expected, of_eager = model.greedy(inputs, begin, steps)
        before = torch.cat([torch.full_like(inputs[:, :1], begin), expected[:, :-1]], 1)
        first, second = model(inputs, before).topk(min(2, begin + 1), -1).values.unbind(-1)
    decided = ((first - second) > 1e-4).cumprod(1).bool()
    assert decided.any()
    assert torch.equal(found[decided], expected[decided])
    torch.testing.assert_close(confidence[decided], of_eager[decided], atol=1e-5, rtol=1e-4)


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, int]:
    # Not two dimensions: normalised they are -1 and 1, whatever they were, and gradients are what rounding leaves.
    heads, of_a_head = draw(st.sampled_from([(1, 3), (2, 3), (2, 8), (4, 16), (3, 20), (2, 32)]))
    inputs, outputs = draw(st.tuples(st.sampled_from([1, 4, 5, 16, 17, 66]), st.sampled_from([2, 4, 16, 17, 66])))
    sizes = {"dim": heads * of_a_head, "heads": heads, "ffn": draw(st.integers(1, 130))}
    ends = {"vocabulary": draw(st.integers(2, 140)), "inputs": inputs, "outputs": outputs}
    return ends | sizes | {"layers": draw(st.integers(1, 3))}


@settings(max_examples=5)
@given(shape=shapes(), rows=st.integers(1, 40), short=st.integers(0, 3), seed=st.integers(0, 1000))
def test_loss_logits_and_gradients_are_those_of_float64_and_answers_those_of_eager(
    build: str, assert_as_exact: Callable[..., None], shape: dict[str, int], rows: int, short: int, seed: int
) -> None:
    model = made(seed, **shape)
    length = max(2, shape["outputs"] + 1 - short)
    long = max(shape["inputs"], shape["outputs"]) > 32
    inputs, sequences = tokens(model, min(rows, 2) if long else rows, length, seed)
    assert_as_exact(model, lambda network: answer(network, inputs, sequences))
    assert_same_answers(model, inputs, length - 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_fewest_dimensions_give_the_loss_and_logits_of_float64(build: str, seed: int) -> None:
    """Gradients are another matter: normalised, two numbers are -1 and 1, whatever they were."""
    model = made(seed, **PAPER, dim=2, heads=1, layers=2, ffn=3)
    inputs, sequences = tokens(model, 9, 16, seed)
    found = loss_of(model, inputs, sequences)
    assert "_Loss" in str(found.grad_fn)
    with torch.no_grad():
        logits, exact = model(inputs, sequences[:, :-1]), model.double()
        torch.testing.assert_close(logits.double(), exact(inputs, sequences[:, :-1]), atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(found.detach().double(), loss_of(exact, inputs, sequences), atol=1e-5, rtol=1e-5)


def test_it_is_the_native_engine_that_answers(build: str) -> None:
    model = made(0, **PAPER)
    inputs, sequences = tokens(model, 3, 16)
    assert "_Loss" in str(loss_of(model, inputs, sequences).grad_fn)
    model.decode = None  # type: ignore[assignment]
    with pytest.raises(TypeError):
        model.greedy(inputs, 0, 3)
    del model.decode
    assert model(inputs, sequences[:, 1:]).requires_grad, "with a gradient, logits are left to PyTorch"


def test_gradients_are_finite_differences(build: str) -> None:
    model = made(8, **PAPER)
    inputs, sequences = tokens(model, 9, 16)
    _, gradients = answer(model, inputs, sequences)
    length = sum(float(gradient.square().sum()) for gradient in gradients.values()) ** 0.5

    def moved(by: float) -> float:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter += by * gradients[name] / length
        return float(loss_of(model, inputs, sequences).detach())

    assert (moved(5e-3) - moved(-1e-2)) / 1e-2 == pytest.approx(length, rel=2e-2)


def test_a_token_sees_not_one_bit_of_what_comes_after_it(build: str) -> None:
    model = made(3, **SMALL)
    inputs, outputs = tokens(model, 9, 7)
    changed = outputs.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % 11
    with torch.no_grad():
        before, after = model(inputs, outputs), model(inputs, changed)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.equal(before[:, 4:], after[:, 4:])


def test_a_trained_network_answers_as_in_eager(build: str) -> None:
    """It learns to write its three inputs backwards."""
    model = made(5, vocabulary=8, inputs=3, outputs=4, dim=16, heads=2, layers=1, ffn=32)
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        inputs = torch.randint(0, 7, (64, 3), generator=generator)
        adam.zero_grad()
        loss_of(model, inputs, torch.cat([torch.full((64, 1), 7), inputs.flip(1)], 1)).backward()
        adam.step()
    inputs = torch.cartesian_prod(*[torch.arange(7)] * 3)
    found, confidence = model.greedy(inputs, 7, 3)
    assert torch.equal(found, inputs.flip(1))
    with engine.using("eager"):
        expected, of_eager = model.greedy(inputs, 7, 3)
    assert torch.equal(found, expected)
    torch.testing.assert_close(confidence, of_eager, atol=1e-5, rtol=0)
    assert model.confirm(inputs, 7, found)[2].all()


WEIGHTS: dict[str, Callable[[Seq2Seq], Any]] = {
    "huge logits": lambda m: m.readout.weight.mul_(1e6),
    "an infinite logit": lambda m: m.readout.bias[3].fill_(torch.inf),
    "a logit that is NaN": lambda m: m.readout.bias[3].fill_(torch.nan),
    "NaN inside": lambda m: m.decoder[0].cross.qkv.weight[0, 0].fill_(torch.nan),
    "NaN in the encoder": lambda m: m.encoder[0].ffn.expand.weight[0].fill_(torch.nan),
    "certain attention": lambda m: m.decoder[0].causal.qkv.weight.mul_(100),
    "vanishing": lambda m: [parameter.mul_(1e-20) for parameter in m.parameters()],
}


@pytest.mark.parametrize("weights", WEIGHTS)
def test_extreme_weights_do_as_in_eager(build: str, weights: str) -> None:
    model = made(4, **SMALL)
    with torch.no_grad():
        WEIGHTS[weights](model)
    inputs, sequences = tokens(model, 13, 8)
    found, gradients = answer(model, inputs, sequences)
    answers = model.greedy(inputs, 0, 7)
    with engine.using("eager"):
        expected, of_eager = answer(model, inputs, sequences)
        of_eager_answers = model.greedy(inputs, 0, 7)
    assert torch.equal(found.isfinite(), expected.isfinite())
    finite = expected.isfinite()
    scale = max(1.0, float(expected[finite].abs().max())) if finite.any() else 1.0
    torch.testing.assert_close(found[finite], expected[finite], atol=1e-5 * scale, rtol=1e-4)
    for name, gradient in of_eager.items():
        assert torch.equal(gradients[name].isfinite(), gradient.isfinite()), name
    if weights != "vanishing":  # there all tokens are equally likely but for rounding
        assert torch.equal(answers[0], of_eager_answers[0])
    torch.testing.assert_close(answers[1], of_eager_answers[1], atol=1e-5, rtol=1e-4, equal_nan=True)


@pytest.fixture
def model() -> Iterator[Seq2Seq]:
    if not engine.state_of(None).startswith("ready"):
        pytest.skip(engine.state_of(None))
    with engine.using("native"):
        yield made(0, **SMALL)


CHANGES: dict[str, Callable[[Seq2Seq], Any]] = {
    "a hook": lambda m: m.decoder[0].cross.pattern.register_forward_hook(lambda *_: None),
    "a hook on the way back": lambda m: m.encoder[1].register_full_backward_hook(lambda *_: None),
    "a part replaced": lambda m: setattr(m, "final", nn.Tanh()),
    "a method replaced": lambda m: setattr(m, "encode", m.encode),
    "dropout": lambda m: setattr(m.decoder[1].drop, "p", 0.1),
    "an embedding that is not trained": lambda m: setattr(m.embed, "padding_idx", 0),
    "another scale": lambda m: setattr(m.decoder[1].cross, "scale", 1.0),
    "other heads": lambda m: setattr(m.decoder[1].causal, "heads", 4),
    "another epsilon": lambda m: setattr(m.encoder_norm, "eps", 1e-3),
    "another linear map": lambda m: setattr(m, "readout", nn.Linear(12, 11, bias=False)),
    "a layer less": lambda m: m.decoder.pop(1),
    "no layers": lambda m: (m.decoder.pop(1), m.decoder.pop(0), m.encoder.pop(1), m.encoder.pop(0)),
    "double": lambda m: m.double(),
    "on no device": lambda m: m.to("meta"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_network_is_left_to_pytorch(model: Seq2Seq, change: str) -> None:
    assert model.native_network() is not None
    CHANGES[change](model)
    assert model.native_network() is None


def test_a_hook_on_the_whole_network_sees_every_loss(model: Seq2Seq) -> None:
    model.register_forward_hook(lambda *_: None)
    assert model.native_loss(*tokens(model, 2, 5)) is None


@pytest.mark.parametrize("token", [-1, 11])
def test_what_is_no_token_is_refused_by_pytorch(model: Seq2Seq, token: int) -> None:
    inputs, sequences = tokens(model, 2, 7)
    inputs[1, 2] = token
    assert model.native_loss(inputs, sequences) is None
    with pytest.raises(IndexError):
        model.greedy(inputs, 0, 3)
    with pytest.raises(IndexError), torch.no_grad():
        model(inputs, sequences)
    with pytest.raises((IndexError, RuntimeError)):
        model.greedy(tokens(model, 2, 7)[0], 0, 8)  # there are seven places
