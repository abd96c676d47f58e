"""The k-sweep in the layout of the paper's figure: mean holdout accuracy against the share of patterns hidden.

Beside it the limit that information sets: what of the same hidden sets the visible cells determine. What lies between
that line and the runs was there to be found, and training did not find it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.core.errors import NotMeasured
from hardgap.core.run import only
from hardgap.report.figures import HOLDOUT, PAPER, VISIBLE, styled
from hardgap.studies.identifiability import TRAINED_K, determined_share
from hardgap.studies.measure import StudyResult
from hardgap.worlds.automaton.run import AutomatonRun

LOOKS = {"T = 1": (VISIBLE, "measured, T = 1, 50 epochs"), "tempered": (HOLDOUT, "measured, tempered")}
PATTERNS = 32
DETERMINED = "#1b9e77"


@styled
def k_figure(results: Sequence[StudyResult]) -> Figure:
    """A panel a rule; a dot is a run, a line their mean; a green tick is a hidden set."""
    if not any(arm.n for one in results for arm in one.arms):
        raise NotMeasured(f"nothing of the k-sweep has been measured yet at {results[0].scale} scale")
    figure = Figure(figsize=(5.2 * len(results), 3.6), layout="constrained")
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, results, strict=True):
        _panel(axes, one)
    panels[0].set_ylabel("holdout accuracy, %; a dot is a run")
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=8.5, ncols=2,
                  loc="outside lower center")  # fmt: skip
    return figure


def determined(one: StudyResult) -> dict[int, list[float]]:
    """By the number of hidden patterns: of each set that was run, the share of entries that its rows determine."""
    sets: dict[int, dict[tuple[int, ...], float]] = {}
    for run in (run for arm in one.arms for run in only(AutomatonRun, arm.runs)):
        sets.setdefault(len(run.hide), {})[run.hide] = determined_share(run.gap, run.width)
    return {k: list(shares.values()) for k, shares in sorted(sets.items())}


def _panel(axes: Axes, one: StudyResult) -> None:
    rule, known = str(one.arms[0].labels["rule"]), determined(one)
    axes.plot([100 * k / PATTERNS for k in known], [100 * fmean(shares) for shares in known.values()],
              color=DETERMINED, linewidth=2, label="determined by what is visible (a tick is a set)")  # fmt: skip
    for k, shares in known.items():
        axes.plot([100 * k / PATTERNS] * len(shares), [100 * s for s in shares], "_", color=DETERMINED, markersize=9)
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
