"""Figures as SVG text, drawn from plain data."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from hardgap.core.errors import BadInput
from hardgap.runs.summary import restarts
from hardgap.worlds.automaton.gap import Trajectory
from hardgap.worlds.automaton.rule import Rule

P = ParamSpec("P")
FORMATS = (".png", ".svg", ".pdf")
VISIBLE, HOLDOUT, HIDDEN, PAPER, DARK = "#e08214", "#2166ac", "#d73027", "#777777", "#333333"
STYLE: Any = {"font.family": "sans-serif", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
         "svg.fonttype": "none", "svg.hashsalt": "hardgap"}  # fmt: skip


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """What draws a figure, in the style of all."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


def as_svg(figure: Figure) -> str:
    """The figure as SVG; the same figure always gives the same text."""
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return buffer.getvalue()


def check_format(path: Path) -> None:
    """Refuse a file name whose format is not offered, before any work is done."""
    if path.suffix.lower() not in FORMATS:
        raise BadInput(f"figure {path}: the name must end in {', '.join(FORMATS)}", of="figure")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the file's ending names; the same figure always gives the same SVG."""
    check_format(path)
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    try:
        with mpl.rc_context(STYLE):
            figure.savefig(path, dpi=160, metadata=metadata, bbox_inches="tight")
    except OSError as error:
        raise BadInput(f"figure {path}: {error.strerror}", of="figure") from error


@styled
def setup_figure(trajectory: Trajectory) -> Figure:
    """The paper's Figure 1: a rollout, of the first row, whose hidden cells, in red, receive no supervision."""
    states, hidden = trajectory.states[:, 0], trajectory.hidden[:, 0]
    figure = Figure(figsize=(7.5, 0.5 * len(states) + 0.4))
    axes = figure.add_subplot()
    axes.pcolormesh(states, cmap="Greys", vmin=0, vmax=1.25, edgecolors="#bbbbbb", linewidth=0.6)
    for t, i in np.argwhere(hidden):  # targets[t] is states[t + 1]
        corner, inset = (i + 0.08, t + 1.08), 0.84
        axes.add_patch(Rectangle(corner, inset, inset, fill=False, edgecolor=HIDDEN, linewidth=2.2))
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([t + 0.5 for t in range(len(states))], [f"t = {t}" for t in range(len(states))])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


@styled
def rule_figure(rule: Rule, states: np.ndarray) -> Figure:
    """A rule: the output of every neighbourhood, in one line where they are few, and below it a rollout."""
    steps, width = states.shape
    few = rule.radius <= 2
    wide = 7.5
    tall = min(10.0, max(0.6, wide * steps / width))
    figure = Figure(figsize=(wide, tall + (1.1 if few else 0.4)), layout="constrained")
    figure.suptitle(f"Rule {rule.name}", x=0.01, ha="left", fontsize=11)
    heights = [0.6, tall] if few else [tall]
    *above, below = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for axes in above:
        _outputs(axes, rule)
    below.imshow(states, cmap="Greys", vmin=0, vmax=1.25, aspect="auto", interpolation="nearest")
    below.set_xticks([])
    below.set_ylabel("timestep")
    below.spines[:].set_visible(False)
    return figure


def _outputs(axes: Axes, rule: Rule) -> None:
    """Neighbourhoods from the last to the first, as Wolfram writes them, each above the cell that it makes."""
    size = 7.5 if rule.radius == 1 else 5
    for place, pattern in enumerate(reversed(range(rule.patterns))):
        shade = "#333333" if rule.table[pattern] else "white"
        axes.add_patch(Rectangle((place + 0.3, 0), 0.4, 0.4, facecolor=shade, edgecolor="#888888", linewidth=0.8))
        turned = 0 if rule.radius == 1 else 90
        words = rule.pattern_text(pattern)
        axes.text(place + 0.5, 0.75, words, ha="center", va="center", fontsize=size, rotation=turned)
    axes.set_xlim(0, rule.patterns)
    axes.set_ylim(-0.1, 1.1)
    axes.set_axis_off()


@styled
def curves_figure(panels: Sequence[tuple[str, Sequence[Sequence[dict[str, Any]]]]]) -> Figure:
    """Visible and holdout accuracy over training, one panel a setting, one line a run (paper, Figure 6)."""
    figure = Figure(figsize=(4.2 * len(panels), 3.3), layout="constrained")
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, curves) in zip(all_axes, panels, strict=True):
        _curves(axes, title, curves)
    all_axes[0].set_ylabel("accuracy on test rows, %")
    figure.legend(*all_axes[0].get_legend_handles_labels(), frameon=False, ncols=2, loc="outside lower center")
    return figure


def _curves(axes: Axes, title: str, curves: Sequence[Sequence[dict[str, Any]]]) -> None:
    alpha = 0.9 if len(curves) == 1 else 0.55
    for index, curve in enumerate(curves):
        steps, again = [point["step"] for point in curve], restarts(curve)
        for key, colour, label in (("visible", VISIBLE, "visible patterns"), ("holdout", HOLDOUT, "hidden patterns")):
            look = {"color": colour, "alpha": alpha, "linewidth": 1.8, "label": None if index else label}
            draw_line(axes, steps, [100 * point[key] for point in curve], again, **look)
        mark_restarts(axes, steps, again)
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xlabel("training step")
    axes.set_ylim(-3, 103)


def beside_published(
    figure: Figure, axes: Axes, measured: str, published: str = "published, width 101", mark: str = "o"
) -> None:
    """Above a figure, what its grey marks and its blue dots are."""
    axes.plot([], [], mark, color=PAPER, label=published)
    axes.plot([], [], "o", color=HOLDOUT, label=measured)
    figure.legend(frameon=False, ncols=2, loc="outside upper left")


def legend_once(figure: Figure | SubFigure, panels: Iterable[Axes], **look: Any) -> None:
    """Each line once, however many panels it is in."""
    said = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if said:
        figure.legend(said.values(), said, frameon=False, **look)


def draw_line(axes: Axes, steps: list[int], values: list[float], again: Sequence[int], **look: Any) -> None:
    """A line over training, broken where another network goes on: at `again`, the steps that `restarts` finds."""
    ends = [*(bisect_left(steps, step) for step in again), len(steps)]
    for start, end in pairwise([0, *ends]):
        axes.plot(steps[start:end], values[start:end], **look)
        look["label"] = None


def mark_restarts(axes: Axes, steps: list[int], again: Sequence[int], height: float = 50) -> None:
    """A thin vertical line with words, between the last step of one network and the first of the next."""
    for step in again:
        place = (steps[bisect_left(steps, step) - 1] + step) / 2
        axes.axvline(place, color=PAPER, linewidth=0.9, linestyle=(0, (4, 3)))
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(
            place, height, "started again", rotation=90, fontsize=8, color=PAPER, ha="center", va="center", bbox=box
        )


def heatmap(
    axes: Axes,
    grid: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Callable[[int, int], str] | None = None,
    *,
    low: float = 0,
    high: float = 100,
    cmap: str = "Blues",
) -> AxesImage:
    """A matrix as shades, with what `texts` says of a row and a column, or else its numbers, written in."""
    image: AxesImage = axes.imshow(grid, aspect="auto", cmap=cmap, vmin=low, vmax=high)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (y, x), value in np.ndenumerate(grid):
        if not np.isnan(value):
            text = f"{value:.0f}" if texts is None else texts(y, x)
            axes.text(x, y, text, ha="center", va="center", fontsize=7.5, color=ink(value, low, high))
    return image


def ink(value: float, low: float = 0, high: float = 100) -> str:
    """What can be read on a shade."""
    return "white" if value > low + 0.6 * (high - low) else DARK
