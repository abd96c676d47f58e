"""Every solved network beside the paper's two: a row a published share, a dot a network."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from hardgap.core.errors import NotMeasured
from hardgap.report.figures import HOLDOUT, PAPER, beside_published, styled
from hardgap.studies.circuits.quantities import QUANTITIES
from hardgap.studies.measure import StudyResult


@styled
def circuit_study_figure(results: Sequence[StudyResult]) -> Figure:
    """Shares in percent; published ones are grey squares."""
    (result,) = results
    networks, values = result.more["networks"], result.more["values"]
    if not networks:
        raise NotMeasured(f"no solved network has been opened yet at {result.scale} scale")
    shown = [(one, here) for one, here in zip(QUANTITIES, values, strict=True) if one.unit == "%"]
    figure = Figure(figsize=(7.5, 0.27 * len(shown) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    for y, (one, here) in enumerate(reversed(shown)):
        axes.plot(here, [y - 0.15] * len(here), "o", color=HOLDOUT, markersize=4, alpha=0.45, clip_on=False)
        axes.plot(one.published, [y + 0.2] * len(one.published), "s", color=PAPER, markersize=4.5, clip_on=False)
    axes.set_yticks(range(len(shown)), [f"{one.analysis}: {one.of}" for one, _ in reversed(shown)], fontsize=8.5)
    axes.set_xlim(-1, 101)
    axes.set_xlabel("%")
    axes.grid(axis="y", color="#eeeeee")
    measured = f"measured, {len(networks)} networks at {result.scale} scale"
    beside_published(figure, axes, measured, "published, two networks of width 101", "s")
    return figure
