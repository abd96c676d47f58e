"""One page a run: every circuit analysis as a panel; and one page of how the signals appear in training.

Drawn from the plain data that `hardgap circuits --json` prints, so a page can be made again from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from hardgap.core.errors import BadInput
from hardgap.report.figures import DARK, HOLDOUT, VISIBLE, draw_line, mark_restarts, styled
from hardgap.studies.circuits.panels import PANELS, reason_panel

FULL_PAGE = [
    ["polynomial", "rule", "influence"],
    ["consistency", "layers", "heads"],
    ["lens", "probes", "patching"],
    ["attention", "neurons", "patching"],
    ["positions", "positions", "positions"],
]


@styled
def circuits_figure(data: dict[str, Any], heading: str) -> Figure:
    """The page of one network; panels that were not asked for are left out."""
    reasons = data.get("does_not_apply", {})
    names = [name for name in PANELS if ("rule" if name == "influence" else name) in {**data, **reasons}]
    if not names:
        raise BadInput("there is nothing to draw: no analysis was run")
    layout = FULL_PAGE if len(names) == len(PANELS) else _grid(names)
    spacing = ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.3)
    figure = Figure(figsize=(5.6 * len(layout[0]), 4.6 * len(layout) + 0.5), layout=spacing)
    panels = figure.subplot_mosaic(layout)  # type: ignore[arg-type]  # a name below itself: a tall panel
    for name in names:
        source = "rule" if name == "influence" else name
        if source in reasons:
            reason_panel(panels[name], name, reasons[source])
        else:
            PANELS[name](panels[name], data[source])
    figure.suptitle(heading, x=0.01, ha="left", fontsize=14, fontweight="bold")
    return figure


@styled
def timeline_figure(data: dict[str, Any], heading: str, curve: Sequence[dict[str, Any]] = ()) -> Figure:
    """The signals over training; `curve` adds the run's own evaluations, which are denser than snapshots."""
    groups = {
        "probes": [name for name in data["appears"] if name.startswith("probe")],
        "lens and polynomial": [name for name in data["appears"] if name.startswith(("lens", "polynomial"))],
        "attention": [name for name in data["appears"] if name.startswith("attention")],
    }
    drawn = {title: names for title, names in groups.items() if names}
    figure = Figure(figsize=(9.5, 2.9 * (1 + len(drawn)) + 0.6), layout="constrained")
    all_axes = figure.subplots(1 + len(drawn), 1, sharex=True, squeeze=False)[:, 0]
    _accuracy_lines(all_axes[0], data, curve)
    for axes, (name, signals) in zip(all_axes[1:], drawn.items(), strict=True):
        _signal_lines(axes, data, signals, GROUP_TITLES[name])
    step = data["appears"].get("holdout")
    for axes in all_axes if step is not None else ():
        axes.axvline(step, color=HOLDOUT, linestyle=":", linewidth=1.2)
    for axes in all_axes:
        mark_restarts(axes, [p["step"] for p in curve or data["moments"]], data["restarts"])
    all_axes[-1].set_xlabel("training step")
    figure.suptitle(heading, x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


GROUP_TITLES = {
    "probes": "What a linear probe can read",
    "lens and polynomial": "How far the readout is right early, and how much of the logit is the rule",
    "attention": "How much of its most local head's attention stays in the neighbourhood",
}


def _grid(names: list[str]) -> list[list[str]]:
    columns = min(3, len(names))
    padded = names + ["."] * (-len(names) % columns)
    return [padded[i : i + columns] for i in range(0, len(padded), columns)]


def _accuracy_lines(axes: Axes, data: dict[str, Any], curve: Sequence[dict[str, Any]]) -> None:
    snapshots = [moment["step"] for moment in data["moments"]]
    for key, colour, label in (("visible", VISIBLE, "visible patterns"), ("holdout", HOLDOUT, "hidden patterns")):
        at_snapshots = [100 * moment["signals"][key] for moment in data["moments"]]
        if curve:
            steps, values = [p["step"] for p in curve], [100 * p[key] for p in curve]
            draw_line(axes, steps, values, data["restarts"], color=colour, linewidth=1.8, label=label)
            axes.plot(snapshots, at_snapshots, "o", color=colour, markersize=4)
        else:
            look = {"marker": "o", "color": colour, "linewidth": 1.8, "markersize": 4, "label": label}
            draw_line(axes, snapshots, at_snapshots, data["restarts"], **look)
    step = data["appears"]["holdout"]
    finding = f"The hidden patterns are answered from step {step} on" if step is not None else "The gap does not close"
    _dress(axes, finding, "accuracy, %")


def _signal_lines(axes: Axes, data: dict[str, Any], names: list[str], finding: str) -> None:
    for index, name in enumerate(names):
        moments = [moment for moment in data["moments"] if name in moment["signals"]]
        steps, values = [m["step"] for m in moments], [100 * m["signals"][name] for m in moments]
        step = data["appears"][name]
        label = f"{name}: " + (f"from step {step}" if step is not None else "no rise")
        look = {"marker": "o", "markersize": 3.5, "linewidth": 1.6, "color": f"C{index}", "label": label}
        draw_line(axes, steps, values, data["restarts"], **look)
    _dress(axes, finding, "%")


def _dress(axes: Axes, finding: str, label: str) -> None:
    axes.set_title(finding, loc="left", fontsize=11, fontweight="bold")
    axes.set_ylim(-3, 103)
    axes.set_ylabel(label, color=DARK)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
