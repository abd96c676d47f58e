"""The main table as a figure."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.core.wording import plural
from hardgap.report.figures import HOLDOUT, PAPER, beside_published, styled
from hardgap.report.statistics import wilson
from hardgap.studies.measure import StudyResult
from hardgap.worlds.automaton.run import AutomatonRun


@styled
def main_table_figure(results: Sequence[StudyResult]) -> Figure:
    """Success rates with Wilson intervals: published (grey, paper scale) and measured (blue)."""
    figure = Figure(figsize=(8.5, 0.6 * len(results) + 1.1), layout="constrained")
    axes = figure.add_subplot()
    for place, arm in enumerate(one.arm for one in reversed(results)):
        if arm.published is not None and arm.published.count is not None:
            _rate(axes, place + 0.14, *arm.published.count, PAPER)
        if arm.n:
            _rate(axes, place - 0.14, arm.recovered, arm.n, HOLDOUT)
    axes.set_yticks(range(len(results)), [_named(one) for one in reversed(results)])
    axes.set_xlim(-3, 112)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_xlabel("runs that recover the hidden patterns (holdout accuracy at least 70 %), %, with 95 % interval")
    beside_published(figure, axes, f"measured here, {results[0].scale} scale")
    return figure


def _named(one: StudyResult) -> str:
    """The rule and the regime, and below it what is hidden and for how long: what the runs have in common."""
    runs = one.study.runs(one.scale)
    first, hidden = runs[0], {len(run.hide) for run in runs if isinstance(run, AutomatonRun)}
    assert isinstance(first, AutomatonRun)
    count = f"{plural(hidden.pop(), 'pattern')} hidden" if len(hidden) == 1 else "patterns hidden"
    leaky = ", hidden cells shown later" if first.masking != "every" else ""
    regime = {"none": "one step", "soft": "soft feedback", "hard": "hard feedback"}[first.unrolling.feedback]
    return f"Rule {first.rule}, {regime}{leaky}\n{count}, {first.budget.steps:,} steps here"


def _rate(axes: Axes, y: float, successes: int, n: int, colour: str) -> None:
    rate, (low, high) = 100 * successes / n, wilson(successes, n)
    axes.plot([100 * low, 100 * high], [y, y], color=colour, linewidth=1.5, alpha=0.7)
    axes.plot([rate], [y], "o", color=colour)
    axes.annotate(f"{successes}/{n}", (103, y), color=colour, fontsize=8, va="center", annotation_clip=False)
