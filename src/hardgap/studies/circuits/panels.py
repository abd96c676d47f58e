"""One panel for each circuit analysis, drawn from its plain data; a title says what the panel shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from hardgap.report.figures import DARK, HIDDEN, HOLDOUT, VISIBLE, heatmap, ink

Data = dict[str, Any]
GREY = "#999999"
DEGREES = ["#999999", "#c6dbef", "#6baed6", "#2171b5", "#08519c", "#08306b"]
"""Polynomial terms by degree: the more cells interact, the darker."""
NEEDED = 0.05
"""A part is called needed if accuracy over all cells falls by more than this without it."""


STRUCTURES = {
    "XOR": "The logit's polynomial is XOR",
    "XNOR": "The logit's polynomial is XOR, negated",
    "the rule, not XOR": "The logit's polynomial is the rule, not XOR",
    "another function": "The logit's polynomial is not the rule",
}


def polynomial_panel(axes: Axes, data: Data) -> None:
    terms = data["terms"]
    places = np.arange(len(terms))
    colours = [DEGREES[min(len(term["cells"]), len(DEGREES) - 1)] for term in terms]
    axes.bar(places, [t["coefficient"] for t in terms], yerr=[t["spread"] for t in terms], color=colours,
             error_kw={"elinewidth": 1, "ecolor": DARK}, capsize=2 if len(terms) <= 8 else 0)  # fmt: skip
    axes.axhline(0, color=DARK, linewidth=0.8)
    many = len(terms) > 8
    axes.set_xticks(places, [term["name"] for term in terms], rotation=90 if many else 0, fontsize=5.5 if many else 8)
    axes.set_ylabel("coefficient (bar: spread over contexts)")
    additive, parity = 100 * data["degree_shares"][0], 100 * data["parity_share"]
    title(
        axes,
        STRUCTURES[data["structure"]],
        f"{parity:.0f} % of its variance on the parity of all cells, {additive:.0f} % additive; "
        f"fit explains {100 * data['explained']:.1f} %, error {data['rmse']:.2f}",
    )


def rule_panel(axes: Axes, data: Data) -> None:
    entries = data["entries"]
    for place, entry in enumerate(entries):
        colour = VISIBLE if entry["true"] else GREY
        axes.plot([place, place], [entry["least_logit"], entry["most_logit"]], color=colour, linewidth=2.5, alpha=0.5)
        axes.plot(place, entry["mean_logit"], "o", color=colour, markersize=5)
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.04 * (high - low), high + 0.12 * (high - low))
    _frame_hidden(axes, entries)
    axes.axhline(0, color=DARK, linewidth=0.8)
    many = len(entries) > 8
    labels = [entry["cells"] for entry in entries]
    axes.set_xticks(range(len(entries)), labels, rotation=90 if many else 0, fontsize=6 if many else 9)
    axes.set_ylabel("logit: mean and range over contexts")
    axes.plot([], [], "o", color=VISIBLE, label="true output 1")
    axes.plot([], [], "o", color=GREY, label="true output 0")
    _legend_below(axes, 2)
    wrong = f"wrong at {', '.join(data['wrong'][:3])}{' …' if len(data['wrong']) > 3 else ''}"
    local = "the same in every context" if data["local"] else "not one local rule: answers depend on the context"
    title(
        axes,
        f"It computes Rule {data['rule']}" if data["local"] else f"Nearest local rule: {data['rule']}",
        f"{wrong if data['wrong'] else 'every output right'} (hidden patterns framed); {local}",
    )


def _frame_hidden(axes: Axes, entries: Sequence[Data]) -> None:
    low, high = axes.get_ylim()
    for place, entry in enumerate(entries):
        if entry["hidden"]:
            axes.add_patch(
                Rectangle((place - 0.42, low), 0.84, high - low, fill=False, edgecolor=HIDDEN, linewidth=1.4)
            )
        if entry["output"] != entry["true"]:
            axes.annotate(
                "✗", (place, high), color=HIDDEN, ha="center", va="top", fontsize=11, fontfamily="DejaVu Sans"
            )


def influence_panel(axes: Axes, data: Data) -> None:
    offsets = [int(offset) for offset in data["influence"]]
    shares = [100 * share for share in data["influence"].values()]
    radius = (len(data["entries"][0]["cells"]) - 1) // 2
    colours = [HOLDOUT if abs(offset) <= radius else VISIBLE for offset in offsets]
    axes.bar(offsets, shares, color=colours, width=0.75)
    axes.set_ylim(0, 108)
    axes.set_xlabel("offset of the flipped cell")
    axes.set_ylabel("answers that change, %")
    outside = 100 * data["outside"]
    title(
        axes,
        "Only the neighbourhood decides" if outside < 1 else "Cells outside the neighbourhood matter",
        f"outside it (orange), flipping a cell changes at most {outside:.1f} % of answers",
    )


FED_STYLE = {
    "graded": (HOLDOUT, "-", "its probabilities"),
    "rounded": (HIDDEN, "-", "its decisions"),
    "recovered rule": (DARK, ":", "the recovered rule instead"),
    "hidden corrected": ("#1a9850", "--", "decisions, hidden cells corrected"),
}


def consistency_panel(axes: Axes, data: Data) -> None:
    for name, (colour, line, label) in FED_STYLE.items():
        visible = [np.nan if share is None else 100 * share for share in data["fed"][name]["visible"]]
        axes.plot(range(1, len(visible) + 1), visible, line, marker="o", markersize=4, color=colour, label=label)
    axes.set_ylim(45, 103)
    axes.set_xticks(range(1, len(data["fed"]["graded"]["visible"]) + 1))
    axes.set_xlabel("steps of the free run")
    axes.set_ylabel("visible cells right, %")
    _legend_below(axes, 2, 0.2, title="fed back at each step", title_fontsize=8)
    repaired = data["repaired"]
    detail = (
        "no visible cell is damaged by rounding its answers"
        if repaired is None or data["damaged"] < 0.005
        else f"step 2: decisions break {100 * data['damaged']:.0f} % of visible cells; "
        f"probabilities repair {100 * repaired:.0f} % of these"
    )
    title(axes, f"Rolled out: {data['verdict']}", detail)


def ablation_panel(axes: Axes, data: Data, what: str) -> None:
    names = list(dict.fromkeys(result["title"] for result in data["results"]))
    by_name = {(r["title"], r["kind"]): r for r in data["results"]}
    places = np.arange(len(names))[::-1]
    for kind, shift, alpha in (("zero", 0.19, 1.0), ("mean", -0.19, 0.45)):
        rows = [by_name[name, kind] for name in names]
        axes.barh(places + shift, [_percent(r["holdout"]) for r in rows], 0.34, color=HOLDOUT, alpha=alpha,
                  label=f"hidden, {kind}")  # fmt: skip
        axes.plot([_percent(r["visible"]) for r in rows], places + shift, "D", color=VISIBLE, markersize=4.5,
                  alpha=alpha, label=f"visible, {kind}", clip_on=False)  # fmt: skip
    axes.set_yticks(places, names)
    axes.set_xlim(0, 103)
    axes.set_xlabel("accuracy that is left, %")
    _legend_below(axes, 4, 0.17)
    whole = data["intact"]["overall"]
    needed = [name for name in names if by_name[name, "mean"]["overall"] < whole - NEEDED]
    title(
        axes,
        f"{len(needed)} of {len(names)} {what} are needed",
        f"with the mean in place of its value, accuracy falls by more than {100 * NEEDED:.0f} points; "
        "one hidden pattern: a constant answer gets 0 or 100 % of it",
    )


def lens_panel(axes: Axes, data: Data) -> None:
    titles = [level["title"] for level in data["levels"]]
    for key, colour, label in (("holdout", HOLDOUT, "hidden cells"), ("visible", VISIBLE, "visible cells")):
        axes.plot([_percent(level[key]) for level in data["levels"]], "o-", color=colour, label=label)
    axes.plot([_percent(level["overall"]) for level in data["levels"]], ":", color=DARK, label="all cells")
    axes.set_xticks(range(len(titles)), [text.replace(" ", "\n", 1) for text in titles], fontsize=8)
    axes.set_ylim(-3, 103)
    axes.set_ylabel("right answers, %")
    _legend_below(axes, 3, 0.17)
    readable = next((t for t, level in zip(titles, data["levels"], strict=True) if level["overall"] >= 0.95), None)
    title(
        axes,
        f"Logit lens: the answer can be read {readable}"
        if readable
        else "Logit lens: the answer is nowhere fully right",
        "the readout applied to the stream at each level",
    )


def probes_panel(axes: Axes, data: Data) -> None:
    titles = list(dict.fromkeys(reading["title"] for reading in data["readings"]))
    bits = list(dict.fromkeys(reading["bit"] for reading in data["readings"]))
    by_place = {(r["title"], r["bit"]): r for r in data["readings"]}
    output = next(bit for bit in bits if bit.startswith("output"))
    taught = {text: by_place[text, output]["transfer"] for text in titles}
    rows = [[*(100 * by_place[text, bit]["accuracy"] for bit in bits), _percent(taught[text])] for text in titles]
    heatmap(axes, np.array(rows), titles, [*bits, "hidden*"], low=50)
    for y, text in enumerate(titles):
        for x, bit in enumerate(bits):
            untrained = by_place[text, bit]["untrained"]
            if untrained is not None:
                axes.text(x, y + 0.33, f"({100 * untrained:.0f})", ha="center", va="center", fontsize=6.5,
                          color=ink(rows[y][x], 50, 100))  # fmt: skip
    axes.axvline(len(bits) - 0.5, color="white", linewidth=4)
    where = next((t for t in titles if by_place[t, output]["accuracy"] >= 0.95), "at no level")
    hidden = next((t for t in titles if (taught[t] or 0) >= 0.95), "at no level")
    title(
        axes,
        f"Linear probes read the output {where}, hidden outputs {hidden}",
        "accuracy on unseen rows, % (in brackets: before training); * the output of hidden cells, read by a "
        "probe that was taught by visible cells alone",
    )


def attention_panel(axes: Axes, data: Data) -> None:
    heads = data["heads"]
    offsets = [int(offset) for offset in heads[0]["weights"]]
    shown = [o for o in offsets if abs(o) <= 7]
    grid = np.array([[100 * head["weights"][str(o)] for o in shown] for head in heads])
    labels = [head["title"].replace("layer ", "L").replace(" head ", " H") for head in heads]
    heatmap(axes, grid, labels, [f"{o:+d}" if o else "0" for o in shown], cmap="Purples")
    axes.set_xlabel("offset of the cell looked at")
    best = max(heads, key=lambda head: head["locality"])
    uniform = 100 * data["uniform"]
    title(
        axes,
        f"Attention: {best['title']} puts {100 * best['locality']:.0f} % on the neighbourhood",
        f"weight in % by offset, mean over rows and positions; uniform attention would put {uniform:.0f} % there",
    )


def neurons_panel(axes: Axes, data: Data) -> None:
    best = data["best"]
    size = len(best[0]["by_pattern"])
    radius = {8: 1, 32: 2, 128: 3}[size]
    grid = np.array([[np.nan if v is None else v for v in neuron["by_pattern"]] for neuron in best])
    labels = [f"{_short(n['site'])} unit {n['unit']} ({n['difference']:+.2f})" for n in best]
    columns = [f"{p:0{2 * radius + 1}b}" for p in range(size)]
    high = float(np.nanmax(grid))
    heatmap(
        axes, grid, labels, columns, lambda y, x: f"{grid[y, x]:.1f}" if size <= 8 else "", high=high, cmap="Greens"
    )
    axes.tick_params(axis="x", labelrotation=90 if size > 8 else 0, labelsize=6 if size > 8 else 8)
    top = best[0]
    found = sum(len(units) for units in data["detectors"].values())
    title(
        axes,
        f"Parity neurons: unit {top['unit']} means {top['mean_one']:.2f} for output 1, {top['mean_zero']:.2f} for 0",
        f"mean activation by pattern (difference in brackets); {found} units fire on one pattern alone",
    )


def patching_panel(axes: Axes, data: Data) -> None:
    sites = list(dict.fromkeys(patch["site"] for patch in data["patches"]))
    places = ["everywhere", "target", "source"]
    by_place = {(p["site"], p["where"]): p["recovery"] for p in data["patches"]}
    shares = [[by_place.get((site, where)) for where in places] for site in sites]
    grid = np.array([[np.nan if share is None else 100 * share for share in row] for row in shares])
    heatmap(axes, grid, sites, ["every cell", "target cell", "flipped cell"])
    arrived = next((s for s in sites if (by_place.get((s, "target")) or 0) >= 0.9), None)
    title(
        axes,
        f"Patching: the flip has reached the target cell at {arrived}"
        if arrived
        else "Patching: the flip does not arrive",
        f"recovered accuracy, %: clean {100 * data['clean']:.0f} %, flipped neighbour {100 * data['corrupted']:.0f} %",
    )


def reason_panel(axes: Axes, name: str, reason: str) -> None:
    """In place of an analysis that does not apply."""
    axes.axis("off")
    title(axes, f"{name}: does not apply", "")
    axes.text(0, 0.9, reason, transform=axes.transAxes, va="top", wrap=True, fontsize=9, color=DARK)


def title(axes: Axes, finding: str, detail: str) -> None:
    """What the panel shows, and under it how to read it."""
    lines = wrap(detail, 82)
    axes.set_title("\n".join(wrap(finding, 48)), loc="left", fontsize=11, fontweight="bold", pad=8 + 10 * len(lines))
    note = axes.annotate("\n".join(lines), (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points",
                         fontsize=7.5, color="#555555", va="bottom")  # fmt: skip
    for text in (note, axes.title):
        text.set_in_layout(False)  # words may stand over a neighbour's margin; panels keep equal widths


def _legend_below(axes: Axes, columns: int, space: float = 0.13, **words: Any) -> None:
    """Under the axis and its label, where no data is."""
    axes.legend(frameon=False, fontsize=7.5, ncols=columns, loc="upper left", bbox_to_anchor=(-0.02, -space),
                columnspacing=1, handletextpad=0.4, alignment="left", **words)  # fmt: skip


def positions_panel(axes: Axes, data: Data) -> None:
    found = [_percent(share) for share in data["accuracy"]]
    axes.bar(range(len(found)), found, color=VISIBLE, width=0.8)
    guess = 100 * data["guess"]
    axes.axhline(guess, color=DARK, linewidth=0.8, linestyle="--")
    axes.set_ylim(0, 105)
    axes.set_xlabel("position")
    axes.set_ylabel("visible cells right, %")
    title(
        axes,
        f"{data['right']} of {len(found)} positions are right, {data['lost']} know nothing",
        f"visible cells one step ahead; dashed: always the commonest output, {guess:.0f} %",
    )


def _percent(share: float | None) -> float:
    return float("nan") if share is None else 100 * share


def _short(site: str) -> str:
    return site.removesuffix(".ffn.post").replace("layers.", "layer ")


PANELS: dict[str, Callable[[Axes, Data], None]] = {
    "polynomial": polynomial_panel,
    "rule": rule_panel,
    "influence": influence_panel,
    "consistency": consistency_panel,
    "layers": partial(ablation_panel, what="layers and sublayers"),
    "heads": partial(ablation_panel, what="attention heads"),
    "lens": lens_panel,
    "probes": probes_panel,
    "patching": patching_panel,
    "attention": attention_panel,
    "neurons": neurons_panel,
    "positions": positions_panel,
}
