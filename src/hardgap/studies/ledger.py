"""Every claim with its verdict, from the committed results alone: what `hardgap report` shows and README sums up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, silent
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.core.wording import plural
from hardgap.report.document import Content, markdown, paragraph
from hardgap.report.settling import MANY
from hardgap.report.verdicts import Verdict, Word
from hardgap.studies.measure import Measured, StudyResult, judged, measure, progress, taken_in
from hardgap.studies.study import STUDIES, Study

BLOCKS = ("ledger", "ledger-words")
ORDER: tuple[Word, ...] = (
    "reproduced", "holds", "differs", "does not hold as written", "inconclusive", "not run", "no test",
    "paper is silent",
)  # fmt: skip
"""In which it is said how many claims have each word."""
READ: tuple[Scale, ...] = ("desk", "paper")


def read_claims(results: Path, studies: Iterable[Study] | None = None, told: Progress = silent) -> list[StudyResult]:
    """What the folder says about each claim: at desk scale, then again at the paper's where runs of it are there.

    A run counts for every study that declares it, wherever in the folder its file stands. Pages read their studies
    through this as well, so that they and the report cannot disagree.
    """
    if not results.is_dir():
        raise BadInput(f"there is no folder {results}")
    chosen = list(STUDIES.values() if studies is None else studies)
    told(f"reading the runs in {results}", 0, len(chosen))
    declared = {run.id for one in chosen for scale in READ for run in one.runs(scale)}
    with taken_in(results, only=declared) as store:
        wanted: list[tuple[Study, Scale]] = [(one, "desk") for one in chosen]
        wanted += [(one, "paper") for one in chosen if one.scaled and progress(one, "paper", store)[0]]
        found: dict[Scale, list[StudyResult]] = {"desk": [], "paper": []}
        for place, (one, scale) in enumerate(wanted):
            told(one.name, place, len(wanted))
            found[scale].append(measure(one, scale, store, kept_in(results, one)))
    begun = [one for one in judged(found["paper"]) if one.comparison.word != "not run"]  # half of a pair says nothing
    return [*judged(found["desk"]), *begun]


def kept_in(results: Path, study: Study) -> Path:
    """Where the files stand that a study keeps: with its runs, or with everybody's."""
    own = results / study.name.partition("/")[0] / study.folder
    return own if own.is_dir() else results / study.folder


def counts(claims: Iterable[StudyResult]) -> dict[Word, int]:
    """How many of the paper's claims have each word, at desk scale or none."""
    return _in_order(one.comparison for one in claims if not one.study.ours and one.scale == "desk")


def number_counts(claims: Iterable[StudyResult]) -> dict[Word, int]:
    """How many single numbers and statements of these claims have each word."""
    papers = (one for one in claims if not one.study.ours and one.scale == "desk")
    return _in_order(arm.comparison for one in papers for arm in numbers_of(one) if arm.comparison.word != "no test")


def numbers_of(one: StudyResult) -> list[Measured]:
    """The arms beside which something is published; those that are no test only where there is no other."""
    published = [arm for arm in one.arms if arm.published is not None]
    return [arm for arm in published if arm.comparison.word != "no test"] or published


def _in_order(verdicts: Iterable[Verdict]) -> dict[Word, int]:
    found = Counter(one.word for one in verdicts)
    return {word: found[word] for word in ORDER if found[word]}


def counted(found: dict[Word, int]) -> str:
    """
    >>> counted({"reproduced": 3, "differs": 2})
    'reproduced 3, differs 2'
    """
    return ", ".join(f"{word} {n}" for word, n in found.items())


def summary(claims: Sequence[StudyResult]) -> str:
    """Two sentences about all claims of the paper."""
    mine, numbers = counts(claims), number_counts(claims)
    return (
        f"{sum(mine.values())} claims of the paper, as measured here: {counted(mine)}. "
        f"The {sum(numbers.values())} single numbers and statements behind them: {counted(numbers)}."
    )


def ledger_table(claims: Sequence[StudyResult]) -> Table:
    """A row a claim: what was published, what was found, the verdict."""
    papers_first = sorted(claims, key=lambda one: one.study.ours)
    rows = [[one.name, one.study.claim, *beside(one), one.comparison.verdict] for one in papers_first]
    columns = ["study", "claim", "paper", "here", "verdict"]
    return Table("Every claim", columns, rows, detail=["paper", "here"])


def beside(one: StudyResult) -> tuple[str, str]:
    """What was published and what was found; of a claim of several numbers, how many have each word."""
    numbers = numbers_of(one)
    if len(numbers) == 1 and not one.study.ours:
        (arm,) = numbers
        assert arm.published is not None
        return arm.published.said, arm.published.told(arm)
    if one.study.ours or not numbers:
        return "", plural(one.ran, "run") if one.ran else ""
    return f"{len(numbers)} parts", counted(_in_order(arm.comparison for arm in numbers))


def as_dict(claims: Sequence[StudyResult]) -> dict[str, Any]:
    """All of it as plain data."""
    listed = [one.comparison.as_dict() | one.as_dict() for one in claims]
    return {"counts": counts(claims), "numbers": number_counts(claims), "claims": listed}


def content(results: Path) -> Content:
    """The paper's claims by their words, and README's summary: how many have each."""
    claims = read_claims(results, [one for one in STUDIES.values() if not one.ours])
    said = sorted(dict.fromkeys(map(phrase, claims)), key=lambda one: ORDER.index(word_of(one)))
    rows = [[one, *_listed(claim for claim in claims if phrase(claim) == one)] for one in said]
    table = Table("", ["verdict", "claims", "which"], rows, ["claims"])
    words = summary(claims)
    told = f"{words} {_twice(claims)}"
    return Content({"ledger": f"{paragraph(told)}{markdown([table]).lstrip()}", "ledger-words": paragraph(words)})


def _twice(claims: Sequence[StudyResult]) -> str:
    """Why the table has more rows than there are claims, and what stands in its brackets."""
    again = sum(one.scale == "paper" for one in claims)
    more = f"{plural(again, 'claim')} begun at the paper's scale stand in the table a second time. " if again else ""
    return (
        f"{more}In brackets: which way, how many parts, and the n that would settle what is inconclusive (where no n "
        "does, the report says what would)."
    )


def phrase(one: StudyResult) -> str:
    """The word and its scale."""
    return replace(one.comparison, way="", so_far=False).verdict


def word_of(said: str) -> Word:
    """
    >>> word_of("differs at desk scale")
    'differs'
    """
    return next(word for word in ORDER if said.startswith(word))


def _listed(claims: Iterable[StudyResult]) -> tuple[int, str]:
    names = [_named(one) for one in claims]
    return len(names), ", ".join(names)


def _named(one: StudyResult) -> str:
    found = ", ".join(filter(None, [one.comparison.way, _plan(one.comparison)]))
    return f"`{one.name}`" + (f" ({found})" if found else "")


def _plan(found: Verdict) -> str:
    """What would settle it, in a word or two; the report has the sentence.

    >>> _plan(Verdict("inconclusive", needed=60))
    'n = 60'
    """
    if found.word != "inconclusive":
        return ""
    if found.needed:
        return f"n = {found.needed}"
    return (
        f"n > {MANY[-1]}"
        if found.settles.endswith("would not settle it") and ";" not in found.settles
        else "see report"
    )
