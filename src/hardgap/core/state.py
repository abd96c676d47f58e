"""What stands beside the tensors of a state, typed: nothing is gone on from that does not fit together."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hardgap.core.specs import Budget

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Strict(BaseModel):
    """Types as written: no text for a number, no NaN, no name that is not known."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Evaluation(Strict):
    """One point of the curve."""

    step: Count
    loss: float | None
    visible: Share
    holdout: Share
    detail: dict[str, Any]


class StateMeta(Strict):
    """The plain values that `Trainer.state` gives: where training stands."""

    step: Count
    curve: list[Evaluation]
    loss: tuple[Annotated[float, Field(allow_inf_nan=True)], Count]  # not finite while a run diverges
    attempt: tuple[Count, Count] = (0, 0)  # the first states were written without
    engines: list[str] = []  # what computed it, in order; before there were several, nobody wrote it down

    @model_validator(mode="after")
    def _fits_together(self) -> StateMeta:
        last = self.curve[-1].step if self.curve else 0
        if self.loss[1] != self.step - last or (not self.loss[1] and self.loss[0]):
            raise ValueError(f"loss: it is not that of the updates between step {last} and step {self.step}")
        attempt, began = self.attempt
        if began > self.step or bool(attempt) != bool(began):
            raise ValueError(f"attempt: start {attempt} at step {began} is not possible by step {self.step}")
        for point in self.curve:
            if point.detail.get("attempt", 0) != (attempt if point.step > began else 0):
                raise ValueError(f"attempt: the evaluation at step {point.step} was made in another one")
        return self

    def check(self, budget: Budget) -> None:
        """Raise `ValueError` if training for this budget cannot stand here."""
        if self.step > budget.steps:
            raise ValueError(f"step: {self.step} is past the end, at {budget.steps}")
        if self.attempt not in ((0, 0), (1, budget.restart_at)):
            raise ValueError(f"attempt: start {self.attempt[0]} at step {self.attempt[1]} was not planned")
        looked = [point.step for point in self.curve]
        due = list(range(0, self.step, budget.evaluate_every))
        if looked not in (due, [*due, self.step]):  # A state may still owe the point of its own step.
            raise ValueError(f"curve: it was not evaluated every {budget.evaluate_every} steps up to {self.step}")
