"""A film to take along: an animated GIF, or one HTML file with the slider in it."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from starlette.responses import Response

from hardgap.core.errors import BadInput
from hardgap.report.figures import HIDDEN, HOLDOUT, STYLE, VISIBLE
from hardgap.ui.asking import Asked
from hardgap.ui.copies import page
from hardgap.ui.film import frame, show_film

FRAME_MS, LAST_MS = 450, 2500
PLACES = {"curve": (0.08, 0.34, 0.38, 0.5), "true": (0.5, 0.3, 0.22, 0.56), "own": (0.75, 0.3, 0.22, 0.56),
          "table": (0.06, 0.02, 0.88, 0.18)}  # fmt: skip


def as_gif(asked: Asked) -> Response:
    film, frames = _all(asked)
    images = [_drawn(film, one) for one in frames]
    buffer = io.BytesIO()
    durations = [FRAME_MS] * (len(images) - 1) + [LAST_MS]
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0)
    return _file(buffer.getvalue(), "image/gif", film["id"], "gif")


def as_html(asked: Asked) -> Response:
    film, frames = _all(asked)
    text = page(film_answers(film, frames), {}, ["scrub"], f"#scrub?run={film['id']}")
    return _file(text.encode(), "text/html", film["id"], "html")


def film_answers(film: dict[str, Any], frames: list[dict[str, Any]]) -> dict[str, Any]:
    """What the view of a film asks for, by its address."""
    path = f"api/film/{film['id']}"
    return {path: film} | {f"{path}/frame?step={one['step']}": one for one in frames}


def _all(asked: Asked) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    film = show_film(asked)
    if not film["frames"]:
        raise BadInput(f"run {film['id']} has no weights here: make them again first")
    return film, [frame(asked.folder, film["id"], step) for step in film["frames"]]


def _file(content: bytes, media: str, run_id: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="hardgap-{run_id}.{kind}"'}
    return Response(content, media_type=media, headers=headers)


def _drawn(film: dict[str, Any], one: dict[str, Any]) -> Image.Image:
    """A frame: the curve up to here, the true rollout, the network's own, and its table."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 4.6), dpi=90)
        places = {name: figure.add_axes(box) for name, box in PLACES.items()}
        figure.suptitle(film["about"], x=0.01, ha="left", fontsize=11, fontweight="bold")
        _curve(places["curve"], film["curve"], one["step"])
        hidden = np.array(film["hidden_cells"], dtype=bool)
        _cells(places["true"], np.array(film["rows"], dtype=float), hidden, "true rollout")
        _cells(places["own"], np.array(one["probabilities"]), hidden, "the network's own", np.array(film["rows"]))
        _table(places["table"], film, one)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB").quantize(64)


def _curve(axes: Axes, curve: list[dict[str, Any]], step: int) -> None:
    for name, colour in (("visible", VISIBLE), ("holdout", HOLDOUT)):
        axes.plot([p["step"] for p in curve], [100 * p[name] for p in curve], color=colour, label=name)
    axes.axvline(step, color="black", linewidth=1)
    axes.set_ylim(-3, 103)
    axes.set_title(f"step {step}", loc="left", fontsize=10)
    axes.set_ylabel("accuracy, %")
    axes.legend(frameon=False, fontsize=8)


def _cells(axes: Axes, rows: Any, hidden: Any, title: str, truth: Any = None) -> None:
    shades = 1 - 0.85 * np.repeat(rows[:, :, None], 3, axis=2)
    if truth is not None:
        shades[(rows > 0.5) != (truth > 0.5)] = to_rgb(VISIBLE)
    axes.imshow(shades, interpolation="nearest", vmin=0, vmax=1)
    for t, x in np.argwhere(hidden):
        axes.add_patch(Rectangle((x - 0.4, t - 0.4), 0.8, 0.8, fill=False, edgecolor=HIDDEN, linewidth=1.3))
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_axis_off()


def _table(axes: Axes, film: dict[str, Any], one: dict[str, Any]) -> None:
    axes.set_axis_off()
    shown = range(len(one["table"])) if film["radius"] == 1 else film["hidden"][:16]
    cells = 2 * film["radius"] + 1
    for place, pattern in enumerate(shown):
        output, x = one["table"][pattern]["output"], (place + 0.5) / max(8, len(shown))
        colour = HIDDEN if pattern in film["hidden"] else "black"
        axes.text(x, 0.75, f"{pattern:0{cells}b}", ha="center", family="monospace", color=colour)
        mark = str(output) if output == film["table"][pattern] else f"{output} ✗"
        axes.text(x, 0.25, mark, ha="center", fontweight="bold", fontsize=13)
