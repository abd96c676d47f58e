"""Runs: a page of the list, one of them, groups of seeds, two groups pair by pair, and the list as a file."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from starlette.responses import Response

from hardgap.core.errors import BadInput
from hardgap.core.wording import flattened
from hardgap.report.statistics import paired_p, wilson
from hardgap.runs.groups import bands, group_of, groups, without_seed
from hardgap.runs.listing import NUMBERS, PLAIN, SUMMARY, Listed, config_fields, stacked_mark
from hardgap.runs.replicas import FOLDER as REPLICAS
from hardgap.runs.replicas import remove_replica
from hardgap.runs.store import Store
from hardgap.runs.summary import SUCCESS
from hardgap.ui.asking import Asked
from hardgap.ui.commands import command_of, python_of

MOST_ON_A_PAGE = 200
MOST_CONDITIONS = 20
MOST_RUNS = 500
CURVE = ("visible", "holdout")


def list_runs(asked: Asked) -> dict[str, Any]:
    """A page of the runs; with `kept`, of those whose weights are here, and how many others there are."""
    size, page = asked.whole("size", 50, 1, MOST_ON_A_PAGE), asked.whole("page", 0, 0, 10**6)
    where = _where(asked)
    ids = with_weights(asked.folder) if asked.text("kept", "") else None
    with asked.store() as store:
        sort = asked.text("sort", "-created")
        rows = store.listed(where=where, sort=sort, limit=size, offset=page * size, ids=ids)
        total = store.count(where, ids)
        return {"total": total, "others": store.count(where) - total, "rows": [as_row(one) for one in rows]}


def with_weights(folder: Path) -> list[str]:
    """The runs of a store that have weights there, or whose replica has. Nothing is loaded to know it."""
    return [path.name for place in (folder, folder / REPLICAS) for path in (place / "checkpoints").glob("*")]


def fields(asked: Asked) -> dict[str, Any]:
    """What a list can be filtered and sorted by."""
    return {"where": [*PLAIN, *sorted(config_fields())], "sort": [*NUMBERS, *SUMMARY, *PLAIN, *sorted(config_fields())]}


def _where(asked: Asked) -> list[tuple[str, str]]:
    given = [one for one in asked.request.query_params.getlist("where") if one.strip()]
    if len(given) > MOST_CONDITIONS:
        raise BadInput(f"{MOST_CONDITIONS} conditions at most")
    if wrong := next((one for one in given if "=" not in one), None):
        raise BadInput(f"{wrong:.60}: write a condition as field=value, such as seed=3")
    return [(name.strip(), value.strip()) for name, _, value in (one.partition("=") for one in given)]


def as_row(one: Listed) -> dict[str, Any]:
    found = one.summary or {}
    return {
        "id": one.id,
        "about": ", ".join(filter(None, (one.about, one.mark))),
        "status": one.status,
        "step": one.step,
        "steps": one.config["budget"]["steps"],
        "experiment": one.config.get("experiment"),
        "visible": found.get("final_visible"),
        "holdout": found.get("final_holdout"),
        "transition": found.get("transition_step"),
        "seconds": round(one.seconds, 1),
        "error": one.error,
    }


def show_run(asked: Asked) -> dict[str, Any]:
    """One run with its curve, and how to have it again."""
    with asked.store() as store:
        row = store.get(asked.run)
        return {
            "id": row.id,
            "about": row.config.describe(),
            "experiment": row.config.experiment,
            "status": row.status,
            "step": row.step,
            "error": row.error,
            "stopped": row.stopped,
            "seconds": round(row.seconds, 1),
            "versions": row.versions,
            "config": flattened(row.config.asked()),
            "curve": [slim(point) for point in store.curve(row.id)],
            "command": command_of(row.config, asked.named_store),
            "python": python_of(row.config, asked.named_store),
        }


def slim(point: dict[str, Any]) -> dict[str, Any]:
    """What a curve shows of an evaluation."""
    kept = {name: point[name] for name in ("step", "loss", *CURVE)}
    return kept | ({"attempt": point["detail"]["attempt"]} if "attempt" in point["detail"] else {})


def list_groups(asked: Asked) -> dict[str, Any]:
    size, page = asked.whole("size", 50, 1, MOST_ON_A_PAGE), asked.whole("page", 0, 0, 10**6)
    with asked.store() as store:
        total, found = groups(store, _where(asked), limit=size, offset=page * size)
    return {"total": total, "rows": [asdict(one) for one in found]}


def show_group(asked: Asked) -> dict[str, Any]:
    """All seeds of one setting: their ends, and their curves as a band."""
    with asked.store() as store:
        ids, curves, listed = _members(store, asked.run)
    recovered = sum(curve[-1]["holdout"] >= SUCCESS for curve in curves.values())
    return {
        "id": ids[0],
        "about": _about(listed),
        "runs": [as_row(one) | {"seed": one.config.get("seed", 0)} for one in listed],
        "done": len(curves),
        "recovered": recovered,
        "wilson": wilson(recovered, len(curves)) if curves else None,
        "bands": bands(list(curves.values()), CURVE),
    }


def compare(asked: Asked) -> dict[str, Any]:
    """Two groups, seed by seed."""
    with asked.store() as store:
        sides = [_members(store, asked.text(name)) for name in ("a", "b")]
    first, second = (_holdout(curves, listed) for _, curves, listed in sides)
    pairs = [{"seed": seed, "a": first[seed], "b": second[seed]} for seed in sorted(first.keys() & second.keys())]
    won = [(pair["a"] >= SUCCESS, pair["b"] >= SUCCESS) for pair in pairs]
    counts = {"both": won.count((True, True)), "a": won.count((True, False)), "b": won.count((False, True)),
              "neither": won.count((False, False))}  # fmt: skip
    return {
        "about": [_about(listed) for _, _, listed in sides],
        "ids": [ids[0] for ids, _, _ in sides],
        "pairs": pairs,
        "counts": counts,
        "p": paired_p(counts["a"], counts["b"]),
        "difference": fmean(pair["a"] - pair["b"] for pair in pairs) if pairs else None,
        "bands": [bands(list(curves.values()), CURVE) for _, curves, _ in sides],
    }


def _members(store: Store, run_id: str) -> tuple[list[str], dict[str, list[dict[str, Any]]], list[Listed]]:
    """The ids of a group, the curves of those that are done, and all of them as lists show them, by seed."""
    ids = group_of(store, run_id)[:MOST_RUNS]
    listed = {one.id: one for one in store.listed(ids=ids)}
    return ids, store.curves(ids), [listed[one] for one in ids if one in listed]


def _about(listed: list[Listed]) -> str:
    """What the runs of a group are, and how many of them were trained in a stack."""
    words = (without_seed(listed[0].about), stacked_mark(one.engine for one in listed)) if listed else ()
    return ", ".join(filter(None, words))


def _holdout(curves: dict[str, list[dict[str, Any]]], listed: list[Listed]) -> dict[int, float]:
    """Where each seed ended."""
    return {one.config.get("seed", 0): curves[one.id][-1]["holdout"] for one in listed if one.id in curves}


def download(asked: Asked) -> Response:
    """All runs that meet the conditions, with every field, as CSV or JSON."""
    kind = asked.request.path_params["kind"]
    with asked.store() as store:
        rows = [
            {"run": one.id, "about": one.about, "status": one.status, "steps": one.step, "seconds": one.seconds,
             "stopped": one.stopped, **flattened(one.config), **(one.summary or {})}
            for one in store.listed(where=_where(asked), sort=asked.text("sort", "-created"))
        ]  # fmt: skip
    text = json.dumps(rows, allow_nan=False) if kind == "json" else _csv(rows)
    media = "application/json" if kind == "json" else "text/csv"
    return Response(text, media_type=media, headers={"Content-Disposition": f'attachment; filename="runs.{kind}"'})


def _csv(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns)
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def delete(asked: Asked) -> dict[str, Any]:
    """Forget a run and its weights, unless someone is training it."""
    from hardgap.runs.checkpoints import Checkpoints

    with asked.store() as store:
        run_id = store.find(asked.run)
        store.remove(run_id)
        remove_replica(store, run_id)
        if (kept := Checkpoints(store.folder, run_id).remove()) is not None:
            raise BadInput(f"run {run_id} is removed, but files of it stay: {kept.strerror}")
    return {"removed": run_id}
