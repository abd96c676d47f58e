"""A config that does not validate, refused in one sentence: where, what, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hardgap.core.errors import BadInput
from hardgap.core.wording import did_you_mean


@contextmanager
def in_one_sentence(spec: type[BaseModel]) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise BadInput(first_problem(spec, error), of=".".join(_path(error))) from error


def first_problem(spec: type[BaseModel], error: ValidationError) -> str:
    """The first thing that is wrong with what was to be `spec`."""
    problem = error.errors(include_url=False)[0]
    path = _path(error)
    where, message = ".".join(path), problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error" or not where:
        return message if where in message else f"{where}: {message}"
    fields = fields_of(spec, path[:-1])
    given, example = shown(problem["input"]), _example(fields.get(path[-1]))
    match problem["type"]:
        case "missing":
            return f"{where} is missing{f': write {path[-1]} = {example}' if example else ''}"
        case "extra_forbidden":
            hint = did_you_mean(path[-1], fields) or f"; there is {', '.join(fields)}"
            return f"{where} is not known{hint}"
        case "tuple_type" | "list_type":
            return f"{where}: write a list, [{given}]"
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"{where} has parts of its own{f': write {example}' if example else ''}, not {given}"
    return f"{where}: {message[0].lower()}{message[1:]}" + ("" if given.startswith("{") else f", not {given}")


def _path(error: ValidationError) -> list[str]:
    """Where it is wrong first."""
    return [str(part) for part in error.errors(include_url=False)[0]["loc"] if not _is_type(part)]


def _is_type(part: int | str) -> bool:
    """Of a union pydantic also names the member that it tried, such as `constrained-float`."""
    return isinstance(part, str) and ("-" in part or "[" in part)


def fields_of(spec: type[BaseModel], path: Sequence[str]) -> dict[str, FieldInfo]:
    """The fields of the part of `spec` that `path` leads to; of all its kinds, if it has several."""
    parts: list[Any] = [spec]
    for name in path:
        inner = [part.model_fields[name].annotation for part in parts if name in part.model_fields]
        members = [member for one in inner for member in (one, *get_args(one))]
        # Which kind of network was meant stands in the path too, and is no field.
        parts = [one for one in members if isinstance(one, type) and issubclass(one, BaseModel)] if inner else parts
    return {name: field for part in parts for name, field in part.model_fields.items()}


def _example(field: FieldInfo | None) -> str:
    return str(field.examples[0]) if field is not None and field.examples else ""


def shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not write thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:80]}…"
