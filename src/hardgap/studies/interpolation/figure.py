"""Figure 2: accuracy on hidden cells by representation level and method, the network beside them.

Drawn from the plain data that `hardgap baselines … --json` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from hardgap.core.errors import BadInput
from hardgap.report.figures import styled

LOOKS = {"KNN": ("#0072b2", "o"), "GP": ("#009e73", "s"), "RBF SVM": ("#cc79a7", "^"), "RF": ("#d55e00", "D"),
         "KRR": ("#8c6bb1", "v"), "majority": ("#777777", "x")}  # fmt: skip
OTHER_LOOKS = (("#b8860b", "P"), ("#56b4e9", "*"), ("#a50f15", "<"), ("#252525", ">"))
NETWORK, PAPER, BEFORE, AFTER = "#111111", "#d9d9d9", "#fff7ec", "#eaf3fb"
RIGHT, WRONG = "#a6cee3", "#fdc086"
STEP = 0.13
"""Distance between two methods of a level, in units of the distance between levels."""


def draw(report: dict[str, Any]) -> Figure:
    """The figure of any report of `hardgap baselines`."""
    if report["kind"] not in DRAWN:
        raise BadInput(
            f"figure: there is one of runs and of a truth table, not of {report['kind']} results", of="figure"
        )
    return DRAWN[report["kind"]](report)


@styled
def levels_figure(report: dict[str, Any]) -> Figure:
    """Table 1 as a picture: a dot a run, a line over their range; grey bars are the published ranges."""
    lines, runs = report["table"], report["runs"]
    methods = list(lines[0]["holdout"])
    figure = Figure(figsize=(max(4.5, 1.75 * len(lines) + 1.0), 4.3), layout="constrained")
    axes = figure.add_subplot()
    _background(axes, lines)
    for place, line in enumerate(lines):
        _level(axes, place, line, runs)
    _network(axes, lines, runs)
    _frame(axes, lines)
    figure.legend(handles=_legend(methods, lines), frameon=False, ncols=len(methods) + 1, loc="outside lower center")
    _titles(figure, report, "Methods learn from visible cells and answer for hidden ones. A dot is a run.")
    return figure


def _titles(figure: Figure, report: dict[str, Any], how: str) -> None:
    """What it is about in bold, how to read it below; the second line's room is kept by the first one's line break."""
    figure.suptitle(f"Can similarity fill the gap? {report['about']}\n", x=0.01, ha="left", fontsize=12, weight="bold")
    below = 1 - 0.30 / figure.get_figheight()
    figure.text(0.01, below, how, ha="left", va="top", fontsize=10, color="#444444")


def _look(method: str, methods: Sequence[str]) -> tuple[str, str]:
    """Colour and marker: always the same for a known method, by turns for a user's own."""
    own = [name for name in methods if name not in LOOKS]
    return LOOKS[method] if method in LOOKS else OTHER_LOOKS[own.index(method) % len(OTHER_LOOKS)]


def _background(axes: Axes, lines: Sequence[dict[str, Any]]) -> None:
    """Tint the levels before and after the network's layers apart."""
    before = sum("hidden" not in line["level"] for line in lines)
    regions = [
        (0, before, BEFORE, "before the network's layers"),
        (before, len(lines), AFTER, "after the network's layers"),
    ]
    for first, last, colour, words in regions:
        if last > first:
            axes.add_patch(Rectangle((first - 0.5, -6), last - first, 112, color=colour, linewidth=0, zorder=0))
            axes.text((first + last - 1) / 2, 109, words, ha="center", va="bottom", fontsize=10, color="#444444")


def _level(axes: Axes, place: int, line: dict[str, Any], runs: Sequence[dict[str, Any]]) -> None:
    for index, (method, (low, high)) in enumerate(line["holdout"].items()):
        x = place + (index - (len(line["holdout"]) - 1) / 2) * STEP
        if method in line["published"]:
            bottom, top = line["published"][method]
            axes.add_patch(Rectangle((x - 0.05, bottom - 1), 0.10, top - bottom + 2, color=PAPER, zorder=1))
        colour, marker = _look(method, list(line["holdout"]))
        axes.plot([x, x], [low, high], color=colour, linewidth=1.6, zorder=3)
        values = [100 * found["methods"][method]["holdout"] for run in runs for found in run["levels"]
                  if found["level"] == line["level"]] or [low]  # fmt: skip
        axes.plot([x] * len(values), values, marker, color=colour, markersize=5, alpha=0.75, zorder=4)


def _network(axes: Axes, lines: Sequence[dict[str, Any]], runs: Sequence[dict[str, Any]]) -> None:
    if not runs:
        return
    average = sum(line["network"] for line in lines) / len(lines)
    axes.plot([-0.5, len(lines) - 0.5], [average] * 2, color=NETWORK, linewidth=2, zorder=2)
    label = f"the network\nitself: {average:.0f} %"
    axes.annotate(label, (len(lines) - 0.46, average), va="center", color=NETWORK, annotation_clip=False)


def _frame(axes: Axes, lines: Sequence[dict[str, Any]]) -> None:
    axes.set_xlim(-0.5, len(lines) - 0.5)
    axes.set_ylim(-6, 106)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_ylabel("right answers on hidden cells, %")
    axes.set_xticks(range(len(lines)), [_wrapped(line["title"]) for line in lines])
    axes.tick_params(axis="x", length=0)


def _wrapped(title: str) -> str:
    """`Nbhd. embedding, fixed position (192-d)` on lines of its own.

    >>> _wrapped("Nbhd. embedding, fixed position (192-d)")
    'neighbourhood\\nembedding,\\nfixed position\\n(192-d)'
    """
    name, _, size = title.partition(" (")
    words = name.replace("Nbhd.", "neighbourhood").replace("Single-pos.", "single cell's").replace("Input", "input")
    head, _, tail = words.replace(" embedding", "\nembedding").replace(" hidden", "\nhidden state").partition(", ")
    return "\n".join(filter(None, [head + ("," if tail else ""), tail, f"({size}" if size else ""]))


def _legend(methods: Sequence[str], lines: Sequence[dict[str, Any]]) -> list[Any]:
    looks = {method: _look(method, methods) for method in methods}
    handles: list[Any] = [
        Line2D([], [], color=colour, marker=marker, linewidth=1.6, label=method)
        for method, (colour, marker) in looks.items()
    ]
    if any(line["published"] for line in lines):
        handles.append(Patch(color=PAPER, label="published range (width 101)"))
    return handles


@styled
def sizes_figure(report: dict[str, Any]) -> Figure:
    """One panel a level: accuracy against the number of examples learned from, the range over runs shaded."""
    sizes = [entry["size"] for entry in report["sizes"]]
    lines = report["sizes"][0]["table"]
    across = min(3, len(lines))
    down = -(-len(lines) // across)
    figure = Figure(figsize=(3.0 * across + 0.6, 2.5 * down + 1.0), layout="constrained")
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for place, axes in enumerate(panels[: len(lines)]):
        _size_panel(axes, sizes, [entry["table"][place] for entry in report["sizes"]])
    for axes in panels[len(lines) :]:
        axes.set_axis_off()
    for axes in panels[-across:]:
        axes.set_xlabel("visible cells learned from")
    for axes in panels[::across]:
        axes.set_ylabel("right on hidden cells, %")
    figure.legend(handles=_legend(list(lines[0]["holdout"]), []), frameon=False, ncols=6, loc="outside lower center")
    _titles(figure, report, "Does the number of examples matter? Shaded: from the worst to the best run.")
    return figure


def _size_panel(axes: Axes, sizes: Sequence[int], lines: Sequence[dict[str, Any]]) -> None:
    for method in lines[0]["holdout"]:
        low, high = zip(*(line["holdout"][method] for line in lines), strict=True)
        colour, marker = _look(method, list(lines[0]["holdout"]))
        middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(sizes, middle, color=colour, marker=marker, markersize=4, linewidth=1.4)
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes], fontsize=8)
    axes.set_xticks([], minor=True)
    axes.set_ylim(-4, 104)
    axes.set_title(_wrapped(lines[0]["title"]).replace("\n", " "), fontsize=9)


@styled
def truth_table_figure(report: dict[str, Any]) -> Figure:
    """Each method's answer for each hidden pattern, right ones and wrong ones told apart by colour."""
    patterns, methods = report["patterns"], list(report["table"][0]["holdout"])
    figure = Figure(figsize=(0.95 * len(methods) + 2.6, 0.34 * len(patterns) + 1.5), layout="constrained")
    axes = figure.add_subplot()
    for y, pattern in enumerate(patterns):
        for x, method in enumerate(methods):
            answer = pattern["answers"][method]
            colour = RIGHT if answer == pattern["truth"] else WRONG
            axes.add_patch(Rectangle((x - 0.47, y - 0.44), 0.94, 0.88, color=colour, linewidth=0))
            axes.text(x, y, str(answer), ha="center", va="center")
    shares = [f"{method}\n{report['table'][0]['holdout'][method][0]:.0f} % right" for method in methods]
    axes.set_xticks(range(len(methods)), shares)
    axes.set_yticks(range(len(patterns)), [f"{p['neighbourhood']} → {p['truth']}" for p in patterns])
    axes.set_xlim(-0.5, len(methods) - 0.5)
    axes.set_ylim(len(patterns) - 0.5, -0.5)
    axes.text(-0.57, -0.55, "hidden\npattern → output", ha="right", va="bottom", fontsize=9, color="#444444")
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.spines[["left", "bottom"]].set_visible(False)
    colours = [Patch(color=RIGHT, label="right"), Patch(color=WRONG, label="wrong")]
    figure.legend(handles=colours, frameon=False, ncols=2, loc="outside lower center")
    figure.suptitle(f"{report['about']}: answers by similarity", x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


DRAWN: dict[str, Callable[[dict[str, Any]], Figure]] = {
    "levels": levels_figure,
    "truth-table": truth_table_figure,
    "sizes": sizes_figure,
}
