"""A network that answers hidden patterns wrong: does what it learned agree with everything visible?

The paper says of failed Rule 150 runs that they find a consistent alternative rule (limitation 3). This
analysis rolls the network out and compares it with the truth on visible cells, at each step, when it is fed

graded              its probabilities, as soft unrolling trains it
rounded             its decisions: the rule it computes, run as a rule
hidden rounded      probabilities, but decisions at hidden cells
visible rounded     probabilities at hidden cells, decisions elsewhere
hidden corrected    decisions, but the truth at hidden cells
recovered rule      nothing: the recovered truth table is run instead of the network

A cell counts as hidden by its neighbourhood in the true trajectory. Where rounding does damage that graded
values do not, the network reads its own wrong bits back from graded values. `marks` and `rounded_at` show
where they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hardgap.nn.hooks import as_cells, logits_of
from hardgap.worlds.automaton.circuits.cells import Finding, share
from hardgap.worlds.automaton.circuits.marks import Mark, distance_to, find_marks
from hardgap.worlds.automaton.circuits.recovered import LOCAL_AT, Entry, recovered_table
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import Rule
from hardgap.worlds.automaton.unrolling import current_temperature

STEPS = 4
"""Steps of the rollout; the paper unrolls as many."""
CONSISTENT_AT = 0.95
"""Consistent means: at every step, at least this share of the visible cells is right. Trained networks are not
perfect; a rule with one wrong entry of Rule 150 falls to about 82 % or less at the second step."""
FARTHEST = 4
"""Distances from a wrong cell that are told apart; this one stands for all farther."""

Verdict = Literal[
    "the true rule",
    "no local rule",
    "a consistent alternative rule",
    "an alternative rule, consistent only through graded values",
    "an alternative rule that visible cells contradict",
]


@dataclass(frozen=True)
class Fed:
    """Accuracy at steps 1, 2, … under one kind of feedback.

    downstream  of visible cells with a hidden cell in their neighbourhood one step before
    """

    visible: tuple[float | None, ...]
    holdout: tuple[float | None, ...]
    downstream: tuple[float | None, ...]


@dataclass(frozen=True)
class Consistency(Finding):
    """The verdict and the numbers behind it.

    damaged     share of visible cells at step 2 that are wrong under rounded feedback
    repaired    of these, the share that is right under graded feedback
    marks       how certain nearby visible answers are, as a sign of a wrong hidden bit
    rounded_at  visible accuracy at step 2 if graded values are rounded only at this distance from a wrong
                hidden cell (0 is the cell itself)
    """

    verdict: Verdict
    rule: str
    trained_on: str
    fed: dict[str, Fed]
    damaged: float
    repaired: float | None
    marks: tuple[Mark, ...]
    rounded_at: dict[int, float | None]


def check_consistency(
    model: nn.Module,
    gap: Gap,
    rows: NDArray[np.uint8],
    *,
    regime: Unrolling | None = None,
    step: int | None = None,
    seed: int = 0,
) -> Consistency:
    """Roll the network out in every way and compare with the truth where it is visible.

    Graded values are those of the temperature that the regime has at `step`, or at the end of its course: one for all
    cells, and where it is drawn anew for every row, the first of its range.
    """
    regime = regime or Unrolling()
    with torch.no_grad():
        temperature = float(current_temperature(model, regime, regime.temperature.over if step is None else step))
    truth = gap.trajectory(rows, STEPS)
    entries = recovered_table(model, gap, rows, seed=seed)
    found = Rule.from_table([entry.output for entry in entries])
    answers = {
        name: _free_run(model, truth, make, temperature) for name, make in FEEDBACK.items()
    } | {"recovered rule": rollout(found, rows, STEPS)[1:] == 1}  # fmt: skip
    fed = {name: _fed(answer, truth, gap.rule.radius) for name, answer in answers.items()}
    wrong = (answers["rounded"][0] != truth.targets[0]) & truth.hidden[0]
    damaged, repaired = _damage(answers, truth)
    first = logits_of(model, as_cells(model, rows)) / temperature
    return Consistency(
        _verdict(entries, fed),
        found.name,
        regime.feedback,
        fed,
        damaged,
        repaired,
        find_marks(torch.sigmoid(first).cpu().numpy(), wrong, truth.patterns[0], gap),
        _rounded_at(model, truth, first, wrong) if wrong.any() else {},
    )


Feedback = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""(probabilities, decisions, hidden, true targets) to the next input."""
FEEDBACK: dict[str, Feedback] = {
    "graded": lambda soft, hard, hidden, true: soft,
    "rounded": lambda soft, hard, hidden, true: hard,
    "hidden rounded": lambda soft, hard, hidden, true: torch.where(hidden, hard, soft),
    "visible rounded": lambda soft, hard, hidden, true: torch.where(hidden, soft, hard),
    "hidden corrected": lambda soft, hard, hidden, true: torch.where(hidden, true, hard),
}


def _free_run(model: nn.Module, truth: Trajectory, make: Feedback, temperature: float) -> NDArray[np.bool_]:
    """The network's answers at each step, [steps, rows, width]."""
    cells, answers = as_cells(model, truth.states[0]), []
    for t in range(STEPS):
        logits = logits_of(model, cells)
        answers.append((logits > 0).cpu().numpy())
        hidden = torch.from_numpy(truth.hidden[t]).to(cells.device)
        true = as_cells(model, truth.targets[t])
        cells = make(torch.sigmoid(logits / temperature), (logits > 0).to(cells.dtype), hidden, true)
    return np.stack(answers)


def _fed(answers: NDArray[np.bool_], truth: Trajectory, radius: int) -> Fed:
    right, visible = answers == truth.targets, ~truth.hidden
    near = [distance_to(hidden, radius + 1) <= radius for hidden in truth.hidden[:-1]]
    return Fed(
        tuple(share(right[t][visible[t]]) for t in range(STEPS)),
        tuple(share(right[t][truth.hidden[t]]) for t in range(STEPS)),
        (None, *(share(right[t][visible[t] & near[t - 1]]) for t in range(1, STEPS))),
    )


def _damage(answers: dict[str, NDArray[np.bool_]], truth: Trajectory) -> tuple[float, float | None]:
    wrong = (answers["rounded"][1] != truth.targets[1]) & ~truth.hidden[1]
    repaired = answers["graded"][1][wrong] == truth.targets[1][wrong]
    return float(wrong.sum() / max(1, (~truth.hidden[1]).sum())), share(repaired)


def _rounded_at(
    model: nn.Module, truth: Trajectory, logits: Tensor, wrong: NDArray[np.bool_]
) -> dict[int, float | None]:
    soft, hard = torch.sigmoid(logits), (logits > 0).to(logits.dtype)
    distance = distance_to(wrong, FARTHEST)
    result = {}
    for d in range(FARTHEST + 1):
        here = torch.from_numpy(distance == d).to(logits.device)
        right = (logits_of(model, torch.where(here, hard, soft)) > 0).cpu().numpy() == truth.targets[1]
        result[d] = share(right[~truth.hidden[1]])
    return result


def _verdict(entries: tuple[Entry, ...], fed: dict[str, Fed]) -> Verdict:
    if min(entry.confidence for entry in entries) < LOCAL_AT:
        return "no local rule"
    if all(entry.output == entry.true for entry in entries):
        return "the true rule"
    if _consistent(fed["rounded"]):
        return "a consistent alternative rule"
    if _consistent(fed["graded"]):
        return "an alternative rule, consistent only through graded values"
    return "an alternative rule that visible cells contradict"


def _consistent(fed: Fed) -> bool:
    return all(accuracy is None or accuracy >= CONSISTENT_AT for accuracy in fed.visible)
