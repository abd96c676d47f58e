"""Level one of Table 1 without any sampling: the rule's own truth table, visible entries against hidden ones.

For Rule 150 with one entry hidden every method here but the bootstrapped forest is provably wrong (paper §3.3,
Appendix A; docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import Any

import numpy as np

from hardgap.core.progress import Progress, silent
from hardgap.worlds.automaton.baselines.methods import METHODS, Features, Method, fit
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import Rule


def pattern_bits(rule: Rule) -> Features:
    """Every neighbourhood as a point of {0,1}^(2r+1); row p is pattern p, leftmost cell first."""
    cells = 2 * rule.radius + 1
    shifts = np.arange(cells - 1, -1, -1)
    return (np.arange(rule.patterns)[:, None] >> shifts & 1).astype(np.float64)


def predict_hidden(
    gap: Gap, methods: Iterable[Method] = METHODS, seed: int = 0, on_progress: Progress = silent
) -> dict[str, list[int]]:
    """Each method's outputs for the hidden patterns, in the order of `gap.hidden`, from the visible ones.

    >>> from hardgap.worlds.automaton.rule import parse_rule
    >>> predict_hidden(Gap(parse_rule("150"), (3,)))["GP"]  # the truth is 0
    [1]
    """
    points, hidden = pattern_bits(gap.rule), list(gap.hidden)
    visible, chosen = list(gap.visible), list(methods)
    answers: dict[str, list[int]] = {}
    for done, method in enumerate(chosen):
        on_progress(method.name, done, len(chosen))
        model = fit(method, points[visible], gap.rule.table[visible], seed)
        answers[method.name] = model.predict(points[hidden]).tolist()
    return answers


def truth_table_report(
    gap: Gap, methods: Iterable[Method] = METHODS, seed: int = 0, on_progress: Progress = silent
) -> dict[str, Any]:
    """The same as plain data, with the truth beside it; `table` is the first line of Table 1, in percent."""
    answers = predict_hidden(gap, methods, seed, on_progress)
    truth = [int(gap.rule.table[pattern]) for pattern in gap.hidden]
    right = {name: 100 * fmean(a == t for a, t in zip(given, truth, strict=True)) for name, given in answers.items()}
    return {
        "kind": "truth-table",
        "about": gap.describe(),
        "visible": len(gap.visible),
        "patterns": [
            {
                "pattern": pattern,
                "neighbourhood": gap.rule.pattern_text(pattern),
                "truth": truth[i],
                "answers": {name: given[i] for name, given in answers.items()},
            }
            for i, pattern in enumerate(gap.hidden)
        ],
        "table": [
            {
                "level": "Input space",
                "title": f"Input space ({2 * gap.rule.radius + 1}-bit)",
                "holdout": {name: (share, share) for name, share in right.items()},
                "published": {},
            }
        ],
        "runs": [],
    }
