"""The measured tables and the figures of docs/tempered.md, k-sweep.md and wide.md, from the committed results alone.

A page shows less of some tables than `hardgap reproduce` and the report: what is told once, or in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hardgap.core.parts import part
from hardgap.report.document import Content, Figures, markdown
from hardgap.studies.ledger import read_claims
from hardgap.studies.measure import Measured, StudyResult, tables_of, taken_in
from hardgap.studies.study import choose
from hardgap.studies.tempered.search import search_table
from hardgap.studies.tempered.words import tempered_words

SEARCH, WORDS, K_SWEEP = "search", "tempered-words", "k-sweep"
BLOCKS = (*(one.name.partition("/")[2] for one in choose(["tempered"])), SEARCH, WORDS, K_SWEEP)
"""The tables that a page may show, and README's sentences."""
Arms = Sequence[Measured]


def each_once(arms: Arms) -> list[Measured]:
    """Of arms that look at the same runs, the first."""
    seen: dict[tuple[str, ...], Measured] = {}
    for arm in arms:
        seen.setdefault(tuple(run.id for run in arm.runs), arm)
    return list(seen.values())


def missed_or_cooler(arms: Arms) -> list[Measured]:
    """Those that miss some run, and those at another temperature."""
    return [arm for arm in arms if arm.recovered < arm.n or "T" in arm.labels]


def without_search(arms: Arms) -> list[Measured]:
    return [arm for arm in arms if not str(arm.labels["way"]).startswith("search: ")]


ON_PAGE: dict[str, Callable[[Arms], list[Measured]]] = {
    "dial": each_once,
    "first-attempt": missed_or_cooler,
    "rounded": without_search,
}
"""The arms that a page shows, where it does not show all."""


def on_page(result: StudyResult) -> StudyResult:
    choose_arms = ON_PAGE.get(result.name.partition("/")[2], list)
    return replace(result, arms=tuple(choose_arms(result.arms)))


def content(results: Path) -> Content:
    """All that pages may show, from the folder of measured runs."""
    desk = [one for one in read_claims(results, choose(["tempered", K_SWEEP])) if one.scale == "desk"]
    found = {one.name.partition("/")[2]: one for one in desk if one.name.startswith("tempered/")}
    together = {K_SWEEP: [one for one in desk if one.name.startswith(f"{K_SWEEP}/")]}
    with taken_in(results / "tempered" / "search") as store:
        blocks = {SEARCH: markdown([search_table(store)]), WORDS: tempered_words(found)}
    together |= {name: [one] for name, one in found.items()}
    figures: Figures = {
        name if name == K_SWEEP else f"tempered-{name}": partial(part(several[0].study.figure), several)
        for name, several in together.items()
        if several[0].study.figure
    }
    tables = {name: markdown([*tables_of(map(on_page, several))]) for name, several in together.items()}
    return Content(blocks | tables, figures)
