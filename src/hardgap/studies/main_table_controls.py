"""What the paper says beside its main table: a test of soft against hard feedback, and what a constant guess gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from hardgap.core.run import Run, only
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.verdicts import Verdict
from hardgap.studies.main_table import radius_2, rule_d_hard, rule_d_soft
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import p_value
from hardgap.studies.published import Found, Paired, Share, pairs
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

CONSTANT = 62.5
"""Paper §4.2: five of the eight hidden patterns have one output, three the other."""


@study("main/soft-against-hard", Paired("§4.2", p=0.002), tables="hardgap.studies.main_table_controls:paired_tables")
def soft_against_hard(scale: Scale) -> Iterable[Run]:
    """Soft feedback beats hard feedback on the same seeds of Rule D."""
    return [*rule_d_soft.runs(scale), *rule_d_hard.runs(scale)]


@dataclass(frozen=True)
class Drawn(Share):
    """A share that ours has because its hidden set was drawn so."""

    def told(self, found: Found) -> str:
        return f"{found.value:g} %"

    def compare(self, found: Found) -> Verdict:
        return Verdict("no test", why="our hidden set was drawn with the paper's split, five to three")


@study("main/constant-guess", tables="hardgap.studies.main_table_controls:constant_tables", scaled=False)
def constant_guess(scale: Scale) -> Iterable[Arm]:
    """A constant guess gets 62.5 % of Rule D's hidden patterns right, by the draw of the set."""
    return [Arm({"rule": "D"}, (), Drawn("§4.2", CONSTANT), partial(_best_constant, radius_2(scale, "D")))]


def _best_constant(run: AutomatonRun, kept: Path) -> float:
    """The better of always 0 and always 1 over the hidden patterns, which random rows have equally often; percent."""
    ones = float(parse_rule(run.rule).table[list(run.hide)].mean())
    return 100 * max(ones, 1 - ones)


def paired_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a pair of ways."""
    scale = results[0].scale
    right = ["published p", f"p at {scale}", "seeds", "soft %", "hard %"]
    rows = [_paired_row(one.arm, scale) for one in results]
    title = f"The same seeds under soft and hard feedback, {scale} scale (Wilcoxon)"
    columns, claims = ["rule", *right, "verdict", "why"], [one.study.claim for one in results]
    return [Table(title, columns, rows, right, detail=["why"], notes=claims)]


def _paired_row(arm: Measured, scale: Scale) -> list[object]:
    assert isinstance(arm.published, Paired)
    first, second = pairs(arm)
    means = [f"{100 * fmean(values):.1f}" if values else "" for values in (first, second)]
    rule = f"Rule {only(AutomatonRun, arm.runs)[0].rule}" if arm.runs else ""
    if scale == "smoke":
        return [rule, arm.published.p, "", len(first), *means, "", ""]
    found = arm.comparison
    return [rule, arm.published.p, p_value(found.p), len(first), *means, found.verdict, found.note]


def constant_tables(results: Sequence[StudyResult]) -> list[Table]:
    (one,) = results
    found, right = one.arm.comparison, ["published %", "computed %"]
    rows = [["Rule D", CONSTANT, one.arm.value, found.verdict]]
    note = f"{one.study.claim} {found.why[:1].upper()}{found.why[1:]}."
    return [Table("A constant guess", ["rule", *right, "verdict"], rows, right, notes=[note])]
