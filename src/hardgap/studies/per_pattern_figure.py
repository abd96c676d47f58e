"""The per-pattern table as a figure: a panel a column of the paper's table."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.report.figures import HOLDOUT, PAPER, beside_published, styled
from hardgap.report.statistics import wilson
from hardgap.studies.measure import StudyResult
from hardgap.studies.per_pattern import column


@styled
def pattern_figure(results: Sequence[StudyResult]) -> Figure:
    """Success rates with Wilson intervals by hidden pattern: published (grey squares) and measured (blue dots)."""
    figure = Figure(figsize=(2.9 * len(results) + 0.6, 3.0), layout="constrained")
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, results, strict=True):
        _panel(axes, one)
    panels[0].set_ylabel("seeds that recover it, %")
    beside_published(figure, panels[0], f"measured here, {results[0].scale} scale", mark="s")
    return figure


def _panel(axes: Axes, one: StudyResult) -> None:
    for arm in one.arms:
        pattern = int(arm.labels["pattern"])
        if arm.published is not None and arm.published.count is not None:
            _rate(axes, pattern - 0.15, *arm.published.count, PAPER, "s")
        if arm.n:
            _rate(axes, pattern + 0.15, arm.recovered, arm.n, HOLDOUT, "o")
    axes.set_title(f"Rule {column(one.name)}", loc="left", fontsize=10)
    axes.set_xticks(range(len(one.arms)), [str(arm.labels["pattern"]) for arm in one.arms])
    axes.set_xlabel("hidden pattern")
    axes.set_ylim(-4, 104)


def _rate(axes: Axes, x: float, successes: int, n: int, colour: str, marker: str) -> None:
    low, high = wilson(successes, n)
    axes.plot([x, x], [100 * low, 100 * high], color=colour, linewidth=1.3, alpha=0.6)
    axes.plot([x], [100 * successes / n], marker, color=colour, markersize=5)
