"""The analyses of Experiment 2 as figures, one network each, from what `hardgap symbolic analyse --json` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.report.figures import HIDDEN, HOLDOUT, PAPER, VISIBLE, heatmap, styled

Run = dict[str, Any]


def analysis_figures(run: Run) -> dict[str, Figure]:
    """A figure for each analysis that was made, by its name."""
    return {name: draw(run) for name, draw in FIGURES.items() if name in run["analyses"]}


@styled
def substitution_figure(run: Run) -> Figure:
    """Figure 3: (a) one example before and after surgery, (b) every target in both directions."""
    data = run["analyses"]["substitution"]
    figure = Figure(figsize=(9.5, 4.8), layout="constrained")
    top, *bottom = figure.subplot_mosaic([["example", "example"], ["c, d", "a, b"]], height_ratios=[1.3, 3]).values()
    _example(top, data["example"], run)
    for axes, swapped in zip(bottom, ("c, d", "a, b"), strict=True):
        _targets(axes, [one for one in data["targets"] if one["swapped"] == swapped], swapped)
    bottom[0].set_ylabel("% of examples")
    for axes in bottom:
        axes.set_xlabel("operator that is asked for")
    figure.legend(*bottom[0].get_legend_handles_labels(), frameon=False, ncols=2, loc="outside lower center")
    return figure


def _example(axes: Axes, rows: list[dict[str, Any]], run: Run) -> None:
    axes.axis("off")
    axes.set_title(f"{_about(run)}: what the network writes before and after surgery", loc="left", fontsize=11)
    for line, row in enumerate(rows):
        what = "as it is" if row["swapped"] is None else f"{row['swapped']} changed, asking for {row['target']}"
        y = 0.78 - 0.3 * line
        axes.text(0.0, y, what, fontsize=10, color=PAPER)
        axes.text(0.3, y, "  ".join(map(str, row["inputs"])), fontsize=11, family="monospace")
        axes.text(0.52, y, f"→  {row['derivation']}", fontsize=11, family="monospace", color=HOLDOUT)
    if not rows:
        axes.text(0.0, 0.5, "no example allows both swaps", fontsize=10, color=PAPER)


def _targets(axes: Axes, found: list[dict[str, Any]], swapped: str) -> None:
    slot, other = ("op2", "op1") if swapped == "c, d" else ("op1", "op2")
    places = np.arange(len(found))
    for shift, key, colour, label in (
        (-0.2, "follows", HOLDOUT, "changed operator named"),
        (0.2, "keeps", VISIBLE, "untouched operator kept"),
    ):
        values = [np.nan if one[key] is None else 100 * one[key] for one in found]
        axes.bar(places + shift, values, 0.38, color=colour, label=label)
    axes.set_xticks(places, [one["target"] for one in found])
    axes.set_ylim(0, 105)
    axes.set_title(f"{swapped} changed: {slot} becomes the target, {other} stays", loc="left", fontsize=10)


def attention_figure(run: Run) -> Figure:
    """Where the first decoder layer looks while it predicts each token, mean over heads (Table 12, whole)."""
    data = run["analyses"]["attention"]
    inputs = list(next(iter(data.values())))
    return _map(
        [[100 * shares[name] for name in inputs] for shares in data.values()],
        [key.partition(":")[2] for key in data],
        inputs,
        f"{_about(run)}: attention of the first decoder layer, %",
        "predicting",
    )


def probes_figure(run: Run) -> Figure:
    """What a linear probe reads of each operator at each input position (Table 11, whole)."""
    data = run["analyses"]["probes"]
    ops = list(next(iter(data.values())))
    rows = [[100 * data[place][op] for place in data] for op in ops]
    return _map(rows, ops, list(data), f"{_about(run)}: operators read at the last encoder layer, %", "")


@styled
def corruption_figure(run: Run) -> Figure:
    """How often replacing an input changes an operator (Table 13)."""
    data = run["analyses"]["corruption"]
    figure, axes = _one_axes(6.5, 3.2)
    ops = list(next(iter(data.values())))
    for index, op in enumerate(ops):
        shift = (index - (len(ops) - 1) / 2) * 0.8 / len(ops)
        values = [100 * changed[op] for changed in data.values()]
        axes.bar(np.arange(len(data)) + shift, values, 0.75 / len(ops), label=f"{op} changes", color=f"C{index}")
    axes.set_xticks(range(len(data)), list(data))
    axes.set_ylabel("% of examples")
    axes.set_title(f"{_about(run)}: one input replaced", loc="left", fontsize=11)
    axes.legend(frameon=False)
    return figure


@styled
def lens_figure(run: Run) -> Figure:
    """When the operators can be read out (Table 14): solid on held-out, dashed on seen examples."""
    figure, axes = _one_axes(6.5, 3.2)
    for part, style in (("holdout", "o-"), ("seen", "o--")):
        data = run["analyses"]["lens"][part]
        for index, op in enumerate(next(iter(data.values()))):
            label = f"{op}, {'held out' if part == 'holdout' else 'seen'}"
            axes.plot(list(data), [100 * right[op] for right in data.values()], style, color=f"C{index}", label=label)
    axes.set_ylim(-3, 103)
    axes.set_ylabel("% right")
    axes.set_title(f"{_about(run)}: operators read out early", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8)
    return figure


@styled
def heads_figure(run: Run) -> Figure:
    """One row a head, the most needed for the held-out pair on top: what is lost there and on seen pairs without it."""
    measured = run["analyses"]["heads"]
    whole = next(head for head in measured if head["head"] is None)
    heads = [head for head in measured if head["head"] is not None]
    heads.sort(key=lambda head: float(head["holdout"]), reverse=True)
    rows = range(len(heads))
    lost = {part: [100 * (whole[part] - head[part]) for head in heads] for part in ("seen", "holdout")}
    figure, axes = _one_axes(6.4, 0.22 * len(heads) + 1.2)
    axes.axvline(0, color=HIDDEN, linewidth=0.8)
    axes.hlines(rows, lost["seen"], lost["holdout"], color=PAPER, linewidth=0.8)
    axes.plot(lost["seen"], rows, "o", color=VISIBLE, label="seen pairs")
    axes.plot(lost["holdout"], rows, "o", color=HOLDOUT, label="held-out pair")
    axes.set_yticks(rows, [f"{head['attention']}_head_{head['head']}" for head in heads], fontsize=8)
    axes.set_xlabel("points lost without this head")
    axes.set_title(f"{_about(run)}: one head silenced", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


FIGURES: dict[str, Callable[[Run], Figure]] = {
    "substitution": substitution_figure,
    "probes": probes_figure,
    "attention": attention_figure,
    "corruption": corruption_figure,
    "lens": lens_figure,
    "heads": heads_figure,
}


@styled
def _map(rows: list[list[float]], labels: list[str], columns: list[str], title: str, across: str) -> Figure:
    """Numbers as shades, each written in its field."""
    figure, axes = _one_axes(1.0 * len(columns) + 2.2, 0.34 * len(rows) + 1.2)
    heatmap(axes, np.array(rows), labels, columns)
    axes.set_ylabel(across)
    axes.set_title(title, loc="left", fontsize=11)
    return figure


def _one_axes(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _about(run: Run) -> str:
    return f"{run['holdout']} held out, {run['condition']}, seed {run['seed']}, step {run['step']}"
