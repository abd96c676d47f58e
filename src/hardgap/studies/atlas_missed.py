"""Ours: determined gaps that the atlas's run missed, again: other seeds, and some of what is fed back rounded.

A network that passes on what it knows in graded values, the hidden cell's share among them, has no need of the rule.
Rounding takes these values away: a gap that is recovered with it and not without was smuggled past.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import listed
from hardgap.report.document import NOT_YET, paragraph
from hardgap.studies.atlas_cells import Trained, settled
from hardgap.studies.study import Arm, study
from hardgap.studies.tempered.wide import ROUNDED
from hardgap.worlds.automaton.recipes import tempered, until_first_solved
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

if TYPE_CHECKING:
    from hardgap.studies.measure import Measured, StudyResult

MISSED = ((22, 2), (54, 2), (105, 1))
"""Rule and hidden pattern of the determined gaps that the atlas's run did not recover."""
SEEDS = range(3)
"""The first is the atlas's own."""
SHARES = {"the recipe": 0.0, "3 of 10 rounded": ROUNDED}


@study("atlas/missed", tables="hardgap.studies.atlas_missed:missed_tables", ours=True)
def missed(scale: Scale) -> Iterator[Arm]:
    """Why is a determined gap missed? Other seeds recover it, or rounding some of what is fed back does, or neither."""
    for rule, pattern in MISSED:
        for way, share in SHARES.items():
            runs = tuple(again(scale, rule, pattern, share).but(seed=seed) for seed in SEEDS)
            yield Arm({"rule": str(rule), "pattern": pattern, "way": way}, runs)


def again(scale: Scale, rule: int, pattern: int, share: float) -> AutomatonRun:
    """The atlas's run with a share of what is fed back rounded."""
    run = until_first_solved(tempered(scale, str(rule), (pattern,)))
    return run.but(unrolling=run.unrolling.model_copy(update={"rounded": share}))


def missed_tables(results: Sequence[StudyResult]) -> list[Table]:
    (result,) = results
    return [missed_table(result)]


def missed_table(result: StudyResult) -> Table:
    """A row a gap."""
    right = ["recovered", "recovered, 3 of 10 rounded"]
    rows: list[list[object]] = []
    for (rule, pattern), (plain, rounded) in _gaps(result).items():
        hidden = parse_rule(rule).pattern_text(pattern)
        rows.append([rule, hidden, _share(plain), _share(rounded), _ends(plain), _ends(rounded)])
    columns = ["rule", "hidden", *right, "other runs end with", "other rounded runs end with"]
    return Table(f"Determined gaps that the atlas's run missed, {result.scale} scale", columns, rows, right)


def missed_words(result: StudyResult) -> str:
    """How many other seeds recover, how many only rounding, and which are left."""
    whole = {gap: ways for gap, ways in _gaps(result).items() if all(len(ends) == len(SEEDS) for ends in ways)}
    if not whole:
        return NOT_YET
    seeds = [gap for gap, (plain, _) in whole.items() if _recovered(plain)]
    smuggled = [gap for gap, (plain, rounded) in whole.items() if not _recovered(plain) and _recovered(rounded)]
    left = [f"Rule {rule}, {parse_rule(rule).pattern_text(pattern)}"
            for (rule, pattern), ways in whole.items() if not any(map(_recovered, ways))]  # fmt: skip
    told = f"Of {len(whole)} determined gaps that the atlas's run missed, another of three seeds recovers {len(seeds)}."
    told += (
        f" Of the {len(whole) - len(seeds)} that all three seeds miss, {len(smuggled)} are recovered by one of three"
    )
    told += " runs in which three tenths of what is fed back are rounded"
    return paragraph(told + (f"; neither recovers {listed(left)}." if left else "."))


def _gaps(result: StudyResult) -> dict[tuple[str, int], tuple[list[Trained], list[Trained]]]:
    """How the runs of each gap ended: with the recipe, and with rounding."""
    ends: dict[tuple[str, int], list[list[Trained]]] = {}
    for arm in result.arms:
        ends.setdefault((str(arm.labels["rule"]), int(arm.labels["pattern"])), []).append(_ended(arm))
    return {gap: (plain, rounded) for gap, (plain, rounded) in ends.items()}


def _ended(arm: Measured) -> list[Trained]:
    return [settled(curve, "") for curve in arm.curves]


def _recovered(ends: Sequence[Trained]) -> int:
    return sum(end.settled == "recovered" for end in ends)


def _share(ends: Sequence[Trained]) -> str:
    return f"{_recovered(ends)}/{len(ends)}"


def _ends(ends: Sequence[Trained]) -> str:
    other = Counter(end.settled for end in ends if end.settled != "recovered")
    return ", ".join(f"{how} ({count})" for how, count in other.items())
