"""The k-sweep in the layout of the paper's figure: mean holdout accuracy against the share of patterns hidden."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.core.errors import BadInput
from hardgap.report.figures import HOLDOUT, PAPER, VISIBLE, styled
from hardgap.studies.identifiability import TRAINED_K
from hardgap.studies.measure import StudyResult

LOOKS = {"T = 1": (VISIBLE, "measured, T = 1, 50 epochs"), "tempered": (HOLDOUT, "measured, tempered")}
PATTERNS = 32


@styled
def k_figure(results: Sequence[StudyResult]) -> Figure:
    """A panel a rule; a dot is a run, a line their mean."""
    if not any(arm.n for one in results for arm in one.arms):
        raise BadInput(f"nothing of the k-sweep has been measured yet at {results[0].scale} scale")
    figure = Figure(figsize=(5.2 * len(results), 3.6), layout="constrained")
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, results, strict=True):
        _panel(axes, one)
    panels[0].set_ylabel("holdout accuracy, %; a dot is a run")
    panels[0].legend(frameon=False, loc="lower left", fontsize=8.5)
    return figure


def _panel(axes: Axes, one: StudyResult) -> None:
    rule = str(one.arms[0].labels["rule"])
    places = [100 * k / PATTERNS for k in TRAINED_K[rule]]
    axes.plot(places, [mean for mean, _ in TRAINED_K[rule].values()], "s--", color=PAPER, markersize=4,
              label="published, width 101")  # fmt: skip
    for way, (colour, label) in LOOKS.items():
        arms = [arm for arm in one.arms if arm.labels["way"] == way and arm.n]
        at = [100 * int(arm.labels["k"]) / PATTERNS for arm in arms]
        axes.plot(at, [100 * fmean(arm.holdout) for arm in arms], color=colour, label=label)
        for place, arm in zip(at, arms, strict=True):
            axes.plot([place] * arm.n, [100 * h for h in arm.holdout], "o", color=colour, markersize=3, alpha=0.5)
    axes.set_title(f"Rule {rule}", loc="left")
    axes.set_xlabel(f"of {PATTERNS} patterns hidden, %")
    axes.set_ylim(0, 104)
