"""Small pictures as SVG text, for notebooks: rows of cells, and curves. Nothing is needed to draw them.

Ink is the page's own (`currentColor`), so that they can be read on light and on dark pages. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

HIDDEN, VISIBLE, HOLDOUT = "#d73027", "#e08214", "#4393c3"
CELL = 12
WIDTH, HEIGHT, LEFT, BELOW = 420, 150, 34, 20
Marks = Sequence[Sequence[bool]]


def picture(width: float, height: float, about: str, drawn: str) -> str:
    """An SVG element of this size, at most as wide as its page; `about` is what a screen reader says."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" aria-label="{escape(about)}" '
        f'style="max-width: 100%; height: auto">{drawn}</svg>'
    )


def cells_picture(states: Sequence[Sequence[int]], about: str, framed: Marks = ()) -> str:
    """Rows of cells from the top down, 1 as ink; `framed` cells stand out, whatever they hold."""
    width, height = CELL * len(states[0]), CELL * len(states)
    drawn = [f'<rect width="{width}" height="{height}" fill="currentColor" fill-opacity="0.06"/>']
    drawn += [_cell(x, y, 'fill="currentColor"') for y, row in enumerate(states) for x, one in enumerate(row) if one]
    frame = f'fill="none" stroke="{HIDDEN}" stroke-width="2"'
    drawn += [_cell(x, y, frame) for y, row in enumerate(framed) for x, one in enumerate(row) if one]
    return picture(width, height, about, "".join(drawn))


def _cell(x: int, y: int, look: str) -> str:
    return f'<rect x="{CELL * x + 1}" y="{CELL * y + 1}" width="{CELL - 2}" height="{CELL - 2}" {look}/>'


def curves_picture(
    steps: Sequence[int], shares: Mapping[tuple[str, str], Sequence[float]], about: str, again: Collection[int] = ()
) -> str:
    """Shares from 0 to 1 over steps, a line for each name and colour, which stand above.

    At the steps in `again` a line is broken: there another network goes on.
    """
    across = (WIDTH - LEFT) / max(steps[-1], 1)
    axes = "".join(
        f'<path d="M{LEFT} {_y(share):g}H{WIDTH}" stroke="currentColor" stroke-opacity="0.25"/>'
        + _text(LEFT - 4, _y(share) + 4, f"{100 * share:.0f}", anchor="end")
        for share in (0, 0.5, 1)
    )
    lines = []
    for (_, colour), one in shares.items():
        points = zip(steps, one, strict=True)
        way = "".join(f"{_pen(step, steps, again)}{LEFT + across * step:.1f} {_y(share):.1f}" for step, share in points)
        lines.append(f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
    names = [_text(LEFT + 150 * place, 10, name, colour) for place, (name, colour) in enumerate(shares)]
    ends = _text(LEFT, HEIGHT - 4, "0") + _text(WIDTH, HEIGHT - 4, f"step {steps[-1]:,}", anchor="end")
    return picture(WIDTH, HEIGHT, about, "".join([axes, *lines, *names, ends]))


def _pen(step: int, steps: Sequence[int], again: Collection[int]) -> str:
    return "M" if step == steps[0] or step in again else "L"


def _y(share: float) -> float:
    return 22 + (HEIGHT - BELOW - 22) * (1 - share)


def _text(x: float, y: float, words: str, colour: str = "currentColor", anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="11" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'
