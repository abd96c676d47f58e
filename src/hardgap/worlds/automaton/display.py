"""A rule and a gap as a notebook shows them: the table, and a rollout with what is hidden framed."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

import numpy as np

from hardgap.core.drawing import HIDDEN, cells_picture
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rollout import rollout
from hardgap.worlds.automaton.rule import Rule

WIDTH, STEPS, GAP_WIDTH, GAP_STEPS = 49, 16, 31, 4
BOX = "display: inline-block; margin: 1px; padding: 1px 6px; text-align: center; border: 1px solid"


def rule_html(rule: Rule) -> str:
    """The rule's table, and what it makes of a single cell."""
    row = np.zeros(WIDTH, dtype=np.uint8)
    row[WIDTH // 2] = 1
    about = f"Rule {rule.name} from a single cell"
    drawn = cells_picture(rollout(rule, row, STEPS).tolist(), about)
    return f"<p><b>Rule {escape(rule.name)}</b>: {escape(rule.formula_text())}</p>{_table(rule)}<div>{drawn}</div>"


def gap_html(gap: Gap) -> str:
    """The rule's table with what is hidden as `?`, and a rollout whose hidden cells, framed, are never supervised."""
    rows = np.random.default_rng(0).integers(0, 2, (1, GAP_WIDTH), dtype=np.uint8)
    truth = gap.trajectory(rows, GAP_STEPS)
    masked = ~truth.supervised[:, 0]  # the first row of a rollout is given
    framed = np.concatenate([np.zeros_like(masked[:1]), masked])
    words = f"{gap.describe()}; framed cells of {GAP_STEPS} steps are left out of the loss"
    drawn = cells_picture(truth.states[:, 0].tolist(), words, framed.tolist())
    return f"<p><b>{escape(words)}</b></p>{_table(gap.rule, gap.hidden)}<div>{drawn}</div>"


def _table(rule: Rule, hidden: Collection[int] = ()) -> str:
    return f"<p>{''.join(_entry(rule, pattern, pattern in hidden) for pattern in range(rule.patterns))}</p>"


def _entry(rule: Rule, pattern: int, is_hidden: bool) -> str:
    output = "?" if is_hidden else str(rule.table[pattern])
    look = f"{BOX} {HIDDEN}; color: {HIDDEN}" if is_hidden else f"{BOX} rgba(128, 128, 128, 0.4)"
    return f'<span style="{look}">{escape(rule.pattern_text(pattern))}<br><b>{escape(output)}</b></span>'
