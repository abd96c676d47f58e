"""The setup (paper, Figure 1): hidden cells receive no supervision, and a wrong answer there shows a step later.

Computed for a network that gets the visible patterns right and the hidden one wrong: of the supervised cells at each
timestep, the share that its rollout contradicts. Exact for uniformly random rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.studies.identifiability import refuting_shares
from hardgap.studies.measure import StudyResult
from hardgap.studies.study import Arm, study
from hardgap.studies.theorems import Proved
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import parse_rule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, WIDTH, PATTERN = 4, 21, 2


@study("setup", tables=f"{__name__}:setup_tables", figure=f"{__name__}:drawn_setup", scaled=False)
def setup(scale: Scale) -> Iterator[Arm]:
    """A wrong answer for a hidden pattern of Rule 150, whichever, is contradicted by visible cells a step later."""
    for pattern in range(8):
        yield Arm({"pattern": pattern}, (), Proved("Figure 1"), partial(_contradicted, pattern))


def _contradicted(pattern: int, kept: Path) -> dict[str, object]:
    """As a checked statement, with the share of supervised cells contradicted at steps 2 to 4."""
    shares = refuting_shares(Gap(parse_rule("150"), (pattern,)), STEPS)
    return {"holds": min(shares) > 0, "detail": "not contradicted", "as_far_as": "", "shares": shares}


def setup_tables(results: Sequence[StudyResult]) -> list[Table]:
    (result,) = results
    rows = [
        [arm.labels["pattern"], "0.0", *(f"{100 * share:.1f}" for share in arm.value["shares"]), arm.comparison.verdict]
        for arm in result.arms
    ]
    steps = [f"t + {step} %" for step in range(1, STEPS + 1)]
    title = "Rule 150 with the hidden pattern's answer wrong: supervised cells that contradict it"
    return [Table(title, ["hidden", *steps, "verdict"], rows, right=["hidden", *steps])]


def drawn_setup(results: Sequence[StudyResult]) -> Figure:
    """A rollout from a random row: what is unsupervised is framed, what a wrong answer there gets wrong is crossed."""
    from matplotlib.lines import Line2D

    from hardgap.report.figures import HIDDEN, HOLDOUT, setup_figure

    gap = Gap(parse_rule("150"), (PATTERN,))
    row = np.random.default_rng(0).integers(0, 2, (1, WIDTH), dtype=np.uint8)
    truth = gap.trajectory(row, STEPS)
    figure = setup_figure(truth)
    wrong = rollout(gap.decoy().rule, row, STEPS)[1:]  # of a network that is wrong about what is hidden alone
    cells = np.argwhere((wrong != truth.targets)[:, 0] & ~truth.hidden[:, 0])
    cross: Any = {"marker": "X", "color": HOLDOUT, "markeredgecolor": "white", "markersize": 9, "linestyle": "none"}
    frame: Any = {"marker": "s", "markerfacecolor": "none", "markeredgecolor": HIDDEN, "linestyle": "none"}
    figure.axes[0].plot(cells[:, 1] + 0.5, cells[:, 0] + 1.5, **cross)
    handles = [Line2D([], [], markersize=9, **frame), Line2D([], [], **cross)]
    hidden = f"{gap.rule.pattern_text(PATTERN)} is hidden: never supervised"
    labels = [hidden, "visible, and wrong if that is answered wrongly"]
    figure.axes[0].legend(handles, labels, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(-0.01, 1))
    return figure
