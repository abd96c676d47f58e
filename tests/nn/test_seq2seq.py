"""The encoder-decoder: equal to torch's, with a name for every activation, and a cache that changes nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from hardgap.nn.encoder import activation_names
from hardgap.nn.seq2seq import Seq2Seq, build_seq2seq
from hardgap.nn.spec import Seq2SeqSpec

SMALL = {"vocabulary": 11, "inputs": 4, "outputs": 7, "dim": 12, "heads": 3, "layers": 2, "ffn": 10}
PAPER = {"vocabulary": 75, "inputs": 5, "outputs": 16}


def shaken(shape: dict[str, int], seed: int = 0) -> Seq2Seq:
    """A model with every weight moved, so that no norm and no bias is at its neutral start."""
    generator = torch.Generator().manual_seed(seed)
    ends = {name: shape[name] for name in PAPER}
    model = build_seq2seq(Seq2SeqSpec(**{name: shape[name] for name in shape.keys() - ends.keys()}), **ends, seed=seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    return model.eval()


def tokens(model: Seq2Seq, batch: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = [(batch, len(model.input_positions)), (batch, len(model.output_positions) - 1)]
    first, second = (torch.randint(0, model.embed.num_embeddings, shape, generator=generator) for shape in shapes)
    return first, second


OURS_TO_TORCH = {
    "encoder_norm": "encoder.norm", "decoder_norm": "decoder.norm", "causal.qkv.": "self_attn.in_proj_",
    "causal.output": "self_attn.out_proj", "cross.qkv.": "multihead_attn.in_proj_",
    "cross.output": "multihead_attn.out_proj", "attention.qkv.": "self_attn.in_proj_",
    "attention.output": "self_attn.out_proj", "ffn.expand": "linear1", "ffn.contract": "linear2",
}  # fmt: skip


def torch_transformer(ours: Seq2Seq, shape: dict[str, int]) -> nn.Transformer:
    layers = shape.get("layers", 2)
    theirs = nn.Transformer(
        shape.get("dim", 64), shape.get("heads", 4), layers, layers, shape.get("ffn", 128), dropout=0, batch_first=True
    ).eval()
    renamed = {}
    for name, tensor in ours.state_dict().items():
        if name.startswith(("encoder", "decoder")):
            for our, their in OURS_TO_TORCH.items():
                name = name.replace(our, their)
            stack, _, rest = name.partition(".")
            renamed[name if rest.startswith("norm") else f"{stack}.layers.{rest}"] = tensor
    theirs.load_state_dict(renamed)
    return theirs


@pytest.mark.parametrize("shape", [PAPER, SMALL, SMALL | {"layers": 1, "heads": 1}], ids=["paper", "small", "one"])
@pytest.mark.filterwarnings("ignore:.*nested_tensor.*")
def test_equals_the_transformer_of_torch(shape: dict[str, int]) -> None:
    ours = shaken(shape)
    inputs, outputs = tokens(ours, 5)
    theirs = torch_transformer(ours, shape)
    mask = nn.Transformer.generate_square_subsequent_mask(outputs.shape[1])
    inside = theirs(
        ours.embed(inputs) + ours.input_positions,
        ours.embed(outputs) + ours.output_positions[: outputs.shape[1]],
        tgt_mask=mask,
        tgt_is_causal=True,
    )
    torch.testing.assert_close(ours(inputs, outputs), ours.readout(inside), atol=1e-5, rtol=0)


def uncached(model: Seq2Seq, inputs: Tensor, begin: int, steps: int) -> tuple[Tensor, Tensor]:
    """The loop that the cache replaces: everything again for every token."""
    found, confidence = torch.full_like(inputs[:, :1], begin), []
    for _ in range(steps):
        best = model(inputs, found)[:, -1:].softmax(-1).max(-1)
        found = torch.cat([found, best.indices], dim=1)
        confidence.append(best.values)
    return found[:, 1:], torch.cat(confidence, dim=1)


@pytest.mark.parametrize("shape", [PAPER, SMALL], ids=["paper", "small"])
def test_cached_decoding_equals_the_loop_without_cache(shape: dict[str, int]) -> None:
    model = shaken(shape, seed=2)
    inputs, outputs = tokens(model, 40)
    with torch.no_grad():
        expected, probability = uncached(model, inputs, 0, outputs.shape[1])
    found, confidence = model.greedy(inputs, 0, outputs.shape[1])
    assert len(expected.unique(dim=0)) > 4  # it would be easy to agree on a constant
    assert torch.equal(found, expected)
    torch.testing.assert_close(confidence, probability, atol=1e-5, rtol=0)
    alone, _ = model.greedy(inputs[7:8], 0, outputs.shape[1])
    assert torch.equal(alone, expected[7:8])


def test_a_token_never_sees_what_comes_after_it() -> None:
    model = shaken(SMALL)
    inputs, outputs = tokens(model, 3)
    changed = outputs.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % 11
    before, after = model(inputs, outputs), model(inputs, changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_a_hook_reaches_cached_decoding_too() -> None:
    """Silencing a cross-attention head changes what is decoded, equally with and without cache."""
    model = shaken(SMALL, seed=3)
    inputs, _ = tokens(model, 30)
    before, _ = model.greedy(inputs, 0, 6)

    def silence(_: nn.Module, __: object, mixed_BHQE: Tensor) -> Tensor:
        return mixed_BHQE * torch.tensor([0.0, 1.0, 1.0])[:, None, None]

    handle = model.get_submodule("decoder.0.cross.mixed").register_forward_hook(silence)
    after, _ = model.greedy(inputs, 0, 6)
    with torch.no_grad():
        assert torch.equal(after, uncached(model, inputs, 0, 6)[0])
    assert not torch.equal(after, before)
    handle.remove()
    assert torch.equal(model.greedy(inputs, 0, 6)[0], before)


def test_every_activation_is_named_and_used() -> None:
    model = shaken(SMALL)
    seen: dict[str, Tensor] = {}
    for name in activation_names(model):
        model.get_submodule(name).register_forward_hook(lambda _, __, out, name=name: seen.update({name: out}))
    inputs, outputs = tokens(model, 2)
    logits = model(inputs, outputs)
    assert sorted(seen) == sorted(activation_names(model))
    assert seen["decoder.1.cross.pattern"].shape == (2, 3, 6, 4)
    assert not seen["decoder.0.causal.pattern"].triu(1).any()
    torch.testing.assert_close(seen["decoder.0.cross.pattern"].sum(-1), torch.ones(2, 3, 6))
    torch.testing.assert_close(seen["decoder.0.residual2"], seen["decoder.0.normed1"] + seen["decoder.0.cross.out"])
    torch.testing.assert_close(logits, model.readout(seen["final"]))


def test_parameter_count_and_seed() -> None:
    model = build_seq2seq(Seq2SeqSpec(), **PAPER, seed=4)
    assert sum(p.numel() for p in model.parameters()) == 178_699
    again, other = (build_seq2seq(Seq2SeqSpec(), **PAPER, seed=seed).state_dict() for seed in (4, 5))
    assert all(torch.equal(again[name], tensor) for name, tensor in model.state_dict().items())
    assert not torch.equal(again["embed.weight"], other["embed.weight"])
    with pytest.raises(ValueError, match="dim 10 is not divisible by heads 4"):
        Seq2SeqSpec(dim=10)


def test_dropout_is_of_training_alone() -> None:
    plain = build_seq2seq(Seq2SeqSpec(), **PAPER, seed=0)
    model = build_seq2seq(Seq2SeqSpec(dropout=0.3), **PAPER, seed=0)
    inputs, outputs = tokens(model, 3)
    torch.manual_seed(0)
    assert not torch.equal(model(inputs, outputs), model(inputs, outputs)), "drawn anew every time"
    assert torch.equal(plain(inputs, outputs), model.eval()(inputs, outputs))
