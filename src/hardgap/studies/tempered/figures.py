"""The figures of docs/tempered.md, one a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from hardgap.core.errors import NotMeasured
from hardgap.report.figures import (
    HIDDEN,
    HOLDOUT,
    PAPER,
    VISIBLE,
    draw_line,
    heatmap,
    legend_once,
    mark_restarts,
    styled,
)
from hardgap.runs.summary import restarts
from hardgap.studies.identifiability import TRAINED_K
from hardgap.studies.measure import Measured, StudyResult
from hardgap.studies.tempered.spread import RECIPE, UNTEMPERED
from hardgap.studies.tempered.tables import way_of

CONTROL, TEMPERED = VISIBLE, HOLDOUT
BESIDE = (1.02, 1.0)
"""Where a legend stands that would hide lines inside its axes."""


def drawn(draw: Callable[[StudyResult], Figure]) -> Callable[[Sequence[StudyResult]], Figure]:
    """The figure of one study in the style of all, refused where nothing has been measured."""

    @styled
    def figure(results: Sequence[StudyResult]) -> Figure:
        (result,) = results
        if not any(arm.n for arm in result.arms):
            raise NotMeasured(f"nothing of {result.name} has been measured yet at {result.scale} scale")
        return draw(result)

    return figure


@drawn
def target_figure(result: StudyResult) -> Figure:
    """Recovered seeds of ten by pattern: the paper, the control, the recipe; below, the steps that it took."""
    single = [row for row in result.more["beside"] if "pattern" in row["arm"].labels]
    rules = list(dict.fromkeys(row["arm"].labels["rule"] for row in single))
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    rows = figure.subplots(2, len(rules), sharey="row", squeeze=False, height_ratios=(1.2, 1))
    for column, rule in enumerate(rules):
        of_rule = [row for row in single if row["arm"].labels["rule"] == rule]
        _bars(rows[0, column], of_rule)
        rows[0, column].set_title(f"Rule {rule}", loc="left")
        for place, arm in enumerate(row["arm"] for row in of_rule):
            spread = np.linspace(-0.25, 0.25, len(arm.steps))
            rows[1, column].plot(place + spread, arm.steps, "o", color=TEMPERED, markersize=3.5, alpha=0.8)
        rows[1, column].set_xticks(range(8), [f"{p}\n{p:03b}" for p in range(8)])
        rows[1, column].set_xlabel("hidden pattern")
    rows[0, 0].set_ylabel("runs that recover it, %")
    rows[1, 0].set_ylabel("training steps\nuntil solved")
    rows[1, 0].set_ylim(0, None)
    handles = [rows[0, 0].plot([], [], "s", color=colour)[0] for colour in (PAPER, CONTROL, TEMPERED)]
    steps = result.more["beside"][-1]["control_steps"]
    untempered = f"T = 1, same seeds, {steps[0]:,} to {steps[-1]:,} steps"
    names = ["paper, 7,850 steps, width 101", untempered, "tempered, 1,570 steps"]
    figure.legend(handles, names, ncols=3, loc="outside upper right", frameon=False)
    return figure


def _bars(axes: Axes, rows: list[dict[str, Any]]) -> None:
    for place, row in enumerate(rows):
        arm, control = row["arm"], row["control"]
        counts = [(PAPER, arm.published.count), (CONTROL, (control.recovered, control.n))]
        counts.append((TEMPERED, (arm.recovered, arm.n)))
        shares = [(colour, of / n if n else None) for colour, (of, n) in counts]
        for offset, (colour, share) in zip((-0.27, 0, 0.27), shares, strict=True):
            if share is not None:
                axes.bar(place + offset, max(100 * share, 1), 0.25, color=colour)
    axes.set_xticks([])
    axes.set_ylim(0, 104)


@drawn
def dial_figure(result: StudyResult) -> Figure:
    """One row an arm: the share recovered with its interval, and the median steps where most were solved."""
    factors: dict[str, list[Measured]] = {}
    for arm in result.arms:
        if arm.n:
            factors.setdefault(str(arm.labels["factor"]), []).append(arm)
    halves = _halves(factors)
    rows = max(_rows(half) for half in halves)
    figure = Figure(figsize=(14, 0.23 * rows + 1), layout="constrained")
    grid = figure.subplots(1, 2 * len(halves), width_ratios=(1.6, 1) * len(halves), squeeze=False)[0]
    for half, left, right in zip(halves, grid[::2], grid[1::2], strict=True):
        _dial_column(left, right, half, rows)
    for axes in grid[3::2]:
        axes.sharex(grid[1])
    return figure


def _rows(factors: dict[str, list[Measured]]) -> float:
    """How many rows these take, with a heading and some air each."""
    return sum(len(arms) + 1.6 for arms in factors.values())


def _halves(factors: dict[str, list[Measured]]) -> list[dict[str, list[Measured]]]:
    """The factors in their order, in two columns about as long."""
    names = list(factors)
    cuts = [
        [{name: factors[name] for name in some} for some in (names[:at], names[at:])] for at in range(1, len(names))
    ]
    return min(cuts, key=lambda cut: abs(_rows(cut[0]) - _rows(cut[1])), default=[factors])


def _dial_column(left: Axes, right: Axes, factors: dict[str, list[Measured]], rows: float) -> None:
    place, ticks = 0.0, []
    for factor, arms in factors.items():
        left.annotate(factor, (0, place), xycoords=("axes fraction", "data"), xytext=(-8, 0),
                      textcoords="offset points", ha="right", va="center", weight="bold", fontsize=9)  # fmt: skip
        place += 1
        for arm in arms:
            low, high = (100 * end for end in arm.wilson or (0.0, 1.0))
            left.plot([low, high], [place, place], color=TEMPERED, alpha=0.5)
            left.plot(100 * arm.recovered / arm.n, place, "o", color=TEMPERED, markersize=5)
            right.plot(arm.steps, [place] * len(arm.steps), "|", color=TEMPERED, alpha=0.6)
            if arm.median_steps is not None:
                right.plot(arm.median_steps, place, "o", color=HIDDEN, markersize=4)
            ticks.append((place, str(arm.labels["value"])))
            place += 1
        place += 0.6
    left.set_yticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=8.5)
    right.set_yticks([])
    left.set_xlim(-3, 103)
    left.set_xlabel("runs that recover, %, 95 % interval")
    right.set_xlabel("steps (red: median of all)")
    for axes in (left, right):
        axes.set_ylim(rows, -1)
        axes.grid(axis="x", color="#e5e5e5", linewidth=0.7)
        axes.tick_params(axis="y", length=0)


@drawn
def phases_figure(result: StudyResult) -> Figure:
    """Temperature against unrolled steps and against the hidden pattern: share recovered, and median steps."""
    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(5, 8))
    for axes, kind in zip(panels, ("steps", "pattern"), strict=True):
        image = _heat(axes, [arm for arm in result.arms if kind in arm.labels], kind)
    figure.colorbar(image, ax=panels, label="runs that recover, %")
    words = "In each field: runs that recover, of how many; below it, where most do, the median of their training steps"
    figure.suptitle(words, x=0.01, ha="left", fontsize=9.5)
    return figure


def _heat(axes: Axes, arms: list[Measured], kind: str) -> AxesImage:
    down, across = (list(dict.fromkeys(arm.labels[name] for arm in arms)) for name in ("T", kind))
    cells = {(down.index(arm.labels["T"]), across.index(arm.labels[kind])): arm for arm in arms if arm.n}
    shares = np.full((len(down), len(across)), np.nan)
    for place, arm in cells.items():
        shares[place] = 100 * arm.recovered / arm.n
    columns = [str(value) if kind == "pattern" else f"{value} steps" for value in across]
    axes.set_xlabel("hidden pattern" if kind == "pattern" else "unrolled")
    return heatmap(axes, shares, [f"T = {t:g}" for t in down], columns, lambda y, x: _counted(cells[y, x]))


def _counted(arm: Measured) -> str:
    """How many recovered and, where most were solved, the median steps below."""
    return f"{arm.recovered}/{arm.n}" + ("" if arm.median_steps is None else f"\n{arm.median_steps:.0f}")


@drawn
def cliff_figure(result: StudyResult) -> Figure:
    """Holdout accuracy as more is hidden: every run, tempered and at T = 1; the paper's means; what is determined."""
    rules = list(dict.fromkeys(str(arm.labels["rule"]) for arm in result.arms if arm.n))
    figure = Figure(figsize=(max(6.5, 5.2 * len(rules)), 3.9), layout="constrained")
    for axes, rule in zip(figure.subplots(1, len(rules), sharey=True, squeeze=False)[0], rules, strict=True):
        arms = [arm for arm in result.arms if arm.labels["rule"] == rule]
        known = result.more["information"][rule]
        axes.plot([k for k, _ in known], [100 * share for _, share in known], color="#1b9e77", linewidth=2,
                  label="determined by what is visible")  # fmt: skip
        means = [mean for mean, _ in TRAINED_K[rule].values()]
        axes.plot(list(TRAINED_K[rule]), means, "s:", markersize=4, color=PAPER, label="paper, 50 epochs, means")
        _dots(axes, [arm for arm in arms if arm.labels["way"] == "T = 1"], CONTROL, "T = 1, same sets and steps", 0.15)
        _dots(axes, [arm for arm in arms if arm.labels["way"] == "tempered"], TEMPERED, "tempered, a dot a run", -0.15)
        axes.set_title(f"Rule {rule}", loc="left")
        axes.set_xlabel("patterns hidden, of 32")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(0, 104)
    figure.axes[0].set_ylabel("holdout accuracy, %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), frameon=False, ncols=2, loc="outside lower center")
    return figure


def _dots(axes: Axes, arms: list[Measured], colour: str, label: str, beside: float) -> None:
    """Every run. Sets of hidden patterns are drawn anew at each size, so no line joins them."""
    found = [(int(arm.labels["k"]) + beside, 100 * share) for arm in arms for share in arm.holdout]
    axes.plot([k for k, _ in found], [share for _, share in found], "o", color=colour, markersize=6, alpha=0.8,
              label=label)  # fmt: skip


@drawn
def explain_figure(result: StudyResult) -> Figure:
    """Holdout accuracy, certainty and gradient at hidden cells over training; one line an arm."""
    factors = list(dict.fromkeys(str(arm.labels["factor"]) for arm in result.arms))
    both = list(zip(result.arms, result.more["courses"], strict=True))
    panels = [("holdout", "holdout accuracy, %", 100.0), ("logit_hidden", "mean |logit|, hidden cells", 1.0),
              ("gradient_hidden", "mean |gradient| reaching them", 1.0),
              ("pull_hidden", "its part towards the truth", 1.0)]  # fmt: skip
    figure = Figure(figsize=(14.5, 2.4 * len(factors)), layout="constrained")
    grid = figure.subplots(len(factors), len(panels), sharex=True, squeeze=False)
    colours = (CONTROL, TEMPERED, "#7570b3", "#1b9e77", "#e7298a")
    for row, factor in enumerate(factors):
        chosen = [(arm.labels["value"], course) for arm, course in both if arm.labels["factor"] == factor and course]
        for (value, course), colour in zip(chosen, colours, strict=False):
            for axes, (key, _, times) in zip(grid[row], panels, strict=True):
                axes.plot([p["step"] for p in course], [times * p[key] for p in course], color=colour, label=value)
        grid[row, 0].set_title(factor, loc="left", fontsize=10)
        grid[row, 0].set_ylim(-3, 104)
        grid[row, -1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=BESIDE)
        grid[row, 2].set_yscale("log")
        grid[row, 3].set_yscale("symlog", linthresh=0.01)
        grid[row, 3].axhline(0, color="#bbbbbb", linewidth=0.7)
        for axes, (_, name, _) in zip(grid[row], panels, strict=True):
            axes.set_ylabel(name, fontsize=8.5)
    for axes in grid[-1]:
        axes.set_xlabel("training step")
    return figure


@drawn
def forecast_figure(result: StudyResult) -> Figure:
    """Each predictor against the steps to recovery: where it was chosen (grey) and where it is judged (blue)."""
    rows = result.more["predictors"]
    figure = Figure(figsize=(3.1 * len(rows), 3.2), layout="constrained")
    for axes, row in zip(figure.subplots(1, len(rows), sharey=True, squeeze=False)[0], rows, strict=True):
        for where, colour, name in (("chosen on", PAPER, "Rules 150, 30, 106"), ("judged on", TEMPERED, "new rules")):
            axes.plot(row[where]["values"], row[where]["steps"], "o", color=colour, markersize=4, alpha=0.7, label=name)
        rho = row["judged on"]["rho"]
        axes.set_title("" if rho is None else f"ρ = {rho:+.2f} on new rules", fontsize=9.5, loc="left")
        axes.set_xlabel(row["predictor"], fontsize=9)
        axes.set_yscale("log")
        axes.set_yticks(ticks := (100, 200, 400, 800, 1600), [str(tick) for tick in ticks])
        axes.minorticks_off()
    figure.axes[0].set_ylabel("steps until solved, mean of seeds")
    figure.axes[-1].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


@drawn
def wide_figure(result: StudyResult) -> Figure:
    """Visible accuracy under each way to route; holdout accuracy, a panel a pattern, a colour a way to train."""
    courses = list(zip(result.arms, result.more["courses"], result.more["restarts"], strict=True))
    trained = [one for one in courses if "way" in one[0].labels]
    patterns = list(dict.fromkeys(arm.labels["pattern"] for arm, *_ in trained))
    ways = list(dict.fromkeys(way_of(arm) for arm, *_ in trained))
    figure = Figure(figsize=(14, 4.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 2.4), squeeze=False)[0]
    routing = left.add_subplot()
    for place, (arm, course, again) in enumerate(one for one in courses if "routing" in one[0].labels):
        name = way_of(arm).removeprefix("routing: ")
        _course(routing, course, again, "visible", ROUTES[place % len(ROUTES)], name)
    routing.set(xlabel="training step", ylabel="visible accuracy, %")
    routing.set_title("Finding the neighbours", loc="left", fontsize=10)
    if routing.lines:
        left.legend(frameon=False, fontsize=8.5, loc="outside lower left")
    grid = right.subplots(2, -(-len(patterns) // 2), sharex=True, sharey=True, squeeze=False)
    for axes, pattern in zip(grid.flat, patterns, strict=False):
        axes.set_title(f"pattern {pattern} hidden", loc="left", fontsize=9.5)
        axes.set_ylim(-3, 104)
        for arm, course, again in (one for one in trained if one[0].labels["pattern"] == pattern):
            colour = ROUTES[ways.index(way_of(arm)) % len(ROUTES)]
            _course(axes, course, again, "holdout", colour, way_of(arm))
            mark_restarts(axes, [p["step"] for p in course], again, height=22)
    legend_once(right, grid.flat, fontsize=8.5, ncols=2, loc="outside lower center")
    right.supylabel("holdout accuracy, %", fontsize=10)
    for axes in grid[-1]:
        axes.set_xlabel("training step")
    return figure


@drawn
def spread_figure(result: StudyResult) -> Figure:
    """A panel a pattern, a line a run: visible accuracy thin, holdout accuracy strong; T = 1 grey."""
    arms = [arm for arm in result.arms if arm.labels["way"] in (RECIPE, UNTEMPERED)]
    patterns = sorted({arm.labels["pattern"] for arm in arms})
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    grid = figure.subplots(2, -(-len(patterns) // 2), sharex=True, sharey=True, squeeze=False)
    for axes, pattern in zip(grid.flat, patterns, strict=False):
        axes.set_title(f"pattern {pattern} hidden", loc="left", fontsize=9.5)
        axes.set_ylim(-3, 104)
        for arm in (one for one in arms if one.labels["pattern"] == pattern):
            hot = arm.labels["way"] == RECIPE
            for curve in arm.curves:
                again = restarts(curve)
                if hot:
                    _course(axes, curve, again, "visible", VISIBLE, "visible", linewidth=0.8, alpha=0.6)
                    mark_restarts(axes, [p["step"] for p in curve], again, height=22)
                _course(axes, curve, again, "holdout", HOLDOUT if hot else PAPER, "holdout" if hot else UNTEMPERED)
    for axes in grid[-1]:
        axes.set_xlabel("training step")
    figure.supylabel("accuracy, %", fontsize=10)
    legend_once(figure, grid.flat, fontsize=8.5, ncols=3, loc="outside lower center")
    return figure


ROUTES = (HOLDOUT, VISIBLE, "#7570b3", "#1b9e77")


def _course(
    axes: Axes, course: list[dict[str, Any]], again: list[int], key: str, colour: str, label: str, **look: float
) -> None:
    if course:
        values = [100 * p[key] for p in course]
        draw_line(axes, [p["step"] for p in course], values, again, color=colour, label=label, **look)
