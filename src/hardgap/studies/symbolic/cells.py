"""The symbolic table (paper §4.6) as tables: means over seeds, at each choice of checkpoint, measured beside published.

The paper prints three seeds a cell and no success counts, so means are compared. So few seeds can tell little apart.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import chain

from hardgap.core.table import Table
from hardgap.report.statistics import same_mean_p, sample_of
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.numbers import beside, interval, mean, p_value, span, spread
from hardgap.studies.published import Seeds
from hardgap.studies.symbolic.accuracy import accuracies
from hardgap.worlds.chains.selection import PAPERS_CHOICE, SELECTIONS, Selection

CONDITIONS = {"familiar": "Full (familiar)", "opaque": "Full (opaque)", "label-only": "Label-only"}
MEASURES = {
    "exact": "whole derivation",
    "pair": "operators",
    "op1": "first operator",
    "op2": "second operator",
    "f": "final value f",
    "seen": "seen pairs, whole",
}
Results = Sequence[StudyResult]


def cell_tables(results: Results) -> list[Table]:
    """The verdicts, then the layout of the paper's table, where it has rows."""
    return [table for table in (verdict_table(results), paper_table(results)) if table.rows]


def exact(arm: Measured, by: Selection, measure: str = "exact") -> list[float]:
    """What each finished seed has right."""
    return accuracies(arm.curves, by).get(measure, [])


def default_filter(arm: Measured) -> bool:
    """Whether no example that fits several pairs was kept; the paper's table has these alone."""
    return arm.labels["ambiguity"] == "unambiguous"


def published_shares(arm: Measured) -> dict[int, float]:
    """The paper's seeds."""
    assert isinstance(arm.published, Seeds)
    return {seed: value / 100 for seed, value in arm.published.seeds.items()}


def verdict_table(results: Results) -> Table:
    """One row a study: published and measured mean, interval, verdict; p is with Holm's correction for all rows."""
    scale = results[0].scale
    rows: list[list[object]] = []
    for one in results:
        arm, found = one.arm, one.arm.comparison
        means = [mean(exact(arm, by), "–") for by in (PAPERS_CHOICE, "eval-seen", "final")]
        ends = arm.mean_interval if len(set(arm.accuracies())) > 1 else None  # equal seeds show no spread to go by
        told = [f"{arm.n}/{arm.planned}", means[0], interval(ends), *means[1:]]
        verdict = [found.verdict, found.note, p_value(found.p, "–")]
        rows.append([one.name, mean(published_shares(arm).values()), *told, *verdict])
    columns = [
        "study", "published %", "seeds", "measured %", "95 % interval", "chosen by seen %", "at the end %", "verdict",
        "why", "p, Holm",
    ]  # fmt: skip
    title = (
        f"Held-out pairs: whole derivation right, mean over seeds; measured at {scale} scale, checkpoint chosen by "
        "held-out evaluation examples as in the paper"
    )
    detail = ["seeds", "95 % interval", "chosen by seen %", "at the end %", "p, Holm", "why"]
    claims = [one.study.claim for one in results]
    return Table(title, columns, rows, columns[1:4] + columns[5:7] + columns[9:], detail, claims)


def paper_table(results: Results, by: Selection = PAPERS_CHOICE) -> Table:
    """Table 3's layout: a row a pair, a column a condition, mean ± standard deviation, published in brackets."""
    cells = _by_place(one.arm for one in results if default_filter(one.arm))
    rows: list[list[object]] = [
        [holdout, *(_cell(cells.get((holdout, condition)), by) for condition in CONDITIONS)]
        for holdout in dict.fromkeys(holdout for holdout, _ in cells)
    ]
    title = f"Held-out accuracy, %, mean ± standard deviation over seeds [published]; checkpoint by {by}"
    return Table(title, ["holdout", *CONDITIONS.values()], rows, list(CONDITIONS.values()))


def ambiguity_table(results: Results, weaker: Results) -> Table:
    """The familiar cells beside those of the weaker filter, at every choice of checkpoint, with Welch's p."""
    default = {one.arm.labels["holdout"]: one.arm for one in results if one.arm.labels["condition"] == "familiar"}
    rows: list[list[object]] = []
    for other in (one.arm for one in weaker):
        holdout, published = other.labels["holdout"], mean(published_shares(other).values())
        for by in SELECTIONS:
            values = [_of_seeds(default[holdout], by, {run.seed for run in other.runs}), exact(other, by)]
            p = same_mean_p(*map(sample_of, values)) if min(map(len, values)) > 1 else None
            rows.append([holdout, by, *map(spread, values), p_value(p, "–"), published])
    columns = ["holdout", "checkpoint by", "none fits the held-out pair %", "some do %", "p", "published %"]
    title = (
        f"Held-out accuracy, mean ± standard deviation over {weaker[0].arm.planned} seeds, {weaker[0].scale} scale, "
        "if no training example fits the held-out pair too (the default), and if some do (`--ambiguity seen`)"
    )
    return Table(title, columns, rows, columns[2:])


def _of_seeds(arm: Measured, by: Selection, seeds: Container[int]) -> list[float]:
    """What finished runs of these seeds have right."""
    return [right for run, right in zip(arm.runs, exact(arm, by), strict=True) if run.seed in seeds]


def seeds_table(results: Results, by: Selection = PAPERS_CHOICE) -> Table:
    """Table 9's layout: every seed apart."""
    cells = _by_place(one.arm for one in results)
    rows: list[list[object]] = []
    for holdout in dict.fromkeys(holdout for holdout, _ in cells):
        arms = [arm for (pair, _), arm in cells.items() if pair == holdout]
        named = ((*published_shares(arm), *(run.seed for run in arm.runs)) for arm in arms)  # the paper's first
        seeds = dict.fromkeys(chain.from_iterable(named))
        rows += [
            [holdout, seed, *(_seed_cell(cells.get((holdout, c)), seed, by) for c in CONDITIONS)] for seed in seeds
        ]
    title = f"Held-out accuracy of each seed, % [published]; checkpoint by {by}"
    return Table(title, ["holdout", "seed", *CONDITIONS.values()], rows, ["seed", *CONDITIONS.values()])


def measures_table(results: Results) -> Table:
    """Every measure that was taken, at every choice of checkpoint, means over seeds."""
    taken = [name for name in MEASURES if any(exact(one.arm, "final", name) for one in results)]
    columns = [f"{MEASURES[name]}: {by}" for name in taken for by in SELECTIONS]
    rows: list[list[object]] = [
        [
            arm.labels["holdout"],
            arm.labels["condition"],
            *(_of_seeds_told(arm, by, m) for m in taken for by in SELECTIONS),
        ]
        for arm in (one.arm for one in results)
    ]
    seeds = span([one.arm.n for one in results])
    title = f"What is right, %, by choice of checkpoint; means over {seeds} seeds, in brackets over how many if fewer"
    return Table(title, ["holdout", "condition", *columns], rows, columns)


def _of_seeds_told(arm: Measured, by: Selection, measure: str) -> str:
    """A mean; earlier runs have not recorded the operators apart, so theirs is a mean over fewer seeds, and says so."""
    values = exact(arm, by, measure)
    return mean(values, "–") + (f" ({len(values)})" if 0 < len(values) < arm.n else "")


def _by_place(arms: Iterable[Measured]) -> dict[tuple[str, str], Measured]:
    return {(str(arm.labels["holdout"]), str(arm.labels["condition"])): arm for arm in arms}


def _cell(arm: Measured | None, by: Selection) -> str:
    if arm is None:
        return ""
    values, theirs = exact(arm, by), list(published_shares(arm).values())
    few = f" ({len(values)} of {arm.planned} seeds)" if values and len(values) < arm.planned else ""
    return f"{spread(values)}{few} [{spread(theirs)}]"


def _seed_cell(arm: Measured | None, seed: int, by: Selection) -> str:
    if arm is None:
        return ""
    found = dict(zip((run.seed for run in arm.runs), exact(arm, by), strict=True))
    assert isinstance(arm.published, Seeds)
    return beside(found.get(seed), arm.published.seeds.get(seed))
