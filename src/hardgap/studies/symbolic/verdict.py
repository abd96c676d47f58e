"""The symbolic table, measured beside published: means over seeds, at each choice of checkpoint (paper §4.6).

The paper prints three seeds a cell and no success counts, so means are compared: `lower` or `higher` if Welch's t-test
tells them apart at the 5 % level. Three seeds against three can tell little apart, so nothing here is said to agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, pstdev
from typing import Any

from hardgap.core.specs import Scale
from hardgap.report.statistics import holm, mean_interval, same_mean_p
from hardgap.report.table import TextTable
from hardgap.runs.selection import SELECTIONS, Selection
from hardgap.runs.store import Store
from hardgap.studies.study import PublishedSeeds, Study
from hardgap.studies.symbolic.coverage import accuracies
from hardgap.studies.verdict import LEVEL
from hardgap.worlds.chains.run import SymbolicRun

PAPERS_CHOICE: Selection = "eval-holdout"
"""The choice of checkpoint that the paper makes, and so the one that is compared with it."""
FEWEST = 3
CONDITIONS = {"familiar": "Full (familiar)", "opaque": "Full (opaque)", "label-only": "Label-only"}
MEASURES = {"exact": "whole derivation", "pair": "operators", "f": "final value f", "seen": "seen pairs, whole"}


@dataclass(frozen=True)
class MeasuredSeeds:
    """One cell of the table at one scale. Shares are in [0, 1]; `published` is the paper, at the paper's scale."""

    study: str
    claim: str
    scale: Scale
    holdout: str
    condition: str
    ambiguity: str  # which examples were kept; the paper's table has the default's alone
    planned: int
    runs: dict[int, str]  # seed: run
    accuracy: dict[Selection, dict[str, list[float]]]  # exact, pair, f and seen, one value a run
    mean: float | None
    mean_interval: tuple[float, float] | None
    published: dict[int, float]
    published_mean: float
    p: float | None
    verdict: str

    @property
    def default_filter(self) -> bool:
        """Whether no example that fits several pairs was kept."""
        return self.ambiguity == "unambiguous"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure_seeds(study: Study, scale: Scale, store: Store) -> MeasuredSeeds:
    """Sum up the finished runs of a study."""
    paper = study.published
    assert isinstance(paper, PublishedSeeds)
    planned = [run for run in study.runs(scale) if isinstance(run, SymbolicRun)]
    curves = store.curves(run.id for run in planned)
    finished = {run.seed: run.id for run in planned if run.id in curves}
    accuracy = {by: accuracies(list(curves.values()), by) for by in SELECTIONS}
    values = accuracy[PAPERS_CHOICE].get("exact", [])
    published = {seed: value / 100 for seed, value in paper.seeds.items()}
    p = same_mean_p(values, list(published.values()))
    return MeasuredSeeds(
        study=study.name,
        claim=study.claim,
        scale=scale,
        holdout=planned[0].holdout,
        condition=planned[0].condition,
        ambiguity=planned[0].ambiguity,
        planned=len(planned),
        runs=finished,
        accuracy=accuracy,
        mean=fmean(values) if values else None,
        mean_interval=mean_interval(values) if len(set(values)) > 1 else None,  # equal seeds show no spread to go by
        published=published,
        published_mean=fmean(published.values()),
        p=p,
        verdict="" if scale == "smoke" else _verdict(values, list(published.values()), p),
    )


def _verdict(values: Sequence[float], published: Sequence[float], p: float | None) -> str:
    if not values:
        return "not measured"
    if len(values) < FEWEST or p is None:
        return "too few runs"
    if p >= LEVEL:
        return "not told apart"
    return "higher" if fmean(values) > fmean(published) else "lower"


def verdict_table(measured: Sequence[MeasuredSeeds]) -> TextTable:
    """One row a study: published and measured mean, interval, verdict, and p with Holm's correction for all rows."""
    scale = measured[0].scale
    ps = {m.study: m.p for m in measured if m.p is not None and m.verdict}  # smoke has no verdicts
    corrected = dict(zip(ps, holm(list(ps.values())), strict=True))
    rows: list[list[object]] = [
        [m.study, f"{100 * m.published_mean:.1f}", f"{len(m.runs)}/{m.planned}",
         _mean(m.accuracy[PAPERS_CHOICE].get("exact")), _interval(m.mean_interval),
         _mean(m.accuracy["eval-seen"].get("exact")), _mean(m.accuracy["final"].get("exact")), m.verdict,
         _p(ps.get(m.study)), _p(corrected.get(m.study))]
        for m in measured
    ]  # fmt: skip
    columns = [
        "study",
        "published %",
        "seeds",
        "measured %",
        "95 % interval",
        "chosen by seen %",
        "at the end %",
        "verdict",
        "p",
        "p, Holm",
    ]
    title = (
        f"Held-out pairs: whole derivation right, mean over seeds; measured at {scale} scale, checkpoint chosen by "
        "held-out evaluation examples as in the paper"
    )
    detail = ["seeds", "95 % interval", "chosen by seen %", "at the end %", "p", "p, Holm"]
    numbers = columns[1:4] + columns[5:7] + columns[8:]
    return TextTable(title, columns, rows, numbers, detail, [m.claim for m in measured])


def paper_table(measured: Sequence[MeasuredSeeds], by: Selection = PAPERS_CHOICE) -> TextTable:
    """Table 3's layout: a row a pair, a column a condition, mean ± standard deviation, published in brackets."""
    cells = {(m.holdout, m.condition): m for m in measured if m.default_filter}
    rows: list[list[object]] = [
        [holdout, *(_cell(cells.get((holdout, condition)), by) for condition in CONDITIONS)]
        for holdout in dict.fromkeys(holdout for holdout, _ in cells)
    ]
    title = f"Held-out accuracy, %, mean ± standard deviation over seeds [published]; checkpoint by {by}"
    return TextTable(title, ["holdout", *CONDITIONS.values()], rows, list(CONDITIONS.values()))


def ambiguity_table(measured: Sequence[MeasuredSeeds], weaker: Sequence[MeasuredSeeds]) -> TextTable:
    """The familiar cells beside those of the weaker filter, at every choice of checkpoint, with Welch's p."""
    default = {m.holdout: m for m in measured if m.condition == "familiar"}
    rows: list[list[object]] = []
    for other in weaker:
        pair = (default[other.holdout], other)
        for by in SELECTIONS:
            values = [m.accuracy[by].get("exact", []) for m in pair]
            both = [f"{_mean(v)}{_spread(v)}" for v in values]
            rows.append([other.holdout, by, *both, _p(same_mean_p(*values)), f"{100 * other.published_mean:.1f}"])
    columns = ["holdout", "checkpoint by", "none fits the held-out pair %", "some do %", "p", "published %"]
    title = (
        f"Held-out accuracy, mean ± standard deviation over {weaker[0].planned} seeds, {weaker[0].scale} scale, "
        "if no training example fits the held-out pair too (the default), and if some do (`--ambiguity seen`)"
    )
    return TextTable(title, columns, rows, columns[2:])


def seeds_table(measured: Sequence[MeasuredSeeds], by: Selection = PAPERS_CHOICE) -> TextTable:
    """Table 9's layout: every seed apart."""
    cells = {(m.holdout, m.condition): m for m in measured}
    rows: list[list[object]] = []
    for holdout in dict.fromkeys(m.holdout for m in measured):
        seeds = sorted({seed for m in measured if m.holdout == holdout for seed in (*m.runs, *m.published)})
        rows += [
            [holdout, seed, *(_seed_cell(cells.get((holdout, c)), seed, by) for c in CONDITIONS)] for seed in seeds
        ]
    title = f"Held-out accuracy of each seed, % [published]; checkpoint by {by}"
    return TextTable(title, ["holdout", "seed", *CONDITIONS.values()], rows, ["seed", *CONDITIONS.values()])


def measures_table(measured: Sequence[MeasuredSeeds]) -> TextTable:
    """Every measure at every choice of checkpoint, means over seeds."""
    columns = [f"{words}: {by}" for words in MEASURES.values() for by in SELECTIONS]
    rows: list[list[object]] = [
        [m.holdout, m.condition, *(_mean(m.accuracy[by].get(name)) for name in MEASURES for by in SELECTIONS)]
        for m in measured
    ]
    return TextTable("What is right, %, by choice of checkpoint", ["holdout", "condition", *columns], rows, columns)


def _cell(measured: MeasuredSeeds | None, by: Selection) -> str:
    if measured is None:
        return ""
    values = measured.accuracy[by].get("exact")
    few = f" ({len(values)} of {measured.planned} seeds)" if values and len(values) < measured.planned else ""
    theirs = list(measured.published.values())
    return f"{_mean(values)}{_spread(values)}{few} [{100 * fmean(theirs):.1f} ± {100 * pstdev(theirs):.1f}]"


def _seed_cell(measured: MeasuredSeeds | None, seed: int, by: Selection) -> str:
    if measured is None:
        return ""
    found = dict(zip(measured.runs, measured.accuracy[by].get("exact", ()), strict=True))
    published = f" [{100 * measured.published[seed]:.1f}]" if seed in measured.published else ""
    return (f"{100 * found[seed]:.1f}" if seed in found else "–") + published


def _mean(values: Sequence[float] | None) -> str:
    return f"{100 * fmean(values):.1f}" if values else "–"


def _spread(values: Sequence[float] | None) -> str:
    return f" ± {100 * pstdev(values):.1f}" if values and len(values) > 1 else ""


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f}"
