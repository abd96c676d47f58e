"""The training regime of Experiment 1 (paper §1, §3.4) as plain values: what is fed back, how hot, and in words."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hardgap.core.specs import AboveZero, Count, Positive, Source, Spec

ROLLOUT_STEPS = 4
"""Scores look at least this many free-running steps ahead (the paper unrolls 4)."""


class Temperature(Spec):
    """T in the feedback `sigmoid(logit / T)`: from `start` to `end` over the first `over` steps.

    T = 1 throughout is the paper's soft unrolling. `step`: all at once, at step `over`.
    `random`: drawn anew for every row and timestep, log-uniformly between `start` and `end`.
    `learned`: T begins at `start` and is trained with the weights, as a parameter of the network.
    """

    start: AboveZero = Field(1.0, description="T at step 0")
    end: AboveZero = Field(1.0, description="T from step `over` on")
    over: Count = Field(0, description="steps that T takes from start to end")
    shape: Literal["linear", "cosine", "step", "random", "learned"] = Field(
        "linear",
        description="how T goes from start to end; `random` draws it between them for every row and timestep, "
        "`learned` trains it with the weights",
    )

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


class OwnFunction(Spec):
    """A user's own part of the regime, `package.module:function`."""

    function: str = Field(
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", description="where it is found, package.module:function"
    )
    source: Source | None = Field(None, description="SHA-256 of the code, as `plugins.source_of` has it")

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: object) -> object:
        return {"function": given} if isinstance(given, str) else given


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
    own: OwnFunction | None = Field(
        None, description="your own package.module:function of logits and T, instead of sigmoid(logit / T)"
    )
    own_loss: OwnFunction | None = Field(
        None,
        description="your own package.module:function of logits, targets (0 where hidden) and which cells are visible, "
        "instead of cross-entropy; each is [steps, rows, width]",
    )
    noise: float = Field(0.0, ge=0, le=100, description="standard deviation of what is added to a logit fed back")

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Feedback of another kind leaves behind what belongs to the kind before, unless that is said as well."""
        data = super().with_changes(changes)
        if data["feedback"] != self.feedback:
            left = {"temperature"} if data["feedback"] == "hard" else {"steps"} if self.feedback == "none" else set()
            left = set(data) - {"feedback", "own_loss"} if data["feedback"] == "none" else left
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
        if self.own is not None and (self.feedback != "soft" or self.backward is not None):
            raise ValueError("feedback of one's own takes the place of soft feedback: leave out backward")
        if self.feedback == "none" and (self.backward is not None or self.noise or self.rounded or self.cells != "all"):
            raise ValueError("without unrolling nothing is fed back: leave out backward, noise, rounded and cells")
        if self.weights is not None and (len(self.weights) != self.steps or not any(self.weights)):
            raise ValueError(f"weights must be {self.steps} numbers, one a step, not all 0")
        if self.weights is not None and self.own_loss is not None:
            raise ValueError("a loss of one's own weighs the steps by itself: leave out weights")
        return self

    @property
    def own_functions(self) -> dict[str, OwnFunction]:
        """The fields that a user's own code fills."""
        given = {"own": self.own, "own_loss": self.own_loss}
        return {name: function for name, function in given.items() if function is not None}


def temperature_at(spec: Temperature, step: int) -> float:
    """T at this step: `start` at step 0, `end` from step `over` on. Where T is learned or drawn, `start`."""
    if spec.shape in ("learned", "random"):
        return spec.start
    if step >= spec.over:
        return spec.end
    if spec.shape == "step":
        return spec.start
    done = step / spec.over
    if spec.shape == "cosine":
        done = (1 - math.cos(math.pi * done)) / 2
    return spec.start + (spec.end - spec.start) * done


def regime_in_words(unrolling: Unrolling) -> str:
    """What is fed back, and how.

    >>> regime_in_words(Unrolling(temperature=Temperature(start=4.0, over=400), noise=0.5))
    'soft×4, T=4→1 over 400, noise 0.5'
    """
    none = unrolling.feedback == "none"
    said = ["none" if none else f"{unrolling.feedback}×{unrolling.steps}"]
    for name, does in (("own", "fed back by"), ("own_loss", "loss by")):
        if (own := unrolling.own_functions.get(name)) is not None:
            said.append(f"{does} {own.function} {(own.source or '')[:6]}".strip())
    if unrolling.temperature != Temperature():
        said.append(_temperature(unrolling.temperature))
    if unrolling.cells != "all":
        said.append(f"T on {unrolling.cells} cells")
    if unrolling.backward is not None:
        as_if = unrolling.backward if isinstance(unrolling.backward, str) else f"T={unrolling.backward:g}"
        said.append(f"gradient {as_if}")
    if unrolling.rounded:
        said.append(f"rounded {unrolling.rounded:g}")
    if unrolling.noise:
        said.append(f"noise {unrolling.noise:g}")
    if unrolling.weights is not None:
        said.append(f"weights {':'.join(f'{weight:g}' for weight in unrolling.weights)}")
    return ", ".join(said)


def _temperature(course: Temperature) -> str:
    if course.shape == "learned":
        return f"T={course.start:g} learned"
    if course.shape == "random":
        return f"T={course.start:g} to {course.end:g} at random"
    if course.start == course.end:
        return f"T={course.start:g}"
    if course.shape == "step":
        return f"T={course.start:g}→{course.end:g} at {course.over}"
    bent = "" if course.shape == "linear" else f" ({course.shape})"
    return f"T={course.start:g}→{course.end:g} over {course.over}{bent}"
