"""Every page that shows what was measured, and what fills it: tables, sentences with numbers, figures, the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path

from hardgap.core.progress import Progress, silent
from hardgap.report.document import Content, marks, read_page, write_page
from hardgap.studies import index, ledger, machines, main_table_document, stacking
from hardgap.studies.atlas import document as atlas
from hardgap.studies.circuits import document as circuits
from hardgap.studies.interpolation import document as interpolation
from hardgap.studies.symbolic import document as symbolic
from hardgap.studies.tempered import document as tempered
from hardgap.suites import document as suites

PAGES = (
    "README.md",
    "docs/atlas.md",
    "docs/baselines.md",
    "docs/circuits.md",
    "docs/coverage.md",
    "docs/fidelity.md",
    "docs/findings.md",
    "docs/k-sweep.md",
    "docs/ledger.md",
    "docs/machines.md",
    "docs/main-table.md",
    "docs/stacking.md",
    "docs/suite.md",
    "docs/symbolic.md",
    "docs/tempered.md",
    "docs/wide.md",
    "results/README.md",
)


@dataclass(frozen=True)
class BlockSet:
    """Blocks that are made together: of what, their names, and what makes them from the folder of measured runs."""

    about: str
    blocks: tuple[str, ...]
    content: Callable[[Path], Content]


BLOCK_SETS = (
    BlockSet("the main table", main_table_document.BLOCKS, main_table_document.content),
    BlockSet("the tempered recipe", tempered.BLOCKS, tempered.content),
    BlockSet("Experiment 2", symbolic.BLOCKS, symbolic.content),
    BlockSet("every claim", ledger.BLOCKS, ledger.content),
    BlockSet("solved networks", circuits.BLOCKS, circuits.content),
    BlockSet("the temporal baseline", interpolation.BLOCKS, interpolation.content),
    BlockSet("the atlas", atlas.BLOCKS, atlas.content),
    BlockSet("the suite", suites.BLOCKS, suites.content),
    BlockSet("the index", index.BLOCKS, index.content),
    BlockSet("other machines", machines.BLOCKS, machines.content),
    BlockSet("stacks", stacking.BLOCKS, stacking.content),
)


def read_pages(pages: Sequence[Path]) -> dict[Path, str]:
    """The pages' texts, if all can be read and mark nothing unknown."""
    return {page: read_page(page, (name for one_set in BLOCK_SETS for name in one_set.blocks)) for page in pages}


def contents(texts: dict[Path, str], results: Path, on_progress: Progress = silent) -> dict[Path, Content]:
    """What each page may hold; only sets that some page needs are read, each once."""
    needed = {page: [one for one in BLOCK_SETS if {*one.blocks} & {*marks(text)}] for page, text in texts.items()}
    wanted = [one for one in BLOCK_SETS if any(one in several for several in needed.values())]
    made = {}
    for place, one in enumerate(wanted):
        on_progress(f"measuring {one.about}", place, len(wanted))
        made[one] = one.content(results)
    return {page: reduce(or_, (made[one] for one in several)) for page, several in needed.items()}


def write_pages(texts: dict[Path, str], results: Path, on_progress: Progress = silent) -> dict[Path, list[Path]]:
    """Fill every page; the files that were written for each."""
    made = contents(texts, results, on_progress)
    on_progress("pages and figures", 0, 0)
    return {page: write_page(page, text, made[page]) for page, text in texts.items()}
