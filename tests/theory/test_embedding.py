"""Fixed-position embeddings are a Hamming cube: before training, after training, and when it is spoilt."""

from __future__ import annotations

import pytest
import torch

from hardgap.core.errors import BadInput
from hardgap.nn.build import build_model
from hardgap.nn.encoder import Encoder
from hardgap.nn.spec import EncoderSpec
from hardgap.theory.cube import LabelFamily
from hardgap.theory.embedding import corollary, embedding_of, geometry, proposition


def encoder(seed: int = 0) -> Encoder:
    model = build_model(EncoderSpec(dim=16, ffn=16), width=9, seed=seed)
    assert isinstance(model, Encoder)
    return model


def trained() -> Encoder:
    model = encoder(seed=1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    rows = torch.randint(0, 2, (32, 9), generator=torch.Generator().manual_seed(0)).float()
    for _ in range(30):
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(rows), rows.roll(1, -1)).backward()
        optimiser.step()
    return model


@pytest.mark.parametrize("make", [encoder, trained])
def test_holds_trained_or_not(make) -> None:  # type: ignore[no-untyped-def]
    model = make()
    assert proposition(model, name="test").holds
    assert corollary(model, name="test").holds
    assert geometry(model).deviation < 1e-6
    assert geometry(model, radius=2).deviation < 1e-6


def test_fails_for_other_labels(falsified: LabelFamily) -> None:
    assert not corollary(encoder(), name="test", labels=falsified(3)).holds


def test_fails_when_bit_and_position_are_not_simply_added() -> None:
    model = encoder()
    with torch.no_grad():
        model.positions[4] *= 1e9  # the bit drowns in the rounding of the position
    assert not proposition(model, name="test").holds


def test_fails_when_the_bit_is_ignored() -> None:
    model = encoder()
    with torch.no_grad():
        model.embed.weight.zero_()
    assert not proposition(model, name="test").holds


def test_reads_the_embedding_of_any_encoder_file() -> None:
    model = encoder()
    assert geometry(embedding_of(dict(model.state_dict()))) == geometry(model)
    with pytest.raises(BadInput, match="no positions"):
        embedding_of({"embed.weight": torch.zeros(4, 1), "embed.bias": torch.zeros(4)})
