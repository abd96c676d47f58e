"""Lists of runs: which ones, in which order, and a page of them, all decided inside SQLite.

A field is named as in a sweep file (`seed`, `unrolling.feedback`), or is one of the columns below. Names are looked up
here and values are always parameters, so nothing that a user writes becomes part of a statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from inspect import isclass
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import Spec
from hardgap.runs.digest import STATUSES, Record
from hardgap.worlds import WORLDS

Where = Iterable[tuple[str, str]]
"""Fields with a value each. All fields must agree; one that is named again may have either value."""

ENGINE = "CASE WHEN json_valid(versions) THEN json_extract(versions, '$.engine') END"
STACKED = f"coalesce({ENGINE} LIKE '%stacked%', 0)"
PLAIN = {"status": "status", "stopped": "stopped", "engine": ENGINE}
NUMBERS = {"steps": "step", "seconds": "seconds", "created": "created", "finished": "finished", "run": "id"}
SUMMARY = {
    "visible": "final_visible",
    "holdout": "final_holdout",
    "best": "best_holdout",
    "solved": "solved_step",
    "lasting": "lasting_step",
    "transition": "transition_step",
}
LEADING_ZERO = re.compile(r"0[01]+")
ARGUMENT = re.compile(r"model\.args\.[A-Za-z_]\w*")


@dataclass(frozen=True)
class Listed:
    """A run as lists show it. Its config is plain data, and its curve is summed up."""

    id: str
    about: str
    written: str | None
    status: str
    step: int
    seconds: float
    stopped: str | None
    error: str | None
    created: float
    finished: float | None
    summary: dict[str, Any] | None
    config: dict[str, Any]
    engine: str | None  # of a finished run; the first ones have none written down

    @property
    def mark(self) -> str:
        return stacked_mark([self.engine])


def stacked_mark(engines: Iterable[str | None]) -> str:
    """How many of some runs were trained in a stack, in words; nothing if none was.

    >>> stacked_mark(["stacked"]), stacked_mark(["eager", "stacked"]), stacked_mark(["eager", None])
    ('stacked', '1 of 2 stacked', '')
    """
    found = ["stacked" in (engine or "") for engine in engines]
    return "" if not any(found) else "stacked" if all(found) else f"{sum(found)} of {len(found)} stacked"


def as_listed(record: Record, so_far: Callable[[Record], dict[str, Any] | None]) -> Listed:
    """A record as a list shows it; `so_far` sums up a run that is not finished."""
    shown = {name: value for name, value in record._asdict().items() if name in Listed.__dataclass_fields__}
    summary = json.loads(record.summary) if record.summary else so_far(record)
    engine = json.loads(record.versions or "{}").get("engine")
    read = {"about": record.about or "", "summary": summary, "config": json.loads(record.config), "engine": engine}
    return Listed(**shown | read)


def check_list(where: Where, sort: str) -> None:
    """Refuse a field or a value that no run can have, before any store is opened."""
    condition(where)
    ordering(sort)


def condition(where: Where, ids: Iterable[str] | None = None) -> tuple[str, list[Any]]:
    """The WHERE of a statement, with its values."""
    wanted: dict[str, list[Any]] = {}
    for name, text in where:
        wanted.setdefault(name, []).append(_value(name, text))
    terms, values = [], []
    for name, allowed in wanted.items():
        expression, path = _expression(name)
        # Both sides go through JSON, so that a list is compared with a list and true with true.
        equals = f"{expression} IS json_extract(?, '$')"
        terms.append(f"({' OR '.join([equals] * len(allowed))})")
        for value in allowed:
            values += [*path, json.dumps(value)]
    if ids is not None:
        terms.append("runs.id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(list(ids)))
    return ("WHERE " + " AND ".join(terms) if terms else ""), values


def ordering(sort: str) -> tuple[str, list[Any]]:
    """The ORDER BY of a statement, with its values; runs without a value come last."""
    name, way = sort.removeprefix("-"), "DESC" if sort.startswith("-") else "ASC"
    if name == "created":  # an index holds this order; runs that were added together keep theirs
        return f"ORDER BY created {way}, rowid {way}", []
    path: list[str] = []
    if name in SUMMARY:
        expression = f"CASE WHEN json_valid(summary) THEN json_extract(summary, '$.{SUMMARY[name]}') END"
    elif name in NUMBERS:
        expression = NUMBERS[name]
    else:
        expression, path = _expression(name)
    return f"ORDER BY {expression} {way} NULLS LAST, created, rowid", path


def _expression(name: str) -> tuple[str, list[str]]:
    """A field that runs are asked for as SQL, with its values."""
    if name in PLAIN:
        return PLAIN[name], []
    if not ARGUMENT.fullmatch(name) and name not in config_fields():
        raise BadInput(_unknown(name))
    return "CASE WHEN json_valid(config) THEN json_extract(config, ?) END", [f"$.{name}"]


def _unknown(name: str) -> str:
    known = [*PLAIN, *NUMBERS, *SUMMARY, *config_fields()]
    ends = [one for one in known if one.rpartition(".")[2] == name]
    close = ends or get_close_matches(name, known, n=1)
    meant = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"runs have no field {name!r:.60}{meant}"


def _value(name: str, text: str) -> Any:
    """What a user wrote, as the value that a config would hold."""
    if name in PLAIN:
        if name == "status" and text not in STATUSES:
            raise BadInput(f"status {text}: choose {', '.join(STATUSES)}")
        return text
    if ARGUMENT.fullmatch(name):
        return TypeAdapter(bool | int | float | str).validate_strings(text)
    problem = BadInput(_unknown(name))
    for run, kind in config_fields().get(name, ()):
        try:
            return run.as_stored(name, _read(kind, text))
        except ValidationError as error:
            said = error.errors(include_url=False)[0]["msg"]
            problem = BadInput(f"{name}={text}: {said[0].lower()}{said[1:]}")
    raise problem


def _read(kind: Any, text: str) -> Any:
    if type(None) in get_args(kind) and text.lower() in ("none", "null"):
        return None
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    if is_list(kind):
        parts = [part.strip() for part in text.strip("[]").split(",")]
        if int in get_args(kind) and (cells := next(filter(LEADING_ZERO.fullmatch, parts), None)) is not None:
            raise BadInput(f"{cells} reads as cells, not as a number: write {int(cells, 2)}")
        return adapter.dump_python(adapter.validate_python(parts), mode="json")
    return adapter.dump_python(adapter.validate_strings(text), mode="json")


def is_list(kind: Any) -> bool:
    """Whether values of this kind are lists, as a config file writes them."""
    schema = TypeAdapter(kind).json_schema(mode="serialization")
    return "array" in [one.get("type") for one in [schema, *schema.get("anyOf", [])]]


def conditions(name: str, value: Any) -> list[tuple[str, str]]:
    """What Python asks for as a list's conditions: several values, any of which will do; a list field has one."""
    several = isinstance(value, list | tuple | range | set)
    if several and any(is_list(kind) for _, kind in config_fields().get(name, ())):
        return [(name, ",".join(map(str, value)))]
    return [(name, str(one)) for one in (value if several else [value])]


@cache
def config_fields() -> dict[str, list[tuple[type[Run], Any]]]:
    """Every field of every world by its dotted name: whose it is, and the kind of value that it may hold there."""
    fields: dict[str, list[tuple[type[Run], Any]]] = {}
    for world in WORLDS.values():
        for name, kind in fields_of(world.run):
            fields.setdefault(name, []).append((world.run, kind))
    return fields


def fields_of(spec: type[Spec], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, field in spec.model_fields.items():
        kind = field.annotation
        parts = [part for part in (kind, *get_args(kind)) if isclass(part) and issubclass(part, Spec)]
        if not parts:
            yield prefix + name, kind
        for part in parts:
            yield from fields_of(part, f"{prefix}{name}.")
