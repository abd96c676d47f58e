"""What an opened network turned out to be, in a few lines, before the tables that show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import plural

READABLE = 0.95
"""Share of visible cells from which on the readout can read a level."""
POINTED = 0.5
"""Share of a head's weight on one offset from which on it looks there."""


def findings_table(data: dict[str, Any]) -> Table:
    """The table that the network computes as the title; a row for each other analysis that answers in one line."""
    rows: list[list[object]] = [[name, FINDINGS[name](data[name])] for name in FINDINGS if name in data]
    title = _rule(data["rule"]) if "rule" in data else "What was found"
    return Table(title, ["analysis", "what was found"], rows)


def _rule(data: dict[str, Any]) -> str:
    wrong = [entry for entry in data["entries"] if entry["output"] != entry["true"]]
    hidden = [entry for entry in data["entries"] if entry["hidden"]]
    right = sum(entry not in wrong for entry in hidden)
    kind = "" if data["local"] else ", though not in every context"
    if not wrong:
        every = "the hidden pattern is" if len(hidden) == 1 else f"all {len(hidden)} hidden patterns are"
        return f"It computes the true rule, {data['true_rule']}{kind}: {every} recovered"
    cells = [entry["cells"] for entry in wrong]
    listed = ", ".join(cells[:8]) + (" …" if len(cells) > 8 else "")
    return (
        f"It computes Rule {data['rule']} instead of {data['true_rule']}{kind}: {right} of "
        f"{plural(len(hidden), 'hidden pattern')} recovered, wrong at {listed}"
    )


def _polynomial(data: dict[str, Any]) -> str:
    return f"{data['structure']}; a polynomial of the cells explains {_percent(data['explained'])} of the logit"


def _lens(data: dict[str, Any]) -> str:
    levels = data["levels"]
    first = 1 + max((i for i, level in enumerate(levels) if level["visible"] < READABLE), default=-1)
    if first == len(levels):
        return f"the readout gets {_percent(READABLE)} of visible cells right at no level"
    return f"the readout gets visible cells right from this level on: {levels[first]['title']}"


def _attention(data: dict[str, Any]) -> str:
    pointed = [head for head in data["heads"] if head["weights"][str(head["peak"])] >= POINTED]
    offsets = ", ".join(f"{offset:+d}" for offset in sorted({head["peak"] for head in pointed}))
    some = f"{len(pointed)} of {plural(len(data['heads']), 'head')}"
    return f"{some} put most weight on one offset" + (f": {offsets}" if pointed else "")


def _neurons(data: dict[str, Any]) -> str:
    units = sum(len(found) for found in data["detectors"].values())
    return f"{plural(units, 'hidden unit')} for one pattern alone"


def _positions(data: dict[str, Any]) -> str:
    all_of_them, right, lost = len(data["accuracy"]), data["right"], data["lost"]
    return f"{right} of {plural(all_of_them, 'position')} get visible cells right, {lost} know nothing"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


FINDINGS: dict[str, Callable[[dict[str, Any]], str]] = {
    "polynomial": _polynomial,
    "consistency": lambda data: str(data["verdict"]),
    "lens": _lens,
    "attention": _attention,
    "neurons": _neurons,
    "positions": _positions,
}
