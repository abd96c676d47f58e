"""The ledger as one page to share: the story, every claim with its verdict, then each with its table and figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import groupby

import hardgap
from hardgap.core.errors import NotMeasured
from hardgap.core.parts import part
from hardgap.core.progress import Progress, silent
from hardgap.core.specs import Scale
from hardgap.core.wording import plural
from hardgap.report.document import NOT_YET
from hardgap.report.figures import as_svg
from hardgap.report.page import MARKS, Page, badge, dot, inline
from hardgap.report.verdicts import Verdict
from hardgap.studies.ledger import beside, counted, counts, number_counts, numbers_of, phrase
from hardgap.studies.main_table import SHOWN
from hardgap.studies.main_table_document import main_words, steps_words
from hardgap.studies.measure import StudyResult, tables_of
from hardgap.studies.study import words
from hardgap.studies.symbolic.table import CELLS
from hardgap.studies.symbolic.words import symbolic_words
from hardgap.studies.tempered.words import tempered_words
from hardgap.suites.card import Card
from hardgap.suites.document import beside_the_papers, cards_table, needs_table, needs_words, suite_words
from hardgap.suites.figure import draw_references

TITLES = {
    "setup": "The setup",
    "main": "The main table",
    "ceiling": "A network that is local by construction",
    "per-pattern": "One hidden pattern at a time",
    "rule-30-hard": "Rule 30 under hard feedback",
    "k-sweep": "How much of a rule can be hidden",
    "dynamics": "How recovery comes about during training",
    "interpolation": "What similarity makes of the gap",
    "gf2": "What the visible cells determine",
    "theorems": "Theorems, lemmas and constructions",
    "circuits": "Inside the networks",
    "symbolic": "Operators that were never seen together",
    "chains": "Between and inside the networks of Experiment 2",
    "ambiguity": "Operators with a weaker filter of examples",
    "bounds": "What any reader could score in Experiment 2",
    "calibration": "How well the networks of Experiment 2 are trained",
    "dropout": "Dropout, which the paper does not mention",
    "steps": "Rule 150 in as many steps as the paper took",
    "tempered": "Tempered feedback",
    "atlas": "Every gap of the elementary rules",
}
"""What a group of studies is called, by the beginning of their names; those of plugins are called by that."""
LEAD = "Which claims of the paper hold? What it published beside what was measured, with a verdict."
STORY = """
Take a rule, such as “a cell becomes the parity of itself and its two neighbours”. Remove part of its truth table from
everything that a network is trained on, in a way that similarity provably cannot fill. Train a small transformer on the
rest, letting it predict several steps in a row. Sometimes it fills the gap: it has learned a rule that it was never
shown. So says the paper “Transformers Can Learn Rules They’ve Never Seen: Proof of Computation Beyond Interpolation”
(Gray). This page sets its claims beside what was measured anew.
"""
LEGEND = """
✓ reproduced, or holds; ≠ differs; ✗ does not hold as written; ? inconclusive; ○ not run; – no test, or the paper is
silent. Where a claim rests on several numbers, each has its sign. A claim leads to its table, its figure and the
command to rerun it.
"""
SCALE = """
Most measurements are at desk scale: rows of 11 cells instead of 101 and a thirteenth of the steps, so that a run takes
half a minute of one core. Such a verdict says so in its words; it is none about the paper’s own setting. `reproduced`
asks for evidence: the 90 % interval of the difference contains zero and lies within a margin, 25 points of a success
rate and 10 of a mean. That no difference was found is not enough. `inconclusive` says how many runs would settle it, or
what else would.
Rows of one table are corrected together. `docs/verdicts.md` has all rules, `docs/fidelity.md` every choice that the
paper leaves open.
"""
SUITE = """
The suite asks the question of every network: fixed gaps, all of them determined by the rows that are trained on, where
similarity must be wrong, must be right, or depends on its weights. `hardgap suite run yourpackage:make --quick` sets a
network of yours beside these references; `docs/suite.md` says what is asked.
"""


def report_page(claims: Sequence[StudyResult], told: Progress = silent, cards: Sequence[Card] = ()) -> str:
    """The whole page as HTML; `cards` are those of the suite's references."""
    page = Page("Has a neural network learned a rule it was never shown?", LEAD, wide=True)
    page.parts.append(_counts(claims))
    page.paragraph(STORY)
    page.heading("All claims at a glance")
    page.paragraph(LEGEND)
    page.parts.append(_matrix(claims))
    page.heading("What was found")
    for sentences in _measured_story(claims):
        page.paragraph(sentences)
    page.heading("What the verdicts mean")
    page.paragraph(SCALE)
    groups = _groups(claims)
    for place, group in enumerate(groups):
        told(f"drawing {group[0].name}", place, len(groups))
        _section(page, group)
    if cards:
        _suite(page, cards)
    return page.html(f"hardgap {hardgap.__version__}: hardgap report makes this page again, from results/ alone.")


def _counts(claims: Sequence[StudyResult]) -> str:
    """A box a word: how many claims have it, and how many of them at a scale that is not the paper's."""
    items = []
    for word, n in counts(claims).items():
        (sign, kind), scaled = MARKS[word], sum(f"{word} at desk scale" == said for said in _phrases(claims))
        some = f", {'all' if scaled == n else scaled} at desk scale" if scaled else ""
        items.append(f'<li class="{kind}"><b>{sign} {n}</b> {escape(word + some)}</li>')
    numbers = number_counts(claims)
    below = f"Claims of the paper. The {sum(numbers.values())} numbers and statements behind them: {counted(numbers)}."
    return f'<ul class="counts">{"".join(items)}</ul><p class="lead">{escape(below)}</p>'


def _phrases(claims: Sequence[StudyResult]) -> list[str]:
    return [phrase(one) for one in claims if not one.study.ours and one.scale == "desk"]


def _measured_story(claims: Sequence[StudyResult]) -> list[str]:
    """The sentences that README has about each experiment; none about what is not measured."""
    desk = {one.name: one for one in claims if one.scale == "desk"}
    main = [one for one in desk.values() if one.name.startswith("main/") and one.study.tables == SHOWN["tables"]]
    cells = [one for one in desk.values() if one.study.tables == CELLS]
    tempered = {one.name.partition("/")[2]: one for one in desk.values() if one.name.startswith("tempered/")}
    told = {"Experiment 1": main_words(main)} if main else {}
    if "steps/rule-150" in desk:
        told["As many steps"] = steps_words(desk["steps/rule-150"])
    if cells and "symbolic/coverage" in desk:
        weaker = [one for one in cells if one.study.ours]
        table = [one for one in cells if not one.study.ours]
        told["Experiment 2"] = symbolic_words(table, weaker, desk["symbolic/coverage"])
    if tempered:
        told["Beyond the paper"] = tempered_words(tempered)
    return [f"{about}. {' '.join(text.split())}" for about, text in told.items() if text != NOT_YET]


def _groups(claims: Sequence[StudyResult]) -> list[list[StudyResult]]:
    """Claims by the beginning of their names; the paper's before ours."""
    ordered = sorted(claims, key=_place)
    return [list(group) for _, group in groupby(ordered, key=_place)]


def _place(one: StudyResult) -> tuple[bool, int, str]:
    name = one.name.partition("/")[0]
    return one.study.ours, [*TITLES].index(name) if name in TITLES else len(TITLES), name


def _title(group: Sequence[StudyResult]) -> str:
    name = group[0].name.partition("/")[0]
    title = TITLES.get(name, name.replace("-", " ").capitalize())
    return f"Beyond the paper: {title[:1].lower()}{title[1:]}" if group[0].study.ours else title


def _matrix(claims: Sequence[StudyResult]) -> str:
    rows = []
    for group in _groups(claims):
        rows.append(f'<tr class="group"><th colspan="4">{escape(_title(group))}</th></tr>')
        rows += [_matrix_row(one) for one in group]
    head = "".join(f"<th>{column}</th>" for column in ("claim", "paper", "here", "verdict"))
    return f'<table class="matrix"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _matrix_row(one: StudyResult) -> str:
    said, told = (escape(text) for text in beside(one))
    dots = [dot(*pair) for pair in _several(one)]
    told = "".join(dots) if dots else told
    claim = f'<a href="#{_anchor(one)}">{escape(one.study.claim)}</a>'
    verdict = f"{badge(one.comparison)}{_settles(one)}"
    return (
        f'<tr data-claim="{_anchor(one)}" data-verdict="{escape(one.comparison.verdict)}"><td>{claim}</td>'
        f'<td data-name="paper">{said}</td><td data-name="here">{told}</td><td>{verdict}</td></tr>'
    )


def _settles(one: StudyResult) -> str:
    found = one.comparison.settles
    return f"<br><small>{escape(found)}</small>" if found else ""


def _several(one: StudyResult) -> Iterator[tuple[Verdict, str]]:
    """The verdict on each number of a claim that has several."""
    numbers = numbers_of(one)
    if len(numbers) > 1 and not one.study.ours:
        for arm in numbers:
            name = arm.value.get("name") if isinstance(arm.value, dict) else None
            yield arm.comparison, str(name or ", ".join(words(arm.labels)))


def _anchor(one: StudyResult) -> str:
    return escape(f"{one.name}{'' if one.scale == 'desk' else '@' + one.scale}")


def _section(page: Page, group: list[StudyResult]) -> None:
    """Claims that share a table or a figure stand together, before it."""
    page.heading(_title(group))
    together: dict[tuple[Scale, str, str | None], list[StudyResult]] = {}
    for one in group:
        together.setdefault((one.scale, one.study.tables, one.study.figure), []).append(one)
    for (_, _, figure), claims in together.items():
        page.parts += [_claim(one) for one in claims]
        measured = [one for one in claims if _is_measured(one)]
        if measured and figure is not None:
            with suppress(NotMeasured):
                page.figure(as_svg(part(figure)(measured)), f"{_title(group)}: {measured[0].study.claim}")
        for table in tables_of(measured):
            above = {one.study.claim for one in claims}.issuperset(table.notes)
            page.table(replace(table, notes=()) if above else table)


def _suite(page: Page, cards: Sequence[Card]) -> None:
    page.heading("Beyond the paper: any network on the same gaps")
    page.paragraph(SUITE)
    page.paragraph(suite_words(cards))
    page.figure(as_svg(draw_references(cards)), "Which gaps of the suite's quick part each reference recovers")
    page.table(cards_table(cards))
    if beside_the_papers(cards):
        page.paragraph(needs_words(cards))
        page.table(needs_table(cards))


def _is_measured(one: StudyResult) -> bool:
    return any(arm.n or arm.value is not None for arm in one.arms)


def _claim(one: StudyResult) -> str:
    found, (said, told) = one.comparison, beside(one)
    where = next((arm.published.where for arm in one.arms if arm.published is not None and arm.published.where), "")
    several = len(numbers_of(one)) > 1
    facts = [
        f"paper{f' ({where})' if where else ''}: {said}" if said else "",
        f"here: {told}" if told else "",
        plural(one.ran, "run") if several and one.ran and said else "",
        found.settles if several else found.note,  # why is said of each part, in the table
    ]
    asked = f"hardgap reproduce {one.name}" + ("" if one.scale == "desk" else f" --scale {one.scale}")
    return (
        f'<div class="claim" id="{_anchor(one)}"><p>{badge(found)} {inline(one.study.claim)}</p>'
        f"<p><small>{escape(' · '.join(filter(None, facts)))} <code>{escape(asked)}</code></small></p></div>"
    )
