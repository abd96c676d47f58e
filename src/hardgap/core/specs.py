"""How a run is trained, as plain values; the code that reads them stands beside in this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hardgap.core.errors import BadInput
from hardgap.core.refusal import in_one_sentence

MOST_BITS = 4096


def _writable(number: int) -> int:
    if number.bit_length() > MOST_BITS:  # Python neither reads nor writes many more digits, so no file could hold it
        raise ValueError("a number of more than a thousand digits is too large")
    return number


Count = Annotated[int, Field(ge=0), AfterValidator(_writable)]


Positive = Annotated[int, Field(gt=0), AfterValidator(_writable)]


Source = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


Share = Annotated[float, Field(ge=0, le=1)]


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

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """The fields as plain values, some of them changed. A table given for a part changes what it names there.

        A part of another kind (`model`) replaces the whole part.
        """
        data = self.model_dump()
        for name, value in changes.items():
            here = getattr(self, name, None)
            if isinstance(here, Spec) and isinstance(value, dict):
                kind = getattr(here, "kind", None)
                data[name] = here.with_changes(value) if value.get("kind", kind) == kind else value
            else:
                data[name] = value
        return data


Scale = Literal["smoke", "desk", "paper"]


SCALES: tuple[Scale, ...] = get_args(Scale)


def check_scale(scale: str) -> None:
    if scale not in SCALES:
        raise BadInput(f"scale {scale!r}: choose {', '.join(SCALES)}")


AboveZero = Annotated[float, Field(gt=0)]


class Optimiser(Spec):
    """Adam as in the paper (1e-3, batch 128). Clipping and schedules are ours, and off by default."""

    learning_rate: float = Field(
        1e-3, gt=0, le=1e6, description="of Adam"
    )  # Adam cannot compute with more than 32 bits hold
    batch: Positive = Field(128, description="examples in a training step")
    clip: AboveZero | None = Field(None, description="largest gradient norm")
    schedule: Literal["constant", "linear", "cosine"] = Field("constant", description="of the learning rate")
    warmup: Count = Field(0, description="steps over which the learning rate rises from 0")
    fused: bool = Field(False, description="Adam's update as one kernel: faster for small networks, rounded otherwise")


class Budget(Spec):
    """How long to train, how often to look, and whether to stop once solved.

    Solved means that visible and holdout accuracy are both at least `solved_at`.
    """

    steps: Positive = Field(examples=[1000], description="training steps, at most")
    evaluate_every: Positive = Field(50, description="steps from one evaluation to the next")
    stop_after_solved: Positive | None = Field(None, description="stop after this many solved evaluations in a row")
    solved_at: float = Field(0.99, gt=0, le=1, description="visible and holdout accuracy of a solved evaluation")
    restart_at: Positive | None = Field(
        None, description="the step at which a network that contradicts what is visible starts again, cooler"
    )

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """In another number of steps, a restart comes as early as before."""
        data = super().with_changes(changes)
        if self.restart_at is not None and "restart_at" not in changes and isinstance(data["steps"], int):
            data["restart_at"] = self.restart_at * data["steps"] // self.steps or None
        return data

    @model_validator(mode="after")
    def _restarts_in_time(self) -> Budget:
        if self.restart_at is not None and self.restart_at >= self.steps:
            raise ValueError(f"restart_at {self.restart_at} must come before the end, at step {self.steps}")
        return self
