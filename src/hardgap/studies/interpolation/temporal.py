"""Appendix C: interpolation over the network's own input and supervision, hidden patterns 2 and 5 of Rule 150."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, silent
from hardgap.studies.interpolation.measure import made_with
from hardgap.studies.interpolation.published import TEMPORAL
from hardgap.worlds.automaton.baselines.methods import Method
from hardgap.worlds.automaton.baselines.temporal import STEPS, TEMPORAL_METHODS, measure_temporal
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.task import split_rows

WIDTH = 101
ROWS, TEST_ROWS = 20_000, 2_000
SIZE = 8000
"""Visible cells that are learned from, unless said otherwise: a quick look."""


def temporal_report(
    gap: Gap,
    *,
    width: int = WIDTH,
    rows: int = ROWS,
    size: int | None = SIZE,
    methods: Sequence[Method] = TEMPORAL_METHODS,
    seed: int = 0,
    on_progress: Progress = silent,
) -> dict[str, Any]:
    """Appendix C's table for one gap, as plain data; shares in [0, 1], published numbers in percent.

    Learned from are so many visible cells of so many rows, or with size None all of them.
    """
    cells = 2 * gap.rule.radius + 1
    if width < cells:
        raise BadInput(f"width {width}: a radius-{gap.rule.radius} rule needs at least {cells} cells", of="width")
    if rows < 1:
        raise BadInput(f"rows {rows}: at least one row is needed", of="rows")
    if size is not None and size < 2:
        raise BadInput(f"size {size}: a method needs at least 2 examples to learn from", of="size")
    learn, judge = split_rows(width, rows, TEST_ROWS, seed)
    table = measure_temporal(gap, learn, judge, methods, size=size, seed=seed, on_progress=on_progress)
    published = TEMPORAL.get(gap.hidden, {}) if gap.rule.name == "150" else {}
    return {
        "kind": "temporal",
        "about": gap.describe(),
        "setting": {"width": width, "rows": rows, "size": size or "all", "steps": STEPS, "seed": seed},
        "versions": made_with(),
        "methods": table,
        "published": {name: value for name, value in published.items() if name in table},
    }
