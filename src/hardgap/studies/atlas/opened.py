"""Networks that miss a determined gap, opened: the rule that they compute, and what graded values hide.

Each is kept as a file, `opened-RUN.json`; the committed ones are in results/atlas/opened.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import listed, percent, plural
from hardgap.report.document import NOT_YET, paragraph
from hardgap.runs.store import Store
from hardgap.studies.atlas.cells import settled
from hardgap.studies.atlas.missed import missed_by_all, recovered_by_rounding
from hardgap.studies.atlas.study import SEEDS, atlas_run, missed_gaps, opened_file, opened_run
from hardgap.studies.kept import keep_file, kept_file
from hardgap.studies.measure import StudyResult, each
from hardgap.worlds.automaton.rule import Rule, parse_rule

Found = dict[str, Any]
SMUGGLED = "an alternative rule, consistent only through graded values"
WORDS = {
    SMUGGLED: "a wrong rule that agrees with what is visible through graded values alone",
    "no local rule": "no local rule",
    "a consistent alternative rule": "a wrong rule that hardly anything visible contradicts",
    "an alternative rule that visible cells contradict": "a wrong rule that what is visible contradicts",
    "the true rule": "the rule itself, run freely",
}
"""How each verdict of the analysis is said of a determined gap, the commonest first."""


def open_missed(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """Open the network of each gap that every seed of the recipe missed, if it is not kept yet, until it is late."""
    from hardgap.runs.execute import load_trained
    from hardgap.runs.weights import at_end, find_weights
    from hardgap.worlds.automaton.circuits.opening import open_trained

    gaps = [gap for gap in missed_gaps() if _every_seed_misses(store, scale, *gap)]
    for place, (rule, pattern) in enumerate(gaps):
        run = opened_run(scale, rule, pattern)
        if is_late() or kept_file(kept, opened_file(run.id)) is not None:
            continue
        on_progress(f"opening {run.describe()}", place, len(gaps))
        found = find_weights(store, run.id)
        curve = found.store.curve(run.id)
        if at_end(found.store, found.store.get(run.id)) is None or settled(curve, "").settled == "recovered":
            continue  # without its weights, or trained again and recovered
        inside = open_trained(load_trained(store, run.id), ("rule", "consistency"), 0)
        about = {"kind": "atlas/opened", "run": run.id, "about": found.about(run), "replica": found.replica}
        made = {"versions": found.store.get(run.id).versions}
        keep_file(kept, opened_file(run.id), about | made | _wanted(inside))


def _every_seed_misses(store: Store, scale: Scale, rule: Rule, pattern: int) -> bool:
    curves = store.curves(atlas_run(scale, rule.number, pattern).but(seed=seed).id for seed in SEEDS)
    ends = [settled(curve, "").settled for curve in curves.values()]
    return len(ends) == len(SEEDS) and "recovered" not in ends


def _wanted(inside: Found) -> Found:
    """The rule, what is concluded, and which share of visible cells is right at each step, by what is fed back."""
    consistency = inside["consistency"]
    visible = {way: [round(share, 4) for share in fed["visible"]] for way, fed in consistency["fed"].items()}
    return {"rule": inside["rule"]["rule"], "local": inside["rule"]["local"], "verdict": consistency["verdict"],
            "visible": visible}  # fmt: skip


def opened_table(result: StudyResult) -> Table:
    """A row a network."""
    rows = [
        [rule, parse_rule(rule).pattern_text(pattern), _computed(rule, pattern, found), WORDS[found["verdict"]],
         *(percent(found["visible"][way][1]) for way in ("graded", "rounded")), found["run"]]
        for (rule, pattern), found in _opened(result).items()
    ]  # fmt: skip
    right = ["visible cells right at step 2, graded %", "the same, rounded %"]
    columns = ["rule", "hidden", "computes", "that is", *right, "run"]
    return Table(f"Inside networks of gaps that three seeds miss, {result.scale} scale", columns, rows, right, right)


opened_tables = each(opened_table)


def opened_words(result: StudyResult, again: StudyResult) -> str:
    """How many networks compute what, which, and whether rounding would have recovered their gaps."""
    found, helped = _opened(result), recovered_by_rounding(again)
    if not found:
        return NOT_YET
    missed = missed_by_all(again)
    left = [_gap(gap) for gap in missed if gap not in found]
    told = [f"Of {plural(len(missed), 'gap')} that three seeds miss, one network each of {len(found)} is opened"]
    told.append(f" ({listed(left)} not: without weights, or recovered when trained again). " if left else ". ")
    for verdict, said in WORDS.items():
        gaps = [gap for gap, one in found.items() if one["verdict"] == verdict]
        rounded = sum(gap in helped for gap in gaps)
        if gaps:
            recovers = f"{len(gaps)}, of which training with rounding recovers {rounded or 'none'}"
            told.append(f"{said.capitalize()}: {recovers} ({listed(map(_gap, gaps))}). ")
    return paragraph("".join(told))


def _gap(gap: tuple[str, int]) -> str:
    rule, pattern = gap
    return f"Rule {rule} ({parse_rule(rule).pattern_text(pattern)})"


def _opened(result: StudyResult) -> dict[tuple[str, int], Found]:
    return {(str(a.labels["rule"]), int(a.labels["pattern"])): a.value for a in result.arms if a.value is not None}


def _computed(rule: str, pattern: int, found: Found) -> str:
    """The rule that a network computes, and whether that is the only other table that fits what is visible at once."""
    if found["verdict"] == "no local rule":
        return ""
    other = Rule(1, int(rule) ^ (1 << pattern)).name
    return f"Rule {found['rule']}" + ("" if found["rule"] == other else ", not the other table")
