"""Table 1 and Appendix C as studies: measured once from what a store holds, kept as files, compared with the paper.

`hardgap baselines` measures the same for any run, method and size; the committed files are in results/baselines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hardgap.core.errors import BadInput, NotMeasured
from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.report.statistics import Sample
from hardgap.report.verdicts import Verdict, judge_mean
from hardgap.runs.store import Store
from hardgap.studies.interpolation.published import PUBLISHED, PUBLISHED_NETWORK, SUPERVISED, TEMPORAL
from hardgap.studies.kept import keep_file, kept_file
from hardgap.studies.measure import StudyResult, each
from hardgap.studies.networks import POINTS
from hardgap.studies.numbers import span
from hardgap.studies.published import Certain, Found, Number, Published, Share, Spread, read_as
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import parse_rule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASKED = 2000
"""Hidden cells that are asked for; the paper does not say of how many its shares are."""
SEEDS = range(3)
"""Of rows, cells and trees of the temporal baseline; the paper names none."""
HERE = "hardgap.studies.interpolation.study"


@dataclass(frozen=True)
class Draws(Share):
    """A share of which several seeds were measured; taken as exact, or as one of so many cells."""

    cells: int = 0

    def compare(self, found: Found) -> Verdict:
        share = self.value / 100
        paper = Sample(share, (share * (1 - share)) ** 0.5 if self.cells else 0.0, self.cells)
        verdict = judge_mean([one / 100 for one in found.value or ()], paper)
        if not self.cells or verdict.basis is None:
            return verdict
        settle = "of how many cells the paper's share is would settle it"  # more seeds of ours are not what is missing
        return replace(verdict, needed=None, settle=settle, basis=None)


@study(
    "interpolation/levels",
    tables=f"{HERE}:computed_tables",
    figure=f"{HERE}:drawn_levels",
    more=f"{HERE}:levels_report",
    prepare=f"{HERE}:measure_levels",
)
def levels(scale: Scale) -> Iterator[Arm]:
    """No method gets a hidden pattern of Rule 150 right before the network's layers; after them a forest does."""
    for level, methods in PUBLISHED.items():
        for method, (low, high) in methods.items():
            compute = partial(_holdout_range, _levels_file(scale), level, method)
            yield Arm({"level": level, "method": method}, (), Spread("Table 1", low, high), compute)
    chosen = "runs are chosen for 95 % or more, as the paper's are"
    paper = Certain("Table 1", Number("Table 1", PUBLISHED_NETWORK, POINTS), chosen)
    yield Arm({"level": "all", "method": "network"}, (), paper, partial(_network, _levels_file(scale)))


@study("interpolation/temporal", tables=f"{HERE}:computed_tables", prepare=f"{HERE}:measure_temporal", scaled=False)
def temporal(scale: Scale) -> Iterator[Arm]:
    """Given the network's own input and supervision, forests and neighbours still miss the hidden pattern."""
    for (pattern,), methods in TEMPORAL.items():
        for method, value in methods.items():
            compute = partial(_holdout, pattern, method)
            yield Arm({"pattern": pattern, "method": method}, (), Draws("Appendix C", value, ASKED), compute)
        method, value = SUPERVISED
        paper = read_as("of cells that it learned from; the paper does not say which", Draws("§4.1", value))
        compute = partial(_holdout, pattern, method, of="shown")
        yield Arm({"pattern": pattern, "method": f"{method}, supervised"}, (), paper, compute)


def _levels_file(scale: Scale) -> str:
    return f"rule-150-{scale}.json"


def _temporal_file(pattern: int, seed: int) -> str:
    return f"temporal-150-{pattern}{f'-seed-{seed}' if seed else ''}.json"


def measure_levels(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """The first six solved Rule 150 networks of the store; without any there is nothing to measure."""
    if is_late() or kept_file(kept, _levels_file(scale)) is not None:
        return
    from hardgap.runs.weights import opens
    from hardgap.studies.interpolation.measure import Setting, as_report, measure_runs, solved_runs

    try:
        solved = solved_runs(store, "150")
    except BadInput:  # there is none
        return
    if not (found := [run_id for run_id in solved if opens(store, run_id)]):
        return
    tables = measure_runs(store, found, setting := Setting(), on_progress)
    keep_file(kept, _levels_file(scale), as_report(tables, setting))


def measure_temporal(
    scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]
) -> None:
    from hardgap.studies.interpolation.temporal import temporal_report

    for seed, (pattern,) in product(SEEDS, TEMPORAL):
        if not is_late() and _kept_temporal(kept, pattern, seed) is None:
            found = temporal_report(Gap(parse_rule("150"), (pattern,)), size=None, seed=seed, on_progress=on_progress)
            keep_file(kept, _temporal_file(pattern, seed), found)


EVERY_CELL = {"width": 101, "rows": 20_000, "size": "all"}


def _kept_temporal(kept: Path, pattern: int, seed: int) -> dict[str, Any] | None:
    """What was measured from every visible cell, as in the paper."""
    found = kept_file(kept, _temporal_file(pattern, seed))
    return found if found is not None and found["setting"].items() >= EVERY_CELL.items() else None


def _holdout_range(name: str, level: str, method: str, kept: Path) -> list[float] | None:
    report = kept_file(kept, name) or {"table": []}
    return next((line["holdout"].get(method) for line in report["table"] if line["level"] == level), None)


def _network(name: str, kept: Path) -> float | None:
    """The mean of the runs that were opened, in percent."""
    report = kept_file(kept, name)
    return None if report is None else float(report["table"][0]["network"])


def _holdout(pattern: int, method: str, kept: Path, of: str = "holdout") -> list[float] | None:
    """In percent, of each seed that is kept."""
    files = (_kept_temporal(kept, pattern, seed) for seed in SEEDS)
    found = [one["methods"][method][of] for one in files if one is not None and method in one["methods"]]
    return [round(100 * share, 2) for share in found] or None


def levels_report(result: StudyResult, store: Store, kept: Path) -> dict[str, Any]:
    """What the figure is drawn from."""
    return {"report": kept_file(kept, _levels_file(result.scale))}


def drawn_levels(results: Sequence[StudyResult]) -> Figure:
    """The paper's Figure 2."""
    from hardgap.studies.interpolation.figure import draw

    (result,) = results
    if result.more["report"] is None:
        raise NotMeasured(f"no levels of representation have been measured yet at {result.scale} scale")
    return draw(result.more["report"])


@each
def computed_tables(one: StudyResult) -> Table:
    """Published, measured, verdict."""
    labels = list(one.arms[0].labels)
    rows = [
        [*a.labels.values(), _printed(a.published), _shown(a.value), a.comparison.verdict, a.comparison.note]
        for a in one.arms
    ]
    right = ["published %", "measured %"]
    return Table(f"{one.name}: {one.study.claim}", [*labels, *right, "verdict", "why"], rows, right, detail=["why"])


def _printed(published: Published | None) -> str:
    found = published.as_dict() if published is not None else {}
    return _shown([found["low"], found["high"]] if "low" in found else found.get("value"))


def _shown(value: Any) -> str:
    """A number, a range, or the mean of more than two."""
    if value is None:
        return ""
    if not isinstance(value, list):
        return f"{value:g}"
    return span(value, "g") if len(value) < 3 else f"{fmean(value):.1f} [{span(value, 'g')}]"
