"""Determined gaps that the atlas's run missed: what other seeds gave, and rounding some of what is fed back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from hardgap.core.table import Table
from hardgap.core.wording import listed, plural
from hardgap.report.document import NOT_YET, paragraph
from hardgap.studies.atlas.cells import Trained, settled
from hardgap.studies.atlas.study import IMAGES, RECIPE, SEEDS
from hardgap.studies.measure import Measured, StudyResult, each
from hardgap.worlds.automaton.rule import parse_rule


def missed_table(result: StudyResult) -> Table:
    """A row a gap."""
    right = ["recovered", "recovered, 3 of 10 rounded", "images"]
    rows: list[list[object]] = []
    for (rule, pattern), (plain, rounded, images) in _gaps(result).items():
        if not rounded and len(plain) < 2:  # the atlas's own run alone: nobody has looked into it yet
            continue
        hidden = parse_rule(rule).pattern_text(pattern)
        shares = [_share(plain), _share(rounded), _share(images) if images else ""]
        rows.append([rule, hidden, *shares, _ends(plain), _ends(rounded)])
    ends = ["other runs answer as", "other rounded runs answer as"]
    title = f"Determined gaps that the atlas's run missed, one or more of each problem, {result.scale} scale"
    return Table(title, ["rule", "hidden", *right, *ends], rows, right, ends)


missed_tables = each(missed_table)


def missed_words(result: StudyResult) -> str:
    """How many other seeds recover, how many rounding, and which are left."""
    found = _gaps(result)
    whole = {gap: ways for gap, ways in found.items() if all(len(ends) == len(SEEDS) for ends in ways[:2])}
    if not whole:
        return NOT_YET
    seeds, rounded = (sum(_recovered(ways[which]) > 0 for ways in whole.values()) for which in (0, 1))
    never = [ways for ways in whole.values() if not _recovered(ways[0])]
    imaged = sum(_recovered(images) > 0 for _, _, images in never)
    open_gaps = len(found) - len(whole)
    left = [f"Rule {rule} ({parse_rule(rule).pattern_text(pattern)})"
            for (rule, pattern), ways in whole.items() if not any(map(_recovered, ways[:2]))]  # fmt: skip
    return paragraph(
        f"Of each problem that a run of the atlas missed, the first gap that was missed was looked into: "
        f"{plural(len(whole), 'gap')}. At least one of two other seeds recovers {seeds} of them; all three seeds miss "
        f"{len(never)}, and of {imaged} of these an image recovered. With three tenths of what is fed back rounded, "
        f"at least one of three seeds recovers {rounded}. "
        f"{f'Neither recovers {listed(left)}.' if left else 'One or the other recovers all.'}"
        f"{_image_words(result, whole)}"
        f"{f' Missed and not looked into yet: {open_gaps}.' if open_gaps else ''}"
    )


def _image_words(result: StudyResult, whole: Container[tuple[str, int]]) -> str:
    """Of images of whole gaps that are no row themselves, each once: two rows may be images of one another."""
    own = {arm.runs[0].id for arm in result.arms if arm.labels["way"] == RECIPE and arm.runs}
    arms = [arm for arm in result.arms if arm.labels["way"] == IMAGES and _gap(arm) in whole]
    ended = {run.id: end for arm in arms for run, end in zip(arm.runs, _ended(arm), strict=True) if run.id not in own}
    if not ended:
        return ""
    return f" Of the {len(ended)} of their other images that are trained, {_recovered([*ended.values()])} recovered."


def recovered_by_rounding(result: StudyResult) -> set[tuple[str, int]]:
    """Gaps that one of the rounded runs recovers."""
    return {gap for gap, (_, rounded, _) in _gaps(result).items() if _recovered(rounded)}


def missed_by_all(result: StudyResult) -> list[tuple[str, int]]:
    """Gaps that every seed of the recipe misses."""
    return [gap for gap, (plain, *_) in _gaps(result).items() if len(plain) == len(SEEDS) and not _recovered(plain)]


def _gaps(result: StudyResult) -> dict[tuple[str, int], tuple[list[Trained], list[Trained], list[Trained]]]:
    """How the runs of each gap ended: with the recipe, with rounding, and those of its images."""
    ends: dict[tuple[str, int], list[list[Trained]]] = {}
    for arm in result.arms:
        ends.setdefault(_gap(arm), []).append(_ended(arm))
    return {gap: (plain, rounded, images) for gap, (plain, rounded, images) in ends.items()}


def _gap(arm: Measured) -> tuple[str, int]:
    return str(arm.labels["rule"]), int(arm.labels["pattern"])


def _ended(arm: Measured) -> list[Trained]:
    return [settled(curve, "") for curve in arm.curves]


def _recovered(ends: Sequence[Trained]) -> int:
    return sum(end.settled == "recovered" for end in ends)


def _share(ends: Sequence[Trained]) -> str:
    return f"{_recovered(ends)}/{len(ends)}"


def _ends(ends: Sequence[Trained]) -> str:
    other = Counter(end.settled for end in ends if end.settled != "recovered")
    return ", ".join(f"{how} ({count})" for how, count in other.items())
