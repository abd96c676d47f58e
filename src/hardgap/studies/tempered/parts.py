"""What the studies of the tempered recipe share: where their parts stand, and the paper's counts."""

from __future__ import annotations

from typing import Any

from hardgap.studies.published import Rate

HERE = "hardgap.studies.tempered"


def shown(name: str | None = None, *, more: str | None = None, figure: str | None = None) -> dict[str, Any]:
    """The parts of a study: with a name, a table, a figure and extras of its own; else the table of all arms."""
    more, figure = more or name, figure or name
    return {
        "tables": f"{HERE}.tables:{name or 'arms'}_table",
        "figure": figure and f"{HERE}.figures:{figure}_figure",
        "more": more and f"{HERE}.more:{more}",
        "ours": True,
    }


def of_ten(successes: int | None) -> Rate | None:
    """The paper's seeds of ten that reached 70 % holdout accuracy."""
    return None if successes is None else Rate("per-pattern and k-sweep tables", successes=successes, n=10)
