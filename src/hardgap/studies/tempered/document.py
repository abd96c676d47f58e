"""The measured tables and the figures of docs/tempered.md, made from the committed results and from nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hardgap.core.parts import part
from hardgap.report.document import Content, Figures, markdown
from hardgap.studies.ledger import read_claims
from hardgap.studies.measure import tables_of, taken_in
from hardgap.studies.study import choose
from hardgap.studies.tempered.search import search_table
from hardgap.studies.tempered.words import tempered_words

SEARCH, WORDS, K_SWEEP = "search", "tempered-words", "k-sweep"
BLOCKS = (*(one.name.partition("/")[2] for one in choose(["tempered"])), SEARCH, WORDS, K_SWEEP)
"""The tables that a page may show, and README's sentences."""


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
    return Content(blocks | {name: markdown([*tables_of(several)]) for name, several in together.items()}, figures)
