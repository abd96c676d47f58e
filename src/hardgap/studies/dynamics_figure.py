"""The paper's figure of training dynamics: a panel a group of runs, a line a run, the 85 % line."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from hardgap.core.errors import NotMeasured
from hardgap.report.figures import HOLDOUT, PAPER, curves_figure
from hardgap.studies.dynamics import LINE, crossing
from hardgap.studies.measure import StudyResult


def dynamics_figure(results: Sequence[StudyResult]) -> Figure:
    """Rule D and Rule 150 pattern 3 as in the paper, then what else was tested; a dot where holdout crosses."""
    arms = [arm for one in results for arm in one.arms if arm.n]
    if not arms:
        raise NotMeasured(f"nothing of the training dynamics has been measured yet at {results[0].scale} scale")
    figure = curves_figure([(f"{arm.labels['runs']} ({arm.n} runs)", arm.curves) for arm in arms])
    for axes, arm in zip(figure.axes, arms, strict=True):
        axes.axhline(100 * LINE, color=PAPER, linestyle="--", linewidth=1)
        for line in axes.lines:
            line.set(alpha=0.25 if arm.n > 12 else 0.6, linewidth=1.2)
        for point in filter(None, map(crossing, arm.curves)):
            axes.plot([point["step"]], [100 * point["visible"]], "o", color="black", markersize=3.5, zorder=3)
            axes.plot([point["step"]], [100 * point["holdout"]], "o", color=HOLDOUT, markersize=3.5, zorder=3)
    figure.axes[0].set_xlabel("training step (a dot: holdout crosses)")
    figure.axes[0].annotate("85 %", (0.99, 100 * LINE + 1), xycoords=("axes fraction", "data"), ha="right", color=PAPER)
    return figure
