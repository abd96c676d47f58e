"""The main table as README shows it, and what README says about it, from the committed results and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hardgap.core.run import only
from hardgap.core.wording import listed
from hardgap.report.document import NOT_YET, Content, markdown, paragraph
from hardgap.report.statistics import same_rate_p, wilson
from hardgap.runs.summary import SUCCESS
from hardgap.studies.ledger import read_claims
from hardgap.studies.main_table import SHOWN, rate_tables
from hardgap.studies.main_table_figure import main_table_figure
from hardgap.studies.measure import StudyResult
from hardgap.studies.numbers import interval, p_value
from hardgap.studies.rule_150 import AS_LONG, beside_tables, in_both_ways, median_of
from hardgap.studies.study import choose
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

TABLES = SHOWN["tables"]
BLOCKS = ("main-table", "main-words", "main-table-paper-scale", "dropout", "steps", "steps-words")
SURE, SURELY_WRONG = 0.99, 0.01
"""Of visible cells right at least, and of hidden ones at most: a network that is sure of the wrong value."""


def content(results: Path) -> Content:
    """All that pages may show, from the folder of measured runs."""
    claims = read_claims(results, [one for one in choose(["main"]) if one.tables == TABLES])
    found, as_wide = ([one for one in claims if one.scale == scale] for scale in ("desk", "paper"))
    dropout, steps = (read_claims(results, choose([name]))[:1] for name in ("dropout", "steps"))  # the desk scale's
    blocks = {
        "main-table": markdown(rate_tables(found)),
        "main-words": main_words(found),
        "main-table-paper-scale": markdown(rate_tables(as_wide)) if as_wide else NOT_YET,
        "dropout": markdown(beside_tables(dropout)),
        "steps": markdown(beside_tables(steps)),
        "steps-words": steps_words(steps[0]),
    }
    return Content(blocks, {"main-table": partial(main_table_figure, found)})


def main_words(found: Sequence[StudyResult]) -> str:
    """Which rows are told apart, and how the longest one fails."""
    if not all(one.arm.n for one in found):
        return NOT_YET
    words = Counter(one.arm.comparison.word for one in found)
    differs = [
        f"{one.name.partition('/')[2]} ({one.arm.comparison.way})" for one in found if one.comparison.word == "differs"
    ]
    by_name = {one.name: one.arm for one in found}
    long, short = by_name["main/rule-150-long"], by_name["main/rule-150-short"]
    steps, fewer = (max(run.budget.steps for run in arm.runs) for arm in (long, short))
    published, runs = long.published.count if long.published else None, only(AutomatonRun, long.runs)
    assert published is not None
    ends = list(zip(runs, long.summaries, strict=True))
    recovered = {run.hide[0] for run, end in ends if end.success}
    never = {run.hide[0] for run in runs} - recovered
    failed = [end for _, end in ends if end.final_holdout < SUCCESS]
    sure = sum(end.final_visible >= SURE and end.final_holdout <= SURELY_WRONG for end in failed)
    return paragraph(
        f"Of {len(found)} rows, {words['reproduced']} are reproduced at desk scale, {words['inconclusive']} are "
        f"inconclusive (rule-d-none would say little anyway: the hidden set was chosen by its score), "
        f"{words['differs']} differ: {listed(differs) or 'none'}. Given 220 epochs instead of 50 (here {steps:,} steps "
        f"instead of {fewer:,}), the paper recovers {published[0]} of {published[1]} runs of Rule 150, the desk scale "
        f"{long.recovered} of {long.n} (patterns {listed(sorted(recovered))}; never {listed(sorted(never), 'or')}). Of "
        f"the {len(failed)} runs that fail, {sure} end with visible accuracy of at least {100 * SURE:.0f} % and "
        f"holdout accuracy of at most {100 * SURELY_WRONG:.0f} %: they are sure of the wrong value."
    )


def steps_words(result: StudyResult) -> str:
    """What as many steps as the paper took change, in a few sentences."""
    both = in_both_ways(result)
    if not both.found_after:
        return NOT_YET
    late = sum(step > base("desk", "150", (3,), epochs=220).budget.steps for step in both.found_after)
    return paragraph(
        f"A desk run has 12 steps for each of the paper's epochs, so 220 epochs are 2,640 steps where the paper took "
        f"{AS_LONG.steps:,}. Given as many, {both.changed[0]} of {both.changed[1]} desk runs recover "
        f"(95 % interval {interval(wilson(*both.changed), 0)} %; paper: {both.paper[0]} of {both.paper[1]}, "
        f"p = {p_value(same_rate_p(*both.paper, *both.changed))}), against {both.usual[0]} of {both.usual[1]} in 2,640 "
        f"steps. {late} of these {both.changed[0]} found the entry only after step 2,640, half of all after step "
        f"{median_of(both.found_after)}."
    )
