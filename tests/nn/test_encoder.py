"""The encoder against PyTorch's own, and the names of its activations."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from hardgap.nn.encoder import Encoder, activation_names, waves
from hardgap.nn.spec import EncoderSpec

OF_A_LAYER = [
    "attention.q", "attention.k", "attention.v", "attention.scores", "attention.pattern", "attention.mixed",
    "attention.out", "ffn.pre", "ffn.post", "ffn.out", "residual1", "residual2", "normed1", "normed2",
]  # fmt: skip


def torch_encoder(
    ours: Encoder, *, dim: int, heads: int, layers: int, ffn: int, dropout: float = 0.0
) -> nn.TransformerEncoder:
    """`nn.TransformerEncoder` with the weights of ours."""
    layer = nn.TransformerEncoderLayer(dim, heads, ffn, dropout=dropout, activation="relu", batch_first=True)
    theirs = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()
    names = {
        "self_attn.in_proj_": "attention.qkv.", "self_attn.out_proj.": "attention.output.",
        "linear1.": "ffn.expand.", "linear2.": "ffn.contract.", "norm1.": "norm1.", "norm2.": "norm2.",
    }  # fmt: skip
    own = ours.state_dict()
    theirs.load_state_dict(
        {
            f"layers.{i}.{their}{kind}": own[f"layers.{i}.{our}{kind}"]
            for i in range(layers)
            for their, our in names.items()
            for kind in ("weight", "bias")
        }
    )
    return theirs


def shaken(model: Encoder, seed: int) -> Encoder:
    """The model with every weight moved, so that no norm and no bias is at its neutral start."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    return model.eval()


@pytest.mark.parametrize(
    "shape",
    [
        {"dim": 64, "heads": 4, "layers": 2, "ffn": 128},
        {"dim": 8, "heads": 2, "layers": 1, "ffn": 16},
        {"dim": 12, "heads": 3, "layers": 3, "ffn": 5},
        {"dim": 6, "heads": 6, "layers": 1, "ffn": 1},
    ],
    ids=str,
)
def test_equals_the_encoder_of_torch(shape: dict[str, int]) -> None:
    width = 9
    ours = shaken(Encoder(width, **shape), 0)
    cells = torch.rand(5, width, generator=torch.Generator().manual_seed(1))
    theirs = torch_encoder(ours, **shape)
    inside = theirs(ours.embed(cells.unsqueeze(-1)) + ours.positions)
    expected = ours.readout(inside).squeeze(-1)
    torch.testing.assert_close(ours(cells), expected, atol=1e-5, rtol=0)


def test_dropout_is_that_of_torch_while_training_and_nothing_else() -> None:
    """Not the same draws: on average over many, and in how far one is from another, both are alike."""
    shape = {"dim": 8, "heads": 2, "layers": 2, "ffn": 16}
    plain, dropped = shaken(Encoder(9, **shape), 0), Encoder(9, **shape, dropout=0.3)
    dropped.load_state_dict(plain.state_dict())
    row = torch.rand(1, 9, generator=torch.Generator().manual_seed(1))
    assert torch.equal(dropped.eval()(row), plain.eval()(row))
    theirs = torch_encoder(plain, **shape, dropout=0.3).train()
    rows = row.expand(4000, 9)
    torch.manual_seed(0)
    ours = dropped.train()(rows)
    expected = plain.readout(theirs(plain.embed(rows.unsqueeze(-1)) + plain.positions)).squeeze(-1)
    assert not torch.equal(ours[0], ours[1])
    torch.testing.assert_close(ours.mean(0), expected.mean(0), atol=0.1, rtol=0)
    torch.testing.assert_close(ours.std(0), expected.std(0), atol=0.1, rtol=0.1)


def test_position_scale_and_parameter_count_are_as_documented() -> None:
    model = Encoder(101)
    assert 0.95 < float(model.positions.detach().std()) < 1.05
    assert float(Encoder(101, position_std=0.02).positions.detach().std()) < 0.03
    assert float(Encoder(5, position_std=0.0).positions.detach().abs().max()) == 0
    layers = 2 * (4 * 64 * 64 + 4 * 64 + 2 * 64 * 128 + 128 + 64 + 4 * 64)
    assert sum(p.numel() for p in model.parameters()) == 2 * 64 + 101 * 64 + layers + 64 + 1


def recorded(model: nn.Module, cells: Tensor) -> dict[str, Tensor]:
    """Every named activation of one forward pass."""
    found: dict[str, Tensor] = {}
    for name in activation_names(model):
        model.get_submodule(name).register_forward_hook(lambda _, __, out, name=name: found.update({name: out}))
    model(cells)
    return found


def test_every_activation_has_its_name_and_meaning() -> None:
    model = shaken(Encoder(7, dim=8, heads=2, layers=2, ffn=16), 2)
    names = ["embedding", *(f"layers.{i}.{name}" for i in (0, 1) for name in OF_A_LAYER), "logits"]
    assert sorted(activation_names(model)) == sorted(names)
    cells = torch.rand(3, 7, generator=torch.Generator().manual_seed(3))
    seen = recorded(model, cells)
    first = {name: seen[f"layers.0.{name}"] for name in OF_A_LAYER}
    assert first["attention.q"].shape == first["attention.v"].shape == (3, 2, 7, 4)
    torch.testing.assert_close(
        first["attention.scores"], first["attention.q"] @ first["attention.k"].transpose(-1, -2) / 2
    )
    torch.testing.assert_close(first["attention.pattern"].sum(-1), torch.ones(3, 2, 7))
    torch.testing.assert_close(first["attention.mixed"], first["attention.pattern"] @ first["attention.v"])
    torch.testing.assert_close(first["residual1"], seen["embedding"] + first["attention.out"])
    torch.testing.assert_close(first["ffn.post"], first["ffn.pre"].relu())
    torch.testing.assert_close(first["residual2"], first["normed1"] + first["ffn.out"])
    torch.testing.assert_close(seen["logits"], model.readout(seen["layers.1.normed2"]).squeeze(-1))


def test_a_hook_can_replace_an_activation() -> None:
    model = shaken(Encoder(7, dim=8, heads=2, layers=1, ffn=16), 4)
    cells = torch.rand(2, 7, generator=torch.Generator().manual_seed(5))
    before = model(cells)
    uniform = torch.full((2, 2, 7, 7), 1 / 7)
    handle = model.get_submodule("layers.0.attention.pattern").register_forward_hook(lambda *_: uniform)
    assert not torch.allclose(model(cells), before)
    handle.remove()
    assert torch.equal(model(cells), before)


@pytest.mark.parametrize(("width", "dim"), [(3, 4), (11, 64), (12, 7), (101, 64)])
def test_waves_look_the_same_from_every_cell_of_the_ring(width: int, dim: int) -> None:
    ring = waves(width, dim)
    assert ring.shape == (width, dim)
    like = ring @ ring.T
    if dim % 2 == 0:
        shifted = torch.roll(like, (1, 1), (0, 1))
        torch.testing.assert_close(like, shifted, atol=2e-3, rtol=0)
        assert ring.var().item() == pytest.approx(1, abs=0.2)
    assert len({tuple(row) for row in (ring * 1e3).round().int().tolist()}) == width, "every cell has its own"


def test_a_network_may_start_from_waves() -> None:
    start = Encoder(11, positions="waves", position_std=0.5).positions
    torch.testing.assert_close(start, 0.5 * waves(11, 64))


@pytest.mark.parametrize("std", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    ("positions", "offsets"),
    [("near", (0, 0, 0, 0)), ("spread", (-1, 0, 1, 2)), ("spread", (0, 1)), ("spread", (0,))],
)
def test_heads_begin_at_cells_near_by(positions: str, offsets: tuple[int, ...], std: float) -> None:
    """The mean over cells: each head looks most at its own, and to the side that it should."""
    torch.manual_seed(0)
    model = Encoder(101, heads=len(offsets), positions=positions, position_std=std)  # type: ignore[arg-type]
    found: list[torch.Tensor] = []
    model.get_submodule("layers.0.attention.pattern").register_forward_hook(lambda *parts: found.append(parts[2]))
    model((torch.rand(8, 101) < 0.5).float())
    for pattern_QK, offset in zip(found[0].mean(0), offsets, strict=True):
        shares = [pattern_QK.roll(-other, 1).diagonal().mean().item() for other in range(-50, 51)]
        assert shares.index(max(shares)) - 50 == offset
        assert max(shares) > 0.1


@pytest.mark.parametrize("positions", ["near", "spread"])
def test_only_the_first_queries_and_keys_begin_otherwise(positions: str) -> None:
    made = []
    for one in ("waves", positions):
        torch.manual_seed(1)
        made.append(Encoder(11, positions=one).state_dict())  # type: ignore[arg-type]
    for name, tensor in made[0].items():
        same = [torch.equal(*parts) for parts in zip(tensor.chunk(3), made[1][name].chunk(3), strict=True)]
        assert all(same) or ("layers.0.attention.qkv" in name and same == [False, False, True])


@pytest.mark.parametrize("changed", [{"position_std": 0.0}, {"dim": 5, "heads": 5}])
def test_without_positions_no_cell_is_near(changed: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="positions spread need position_std above 0, and an even dim"):
        EncoderSpec(positions="spread", **changed)  # type: ignore[arg-type]
