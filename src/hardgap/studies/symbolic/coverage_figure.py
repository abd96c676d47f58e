"""All pairs in the layout of the paper's Figure 5, and the symbolic table as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from matplotlib.figure import Figure

from hardgap.core.errors import NotMeasured
from hardgap.report.figures import HOLDOUT, PAPER, beside_published, styled
from hardgap.studies.measure import StudyResult
from hardgap.studies.symbolic.cells import CONDITIONS, default_filter, exact, published_shares
from hardgap.studies.symbolic.published import CASES
from hardgap.worlds.chains.selection import PAPERS_CHOICE

BAR, CASE = "#9ecae1", "#2166ac"


@styled
def coverage_figure(results: Sequence[StudyResult]) -> Figure:
    """A bar a pair, sorted, the four case studies dark; a dot a seed; a tick for the best baseline of the pair.

    The dashed line is the best of any interpolation baseline on any pair.
    """
    (report,) = [one.more | {"scale": one.scale} for one in results]
    by = report["selection"]
    found = [(pair, pair["accuracy"][by]["exact"]) for pair in report["pairs"] if pair["runs"]]
    if not found:
        raise NotMeasured("no pair has a finished run at this scale yet")
    found.sort(key=lambda item: fmean(item[1]))
    figure = Figure(figsize=(7.0, 0.22 * len(found) + 1.4), layout="constrained")
    axes = figure.add_subplot()
    for y, (pair, values) in enumerate(found):
        axes.barh(y, 100 * fmean(values), color=CASE if pair["holdout"] in CASES else BAR, height=0.75)
        axes.plot([100 * value for value in values], [y] * len(values), "o", color="black", markersize=2.5)
        if pair["best_baseline"] is not None:
            axes.plot([100 * pair["best_baseline"][1]] * 2, [y - 0.4, y + 0.4], color=PAPER, linewidth=1.8)
    axes.barh([0], [0], color=CASE, label="a pair of the paper's table")
    if best := [one["best_baseline"][::-1] for one in report["pairs"] if one["best_baseline"]]:
        value, name = max(best)
        words = f"best interpolation baseline of any pair ({name}, {100 * value:.1f} %)"
        axes.axvline(100 * value, color=PAPER, linestyle="--", linewidth=1.2, label=words)
        axes.plot([], [], "|", color=PAPER, markeredgewidth=1.8, label="best interpolation baseline of the pair")
    axes.plot([], [], "o", color="black", markersize=2.5, label="a seed")
    axes.set_yticks(range(len(found)), [pair["holdout"] for pair, _ in found], fontsize=8, family="monospace")
    axes.set_ylim(-0.8, len(found) - 0.2)
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"whole derivation of the held-out pair right, %; {report['scale']} scale, checkpoint by {by}")
    figure.legend(frameon=False, ncols=1, loc="outside upper left", fontsize=8)
    return figure


@styled
def symbolic_table_figure(results: Sequence[StudyResult]) -> Figure:
    """Each cell of the symbolic table: measured mean with its seeds, published mean with its seeds."""
    figure = Figure(figsize=(7.5, 0.5 * len(results) + 1.1), layout="constrained")
    axes = figure.add_subplot()
    for place, arm in enumerate(one.arm for one in reversed(results)):
        for shift, values, colour in (
            (0.14, list(published_shares(arm).values()), PAPER),
            (-0.14, exact(arm, PAPERS_CHOICE), HOLDOUT),
        ):
            axes.plot(
                [100 * v for v in values], [place + shift] * len(values), "o", color=colour, alpha=0.5, markersize=4
            )
            if values:
                axes.plot([100 * fmean(values)], [place + shift], "|", color=colour, markersize=12, markeredgewidth=2.5)
    labels = [
        f"{arm.labels['holdout']}  {CONDITIONS[str(arm.labels['condition'])]}"
        + ("" if default_filter(arm) else ", weaker filter")
        for arm in (one.arm for one in reversed(results))
    ]
    axes.set_yticks(range(len(results)), labels)
    axes.set_xlim(-3, 103)
    axes.set_xlabel("whole derivation of the held-out pair right, %; a dot is a seed, a bar their mean")
    beside_published(figure, axes, f"measured here, {results[0].scale} scale", "published")
    return figure
