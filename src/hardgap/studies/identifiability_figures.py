"""The two figures of docs/identifiability.md, from the numbers that `identifiability.measure` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.studies.identifiability import STEPS, TRAINED_150_220, TRAINED_K

Numbers = dict[str, Any]

STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "svg.hashsalt": "hardgap",
}
# Light to dark with the number of steps; what was trained is always black.
STEP_COLOURS = {2: "#9ecae1", 3: "#4292c6", 4: "#08519c"}
RULE, TRAINED = "#1b9e77", "black"
# Colour, marker, and on which side of the point its pattern is written.
RULE_MARKS: Any = {
    "150": ("#7570b3", "s", ("center", 0, -11)),
    "30": ("#d95f02", "o", ("left", 7, 0)),
    "106": ("#1b9e77", "^", ("right", -7, 0)),
}


def draw(numbers: Numbers, folder: Path) -> None:
    """Write `identifiability-patterns.png` and `identifiability-sweep.png`."""
    with mpl.rc_context(STYLE):
        patterns_figure(numbers).savefig(folder / "identifiability-patterns.png", dpi=160)
        sweep_figure(numbers).savefig(folder / "identifiability-sweep.png", dpi=160)


def patterns_figure(numbers: Numbers) -> Figure:
    """One hidden pattern: what is determined, how loudly, and what was learned."""
    figure = Figure(figsize=(10.8, 6.6), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=(1.2, 1))
    rule_150 = [row for row in numbers["single"] if row["rule"] == "150"]
    determined, loudness, trained = (figure.add_subplot(grid[i, 0]) for i in range(3))
    _determined(determined, rule_150)
    _loudness(loudness, rule_150)
    _trained(trained)
    for axes in (determined, loudness, trained):
        axes.set_xticks(range(8), [f"{p}\n{p:03b}" for p in range(8)] if axes is trained else [])
        axes.set_xlim(-0.6, 7.6)
    trained.set_xlabel("hidden pattern of Rule 150")
    _scatter(figure.add_subplot(grid[:, 1]), numbers["single"])
    return figure


def _determined(axes: Axes, rows: list[Numbers]) -> None:
    series = [
        ("strict", "rows_first_identified", 0, STEP_COLOURS[2], "strict, 2 steps"),
        ("strict", "rows_first_identified", 1, STEP_COLOURS[3], "strict, 3 steps"),
        ("rule_level", "rows_identified", 0, RULE, "rule level, 2 steps"),
    ]
    for place, (level, key, index, colour, label) in enumerate(series):
        share = [100 * row["answers"][index][level][key] for row in rows]
        axes.bar(np.arange(8) + 0.27 * (place - 1), share, 0.24, color=colour, label=label)
    _legend_above(axes, 100, [0, 50, 100])
    axes.set_ylabel("rows, %")
    axes.set_title("Single rows that determine their first hidden cells (strict) or the entry")


def _loudness(axes: Axes, rows: list[Numbers]) -> None:
    for index, steps in enumerate(STEPS):
        values = [100 * row["contradicted"][index] for row in rows]
        axes.plot(range(8), values, "o", color=STEP_COLOURS[steps], label=f"step {steps}", markersize=6)
    _legend_above(axes, 50, [0, 25, 50])
    axes.set_ylabel("cells, %")
    axes.set_title("Supervised cells where the other completion is caught")


def _legend_above(axes: Axes, top: float, ticks: list[float]) -> None:
    """Keep the legend clear of the data: a quarter of the height above it."""
    axes.set_ylim(0, 1.28 * top)
    axes.set_yticks(ticks)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(ncols=3, loc="upper center", fontsize=8.5, borderaxespad=0.1)


def _trained(axes: Axes) -> None:
    for pattern, count in enumerate(TRAINED_150_220):
        if count is None:
            axes.text(pattern, 0.4, "not\nre-run", ha="center", va="bottom", fontsize=8, color="#777777")
        else:
            axes.bar(pattern, count, 0.5, color=TRAINED)
    axes.set_ylim(0, 10.5)
    axes.set_yticks([0, 5, 10])
    axes.set_ylabel("seeds of 10")
    axes.set_title("Published: seeds that learned it in 220 epochs")


def _scatter(axes: Axes, rows: list[Numbers]) -> None:
    from scipy.stats import spearmanr

    for name, (colour, marker, _) in RULE_MARKS.items():
        chosen = [row for row in rows if row["rule"] == name]
        loud = [100 * row["contradicted"][0] for row in chosen]
        trained = [row["trained"] for row in chosen]
        axes.scatter(loud, trained, color=colour, marker=marker, s=38, label=f"Rule {name}", alpha=0.85)
    _label_points(axes, rows)
    rank = spearmanr([row["contradicted"][0] for row in rows], [row["trained"] for row in rows])
    axes.set_title(f"All 24 gaps of one pattern: Spearman ρ = {rank.statistic:.2f}, p = {rank.pvalue:.2f}")
    axes.set_xlabel("cells of step 2 where the other completion is caught, %")
    axes.set_ylabel("published: seeds of 10 that learned it in 50 epochs")
    axes.set_xlim(9, 39)
    axes.set_ylim(-0.7, 10.7)
    axes.grid(color="#eeeeee", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="center right", fontsize=8.5)


def _label_points(axes: Axes, rows: list[Numbers]) -> None:
    """Name each point by its pattern, each rule on its own side; patterns at the same place share a label."""
    places: dict[tuple[str, float, int], list[int]] = {}
    for row in rows:
        places.setdefault((row["rule"], row["contradicted"][0], row["trained"]), []).append(row["pattern"])
    for (rule, loud, trained), patterns in places.items():
        colour, _, (side, right, up) = RULE_MARKS[rule]
        axes.annotate(",".join(map(str, patterns)), (100 * loud, trained), (right, up), textcoords="offset points",
                      ha=side, va="center", fontsize=8, color=colour)  # fmt: skip


def sweep_figure(numbers: Numbers) -> Figure:
    """Hiding more and more of Rules D and G: what stays determined, and what was still learned."""
    figure = Figure(figsize=(10.2, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, name in zip(panels, TRAINED_K, strict=True):
        _sweep(axes, name, numbers["sweep"][name])
        _proved(axes, name, numbers["frontier"])
    panels[0].set_ylabel("hidden entries determined, or holdout cells right, %")
    panels[0].legend(loc="lower left", fontsize=8.5)
    return figure


def _sweep(axes: Axes, name: str, table: list[Numbers]) -> None:
    k = np.array([row["k"] for row in table])
    for steps in STEPS:
        found = np.array([row["determined"][str(steps)] for row in table])
        mean = 100 * found.mean(axis=1) / k
        axes.plot(k, mean, color=STEP_COLOURS[steps], linewidth=2, label=f"hidden entries determined, {steps} steps")
    means = [mean for mean, _ in TRAINED_K[name].values()]
    axes.plot(list(TRAINED_K[name]), means, "D", color=TRAINED, markersize=5, label="published holdout accuracy")
    axes.set_title(f"Rule {name}: {table[0]['sets']} random hidden sets for each k")
    axes.set_xlabel("hidden patterns of 32")
    axes.set_xlim(0, 32)
    axes.set_ylim(-3, 105)
    axes.set_xticks(range(0, 33, 4))


def _proved(axes: Axes, name: str, frontiers: list[Numbers]) -> None:
    """Shade the k at which no hidden set whatever loses information in four steps."""
    found = next(f for f in frontiers if f["rule"] == name and f["steps"] == 4 and not f["both_outputs_seen"])
    axes.axvspan(0, found["size"] - 0.5, color=RULE, alpha=0.12, linewidth=0)
    axes.text(
        0.4, 62, f"k ≤ {found['size'] - 1}: proved for\nevery hidden set\n(4 steps)", color="#136f52", fontsize=8.5
    )
