"""What a run of the toy asks for."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import model_validator

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import Positive, Spec


class ToyModel(Spec):
    units: Positive = 16


class ToyRun(Run):
    """Learn a + b modulo n without ever seeing one pair; `leak` shows it after all, for the certificate to find."""

    experiment: Literal["toy"] = "toy"
    hide: tuple[int, int]
    modulus: Positive = 5
    leak: bool = False
    model: ToyModel = ToyModel()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not all(0 <= number < self.modulus for number in self.hide):
            raise ValueError(f"hide: two numbers below {self.modulus}")
        return self

    @property
    def epoch(self) -> int:
        return 1

    def check_detail(self, detail: dict[str, Any]) -> None:
        if detail.keys() != {"answer"}:
            raise BadInput("detail: an evaluation holds the answer to the hidden pair and nothing else")

    def describe(self) -> str:
        return f"{self.hide[0]} + {self.hide[1]} modulo {self.modulus} hidden, seed {self.seed}"
