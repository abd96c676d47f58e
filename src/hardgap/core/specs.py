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
ROLLOUT_STEPS = 4
"""Scores look at least this many free-running steps ahead (the paper unrolls 4)."""


class Temperature(Spec):
    """T in the feedback `sigmoid(logit / T)`: from `start` to `end` over the first `over` steps.

    T = 1 throughout is the paper's soft unrolling. `step`: all at once, at step `over`.
    `random`: drawn anew for every row and timestep, log-uniformly between `start` and `end`.
    `learned`: T begins at `start` and is trained with the weights, as a parameter of the network.
    """

    start: AboveZero = 1.0
    end: AboveZero = 1.0
    over: Count = 0
    shape: Literal["linear", "cosine", "step", "random", "learned"] = "linear"

    def halved(self, times: int) -> Temperature:
        """The same course, cooler."""
        factor = 0.5**times
        return self.model_copy(update={"start": self.start * factor, "end": self.end * factor}) if times else self

    @model_validator(mode="after")
    def _needs_time_to_change(self) -> Temperature:
        if self.shape == "learned":
            if self.over or self.end not in (1.0, self.start):
                raise ValueError("a learned temperature has a start and nothing else: training finds the rest")
            return self
        if self.shape == "random":
            if self.over:
                raise ValueError("a random temperature is drawn from the same range throughout: leave `over` at 0")
            return self
        if self.start != self.end and not self.over:
            raise ValueError(f"a temperature from {self.start} to {self.end} needs `over` > 0 steps")
        return self


class Unrolling(Spec):
    """The regime (paper §1, §3.4): what the network is fed after its own first prediction.

    soft: its probabilities. hard: its rounded predictions, gradients passing straight through.
    none: nothing, it predicts a single step.
    """

    feedback: Literal["soft", "hard", "none"] = Field("soft", description="what is fed back")
    steps: Positive = Field(4, description="unrolled timesteps")
    temperature: Temperature = Field(Temperature(), description="T in sigmoid(logit / T), which soft feedback passes")
    weights: tuple[Annotated[float, Field(ge=0)], ...] | None = Field(
        None, description="loss weight of each unrolled step; equal if not given"
    )
    cells: Literal["all", "hidden", "visible"] = Field(
        "all", description="the cells whose feedback is tempered; the others are fed back at T = 1"
    )
    backward: AboveZero | Literal["identity"] | None = Field(
        None, description="straight-through: gradients as if T were this, or as if nothing bent the logit"
    )
    rounded: float = Field(
        0.0, ge=0, le=1, description="chance of a cell to be fed back rounded, its gradient as if it were not"
    )
    noise: float = Field(0.0, ge=0, le=100, description="standard deviation of what is added to a logit fed back")

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Feedback of another kind leaves behind what belongs to the kind before, unless that is said as well."""
        data = super().with_changes(changes)
        if data["feedback"] != self.feedback:
            left = {"temperature"} if data["feedback"] == "hard" else {"steps"} if self.feedback == "none" else set()
            left = set(data) - {"feedback"} if data["feedback"] == "none" else left
            data = {name: value for name, value in data.items() if name not in left or name in changes}
        return data

    @model_validator(mode="before")
    @classmethod
    def _none_is_one_step(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("feedback") == "none" and "steps" not in data:
            return data | {"steps": 1}
        return data

    @model_validator(mode="after")
    def _parts_agree(self) -> Unrolling:
        if self.feedback == "none" and self.steps != 1:
            raise ValueError(f"without unrolling there is one step, not {self.steps}")
        if self.feedback != "soft" and self.temperature != Temperature():
            raise ValueError(f"a temperature belongs to soft feedback, not to {self.feedback}")
        if self.feedback == "none" and (self.backward is not None or self.noise or self.rounded or self.cells != "all"):
            raise ValueError("without unrolling nothing is fed back: leave out backward, noise, rounded and cells")
        if self.weights is not None and (len(self.weights) != self.steps or not any(self.weights)):
            raise ValueError(f"weights must be {self.steps} numbers, one a step, not all 0")
        return self


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
    solved_at: float = Field(0.99, gt=0, le=1)
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
