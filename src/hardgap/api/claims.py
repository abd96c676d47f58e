"""Claims: which there are, and what a store's runs say about one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardgap.core.errors import BadInput

if TYPE_CHECKING:
    from hardgap.studies.study import Study


def study(name: str) -> Study:
    """A claim with its runs and what was published; `.measure(store)` says what a store's finished runs make of it.

    >>> import hardgap as hg
    >>> one = hg.study("main/rule-150-long")
    >>> one.claim
    'Given 4.4 times as long, most runs recover the patterns of Rule 150 that failed at first.'
    >>> len(one.runs("desk"))
    60

    To train what is missing: `hardgap.sweep(one.runs("desk"), store)`. What was measured has a `.verdict`, `.tables()`
    beside the published numbers, and a `.frame()`, a row an arm.
    """
    from hardgap.studies.study import choose

    found = choose([name])
    if len(found) > 1:
        raise BadInput(f"{name} is several studies, name one: {', '.join(one.name for one in found)}")
    return found[0]


def list_studies() -> dict[str, str]:
    """Every study's name, and its claim.

    >>> import hardgap as hg
    >>> hg.list_studies()["main/rule-d-none"]
    'Without unrolling nothing carries the hidden patterns into the network.'
    """
    from hardgap.studies.study import STUDIES

    return {name: one.claim for name, one in STUDIES.items()}
