"""Which network a run asks for, without importing one."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from hardgap.core.specs import Positive, Source, Spec

MOST_WEIGHTS = 2**28
"""A network larger than this (1 GiB) is refused before it is built."""


def _check_size(weights: int) -> None:
    """Refuse a network with more than about so many weights."""
    if weights > MOST_WEIGHTS:
        raise ValueError(f"a network of this size has more than the {MOST_WEIGHTS:,} weights that are allowed")


class _Transformer(Spec):
    """The paper's sizes (§3.4, §4.6): 64 dimensions, 4 heads, 2 layers, 128 hidden units."""

    dim: Positive = Field(64, description="numbers in the state of a cell or token; divisible by the heads")
    heads: Positive = Field(4, description="attention heads of each layer")
    layers: Positive = Field(2, description="blocks of attention and feed-forward")
    ffn: Positive = Field(128, description="hidden units of each feed-forward part")
    stacks: ClassVar[int] = 1

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is not divisible by heads {self.heads}")
        _check_size(self.stacks * self.layers * self.dim * (4 * self.dim + 2 * self.ffn))
        return self


class EncoderSpec(_Transformer):
    """The paper's encoder (§3.4)."""

    kind: Literal["encoder"] = Field("encoder", description="the paper's network")
    position_std: float = Field(1.0, ge=0, description="standard deviation with which positions start")
    positions: Literal["random", "waves", "near", "spread"] = Field(
        "random",
        description="how they start: at random, or as sines and cosines around the ring, which suits wide rows; `near` "
        "and `spread` are such waves, with first attention that begins at the cell itself, or each head at a neighbour",
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="while training, as `nn.TransformerEncoderLayer` has it")

    @model_validator(mode="after")
    def _near_what(self) -> Self:
        if self.positions in ("near", "spread") and (not self.position_std or self.dim % 2):
            raise ValueError(f"positions {self.positions} need position_std above 0, and an even dim")
        return self


class Seq2SeqSpec(_Transformer):
    """The encoder-decoder of Experiment 2 (§4.6)."""

    kind: Literal["seq2seq"] = Field("seq2seq", description="the paper's encoder-decoder")
    layers: Positive = Field(2, description="of the encoder, and as many of the decoder")
    embedding_std: float = Field(1.0, ge=0, description="standard deviation with which tokens' embeddings start")
    position_std: float = Field(1.0, ge=0, description="standard deviation with which positions start")
    dropout: float = Field(0.0, ge=0, lt=1, description="of embeddings and of what each block adds, while training")
    stacks = 2


class ConvSpec(Spec):
    """The ceiling (§4.5): a convolution that is local by construction."""

    kind: Literal["conv"] = Field("conv", description="a convolution in the encoder's place")
    channels: Positive = Field(64, description="of each layer")
    layers: Positive = Field(2, description="the first sees the neighbours, the others the cell alone")
    radius: Positive = Field(1, description="cells that the first layer sees on each side; at least the rule's")

    @model_validator(mode="after")
    def _is_no_larger_than_can_be(self) -> ConvSpec:
        _check_size(self.layers * self.channels**2 + self.channels * (2 * self.radius + 1))
        return self


class PluginSpec(Spec):
    """A user's own network: `package.module:factory`, called with the row width and `args`."""

    kind: Literal["plugin"] = Field("plugin", description="a network of your own")
    factory: str = Field(
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="what makes it, package.module:name, called with the width",
    )
    args: dict[str, bool | int | float | str] = Field({}, description="named arguments that the factory is given, too")
    source: Source | None = Field(None, description="SHA-256 of the code, as `plugins.source_of` has it")

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Another factory has another source."""
        same = changes.get("factory", self.factory) == self.factory
        return super().with_changes(changes if same else {"source": None} | changes)


class ReferenceSpec(_Transformer):
    """A network that the suite compares with (`nn/references.py`); sizes that it has no use for are left alone."""

    kind: Literal["reference"] = Field("reference", description="a network that the suite compares with")
    network: Literal["relative", "rotary", "looped", "gru", "mixer", "mlp", "linear"] = Field(
        description="which of them"
    )


ModelSpec = Annotated[EncoderSpec | ConvSpec | ReferenceSpec | PluginSpec, Field(discriminator="kind")]

KINDS: tuple[str, ...] = tuple(one.model_fields["kind"].default for one in get_args(get_args(ModelSpec)[0]))

TOLD_BY = {"factory": "plugin", "network": "reference"}
"""Fields that only one kind of network has, so that a table with one of them need not name its kind."""


def with_kind(table: dict[str, Any]) -> dict[str, Any]:
    """A table of a network's fields with its kind, if they tell it.

    >>> with_kind({"factory": "nets:make"})["kind"], with_kind({"layers": 3})
    ('plugin', {'layers': 3})
    """
    told = next((kind for field, kind in TOLD_BY.items() if field in table), None)
    return table if told is None else {"kind": told} | table
