"""What a run asks for: frozen, validated, and hashed into the run's identity.

The hash covers every field that differs from its default, so a new field with a default keeps all old
identities. Changing a default is a change of meaning: raise `CONFIG_VERSION`.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

from pydantic import Field

from hardgap.core.errors import BadInput
from hardgap.core.plugins import check_plugin, source_of, trust
from hardgap.core.specs import Budget, Optimiser, Spec

T = TypeVar("T", bound=Spec)
R = TypeVar("R", bound="Run")

CONFIG_VERSION = 1
MOST_SCALED = 1000
"""Bits of a number of steps by which a warm-up is scaled; a fraction of more does not fit a float."""


class Run(Spec):
    """What every run has, whichever experiment it belongs to."""

    experiment: str
    optimiser: Optimiser = Optimiser()
    budget: Budget = Field(examples=["{ steps = 1000 }"])
    seed: int = Field(0, ge=0, lt=2**31, description="of data, initial weights and batch order")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("cpu", description="where to compute")

    @cached_property
    def id(self) -> str:
        """Twelve hex digits that stand for exactly this config."""
        return self._digest(self.asked())

    @cached_property
    def family(self) -> str:
        """Shared by runs that differ only in how long they train.

        Their first steps are bitwise the same, so a longer one can go on where a shorter one ended. A
        learning-rate schedule looks at the end of training; under one, a run has no family but itself.
        """
        if self.optimiser.schedule != "constant":
            return self.id
        asked = self.asked()
        del asked["budget"]["steps"]
        return self._digest(asked)

    in_words: ClassVar[str | None] = None
    """The field in which its user's own words may stand, where the config keeps something shorter or exact instead."""

    choices: ClassVar[tuple[str, ...]] = ()
    """Rules, by name, that choose one of a run's evaluations; the network of each choice is kept."""

    def choose(self, curve: list[dict[str, Any]], by: str) -> dict[str, Any]:
        """The evaluation that one of `choices` takes."""
        raise NotImplementedError

    @property
    def written(self) -> str | None:
        """What its user wrote in the field `in_words`, if that is not what the config keeps; not part of the id."""
        return None

    @classmethod
    def as_stored(cls, name: str, value: Any) -> Any:
        """What a config holds where a user asks for this value of a field."""
        return value

    def asked(self) -> dict[str, Any]:
        """What differs from the defaults, as plain values from which `parse_run` makes the same config."""
        asked = self.model_dump(mode="json", exclude_defaults=True) | {"experiment": self.experiment}
        kind = getattr(getattr(self, "model", None), "kind", None)
        if "model" in asked and kind is not None:  # Each kind of network has its own defaults, so it is always said.
            asked["model"]["kind"] = kind
        return asked

    def _digest(self, asked: dict[str, Any]) -> str:
        asked = {"version": CONFIG_VERSION, **asked}
        usual = getattr(type(self).model_fields["model"].default, "kind", None) if "model" in asked else None
        if usual is not None and asked["model"]["kind"] == usual:  # The first identities were made without it.
            asked["model"] = {name: value for name, value in asked["model"].items() if name != "kind"}
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy that knows its own id: pydantic's would keep the one that this run has looked up."""
        return self.but(**(update or {}))

    def but(self, **changes: Any) -> Self:
        """The same config with some fields changed, validated again."""
        data = self.model_dump() | changes
        return validated(type(self), data)

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """In another number of steps, the learning rate rises over the same share of them."""
        data, optimiser = super().with_changes(changes), changes.get("optimiser", {})
        steps = data["budget"].get("steps") if isinstance(data["budget"], dict) else self.budget.steps
        if not isinstance(steps, int) or steps.bit_length() > MOST_SCALED:
            return data
        if isinstance(optimiser, dict) and "warmup" not in optimiser:
            data["optimiser"]["warmup"] = max(0, round(self.optimiser.warmup * steps / self.budget.steps))
        return data

    def changed(self, **fields: Any) -> Self:
        """The same run with some fields changed, and what depends on them.

        Two underscores, or a dot, reach inside: `unrolling__feedback`, `unrolling.feedback`.
        """
        asked: dict[str, Any] = {}
        dotted = {name.replace("__", "."): value for name, value in fields.items()}
        for name in sorted(dotted, key=lambda name: name.count(".")):  # what holds a field before the field
            asked = with_value(asked, name.split("."), dotted[name])
        data = self.with_changes(asked)
        settled = asked.keys() | ({"optimiser"} if "budget" in asked else set())
        return self.but(**{name: data[name] for name in settled})

    @property
    @abstractmethod
    def epoch(self) -> int:
        """In how many training steps every training example is seen once."""

    @abstractmethod
    def check_detail(self, detail: dict[str, Any]) -> None:
        """Refuse what an evaluation of this run cannot hold beside its accuracies."""

    def not_covered(self) -> dict[str, bool]:
        """What a leak certificate leaves open in this world, and whether it applies to this run."""
        return {}

    def starts_from(self) -> str | None:
        """The SHA-256 of the weights that it starts from, if they are not random."""
        return None

    def stack_shape(self) -> str:
        """What runs must share to be trained as one stack, where their world can."""
        return self.id

    def plugins(self) -> dict[str, str | None]:
        """The user's own code that it runs: import path, and the source that it must have, if that is recorded."""
        return {}

    def is_tried_before_stacking(self) -> bool:
        """Whether a stack may not do with its network what it does alone: nobody knows a user's own."""
        return bool(self.plugins())

    def with_sources(self, sources: dict[str, str]) -> Self:
        """The same run, made with this source of its plug-ins."""
        return self

    def _code(self) -> str:
        """The first digits of its plug-ins' sources, so that runs with other code read otherwise."""
        return "".join(f" {source[:6]}" for source in self.plugins().values() if source)

    @abstractmethod
    def describe(self) -> str:
        """One line for lists and progress. It runs nobody's code."""


def named(run: R) -> R:
    """The run as its user names it, on the command line or in Python.

    Its plug-ins are trusted from now on, and the source that they have today becomes part of it.
    """
    return all_named([run])[0]


def all_named(runs: Iterable[R]) -> list[R]:
    """Runs as their user names them, in a sweep file of their own; their code is looked at once."""
    source, found = cache(source_of), []
    for run in runs:
        trust(run.plugins())
        missing = {path: source(path) for path, known in run.plugins().items() if known is None}
        found.append(run.with_sources(missing) if missing else run)
    return found


def check_plugins(runs: Iterable[Run]) -> None:
    """Refuse runs with a plug-in that nobody named, or whose code is another one by now."""
    for path, source in {item for run in runs for item in run.plugins().items()}:
        check_plugin("plug-in", path, source)


def only(kind: type[R], runs: Iterable[Run]) -> list[R]:
    """Runs that are all of one world, as what they are."""
    found = list(runs)
    assert all(isinstance(run, kind) for run in found)
    return cast(list[R], found)


def with_value(data: dict[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """A copy of nested tables with one value set."""
    first, *rest = names
    if not rest:
        return data | {first: value}
    inner = data.get(first, {})
    if not isinstance(inner, dict):
        raise BadInput(f"{first} is a value, so {'.'.join(names)} cannot be reached")
    return data | {first: with_value(inner, rest, value)}


def validated(spec: type[T], data: dict[str, Any]) -> T:
    """`spec` made from `data`, or `BadInput`."""
    return spec.model_validate(data)
