"""Is what training fails to find there to be found? The numbers and figures of docs/identifiability.md.

python -m hardgap.studies.identifiability measure docs/figures     # minutes; writes identifiability.json
python -m hardgap.studies.identifiability draw docs/figures        # seconds; draws what was measured
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hardgap.worlds.automaton.gap import Gap, draw_hidden
from hardgap.worlds.automaton.identify.answers import identify
from hardgap.worlds.automaton.identify.completions import completions
from hardgap.worlds.automaton.identify.evidence import Evidence, every_row, evolve, rows_shown
from hardgap.worlds.automaton.identify.frontier import smallest_lost
from hardgap.worlds.automaton.rule import parse_rule

STEPS = (2, 3, 4)
UNROLLED = max(STEPS)
"""Steps that training unrolls, and so all that what is visible can testify to."""

# Seeds of 10 that reached 70 % holdout, by hidden pattern (paper, "Per-pattern holdout accuracy for radius-1 rules").
TRAINED_50 = {
    "150": (0, 0, 4, 0, 0, 4, 0, 0),
    "30": (1, 5, 6, 10, 0, 2, 10, 7),
    "106": (10, 10, 0, 8, 9, 10, 4, 4),
}
TRAINED_150_220 = (3, 10, None, 10, 10, None, 10, 4)
# Mean holdout accuracy in percent and successes of ten, by number of hidden patterns (paper, k-sweep tables).
TRAINED_K = {
    "D": {4: (99.4, 10), 8: (96.7, 10), 10: (99.6, 10), 12: (99.6, 10), 14: (99.8, 10), 16: (55.3, 0), 20: (55.3, 0),
          24: (42.2, 0), 28: (43.0, 0)},
    "G": {14: (99.3, 10), 16: (99.2, 10), 20: (99.2, 10), 24: (97.1, 10), 26: (81.3, 7), 27: (95.7, 9),
          28: (82.3, 8)},
}  # fmt: skip


def single_patterns(rows: int = 1000, width: int = 101, seed: int = 0) -> list[dict[str, Any]]:
    """One hidden pattern of Rules 150, 30 and 106: every completion but the true one is refuted in two steps."""
    initial = np.random.default_rng(seed).integers(0, 2, (rows, width), dtype=np.uint8)
    table = []
    for name, trained in TRAINED_50.items():
        for pattern in range(8):
            gap = Gap(parse_rule(name), (pattern,))
            answers = [identify(gap, initial, steps).as_dict() for steps in STEPS]
            row = {"rule": name, "pattern": pattern, "trained": trained[pattern]}
            table.append(row | {"contradicted": refuting_shares(gap, max(STEPS)), "answers": answers})
    return table


def refuting_shares(gap: Gap, steps: int) -> list[float]:
    """The share of supervised cells that the completion with every hidden output wrong gets wrong, at steps 2 on.

    Exact for uniformly random rows: each window is as likely as any other.
    """
    other, depths = gap.decoy().rule, every_row(gap, steps).depths
    return [float((evolve(other, depth.windows, depth.steps) != depth.targets).mean()) for depth in depths]


def k_sweep(name: str, sets: int = 40) -> list[dict[str, Any]]:
    """How many of k randomly hidden entries are determined, as k grows to 31 of 32."""
    rule, table = parse_rule(name), []
    for k in range(1, rule.patterns):
        found = [_determined(Gap(rule, draw_hidden(rule, k, seed=seed))) for seed in range(sets)]
        table.append({"k": k, "sets": sets, "determined": {str(t): [f[t] for f in found] for t in STEPS}})
    return table


def _determined(gap: Gap) -> dict[int, int]:
    """The number of determined entries by steps; what fewer steps determine in full need not be asked again."""
    count: dict[int, int] = {}
    for t in STEPS:
        done = len(gap.hidden) in count.values()
        count[t] = len(gap.hidden) if done else len(completions(every_row(gap, t), limit=2).determined)
    return count


@cache
def determined_share(gap: Gap, width: int) -> float:
    """Of the hidden entries, from every row of that width, as many steps on as training unrolls."""
    return len(completions(_every_row_of(gap, width), limit=2).determined) / len(gap.hidden)


def _every_row_of(gap: Gap, width: int) -> Evidence:
    """What all rows of one width show; rows as wide as a window hold every window, and so show all there is."""
    if width > 2 * gap.rule.radius * UNROLLED:
        return every_row(gap, UNROLLED)
    rows = (np.arange(2**width)[:, None] >> np.arange(width) & 1).astype(np.uint8)
    return rows_shown(gap, rows, UNROLLED)


def rows_needed(name: str, k: int, *, sets: int = 20, width: int = 101, steps: int = 4) -> list[int | None]:
    """How many random rows, taken one after the other, it takes until only the true rule fits; None past 64."""
    rule, needed = parse_rule(name), list[int | None]()
    for seed in range(sets):
        gap = Gap(rule, draw_hidden(rule, k, seed=seed))
        rows = np.random.default_rng([seed, k]).integers(0, 2, (64, width), dtype=np.uint8)
        enough = (n for n in range(1, 65) if completions(rows_shown(gap, rows[:n], steps), limit=2).identified)
        needed.append(next(enough, None))
    return needed


def frontier(name: str, steps: int, *, both_outputs_seen: bool, rounds: int) -> dict[str, Any]:
    """The smallest hidden set that loses information, whichever patterns it holds."""
    found = smallest_lost(parse_rule(name), steps, both_outputs_seen=both_outputs_seen, rounds=rounds)
    return {
        "rule": name,
        "steps": steps,
        "both_outputs_seen": both_outputs_seen,
        "size": found.size,
        "lost": found.lost and list(found.lost),
        "rounds": found.rounds,
    }


def frontiers() -> list[dict[str, Any]]:
    """Any 15 patterns of Rule D and any 8 of Rule G can be hidden: three steps determine them."""
    plain = [frontier(name, steps, both_outputs_seen=False, rounds=200) for name in TRAINED_K for steps in STEPS]
    return [*plain, frontier("D", 3, both_outputs_seen=True, rounds=80)]


def measure(folder: Path) -> None:
    """Compute everything and write it down, each part as soon as it is there; what is there already is kept."""
    path = folder / "identifiability.json"
    numbers: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    parts: dict[str, Callable[[], Any]] = {
        "single": single_patterns,
        "sweep": lambda: {name: k_sweep(name) for name in TRAINED_K},
        "rows": lambda: {name: {str(k): rows_needed(name, k) for k in (8, 14, 16, 20, 24)} for name in TRAINED_K},
        "frontier": frontiers,
    }
    for part, compute in parts.items():
        if part not in numbers:
            numbers[part] = compute()
            path.write_text(json.dumps(numbers, separators=(",", ":")) + "\n")


def main(arguments: list[str]) -> None:
    """Measure or draw, as the module's docstring shows."""
    match arguments:
        case ["measure", folder]:
            measure(Path(folder))
        case ["draw", folder]:
            from hardgap.studies.identifiability_figures import draw

            draw(json.loads((Path(folder) / "identifiability.json").read_text()), Path(folder))
        case _:
            sys.exit("say measure or draw, and the folder: measure docs/figures")


if __name__ == "__main__":
    main(sys.argv[1:])
