"""The atlas in one picture: 256 rules in a square, eight gaps each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from hardgap.report.figures import DARK, styled
from hardgap.studies.atlas.cells import AtlasCell, cells_of_study
from hardgap.studies.measure import StudyResult

SHADES = {"wrong": "#08519c", "open": "#5a9bd1", "right": "#b3d0e8"}
NOT_DETERMINED, RECOVERED, OTHER, NEITHER = "#a0a0a0", "#ffffff", "#d7301f", "#fdae61"
MARKS = {"recovered": RECOVERED, "the other table": OTHER, "neither": NEITHER}
CELL, MARK, BETWEEN, ACROSS, DOWN, SIDE = 8, 4, 6, 4, 2, 16
"""Pixels of a cell, of the mark in it and between tiles; cells of a tile; tiles of a side."""
KNOWN = (30, 54, 90, 106, 110, 150)
"""Rules that a reader may look for."""


def atlas_figure(results: Sequence[StudyResult]) -> Figure:
    """From what a study measured."""
    (result,) = results
    return draw_atlas(cells_of_study(result))


@styled
def draw_atlas(cells: Sequence[AtlasCell]) -> Figure:
    """A tile a rule, its number the sum of row and column: above patterns 111 to 100, below 011 to 000."""
    figure = Figure(figsize=(10.5, 6.7), layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(_pixels(cells), interpolation="nearest", aspect="equal")
    wide, high = _tile()
    middle = (np.arange(SIDE) + 0.5) * np.array([[wide], [high]]) - BETWEEN / 2
    axes.set_xticks(middle[0], [f"+{place}" for place in range(SIDE)], fontsize=8)
    axes.set_yticks(middle[1], [str(SIDE * place) for place in range(SIDE)], fontsize=8)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    for number in KNOWN:
        down, across = divmod(number, SIDE)
        corner = (across * wide - 2.5, down * high - 2.5)
        frame = Rectangle(corner, wide - BETWEEN + 4, high - BETWEEN + 4, fill=False, edgecolor=DARK, linewidth=1.1)
        axes.add_patch(frame)
    figure.legend(handles=_legend(cells), loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    return figure


def _tile() -> tuple[int, int]:
    return ACROSS * CELL + BETWEEN, DOWN * CELL + BETWEEN


def _pixels(cells: Sequence[AtlasCell]) -> np.ndarray:
    wide, high = _tile()
    image = np.ones((SIDE * high - BETWEEN, SIDE * wide - BETWEEN, 3))
    inset = (CELL - MARK) // 2
    for cell in cells:
        down, across = divmod(cell.rule.number, SIDE)
        row, column = divmod(7 - cell.pattern, ACROSS)
        top, left = down * high + row * CELL, across * wide + column * CELL
        shade = NOT_DETERMINED if cell.known.determined is None else SHADES[cell.similarity]
        image[top : top + CELL - 1, left : left + CELL - 1] = to_rgb(shade)
        if cell.trained is not None:
            middle = slice(top + inset, top + inset + MARK - 1), slice(left + inset, left + inset + MARK - 1)
            image[middle] = to_rgb(MARKS[cell.trained.settled])
    return image


def _legend(cells: Sequence[AtlasCell]) -> list[Patch]:
    done = sum(cell.trained is not None for cell in cells)
    words = {
        "determined; similarity must be wrong": SHADES["wrong"], "…; it depends on the weights": SHADES["open"],
        "…; similarity must be right": SHADES["right"], "not determined": NOT_DETERMINED,
        f"mark: trained ({done:,} of {len(cells):,}), recovered": RECOVERED,
        "mark: trained, answers as the other table": OTHER, "mark: trained, neither": NEITHER,
    }  # fmt: skip
    return [Patch(facecolor=shade, edgecolor=DARK, linewidth=0.5, label=text) for text, shade in words.items()]
