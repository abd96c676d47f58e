"""The figures of docs/tempered.md, each drawn from what `hardgap tempered TRIAL --json` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from hardgap.core.errors import BadInput
from hardgap.report.figures import HIDDEN, HOLDOUT, PAPER, STYLE, VISIBLE, draw_line, mark_restarts
from hardgap.studies.identifiability import TRAINED_K

Data = dict[str, Any]
CONTROL, TEMPERED = VISIBLE, HOLDOUT
BESIDE = (1.02, 1.0)
"""Where a legend stands that would hide lines inside its axes."""
LINES = ("-", "--", ":", "-.")


def tempered_figure(data: Data) -> Figure:
    """The figure of whichever trial the data is of."""
    if data["trial"] not in FIGURES:
        raise BadInput(f"there is no figure of {data['trial']}; there is one of {', '.join(FIGURES)}")
    if not any(arm["n"] for arm in data["arms"]):
        raise BadInput(f"nothing of {data['trial']} has been measured yet at {data['scale']} scale")
    with mpl.rc_context(STYLE):
        return FIGURES[data["trial"]](data)


def _target(data: Data) -> Figure:
    """Recovered seeds of ten by pattern: the paper, the control, the recipe; below, the steps that it took."""
    rules = list(dict.fromkeys(arm["factor"] for arm in data["arms"]))
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    rows = figure.subplots(2, len(rules), sharey="row", squeeze=False, height_ratios=(1.2, 1))
    for column, rule in enumerate(rules):
        arms = [arm for arm in data["arms"] if arm["factor"] == rule]
        control = [arm for arm in data["control"] if arm["factor"] == rule]
        _bars(rows[0, column], arms, control)
        rows[0, column].set_title(rule, loc="left")
        for place, arm in enumerate(arms):
            spread = np.linspace(-0.25, 0.25, len(arm["steps"]))
            rows[1, column].plot(place + spread, arm["steps"], "o", color=TEMPERED, markersize=3.5, alpha=0.8)
        rows[1, column].set_xticks(range(8), [f"{p}\n{p:03b}" for p in range(8)])
        rows[1, column].set_xlabel("hidden pattern")
    rows[0, 0].set_ylabel("runs that recover it, %")
    rows[1, 0].set_ylabel("training steps\nuntil solved")
    rows[1, 0].set_ylim(0, None)
    handles = [rows[0, 0].plot([], [], "s", color=colour)[0] for colour in (PAPER, CONTROL, TEMPERED)]
    steps = data["control_whole_steps"][-1]
    untempered = f"T = 1, same seeds, {steps[0]:,} to {steps[-1]:,} steps"
    names = ["paper, 7,850 steps, width 101", untempered, "tempered, 1,570 steps"]
    figure.legend(handles, names, ncols=3, loc="outside upper right", frameon=False)
    return figure


def _bars(axes: Axes, arms: list[Data], control: list[Data]) -> None:
    for place, (arm, beside) in enumerate(zip(arms, control, strict=True)):
        shares = [
            (PAPER, arm["paper"][0] / arm["paper"][1]),
            (CONTROL, beside["recovered"] / beside["n"] if beside["n"] else None),
            (TEMPERED, arm["recovered"] / arm["n"] if arm["n"] else None),
        ]
        for offset, (colour, share) in zip((-0.27, 0, 0.27), shares, strict=True):
            if share is not None:
                axes.bar(place + offset, max(100 * share, 1), 0.25, color=colour)
    axes.set_xticks([])
    axes.set_ylim(0, 104)


def _dial(data: Data) -> Figure:
    """One row an arm: the share recovered with its interval, and the median steps where most were solved."""
    arms = [arm for arm in data["arms"] if arm["n"]]
    factors = list(dict.fromkeys(arm["factor"] for arm in arms))
    figure = Figure(figsize=(8.5, 0.24 * (len(arms) + 1.6 * len(factors)) + 1), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.6, 1))
    place, ticks = 0.0, []
    for factor in factors:
        left.annotate(factor, (0, place), xycoords=("axes fraction", "data"), xytext=(-8, 0),
                      textcoords="offset points", ha="right", va="center", weight="bold", fontsize=9)  # fmt: skip
        place += 1
        for arm in (arm for arm in arms if arm["factor"] == factor):
            low, high = (100 * end for end in arm["wilson"])
            left.plot([low, high], [place, place], color=TEMPERED, alpha=0.5)
            left.plot(100 * arm["recovered"] / arm["n"], place, "o", color=TEMPERED, markersize=5)
            right.plot(arm["steps"], [place] * len(arm["steps"]), "|", color=TEMPERED, alpha=0.6)
            if arm["median_steps"] is not None:
                right.plot(arm["median_steps"], place, "o", color=HIDDEN, markersize=4)
            ticks.append((place, arm["value"]))
            place += 1
        place += 0.6
    left.set_yticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=8.5)
    left.invert_yaxis()
    left.set_xlim(-3, 103)
    left.set_xlabel("runs that recover, %, 95 % interval")
    right.set_xlabel("steps (red: median of all)")
    for axes in (left, right):
        axes.grid(axis="x", color="#e5e5e5", linewidth=0.7)
        axes.tick_params(axis="y", length=0)
    return figure


def _phases(data: Data) -> Figure:
    """Temperature against unrolled steps and against the hidden pattern: share recovered, and median steps."""
    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(5, 8))
    for axes, kind in zip(panels, ("steps", "pattern"), strict=True):
        arms = [arm for arm in data["arms"] if kind in arm["value"]]
        down = list(dict.fromkeys(arm["factor"] for arm in arms))
        image = _heat(axes, arms, down, list(dict.fromkeys(arm["value"] for arm in arms)))
    figure.colorbar(image, ax=panels, label="runs that recover, %")
    return figure


def _heat(axes: Axes, arms: list[Data], down: list[str], across: list[str]) -> AxesImage:
    found = {(arm["factor"], arm["value"]): arm for arm in arms}
    shares = np.full((len(down), len(across)), np.nan)
    for (factor, value), arm in found.items():
        row, column = down.index(factor), across.index(value)
        if arm["n"]:
            shares[row, column] = 100 * arm["recovered"] / arm["n"]
            text = f"{arm['recovered']}/{arm['n']}"
            steps = "" if arm["median_steps"] is None else f"\n{arm['median_steps']:.0f}"
            dark = shares[row, column] > 60
            axes.text(
                column, row, text + steps, ha="center", va="center", fontsize=8, color="white" if dark else "black"
            )
    image: AxesImage = axes.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
    axes.set_xticks(range(len(across)), [text.removeprefix("pattern ") for text in across])
    axes.set_xlabel("hidden pattern" if "pattern" in across[0] else "unrolled")
    axes.set_yticks(range(len(down)), down)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return image


def _cliff(data: Data) -> Figure:
    """Holdout accuracy as more is hidden: tempered, T = 1, the paper; and what is determined."""
    rules = list(dict.fromkeys(arm["factor"].split(",")[0] for arm in data["arms"] if arm["n"]))
    figure = Figure(figsize=(max(6.5, 5.2 * len(rules)), 3.4), layout="constrained")
    for axes, rule in zip(figure.subplots(1, len(rules), sharey=True, squeeze=False)[0], rules, strict=True):
        arms = [arm for arm in data["arms"] if arm["factor"].startswith(rule)]
        known = data["information"][rule.removeprefix("Rule ")]
        axes.plot([k for k, _ in known], [100 * share for _, share in known], color="#1b9e77", linewidth=2,
                  label="determined by what is visible")  # fmt: skip
        _line(axes, [arm for arm in arms if "tempered" in arm["factor"]], TEMPERED, "tempered")
        _line(axes, [arm for arm in arms if "T = 1" in arm["factor"]], CONTROL, "T = 1, same sets and steps")
        paper = TRAINED_K[rule.removeprefix("Rule ")]
        axes.plot(
            list(paper), list(paper.values()), "--", marker="s", markersize=4, color=PAPER, label="paper, 50 epochs"
        )
        axes.set_title(rule, loc="left")
        axes.set_xlabel("patterns hidden, of 32")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(0, 104)
    figure.axes[0].set_ylabel("holdout accuracy, %; dots: runs")
    figure.axes[0].legend(frameon=False, loc="lower left", fontsize=8.5)
    return figure


def _line(axes: Axes, arms: list[Data], colour: str, label: str) -> None:
    arms = [arm for arm in arms if arm["n"]]
    places = [int(arm["value"]) for arm in arms]
    axes.plot(places, [100 * float(np.mean(arm["holdout"])) for arm in arms], color=colour, label=label)
    for place, arm in zip(places, arms, strict=True):
        axes.plot(
            [place] * arm["n"], [100 * share for share in arm["holdout"]], "o", color=colour, markersize=4, alpha=0.7
        )


def _explain(data: Data) -> Figure:
    """Holdout accuracy, certainty and gradient at hidden cells over training; one line an arm."""
    factors = list(dict.fromkeys(arm["factor"] for arm in data["arms"]))
    panels = [("holdout", "holdout accuracy, %", 100.0), ("logit_hidden", "mean |logit|, hidden cells", 1.0),
              ("gradient_hidden", "mean |gradient| reaching them", 1.0),
              ("pull_hidden", "its part towards the truth", 1.0)]  # fmt: skip
    figure = Figure(figsize=(14.5, 2.4 * len(factors)), layout="constrained")
    grid = figure.subplots(len(factors), len(panels), sharex=True, squeeze=False)
    colours = (CONTROL, TEMPERED, "#7570b3", "#1b9e77", "#e7298a")
    for row, factor in enumerate(factors):
        chosen = [(a, c) for a, c in zip(data["arms"], data["courses"], strict=True) if a["factor"] == factor and c]
        for (arm, course), colour in zip(chosen, colours, strict=False):
            for axes, (key, _, times) in zip(grid[row], panels, strict=True):
                axes.plot(
                    [p["step"] for p in course], [times * p[key] for p in course], color=colour, label=arm["value"]
                )
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


def _forecast(data: Data) -> Figure:
    """Each predictor against the steps to recovery: where it was chosen (grey) and where it is judged (blue)."""
    rows = data["predictors"]
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


def _wide(data: Data) -> Figure:
    """Visible accuracy under each way to route; holdout accuracy, a colour a pattern, a line style a way to train."""
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
    patterns, ways = (list(dict.fromkeys(arm[key] for arm in data["arms"])) for key in ("value", "factor"))
    for arm, course, again in zip(data["arms"], data["courses"], data["restarts"], strict=True):
        routing = arm["factor"].startswith("routing: ")
        axes, key = (left, "visible") if routing else (right, "holdout")
        name = arm["factor"].removeprefix("routing: ") if routing else f"{arm['value']}, {arm['factor']}"
        look: Data = (
            {} if routing else {"color": f"C{patterns.index(arm['value'])}", "ls": LINES[ways.index(arm["factor"])]}
        )
        if course:
            draw_line(axes, [p["step"] for p in course], [100 * p[key] for p in course], again, label=name, **look)
    steps = sorted({p["step"] for course in data["courses"] for p in course})
    mark_restarts(right, steps, sorted({step for again in data["restarts"] for step in again}), height=22)
    left.set_ylabel("visible accuracy, %")
    right.set_ylabel("holdout accuracy, %")
    for axes in (left, right):
        axes.set_xlabel("training step")
    if left.lines:
        left.legend(frameon=False, fontsize=8, loc="upper left")
    if right.lines:
        right.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=BESIDE)
    return figure


FIGURES: dict[str, Callable[[Data], Figure]] = {
    "target": _target,
    "dial": _dial,
    "phases": _phases,
    "cliff": _cliff,
    "explain": _explain,
    "forecast": _forecast,
    "wide": _wide,
}
