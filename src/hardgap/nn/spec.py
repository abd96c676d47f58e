"""Which network a run asks for, without importing one."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

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

    dim: Positive = 64
    heads: Positive = 4
    layers: Positive = 2
    ffn: Positive = 128
    stacks: ClassVar[int] = 1

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is not divisible by heads {self.heads}")
        _check_size(self.stacks * self.layers * self.dim * (4 * self.dim + 2 * self.ffn))
        return self


class EncoderSpec(_Transformer):
    """The paper's encoder (§3.4)."""

    kind: Literal["encoder"] = "encoder"
    position_std: float = Field(1.0, ge=0)
    positions: Literal["random", "waves"] = Field(
        "random",
        description="how they start: at random, or as sines and cosines around the ring, which suits wide rows",
    )


class Seq2SeqSpec(_Transformer):
    """The encoder-decoder of Experiment 2 (§4.6)."""

    kind: Literal["seq2seq"] = "seq2seq"
    layers: Positive = Field(2, description="of the encoder, and as many of the decoder")
    embedding_std: float = Field(1.0, ge=0)
    position_std: float = Field(1.0, ge=0)
    dropout: float = Field(0.0, ge=0, lt=1, description="of embeddings and of what each block adds, while training")
    stacks = 2


class ConvSpec(Spec):
    """The ceiling (§4.5): a convolution that is local by construction."""

    kind: Literal["conv"] = "conv"
    channels: Positive = 64
    layers: Positive = 2
    radius: Positive = Field(1, description="cells that the first layer sees on each side; at least the rule's")

    @model_validator(mode="after")
    def _is_no_larger_than_can_be(self) -> ConvSpec:
        _check_size(self.layers * self.channels**2 + self.channels * (2 * self.radius + 1))
        return self


class PluginSpec(Spec):
    """A user's own network: `package.module:factory`, called with the row width and `args`."""

    kind: Literal["plugin"] = "plugin"
    factory: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    args: dict[str, bool | int | float | str] = {}  # noqa: RUF012 (pydantic copies it)
    source: Source | None = Field(None, description="SHA-256 of the code, as `plugins.source_of` has it")

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Another factory has another source."""
        same = changes.get("factory", self.factory) == self.factory
        return super().with_changes(changes if same else {"source": None} | changes)


class ReferenceSpec(_Transformer):
    """A network that the suite compares with (`nn/references.py`); sizes that it has no use for are left alone."""

    kind: Literal["reference"] = "reference"
    network: Literal["relative", "rotary", "looped", "gru", "mixer", "mlp", "linear"]


ModelSpec = Annotated[EncoderSpec | ConvSpec | ReferenceSpec | PluginSpec, Field(discriminator="kind")]
