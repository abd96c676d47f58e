"""What a run asks for: frozen, validated, and hashed into the run's identity.

The hash covers every field that differs from its default, so a new field with a default keeps all old
identities. Changing a default is a change of meaning: raise `CONFIG_VERSION`.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Literal, Self, TypeVar

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hardgap.automata.gap import Gap, parse_hidden
from hardgap.automata.rule import parse_rule
from hardgap.errors import BadInput
from hardgap.nn.spec import ConvSpec, EncoderSpec, ModelSpec, PluginSpec, Positive, Seq2SeqSpec, Source, Spec
from hardgap.operators.chains import World
from hardgap.operators.gap import ChainGap
from hardgap.operators.operators import parse_operator
from hardgap.operators.sampling import Ambiguity
from hardgap.operators.tokens import Condition
from hardgap.plugins import check_plugin, source_of, trust
from hardgap.runs.words import regime_in_words
from hardgap.training.spec import Budget, Optimiser, Unrolling
from hardgap.wording import plural

T = TypeVar("T", bound=Spec)
R = TypeVar("R", bound="Run")

CONFIG_VERSION = 1
MOST_CELLS = 2**31
"""Training data larger than this (2 GiB) is refused before it is made."""
LONGEST_FORMULA = 60
"""More of one does not help a list."""


class Run(Spec):
    """What every run has, whichever experiment it belongs to."""

    experiment: str
    optimiser: Optimiser = Optimiser()
    budget: Budget = Field(examples=["{ steps = 1000 }"])
    seed: int = Field(0, ge=0, lt=2**31)
    device: Literal["auto", "cpu", "cuda", "mps"] = "cpu"

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

    @property
    def written(self) -> str | None:
        """What its user wrote where the config keeps something shorter or exact instead; not part of the identity."""
        return None

    def asked(self) -> dict[str, Any]:
        """What differs from the defaults, as plain values from which `parse_run` makes the same config."""
        asked = self.model_dump(mode="json", exclude_defaults=True) | {"experiment": self.experiment}
        if "model" in asked:  # Each kind of network has its own defaults, so the kind is always said.
            asked["model"]["kind"] = self.model_dump()["model"]["kind"]
        return asked

    def _digest(self, asked: dict[str, Any]) -> str:
        asked = {"version": CONFIG_VERSION, **asked}
        usual = type(self).model_fields["model"].default.kind if "model" in asked else None
        if usual is not None and asked["model"]["kind"] == usual:  # The first identities were made without it.
            asked["model"] = {name: value for name, value in asked["model"].items() if name != "kind"}
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def but(self, **changes: Any) -> Self:
        """The same config with some fields changed, validated again."""
        data = self.model_dump() | changes
        return validated(type(self), data)

    @property
    @abstractmethod
    def epoch(self) -> int:
        """In how many training steps every training example is seen once."""

    def plugins(self) -> dict[str, str | None]:
        """The user's own code that it runs: import path, and the source that it must have, if that is recorded."""
        return {}

    def with_sources(self, sources: dict[str, str]) -> Self:
        """The same run, made with this source of its plug-ins."""
        return self

    def _code(self) -> str:
        """The first digits of its plug-ins' sources, so that runs with other code read otherwise."""
        return "".join(f" {source[:6]}" for source in self.plugins().values() if source)

    @abstractmethod
    def describe(self) -> str:
        """One line for lists and progress. It runs nobody's code."""


class AutomatonRun(Run):
    """One training run of Experiment 1 (paper §3)."""

    experiment: Literal["automaton"] = "automaton"
    rule: str = Field(examples=['"150"'])
    hide: tuple[int, ...] = Field(examples=["[3]"])
    masking: Literal["every", "first"] = "every"
    width: Positive = 101
    train_rows: Positive = 20_000
    test_rows: Positive = 2_000
    unrolling: Unrolling = Unrolling()
    model: ModelSpec = EncoderSpec()
    log_saturation: bool = Field(False, description="also keep the certainty of cells and the gradient reaching them")
    initial: str | None = Field(None, pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the weights to start from")

    @cached_property
    def rule_as_written(self) -> str:
        """The rule as its user wrote it; `_keep_words` puts it here."""
        return self.rule

    @model_validator(mode="wrap")
    @classmethod
    def _keep_words(cls, data: Any, make: ModelWrapValidatorHandler[Self]) -> Self:
        run = make(data)
        if isinstance(data, dict):
            run.__dict__["rule_as_written"] = " ".join(str(data["rule"]).split())
        return run

    @property
    def written(self) -> str | None:
        """The rule in its user's own words, if they are not its canonical text."""
        return self.rule_as_written if self.rule_as_written.casefold() != self.rule.casefold() else None

    def but(self, **changes: Any) -> Self:
        return super().but(**{"rule": self.rule_as_written} | changes)

    @field_validator("rule", mode="before")
    @classmethod
    def _number_is_a_rule(cls, given: object) -> object:
        return str(given) if isinstance(given, int) and not isinstance(given, bool) else given

    @field_validator("rule")
    @classmethod
    def _canonical_rule(cls, text: str) -> str:
        return parse_rule(text).spec

    @field_validator("hide", mode="before")
    @classmethod
    def _read_patterns(cls, given: object, info: ValidationInfo) -> object:
        """One pattern needs no list, and text is read as on the command line: `"011"` is pattern 3."""
        if isinstance(given, int) and not isinstance(given, bool):
            return (given,)
        if "rule" not in info.data:
            return given
        rule = parse_rule(info.data["rule"])
        if isinstance(given, str):
            return parse_hidden(rule, given)
        if isinstance(given, list | tuple | set):
            return [rule.parse_pattern(one) if isinstance(one, str) else one for one in given]
        return given

    @field_validator("hide")
    @classmethod
    def _canonical_hide(cls, patterns: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        # Without a rule there is already something to complain about.
        return Gap(parse_rule(info.data["rule"]), patterns).hidden if "rule" in info.data else patterns

    @model_validator(mode="after")
    def _fits(self) -> Self:
        radius = parse_rule(self.rule).radius
        if self.width < 2 * radius + 1:
            raise ValueError(f"width {self.width}: a radius-{radius} rule needs at least {2 * radius + 1} cells")
        cells = max(self.train_rows, self.test_rows) * self.width * (self.unrolling.steps + 1)
        if cells > MOST_CELLS:
            raise ValueError(f"{cells:,} cells of training data are more than the {MOST_CELLS:,} that are allowed")
        if isinstance(self.model, ConvSpec) and self.model.radius < radius:
            raise ValueError(f"a convolution of radius {self.model.radius} cannot see a radius-{radius} neighbourhood")
        if self.initial is not None and self.budget.restart_at is not None:
            raise ValueError("restart_at would throw the given weights away: leave one of the two out")
        return self

    @property
    def gap(self) -> Gap:
        return Gap(parse_rule(self.rule), self.hide, self.masking)

    @property
    def epoch(self) -> int:
        return -(-self.train_rows // self.optimiser.batch)

    def plugins(self) -> dict[str, str | None]:
        return {self.model.factory: self.model.source} if isinstance(self.model, PluginSpec) else {}

    def with_sources(self, sources: dict[str, str]) -> Self:
        assert isinstance(self.model, PluginSpec)
        return self.but(model=self.model.model_dump() | {"source": sources[self.model.factory]})

    def describe(self) -> str:
        kind = f"{self.model.factory}{self._code()}" if isinstance(self.model, PluginSpec) else self.model.kind
        if isinstance(self.model, EncoderSpec):
            kind = "waves" if self.model.positions == "waves" else ""
        said = [
            self._gap_in_words(),
            regime_in_words(self.unrolling),
            "leaky mask" if self.masking == "first" else "",
            kind,
            f"from {self.initial[:8]}" if self.initial else "",
            f"restart at {self.budget.restart_at}" if self.budget.restart_at else "",
            f"width {self.width}",
            f"seed {self.seed}",
        ]
        return ", ".join(filter(None, said))

    def _gap_in_words(self) -> str:
        """A rule by the name it is known by, if it has one, and as its user wrote it."""
        if self.written is None:
            return self.gap.describe()
        formula = self.written if len(self.written) <= LONGEST_FORMULA else f"{self.written[:LONGEST_FORMULA]}…"
        shown = formula if self.rule.startswith("r") else f"{self.rule} = {formula}"
        return self.gap.describe().replace(f"Rule {self.rule}", f"Rule {shown}", 1)


class SymbolicRun(Run):
    """One training run of Experiment 2 (paper §4.6).

    Paper is silent: batch size, learning rate and length of training, and how ambiguous chains are treated.
    """

    experiment: Literal["symbolic"] = "symbolic"
    holdout: str = Field(description="operators that never follow one another in training, side by side: ^|")
    condition: Condition = "familiar"
    ambiguity: Ambiguity = "unambiguous"
    operators: tuple[str, ...] = tuple("^|&rdLR")
    sources: dict[str, Source] = Field({}, description="SHA-256 of the code of a user's own, by import path")
    bits: Positive = 6
    length: Positive = Field(2, description="operators in a chain")
    train_examples: int = Field(144_000, gt=0, le=2_000_000)
    eval_examples: int = Field(200, gt=0, le=10_000, description="of each chain, to choose a checkpoint by")
    test_examples: int = Field(500, gt=0, le=10_000, description="of each chain")
    seen_examples: int | None = Field(
        None, gt=0, le=10_000, description="of each seen chain in both, where fewer are enough than of the held-out one"
    )
    optimiser: Optimiser = Optimiser(batch=512)
    model: Seq2SeqSpec = Seq2SeqSpec()

    @field_validator("operators")
    @classmethod
    def _canonical_operators(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text if ":" in text else parse_operator(text).symbol for text in texts)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.plugins():  # a run can be read where a user's own operator is not
            assert self.gap  # making it checks it
        elif strange := sorted(self.sources.keys() - self.plugins().keys()):
            raise ValueError(f"sources: {strange[0]} is not among the operators")
        if self.budget.restart_at is not None:
            raise ValueError("budget.restart_at: a derivation is not run freely, so nothing visible contradicts it")
        return self

    @property
    def gap(self) -> ChainGap:
        world = World.of(self.operators, self.bits, self.length, self.sources)
        return ChainGap(world, self.holdout, self.ambiguity)

    @property
    def epoch(self) -> int:
        return -(-self.train_examples // self.optimiser.batch)

    def plugins(self) -> dict[str, str | None]:
        return {text: self.sources.get(text) for text in self.operators if ":" in text}

    def with_sources(self, sources: dict[str, str]) -> Self:
        return self.but(sources=self.sources | sources)

    def describe(self) -> str:
        others = "" if self.ambiguity == "unambiguous" else f", {self.ambiguity} examples"
        bits = plural(self.bits, "bit")
        world = "" if (self.bits, self.length) == (6, 2) else f", {self.length} operators on {bits}"
        held_out = "held out" if self.plugins() else self.gap.describe()
        own = f", code{self._code()}" if self.sources else ""
        return f"{self.holdout} {held_out}, {self.condition}{others}{world}{own}, seed {self.seed}"


EXPERIMENTS: dict[str, type[Run]] = {"automaton": AutomatonRun, "symbolic": SymbolicRun}


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


def parse_run(data: object) -> Run:
    """A config from plain values (a store row, a results file, a sweep file)."""
    if not isinstance(data, dict):
        raise BadInput(f"a config is a table of names and values, not {data!r:.40}")
    kind = data.get("experiment", "automaton")
    if not isinstance(kind, str) or kind not in EXPERIMENTS:
        raise BadInput(f"experiment {kind!r} is not known; there is {', '.join(EXPERIMENTS)}")
    return validated(EXPERIMENTS[kind], data)


def validated(spec: type[T], data: dict[str, Any]) -> T:
    """`spec` made from `data`, or `BadInput`."""
    return spec.model_validate(data)
