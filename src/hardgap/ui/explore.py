"""Explore: a rule, what similarity must answer about its hidden entries, and whether the rest determines them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hardgap.theory.votes import NEVER_RIGHT, NEVER_WRONG, RIGHT, WRONG, PatternVotes, votes, votes_of_set
from hardgap.ui.asking import Asked
from hardgap.worlds.automaton.gap import Gap, parse_hidden
from hardgap.worlds.automaton.identify.completions import completions
from hardgap.worlds.automaton.identify.evidence import every_row
from hardgap.worlds.automaton.rule import Rule, parse_rule

STEPS = (1, 2, 3, 4)
MOST_BITS = 19
"""Cells in a window of which every filling is looked at; a wider one takes seconds, which `hardgap identify` has."""
MOST_HIDDEN = {1: 7, 2: 31, 3: 16}
"""By radius, how many hidden entries are settled while somebody waits."""
LISTED = 16


def answer_explore(asked: Asked) -> dict[str, Any]:
    return explore(asked.text("rule"), asked.text("hide", ""))


@lru_cache(maxsize=512)
def explore(text: str, hide: str) -> dict[str, Any]:
    """Everything about a rule, and about the gap if something is hidden."""
    rule = parse_rule(text)
    gap = Gap(rule, parse_hidden(rule, hide)) if hide.strip() else None
    found: dict[str, Any] = {"rule": rule_facts(rule), "hidden": [], "votes": [], "determined": []}
    if gap is not None:
        determined = [determined_after(gap, steps) for steps in STEPS] if _settled_soon(gap) else []
        found |= {"hidden": list(gap.hidden), "votes": similarity(gap), "determined": determined}
    return found


def rule_facts(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "radius": rule.radius,
        "table": rule.table.tolist(),
        "formula": rule.formula_text(),
        "polynomial": rule.anf_text(),
        "alike": [one.name for one in rule.equivalence_class() if one != rule],
    }


def similarity(gap: Gap) -> list[dict[str, Any]]:
    """What each family of methods answers for each hidden entry, whatever its settings, or on what that depends."""
    alone = gap.rule.radius == 1 and len(gap.hidden) == 1  # only then is kernel ridge settled, too
    found = [votes(gap.rule)[gap.hidden[0]]] if alone else votes_of_set(gap)
    return [_pattern(one) for one in found]


def _pattern(one: PatternVotes) -> dict[str, Any]:
    methods = [
        {"method": name, "verdict": found.verdict, "answer": _answer(found.verdict, one.output), "why": found.witness}
        for name, found in one.methods.items()
    ]
    return {"pattern": one.pattern, "cells": one.text, "output": one.output, "methods": methods}


def _answer(verdict: str, output: int) -> int | None:
    """The output that every member of a family names if it names one; some may tie."""
    right, wrong = (RIGHT, NEVER_WRONG), (WRONG, NEVER_RIGHT)
    return output if verdict in right else 1 - output if verdict in wrong else None


def _settled_soon(gap: Gap) -> bool:
    return len(gap.hidden) <= MOST_HIDDEN[gap.rule.radius]


def determined_after(gap: Gap, steps: int) -> dict[str, Any]:
    """Whether the visible cells of every row there could be, for so many steps, leave one table; if not, another."""
    if 2 * gap.rule.radius * steps + 1 > MOST_BITS:
        return {"steps": steps, "determined": None}
    found = completions(every_row(gap, steps), limit=LISTED)
    return {
        "steps": steps,
        "determined": found.identified,
        "entries": list(found.determined),
        "fitting": len(found.fitting),
        "complete": found.complete,
        "witness": _witness(gap, found.witness),
    }


def _witness(gap: Gap, other: Rule | None) -> dict[str, Any] | None:
    if other is None:
        return None
    differs = [p for p in gap.hidden if other.table[p] != gap.rule.table[p]]
    return {"name": other.name, "table": other.table.tolist(), "differs": differs}
