"""What a run of Experiment 2 asks for (paper §4.6), what its evaluations hold, and how it ended."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from hardgap.core.run import Run, validated
from hardgap.core.specs import Optimiser, Positive, Share, Source, Spec
from hardgap.core.table import Table
from hardgap.core.wording import percent, plural
from hardgap.nn.spec import Seq2SeqSpec
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.gap import ChainGap
from hardgap.worlds.chains.operators import parse_operator
from hardgap.worlds.chains.sampling import Ambiguity
from hardgap.worlds.chains.selection import SELECTIONS, select_point
from hardgap.worlds.chains.tokens import Condition


class Judged(Spec, strict=True):
    """What was right about the answers; under label-only there is no f, and older results have no `ops`."""

    exact: Share
    pair: Share
    valid: Share
    tokens: Share
    f: Share | None = None
    ops: list[Share] | None = Field(None, description="each operator of the chain alone, in order")


class Chosen(Spec, strict=True):
    """Exact answers on the evaluation set, by which a checkpoint is chosen."""

    seen: Share
    holdout: Share


class SymbolicDetail(Spec, strict=True):
    """Answers on the test set, on the evaluation set, and by seen chain."""

    seen: Judged
    holdout: Judged
    eval: Chosen
    chains: dict[str, Share]


class SymbolicRun(Run):
    """One training run of Experiment 2 (paper §4.6).

    Paper is silent: batch size, learning rate and length of training, and how ambiguous chains are treated.
    """

    experiment: Literal["symbolic"] = Field("symbolic", description="which world the run belongs to")
    holdout: str = Field(description="operators that never follow one another in training, side by side: ^|")
    condition: Condition = Field("familiar", description="what the network writes")
    ambiguity: Ambiguity = Field("unambiguous", description="which examples are kept, see docs/fidelity.md")
    operators: tuple[str, ...] = Field(tuple("^|&rdLR"), description="symbols, or your own package.module:name")
    sources: dict[str, Source] = Field({}, description="SHA-256 of the code of a user's own, by import path")
    bits: Positive = Field(6, description="word size")
    length: Positive = Field(2, description="operators in a chain")
    train_examples: int = Field(144_000, gt=0, le=2_000_000, description="to learn from, in all")
    eval_examples: int = Field(200, gt=0, le=10_000, description="of each chain, to choose a checkpoint by")
    test_examples: int = Field(500, gt=0, le=10_000, description="of each chain, to be judged on")
    seen_examples: int | None = Field(
        None, gt=0, le=10_000, description="of each seen chain in both, where fewer are enough than of the held-out one"
    )
    optimiser: Optimiser = Optimiser(batch=512)
    model: Seq2SeqSpec = Seq2SeqSpec()

    choices = SELECTIONS[1:]

    def choose(self, curve: list[dict[str, Any]], by: str) -> dict[str, Any]:
        return select_point(curve, by)

    @field_validator("operators")
    @classmethod
    def _canonical_operators(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text if ":" in text else parse_operator(text).symbol for text in texts)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if strange := sorted(self.sources.keys() - self.plugins().keys()):
            raise ValueError(f"sources: {strange[0]} is not among the operators")
        if not self.plugins():  # a run can be read where a user's own operator is not
            assert self.gap  # making it checks it
        if self.budget.restart_at is not None:
            raise ValueError("budget.restart_at: a derivation is not run freely, so nothing visible contradicts it")
        return self

    def but(self, **changes: Any) -> Self:
        """The source of an operator goes with the operator."""
        kept = changes.get("operators", self.operators)
        sources = {path: source for path, source in self.sources.items() if path in kept}
        return super().but(**{"sources": sources} | changes)

    @property
    def gap(self) -> ChainGap:
        arithmetic = Arithmetic.of(self.operators, self.bits, self.length, self.sources)
        return ChainGap(arithmetic, self.holdout, self.ambiguity)

    @property
    def epoch(self) -> int:
        return -(-self.train_examples // self.optimiser.batch)

    def check_detail(self, detail: dict[str, Any]) -> None:
        validated(SymbolicDetail, detail)

    def not_covered(self) -> dict[str, bool]:
        return {
            "code that works held-out results out from single operators, which are all shown": True,
            "which examples are left out as ambiguous (not with ambiguity `seen`)": self.ambiguity == "unambiguous",
        }

    def plugins(self) -> dict[str, str | None]:
        return {text: self.sources.get(text) for text in self.operators if ":" in text}

    def with_sources(self, sources: dict[str, str]) -> Self:
        return self.but(sources=self.sources | sources)

    def describe(self) -> str:
        others = "" if self.ambiguity == "unambiguous" else f", {self.ambiguity} examples"
        bits = plural(self.bits, "bit")
        arithmetic = "" if (self.bits, self.length) == (6, 2) else f", {self.length} operators on {bits}"
        held_out = "held out" if self.plugins() else self.gap.describe()
        own = f", code{self._code()}" if self.sources else ""
        return f"{self.holdout} {held_out}, {self.condition}{others}{arithmetic}{own}, seed {self.seed}"


MEASURES = {"exact": "whole derivation", "pair": "operators", "f": "final value", "valid": "consistent derivation"}


def result_table(run: SymbolicRun, curve: list[dict[str, Any]]) -> Table:
    """What is right at each choice of checkpoint, on seen and on held-out chains."""
    rows = []
    for by in SELECTIONS:
        point = select_point(curve, by)
        for name, words in MEASURES.items():
            shares = [point["detail"][part].get(name) for part in ("seen", "holdout")]
            rows.append([by, point["step"], words, *map(percent, shares)])
    columns = ["checkpoint by", "step", "right", "seen %", "held out %"]
    return Table(run.describe(), columns, rows, right=["step", "seen %", "held out %"])
