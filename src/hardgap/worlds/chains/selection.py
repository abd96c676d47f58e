"""Which evaluation of a run to report, as pure functions of its curve.

    final          the last one
    eval-holdout   the peak on the held-out part of the evaluation set: what the paper does (§4.6). Held-out examples
                   choose the checkpoint, though others are then reported
    eval-seen      the peak on seen chains alone: the honest one. What is held out has no say, but for the filter of
                   ambiguous examples (`gap.py`)
Ties go to the better one on seen chains, then to the earliest: where nothing held out is ever right, as under
label-only, the untrained network must not win. Scores are those of the test set either way, which shares no evidence
with the evaluation set.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from hardgap.core.errors import BadInput

Selection = Literal["final", "eval-holdout", "eval-seen"]
PAPERS_CHOICE: Selection = "eval-holdout"
"""The choice of checkpoint that the paper makes, and so the one that is compared with it."""
SELECTIONS: tuple[Selection, ...] = get_args(Selection)


def select_point(curve: list[dict[str, Any]], by: str) -> dict[str, Any]:
    """The chosen evaluation."""
    if not curve:
        raise BadInput("there is no evaluation to choose from")
    if by == "final":
        return curve[-1]
    name = by.removeprefix("eval-")
    if any("eval" not in point["detail"] for point in curve):
        raise BadInput(f"select {by}: this run was not evaluated on a separate set; use final", of="select")

    def merit(point: dict[str, Any]) -> tuple[float, float, int]:
        found = point["detail"]["eval"]
        return found[name], found["seen"], -point["step"]

    return max(curve, key=merit)
