"""The ledger: every claim, and what the runs of the store say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale, check_scale
from hardgap.runs.store import Store
from hardgap.ui.asking import Asked

if TYPE_CHECKING:
    from hardgap.studies.measure import StudyResult
    from hardgap.studies.study import Study

_known: dict[tuple[Any, ...], tuple[Any, StudyResult]] = {}
"""By store, study and scale: the newest finished run, and what was measured then."""


def list_claims(asked: Asked) -> list[dict[str, Any]]:
    """Every claim with how many of its runs are here; one without runs is computed, on request."""
    import hardgap.studies  # noqa: F401  (whole, before its parts: another thread may be loading it)
    from hardgap.studies.measure import progress
    from hardgap.studies.study import STUDIES

    scale = _scale(asked)
    with asked.store() as store:
        found = [(one, *progress(one, scale, store)) for one in STUDIES.values()]
    return [
        {"name": one.name, "claim": one.claim, "ours": one.ours, "done": done, "planned": planned}
        for one, done, planned in found
    ]


def show_claim(asked: Asked) -> dict[str, Any]:
    """What was measured of one claim, beside what was published, judged among all rows of its table."""
    import hardgap.studies  # noqa: F401  (whole, before its parts: another thread may be loading it)
    from hardgap.studies.measure import judged
    from hardgap.studies.study import STUDIES

    name, scale = asked.text("name"), _scale(asked)
    if name not in STUDIES:
        raise BadInput(f"there is no claim {name:.60}")
    together = [one for one in STUDIES.values() if one.judged_with == STUDIES[name].judged_with]
    with asked.store() as store:
        results = judged([_measured(asked, store, one, scale) for one in together])
    return _shown(next(one for one in results if one.name == name))


def _measured(asked: Asked, store: Store, study: Study, scale: Scale) -> StudyResult:
    """What the store says about a study; asked again only when a run has been finished or removed."""
    from hardgap.studies.ledger import kept_in
    from hardgap.studies.measure import measure

    ((done, last),) = store.query("SELECT count(*), max(finished) FROM runs WHERE status = 'done'")
    key, now = (asked.folder, study.name, scale), (done, last)
    if key not in _known or _known[key][0] != now:
        kept = kept_in(asked.results, study) if asked.results else None
        _known[key] = now, measure(study, scale, store, kept if kept and kept.is_dir() else None)
    return _known[key][1]


def _shown(found: StudyResult) -> dict[str, Any]:
    measured = any(arm.n or arm.value is not None for arm in found.arms)
    tables = [
        {"title": table.title, "columns": list(table.columns), "right": list(table.right), "notes": list(table.notes),
         "rows": [[str(cell) for cell in row] for row in table.rows]}
        for table in (found.tables() if measured else [])
    ]  # fmt: skip
    groups = [arm.runs[0].id for arm in found.arms if arm.runs]
    return {
        "name": found.name,
        "claim": found.study.claim,
        "verdict": found.verdict,
        "tables": tables,
        "groups": groups,
    }


def _scale(asked: Asked) -> Scale:
    scale = asked.text("scale", "desk")
    check_scale(scale)
    return scale  # type: ignore[return-value]
