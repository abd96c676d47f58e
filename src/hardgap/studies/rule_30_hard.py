"""Rule 30 under hard/STE unrolling (paper, Appendix D): recovery without any soft feedback, pattern by pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.studies.main_table import SEEDS
from hardgap.studies.measure import Measured, StudyResult, pooled
from hardgap.studies.per_pattern import COMPARED, DETAIL, NUMBERS, compared, counts
from hardgap.studies.published import Rate
from hardgap.studies.study import Arm, study
from hardgap.theory.votes import votes
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.scales import base

# By hidden pattern: the 3-NN vote, seeds of ten that succeed, the best seed's holdout accuracy in percent.
PUBLISHED = (
    ("wrong", 0, 0.0),
    ("wrong", 2, 100.0),
    ("wrong", 4, 100.0),
    ("correct", 5, 100.0),
    ("wrong", 0, 36.2),
    ("wrong", 2, 89.4),
    ("wrong", 2, 88.6),
    ("correct", 1, 91.0),
)
RULE = "30"


@study("rule-30-hard", tables="hardgap.studies.rule_30_hard:hard_tables")
def rule_30_hard(scale: Scale) -> Iterator[Arm]:
    """Hard feedback recovers patterns of Rule 30 now and then, some of them against their three nearest neighbours."""
    for pattern, (_, successes, _) in enumerate(PUBLISHED):
        run = base(scale, RULE, (pattern,)).but(unrolling=Unrolling(feedback="hard"))
        published = Rate("Rule 30 with hard/STE unrolling", successes=successes, n=10)
        yield Arm({"pattern": pattern}, tuple(run.but(seed=seed) for seed in SEEDS), published)


def hard_tables(results: Sequence[StudyResult]) -> list[Table]:
    """The paper's table with ours beside it, and its two totals."""
    (result,) = results
    said = [row.methods["3-NN"].verdict.replace("right", "correct") for row in votes(parse_rule(RULE))]
    wrong = [arm for arm, vote in zip(result.arms, said, strict=True) if vote == "wrong"]
    totals = [pooled(wrong, {"pattern": "wrong vote"}), pooled(result.arms, {"pattern": "all"})]
    extras = [*zip(said, (row for row in PUBLISHED), strict=True), ("", ("", 0, "")), ("", ("", 0, ""))]
    rows = [
        [arm.labels["pattern"], _vote(vote, printed), *counts(arm), best, _best(arm), *compared(arm)]
        for arm, (vote, (printed, _, best)) in zip((*result.arms, *totals), extras, strict=True)
    ]
    right = ["published", "measured", "its best %", "best %"]
    columns = ["hidden", "3-NN vote", *right, *COMPARED]
    title = f"Rule 30, hard/STE unrolling, {result.scale} scale: seeds of ten that recover the hidden pattern"
    return [Table(title, columns, rows, [*right, *NUMBERS], DETAIL)]


def _vote(computed: str, printed: str) -> str:
    return computed if computed == printed else f"{computed}, published {printed}"


def _best(arm: Measured) -> str:
    return f"{100 * max(arm.holdout):.1f}" if arm.n else ""
