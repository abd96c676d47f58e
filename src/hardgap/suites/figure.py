"""The references in one picture: a row a network, a column a gap, the share of runs that recover it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hardgap.core.errors import BadInput
from hardgap.report.figures import DARK, PAPER, heatmap, styled
from hardgap.suites.card import Card
from hardgap.suites.gaps import GROUPS, SIMILARITIES, SuiteGap


@styled
def draw_references(cards: Sequence[Card]) -> Figure:
    """Gaps from the left by what similarity makes of them; what is not measured is left white."""
    if not cards:
        raise BadInput("no card of a reference is measured yet")
    gaps = sorted({score.gap for card in cards for score in card.scores}, key=_place)
    grid = np.full((len(cards), len(gaps)), np.nan)
    for row, card in enumerate(cards):
        for score in card.scores:
            grid[row, gaps.index(score.gap)] = 100 * score.successes / len(score.runs)
    figure = Figure(figsize=(10.5, 1.9 + 0.27 * len(cards)), layout="constrained")
    axes = figure.add_subplot()
    names = [card.name for card in cards]
    heatmap(axes, grid, names, [""] * len(gaps), lambda y, x: "", low=-20, cmap="Blues")
    axes.set_xticks(range(len(gaps)), [_name(gap) for gap in gaps], fontsize=7.5, rotation=60, ha="right")
    axes.set_xticks(np.arange(len(gaps)) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(cards)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="minor", length=0)
    _kinds(axes, gaps)
    return figure


def _place(gap: SuiteGap) -> tuple[int, int, str, str]:
    return SIMILARITIES.index(gap.similarity), GROUPS.index(gap.group), gap.part, gap.key


def _name(gap: SuiteGap) -> str:
    hidden = f"{len(gap.hide)} hidden"
    rule = gap.rule if ":" not in gap.rule else gap.group
    return f"{rule}, {hidden}{' *' if gap.part == 'private' else ''}"


def _kinds(axes: Axes, gaps: Sequence[SuiteGap]) -> None:
    """A line between the kinds, and their names above."""
    for kind in SIMILARITIES:
        places = [place for place, gap in enumerate(gaps) if gap.similarity == kind]
        if places:
            axes.axvline(places[0] - 0.5, color=DARK, linewidth=1.2)
            axes.text(places[0] - 0.4, -0.75, f"similarity {kind}", fontsize=9, color=DARK, va="bottom")
    axes.set_xlabel("dark: all runs recover the gap, pale: none, white: not measured; * drawn from the private seed",
                    fontsize=8.5, color=PAPER)  # fmt: skip
