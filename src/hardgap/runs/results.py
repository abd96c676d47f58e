"""Results as files: one JSON a run, compact and diffable, that any store can take in again.

A file holds what was asked for, what it was made with, and the whole curve, one evaluation a line. Weights
are not in it: `hardgap runs retrain` makes them again from the config, and `kept_weights.py` keeps a few as files.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from hardgap.core.errors import BadInput
from hardgap.core.run import validated
from hardgap.core.specs import Spec
from hardgap.runs.detail import Stopping, check_curve
from hardgap.runs.store import Result, Row, Store
from hardgap.worlds import parse_run

FORMAT = 1
RUN_FILE = re.compile(r"[0-9a-f]{12}\.json")
"""Other results may stand in the same folder; a run's file is named by its id."""


def export_runs(store: Store, rows: list[Row], folder: Path) -> list[Path]:
    """Write every finished run of `rows` to `folder`; a file that is already the same is left alone."""
    written, curves = [], store.curves(row.id for row in rows if row.status == "done")
    for row in rows:
        if row.id not in curves:
            continue
        path = folder / f"{row.id}.json"
        text = as_text(row, curves[row.id])
        if not path.exists() or path.read_bytes() != text.encode():
            write_text(path, text)
            written.append(path)
    return written


def export_new_runs(store: Store, rows: Iterable[Row], results: Path, folder: Path) -> list[Path]:
    """`export_runs` without those that have a file anywhere under `results`: one run, one file."""
    kept = {path.stem for path in results.rglob("*.json") if RUN_FILE.fullmatch(path.name)}
    return export_runs(store, [row for row in rows if row.id not in kept], folder)


def as_text(row: Row, curve: list[dict[str, Any]]) -> str:
    """The file of one run: the same run always gives the same text."""
    head = {
        "format": FORMAT,
        "run": row.id,
        "about": row.config.describe(),
        "config": row.config.asked() | ({row.config.in_words: row.config.written} if row.config.written else {}),
        "versions": row.versions,
        "stopped": row.stopped,
        "seconds": round(row.seconds, 1),
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    points = ",\n".join("  " + json.dumps(point, separators=(",", ":")) for point in curve)
    return "{\n" + ",\n".join(lines) + ',\n "curve": [\n' + points + "\n ]\n}\n"


def check_has_runs(folder: Path) -> None:
    """Refuse a folder of something else."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}")
    if not any(RUN_FILE.fullmatch(path.name) for path in folder.rglob("*.json")):
        raise BadInput(f"there are no exported runs in {folder}")


def import_runs(store: Store, folder: Path, only: Container[str] | None = None) -> tuple[int, int]:
    """Take in every file under `folder` that is named like a run, or like one of `only`; how many were new, or here.

    All files are read before the first is taken in, and all are taken in at once, so a damaged one leaves the store as
    it was.
    """
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}")
    files = [path for path in sorted(folder.rglob("*.json")) if RUN_FILE.fullmatch(path.name)]
    read = [read_result(path) for path in files if only is None or path.stem in only]
    taken = store.put_all_done(read)
    return sum(taken), len(taken) - sum(taken)


class _File(Spec):
    """A results file, before its config and its curve are looked at."""

    format: Literal[1]
    run: str
    about: str
    config: dict[str, Any]
    versions: dict[str, bool | int | float | str | None]
    stopped: Stopping
    seconds: float = Field(ge=0)
    curve: list[dict[str, Any]]


def read_result(path: Path) -> Result:
    """What a results file holds, or why it is none."""
    try:
        data = read_json(path)
        file = validated(_File, data)
        run = parse_run(file.config)
        check_curve(run, file.curve)
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not a results file: {error}") from error
    if run.id != file.run:
        raise BadInput(f"{path} is damaged: its content does not belong to the config it holds")
    return run, data["curve"], file.stopped, data["versions"], file.seconds


def read_json(path: Path) -> dict[str, Any]:
    """A table of names and values in which every number is one and every text can be printed; else `ValueError`."""
    data = json.loads(path.read_text(encoding="utf-8"), parse_constant=_finite, parse_float=_finite)
    if not isinstance(data, dict):
        raise ValueError("it holds no table of names and values")
    _check_texts(data)
    return data


def _check_texts(data: object) -> None:
    """Refuse characters that no store keeps (half a surrogate pair) or that a terminal would obey."""
    if isinstance(data, str) and not data.isprintable():
        raise ValueError(f"{data!a:.60} holds a character that cannot be printed")
    if isinstance(data, dict):
        for name, value in data.items():
            _check_texts(name)
            _check_texts(value)
    elif isinstance(data, list):
        for value in data:
            _check_texts(value)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that a result may hold")
    return number


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}.part")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from error
