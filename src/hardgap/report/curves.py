"""The curves of runs as a figure: a panel a setting, in it every seed, and the band that they make."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.report.figures import HOLDOUT, VISIBLE, draw_line, legend_once, mark_restarts, styled
from hardgap.runs.groups import bands
from hardgap.runs.summary import restarts

Curve = Sequence[dict[str, Any]]
LINES = {"visible": (VISIBLE, "visible"), "holdout": (HOLDOUT, "holdout")}
COLUMNS = 3


@styled
def runs_figure(panels: Sequence[tuple[str, Sequence[Curve]]]) -> Figure:
    """Visible and holdout accuracy over training. Of several seeds: the median, the middle half, and each seed."""
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(1.4 + 4.2 * columns, 0.8 + 2.9 * rows), layout="constrained")
    places = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes in places.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, curves) in zip(places.flat, panels, strict=False):
        _panel(axes, title, curves)
    for axes in places[:, 0]:
        axes.set_ylabel("accuracy on test data, %")
    legend_once(figure, places.flat, ncols=2, loc="outside lower center")
    return figure


def _panel(axes: Axes, title: str, curves: Sequence[Curve]) -> None:
    for curve in curves:
        steps, again = [point["step"] for point in curve], restarts(curve)
        for key, (colour, label) in LINES.items():
            look: dict[str, Any] = {"color": colour, "linewidth": 0.8, "alpha": 0.45}
            if len(curves) == 1:
                look = {"color": colour, "linewidth": 1.8, "label": label}
            draw_line(axes, steps, [100 * point[key] for point in curve], again, **look)
        if len(curves) == 1:  # of several runs, each starts again when it does
            mark_restarts(axes, steps, again)
    if len(curves) > 1:
        _band(axes, curves)
    axes.set_title(fill(title, 52), fontsize=9.5, loc="left")
    axes.set_xlabel("training step")
    axes.set_ylim(-3, 103)


def _band(axes: Axes, curves: Sequence[Curve]) -> None:
    found = bands(curves, list(LINES))
    for key, (colour, label) in LINES.items():
        low, middle, high = (100 * np.array(found[key][name]) for name in ("low", "median", "high"))
        axes.fill_between(found["steps"], low, high, color=colour, alpha=0.22, linewidth=0)
        axes.plot(found["steps"], middle, color=colour, linewidth=2, label=f"{label}: median, middle half, each seed")
