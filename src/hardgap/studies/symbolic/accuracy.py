"""What networks of Experiment 2 have right at the checkpoint that a rule chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardgap.worlds.chains.selection import Selection, select_point

MEASURES = ("exact", "pair", "f")


def accuracies(curves: Sequence[list[dict[str, Any]]], by: Selection) -> dict[str, list[float]]:
    """Of the chosen evaluation of each curve: every measure on held-out chains, and exact match on seen ones.

    Under label-only there is no f, and older results have not recorded the operators apart: then there is no entry.
    """
    details = [select_point(curve, by)["detail"] for curve in curves]
    found = {name: [d["holdout"][name] for d in details if name in d["holdout"]] for name in MEASURES}
    for place in range(2):
        found[f"op{place + 1}"] = [d["holdout"]["ops"][place] for d in details if "ops" in d["holdout"]]
    found["seen"] = [d["seen"]["exact"] for d in details]
    return {name: values for name, values in found.items() if values}
