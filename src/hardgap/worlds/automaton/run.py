"""What a run of Experiment 1 asks for (paper §3), what its evaluations hold, and how it ended."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationInfo, field_validator, model_validator

from hardgap.core.errors import BadInput
from hardgap.core.run import Run, validated
from hardgap.core.specs import Positive, Share, Spec
from hardgap.core.table import Table
from hardgap.core.wording import listed, percent
from hardgap.nn.spec import KINDS, ConvSpec, EncoderSpec, ModelSpec, PluginSpec, ReferenceSpec, with_kind
from hardgap.worlds.automaton.gap import Gap, parse_hidden
from hardgap.worlds.automaton.regime import ROLLOUT_STEPS, Unrolling, regime_in_words
from hardgap.worlds.automaton.rule import parse_rule

MOST_CELLS = 2**31
"""Training data larger than this (2 GiB) is refused before it is made."""


LONGEST_FORMULA = 60
"""More of one does not help a list."""


Shares = list[Share | None]  # None: there was no such cell


class Saturation(Spec, strict=True):
    """See `worlds/automaton/saturation.py`."""

    logit_hidden: float
    logit_visible: float
    gradient_hidden: float
    gradient_visible: float
    pull_hidden: float
    pull_visible: float


class AutomatonDetail(Spec, strict=True):
    """Accuracy by pattern, and at every step of a free run; `attempt` counts restarts."""

    patterns: Shares
    rollout_visible: Shares
    rollout_holdout: Shares
    saturation: Saturation | None = None
    attempt: int | None = Field(None, gt=0)


class AutomatonRun(Run):
    """One training run of Experiment 1 (paper §3)."""

    experiment: Literal["automaton"] = Field("automaton", description="which world the run belongs to")
    rule: str = Field(examples=['"150"'], description="a number, a name (D, G), a wider rule (r2:0x…) or a formula")
    hide: tuple[int, ...] = Field(
        examples=["[3]"], description="patterns to hide, by number; as text also by all their cells"
    )
    masking: Literal["every", "first"] = Field(
        "every", description="steps at which hidden cells are left out of the loss; `first` is the leaky control"
    )
    width: Positive = Field(101, description="cells in a row")
    train_rows: Positive = Field(20_000, description="rows to learn from")
    test_rows: Positive = Field(2_000, description="rows to be judged on")
    unrolling: Unrolling = Unrolling()
    model: ModelSpec = EncoderSpec()
    log_saturation: bool = Field(False, description="also keep the certainty of cells and the gradient reaching them")
    initial: str | None = Field(None, pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the weights to start from")

    in_words = "rule"

    @classmethod
    def as_stored(cls, name: str, value: Any) -> Any:
        return parse_rule(value).spec if name == "rule" else value

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

    def with_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """A table whose fields tell the kind of network is of that kind, whatever the run had before."""
        model = changes.get("model")
        told = {"model": with_kind(model)} if isinstance(model, dict) else {}
        return super().with_changes(changes | told)

    def but(self, **changes: Any) -> Self:
        return super().but(**{"rule": self.rule_as_written} | changes)

    @field_validator("rule", mode="before")
    @classmethod
    def _canonical_rule(cls, given: object) -> object:
        is_rule = isinstance(given, str | int) and not isinstance(given, bool)
        return parse_rule(str(given)).spec if is_rule else given

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

    @field_validator("model", mode="before")
    @classmethod
    def _network_by_name(cls, given: object, info: ValidationInfo) -> object:
        """`encoder`, `conv` (as wide as the rule), or a network of one's own, `package.module:factory`.

        A table that names no kind is the encoder, if its fields do not tell another.
        """
        if isinstance(given, dict):
            given = {"kind": "encoder"} | with_kind(given)
            if given["kind"] not in KINDS:
                raise ValueError(
                    f"model.kind {given['kind']}: choose {listed(KINDS, 'or')}; "
                    'a network of your own is model = "package.module:factory"'
                )
            return given
        if not isinstance(given, str):
            return given
        if ":" in given:
            return {"kind": "plugin", "factory": given}
        if given == "conv" and "rule" in info.data:
            return {"kind": given, "radius": parse_rule(info.data["rule"]).radius}
        if given in ("encoder", "conv"):
            return {"kind": given}
        raise ValueError(f"model {given}: choose encoder, conv, or your own package.module:factory")

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

    def check_detail(self, detail: dict[str, Any]) -> None:
        found, steps = validated(AutomatonDetail, detail), max(ROLLOUT_STEPS, self.unrolling.steps)
        sizes = tuple(map(len, (found.patterns, found.rollout_visible, found.rollout_holdout)))
        if sizes != (self.gap.rule.patterns, steps, steps):
            raise BadInput("detail holds more or fewer numbers than this run has patterns and steps")

    def not_covered(self) -> dict[str, bool]:
        plugin = bool(self.plugins())
        return {
            "what visible cells and masks of later steps tell of hidden outputs (the evidence)": self.unrolling.steps
            > 1,
            "what the given initial weights know": self.initial is not None,
            "what the plug-in infers from what it was given: exactly zero gradients show it the mask": plugin,
        }

    def starts_from(self) -> str | None:
        return self.initial

    def stack_shape(self) -> str:
        """All that decides on operations and on the shapes of tensors; a temperature's course is numbers."""
        shared = self.model_dump(mode="json", include={"width", "train_rows", "unrolling", "model", "device"})
        course = self.unrolling.temperature.shape
        shared["unrolling"]["temperature"] = course if course in ("learned", "random") else "given"
        return json.dumps(shared | {"batch": self.optimiser.batch}, sort_keys=True)

    def plugins(self) -> dict[str, str | None]:
        model = {self.model.factory: self.model.source} if isinstance(self.model, PluginSpec) else {}
        return model | {own.function: own.source for own in self.unrolling.own_functions.values()}

    def is_tried_before_stacking(self) -> bool:
        return super().is_tried_before_stacking() or (isinstance(self.model, EncoderSpec) and self.model.dropout > 0)

    def with_sources(self, sources: dict[str, str]) -> Self:
        changes: dict[str, Any] = {}
        if isinstance(self.model, PluginSpec) and self.model.factory in sources:
            changes["model"] = self.model.model_dump() | {"source": sources[self.model.factory]}
        functions = {
            name: {"function": own.function, "source": sources[own.function]}
            for name, own in self.unrolling.own_functions.items()
            if own.function in sources
        }
        if functions:
            changes["unrolling"] = self.unrolling.model_dump() | functions
        return self.but(**changes)

    def describe(self) -> str:
        kind = (
            f"{self.model.factory} {(self.model.source or '')[:6]}".strip()
            if isinstance(self.model, PluginSpec)
            else self.model.kind
        )
        if isinstance(self.model, ReferenceSpec):
            kind = self.model.network
        if isinstance(self.model, EncoderSpec):
            positions = self.model.positions if self.model.positions != "random" else ""
            dropout = f"dropout {self.model.dropout:g}" if self.model.dropout else ""
            kind = ", ".join(filter(None, (positions, dropout)))
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


def result_table(run: AutomatonRun, curve: list[dict[str, Any]]) -> Table:
    """The accuracy of every pattern at the end."""
    gap, last = run.gap, curve[-1]
    first = next((point["step"] for point in curve if point["detail"].get("attempt")), None)
    again = "" if first is None else f", started again before step {first}"
    ended = f"visible {percent(last['visible'])} %, holdout {percent(last['holdout'])} %{again}"
    rows = [
        [p, gap.rule.pattern_text(p), int(gap.rule.table[p]), "hidden" if p in gap.hidden else "",
         percent(accuracy)]
        for p, accuracy in enumerate(last["detail"]["patterns"])
    ]  # fmt: skip
    columns = ["pattern", "neighbourhood", "true output", "in training", "accuracy %"]
    return Table(f"{run.describe()}: {ended}", columns, rows, right=["pattern", "true output", "accuracy %"])
