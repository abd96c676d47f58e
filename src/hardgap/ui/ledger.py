"""The ledger: every claim, and what the runs of the store say about it."""

from __future__ import annotations

import threading
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.specs import Scale, check_scale
from hardgap.runs.store import Store
from hardgap.ui.asking import Asked

_known: dict[tuple[Any, ...], dict[str, Any]] = {}
_one_at_a_time = threading.Lock()


def list_claims(asked: Asked) -> list[dict[str, Any]]:
    """Every claim with how many of its runs are here; one without runs is computed, on request."""
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
    """What was measured of one claim, beside what was published."""
    from hardgap.studies.measure import measure
    from hardgap.studies.study import STUDIES

    name, scale = asked.text("name"), _scale(asked)
    if name not in STUDIES:
        raise BadInput(f"there is no claim {name:.60}")
    with _one_at_a_time, asked.store() as store:
        key = (name, scale, asked.folder, *_state(store))
        if key not in _known:
            found = measure(STUDIES[name], scale, store, asked.kept)
            _known[key] = {
                "name": name,
                "claim": found.study.claim,
                "verdict": found.verdict,
                "tables": [
                    {"title": t.title, "columns": list(t.columns), "right": list(t.right), "notes": list(t.notes),
                     "rows": [[str(cell) for cell in row] for row in t.rows]}
                    for t in (found.tables() if any(arm.n or arm.value is not None for arm in found.arms) else [])
                ],
                "groups": [arm.runs[0].id for arm in found.arms if arm.runs],
            }  # fmt: skip
        return _known[key]


def _scale(asked: Asked) -> Scale:
    scale = asked.text("scale", "desk")
    check_scale(scale)
    return scale  # type: ignore[return-value]


def _state(store: Store) -> tuple[Any, ...]:
    """What changes whenever a run is finished or removed."""
    return tuple(store.query("SELECT count(*), max(finished) FROM runs WHERE status = 'done'")[0])
