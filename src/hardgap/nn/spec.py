"""Which network a run asks for, without importing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hardgap.nn.refusal import in_one_sentence

MOST_BITS = 4096
MOST_WEIGHTS = 2**28
"""A network larger than this (1 GiB) is refused before it is built."""


def _writable(number: int) -> int:
    if number.bit_length() > MOST_BITS:  # Python neither reads nor writes many more digits, so no file could hold it
        raise ValueError("a number of more than a thousand digits is too large")
    return number


def _check_size(weights: int) -> None:
    """Refuse a network with more than about so many weights."""
    if weights > MOST_WEIGHTS:
        raise ValueError(f"a network of this size has more than the {MOST_WEIGHTS:,} weights that are allowed")


Count = Annotated[int, Field(ge=0), AfterValidator(_writable)]
Positive = Annotated[int, Field(gt=0), AfterValidator(_writable)]
Source = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Spec(BaseModel):
    """Frozen, strict about names, and refuses NaN: what all parts of a config have in common.

    What does not fit is refused as `BadInput`, in one sentence that names the place.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

    if not TYPE_CHECKING:  # for type checkers, each spec has the constructor that its fields make

        def __init__(self, **data: Any) -> None:
            with in_one_sentence(type(self)):
                super().__init__(**data)

        # Inside another spec pydantic goes on validating by itself, so that the whole path to a problem is known.
        __init__.__pydantic_base_init__ = True

    @classmethod
    def model_validate(cls, *args: Any, **kwargs: Any) -> Self:
        with in_one_sentence(cls):
            return super().model_validate(*args, **kwargs)


class EncoderSpec(Spec):
    """The paper's encoder (§3.4): 64 dimensions, 4 heads, 2 layers, 128 hidden units."""

    kind: Literal["encoder"] = "encoder"
    dim: Positive = 64
    heads: Positive = 4
    layers: Positive = 2
    ffn: Positive = 128
    position_std: float = Field(1.0, ge=0)
    positions: Literal["random", "waves"] = Field(
        "random", description="how they start: drawn from a normal distribution, or sines and cosines around the ring"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> EncoderSpec:
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is not divisible by heads {self.heads}")
        _check_size(self.layers * self.dim * (4 * self.dim + 2 * self.ffn))
        return self


class Seq2SeqSpec(Spec):
    """The encoder-decoder of Experiment 2 (§4.6): 2+2 layers, 4 heads, 64 dimensions, 128 hidden units."""

    kind: Literal["seq2seq"] = "seq2seq"
    dim: Positive = 64
    heads: Positive = 4
    layers: Positive = Field(2, description="of the encoder, and as many of the decoder")
    ffn: Positive = 128
    embedding_std: float = Field(1.0, ge=0)
    position_std: float = Field(1.0, ge=0)
    dropout: float = Field(0.0, ge=0, lt=1, description="of embeddings and of what each block adds, while training")

    @model_validator(mode="after")
    def _fits_together(self) -> Seq2SeqSpec:
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is not divisible by heads {self.heads}")
        _check_size(2 * self.layers * self.dim * (4 * self.dim + 2 * self.ffn))
        return self


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
    args: dict[str, bool | int | float | str] = {}
    source: Source | None = Field(None, description="SHA-256 of the code, as `plugins.source_of` has it")


ModelSpec = Annotated[EncoderSpec | ConvSpec | PluginSpec, Field(discriminator="kind")]
