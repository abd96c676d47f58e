"""A trained network opened, panel by panel, beside the network that is constructed to compute the rule exactly."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from starlette.responses import Response

import hardgap.studies  # noqa: F401  (whole, before its parts: another thread may be loading it)
from hardgap.core.errors import BadInput
from hardgap.report.figures import STYLE, as_svg
from hardgap.runs.execute import load_trained, single_thread
from hardgap.runs.store import Store
from hardgap.runs.weights import stamp
from hardgap.studies.circuits.findings import FINDINGS
from hardgap.studies.circuits.panels import PANELS, reason_panel
from hardgap.theory.construction import construct
from hardgap.ui.asking import Asked, of_kind
from hardgap.worlds.automaton.circuits.opening import ANALYSES, Subject, open_network, rows_of, subject_of
from hardgap.worlds.automaton.circuits.tables import TABLES
from hardgap.worlds.automaton.run import AutomatonRun

TRAINED, CONSTRUCTED = "trained", "constructed"


def show_panel(asked: Asked) -> Response:
    """One analysis of one of the two networks, drawn."""
    name, which = _asked_for(asked)
    data = _opened(asked.folder, asked.run, "rule" if name == "influence" else name, which)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 4.6), layout="constrained")
        axes = figure.add_subplot()
        if "reason" in data:
            reason_panel(axes, name, data["reason"])
        else:
            PANELS[name](axes, data)
    return Response(as_svg(figure), media_type="image/svg+xml")


def show_finding(asked: Asked) -> dict[str, Any]:
    """The same as words: a line where there is one, and the table behind the panel."""
    name, which = _asked_for(asked)
    source = "rule" if name == "influence" else name
    data = _opened(asked.folder, asked.run, source, which)
    if "reason" in data:
        return {"says": data["reason"], "table": None}
    table = TABLES[source](data).flat if source in TABLES else None
    return {
        "says": FINDINGS[source](data) if source in FINDINGS else "",
        "table": table and {"title": table.title, "columns": list(table.columns), "right": list(table.right),
                            "rows": [[str(cell) for cell in row] for row in table.rows]},
    }  # fmt: skip


def _asked_for(asked: Asked) -> tuple[str, str]:
    name, which = asked.text("panel"), asked.text("of", TRAINED)
    if name not in PANELS or which not in (TRAINED, CONSTRUCTED):
        raise BadInput(f"choose a panel from {', '.join(PANELS)}, of the {TRAINED} or the {CONSTRUCTED} network")
    return name, which


def _opened(folder: Path, run_id: str, name: str, which: str) -> dict[str, Any]:
    """What an analysis finds, as plain data; or why it does not apply."""
    with closing(Store(folder)) as store:
        return _found(folder, run_id, name, which, stamp(store, run_id))


@lru_cache(maxsize=256)
def _found(folder: Path, run_id: str, name: str, which: str, made: tuple[object, ...]) -> dict[str, Any]:
    assert name in ANALYSES
    single_thread()
    found = open_network(_subject(folder, run_id, which, made), [name]).as_dict()
    return found[name] if name in found else {"reason": found["does_not_apply"][name]}


@lru_cache(maxsize=8)
def _subject(folder: Path, run_id: str, which: str, made: tuple[object, ...]) -> Subject:
    with closing(Store(folder)) as store:
        run = of_kind(AutomatonRun, store.get(run_id).config)
        if which == TRAINED:
            return subject_of(load_trained(store, run_id))
    built = construct(run.gap.rule, run.width)
    return Subject(built.model, run.gap, rows_of(run), run.unrolling)
