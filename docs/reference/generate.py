"""The generated parts of the reference: config fields from the specs, commands from the command line itself, public
names from their docstrings. `python docs/reference/generate.py` writes them; so does building the site.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, get_args

from cyclopts import App

import hardgap
from hardgap.api.result import Finding, Findings
from hardgap.cli.app import COMMANDS
from hardgap.cli.options import Options, Written
from hardgap.cli.symbolic import OPTIONS as SYMBOLIC
from hardgap.cli.train import OPTIONS as TRAIN
from hardgap.core.run import Run
from hardgap.core.specs import Spec
from hardgap.report.render import Shown
from hardgap.studies.measure import StudyResult
from hardgap.studies.study import Study
from hardgap.worlds.automaton.scales import base
from hardgap.worlds.chains.scales import symbolic_base

PLACE = Path(__file__).parent / "generated"
BY_ITSELF = ("initial", "model.source", "sources", "unrolling.own.source", "unrolling.own_loss.source")
"""Fields that hold the SHA-256 of a file or of code: they are worked out, not written."""
EXAMPLES = {
    "rule": '"150"', "hide": "[2]", "holdout": '"^|"', "budget.restart_at": "300", "budget.stop_after_solved": "3",
    "model.args": "{ radius = 2 }", "model.factory": '"own_model:make"', "operators": '["^", "|", "&"]',
    "seen_examples": "10",
    "unrolling.own.function": '"mine:feedback"', "unrolling.own_loss.function": '"mine:loss"',
    "unrolling.weights": "[1, 1, 2, 2]", "unrolling.backward": "2.0",
}  # fmt: skip
OTHERS = {"conv": 'kind = "conv"', "plugin": 'factory = "own_model:make"', "reference": 'network = "gru"'}
TOGETHER = "{ start = 8.0, end = 2.0, over = 400 }"
"""A temperature that changes needs all three."""


@dataclass(frozen=True)
class Kind:
    """A world as the reference shows it: a desk-scale run, and the command whose options set its fields."""

    title: str
    desk: Run
    command: str
    options: Options


KINDS = (
    Kind("Experiment 1: cellular automata", base("desk", "150", (2,)), "train", TRAIN),
    Kind("Experiment 2: chains of operators", symbolic_base("desk", "^|"), "symbolic train", SYMBOLIC),
)


@dataclass(frozen=True)
class Setting:
    """One field of a config; `line` is what sets it in a sweep file."""

    path: str
    meaning: str
    facts: tuple[str, ...]
    line: str

    def markdown(self) -> str:
        line = f"```toml\n{self.line}\n```\n" if self.line else "Worked out by hardgap itself: leave it out.\n"
        return f"#### `{self.path}`\n\n{_sentence(self.meaning)}\n{_sentence(' · '.join(self.facts))}\n\n{line}"


def settings(kind: Kind) -> Iterator[tuple[str, list[Setting]]]:
    """Every table of a config, by its title, with its fields; of `model` one for each kind of network."""
    for name, spec in tables(type(kind.desk)):
        schemas = spec.model_json_schema()["properties"]
        sort = schemas["kind"]["const"] if "kind" in schemas else ""
        fields = [one for one in schemas if not _parts(spec.model_fields[one].annotation)]
        if kind.command == "symbolic train":  # a derivation is not run freely, so nothing contradicts it
            fields = [one for one in fields if one != "restart_at"]
        fields.sort(key=lambda one: not name and one in Run.model_fields)  # what every world has comes last
        title = f"`{name}` of kind `{sort}`" if sort else f"`{name}`" if name else "The run"
        yield title, [_setting(kind, f"{name}.{one}".lstrip("."), schemas[one], sort) for one in fields]


def tables(spec: type[Spec], prefix: str = "") -> Iterator[tuple[str, type[Spec]]]:
    yield prefix, spec
    for name, field in spec.model_fields.items():
        for part in _parts(field.annotation):
            yield from tables(part, f"{prefix}.{name}".lstrip("."))


def _parts(kind: Any) -> list[type[Spec]]:
    """The tables that a field of this kind may hold."""
    return [part for part in (kind, *get_args(kind)) if inspect.isclass(part) and issubclass(part, Spec)]


def _setting(kind: Kind, path: str, schema: dict[str, Any], sort: str) -> Setting:
    usual = _at(kind.desk, path) if sort in ("", kind.desk.model.kind) else None
    default = _code(_toml(schema["default"])) or "left out" if "default" in schema else ""
    desk, option = _code(_toml(usual)), _option(kind, path)
    facts = [words(schema), f"default {default}" if default else "must be given"]
    facts += [f"at desk scale {desk}"] * (desk not in ("", default) and bool(default))
    facts += [f"option `hardgap {kind.command} {option}`"] * bool(option)
    line = "" if path in BY_ITSELF else _line(path, schema, usual, sort)
    return Setting(path, schema.get("description", ""), tuple(facts), line)


def _at(run: Run, path: str) -> Any:
    """What a desk-scale run has there, if it has that table."""
    return reduce(lambda part, name: getattr(part, name, None), path.split("."), run)


def _option(kind: Kind, path: str) -> str:
    """The option that sets a field; some have no option of their own."""
    found = {_path(value): f"--{name.replace('_', '-')}" for name, value in kind.options._options.items()}
    by_hand = {"rule": "RULE", "hide": "--hide", "holdout": "HOLDOUT"}
    if kind.command == "train":
        by_hand |= {"model.kind": "--model", "model.factory": "--model"}
    return found.get(path) or by_hand.get(path, "")


def _line(path: str, schema: dict[str, Any], usual: Any, sort: str) -> str:
    """What sets a field in a sweep file, as a value that may stand there."""
    value = EXAMPLES.get(path) or _example(schema, usual)
    if path.startswith("unrolling.temperature.") and not path.endswith("shape"):
        return f"unrolling.temperature = {TOGETHER}"
    if sort in OTHERS:  # another network than the usual one is named in full
        field, named = path.rpartition(".")[2], OTHERS[sort]
        told = field in ("kind", "factory", "network")
        return f"model = {{ {named} }}" if told else f"model = {{ {named}, {field} = {value} }}"
    return f"{path} = {value}"


def words(schema: dict[str, Any]) -> str:
    """The values that a field may have.

    >>> words({"type": "integer", "exclusiveMinimum": 0})
    'a whole number above 0'
    >>> words({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]})
    '`"a"`, `"b"` or left out'
    """
    if "anyOf" in schema:
        return " or ".join(words(one) for one in schema["anyOf"])
    if found := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return ", ".join(_code(_toml(one)) for one in found)
    names = {"integer": "a whole number", "number": "a number", "boolean": "`true` or `false`", "string": "text",
             "null": "left out", "object": "a table"}  # fmt: skip
    if schema.get("type") == "array":
        return "a list of " + words(schema["items"]).removeprefix("a ").replace("number", "numbers")
    if schema.get("pattern", "").endswith("{64}$"):
        return "64 hex digits"
    return names[schema["type"]] + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    said = {"exclusiveMinimum": "above", "minimum": "from", "exclusiveMaximum": "below", "maximum": "up to"}
    return "".join(f" {word} {int(schema[name])}" for name, word in said.items() if name in schema)


def _example(schema: dict[str, Any], usual: Any) -> str:
    """A value to write: a choice that is not the default, or what the desk scale has."""
    if others := [one for one in schema.get("enum", []) if one != schema.get("default")]:
        return _toml(others[0])
    if schema.get("type") == "boolean":
        return "true"
    return _toml(next(one for one in (usual, schema.get("default"), schema.get("const")) if one is not None))


def _toml(value: Any) -> str:
    return "" if value is None else json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _path(option: str | Written) -> str:
    return option.path if isinstance(option, Written) else option


def config() -> str:
    """Every field of both worlds, table by table."""
    parts = []
    for kind in KINDS:
        parts.append(f"## {kind.title}\n")
        for title, fields in settings(kind):
            parts += [f"### {title}\n", *(one.markdown() for one in fields)]
    return "\n".join(parts)


def commands() -> str:
    """Every command as it tells it itself."""
    app = App(name="hardgap", help_format="markdown")
    for name in COMMANDS:
        app.command(f"hardgap.cli.{name}:{name}", name=name)  # each with its own long help
    text = app.generate_docs().partition("\n## hardgap demo")
    return text[1].lstrip() + text[2]


def python() -> str:
    """The public names, and what they give."""
    public = [(f"hardgap.{name}", getattr(hardgap, name)) for name in hardgap.__all__]
    given = [(one.__name__, one) for one in (Findings, Finding, Shown, Study, StudyResult)]
    parts = [_described(name, thing) for name, thing in public]
    return "\n".join([*parts, "## What these give\n", *(_described(name, thing, level=3) for name, thing in given)])


def _described(name: str, thing: Any, level: int = 2) -> str:
    is_class = inspect.isclass(thing)
    head = f"{'#' * level} `{name}`\n"
    called = "" if is_class else f"```python\n{name}{_signature(thing)}\n```\n"
    return "\n".join([head, called, prose(inspect.getdoc(thing) or ""), _members(thing) if is_class else ""])


def _members(kind: type) -> str:
    """Public properties and methods of a class as a list of definitions."""
    listed = []
    for name, one in vars(kind).items():
        function = one.fget if isinstance(one, property) else getattr(one, "func", getattr(one, "__func__", one))
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        called = f".{name}" + (_signature(function) if inspect.isfunction(one) else "")
        text = prose(inspect.getdoc(function) or "").replace("\n", "\n  ").strip()
        listed.append(f"`{called}`\n: {text}\n")
    return "\n".join(listed)


class _Plain(str):
    """An annotation as it is written."""

    __repr__ = str.__str__


def _signature(function: Any) -> str:
    found = inspect.signature(function)
    kept = [one.replace(annotation=_Plain(one.annotation) if one.annotation is not one.empty else one.empty)
            for one in found.parameters.values() if one.name != "self"]  # fmt: skip
    text = str(found.replace(parameters=kept, return_annotation=_Plain(found.return_annotation)))
    if len(text) < 70:
        return text
    inside, _, after = text[1:].rpartition(")")
    lines = re.sub(r", (?=[*\w]+(?:: |,|$))(?![^\[]*\])", ",\n    ", inside)  # not inside brackets
    return f"(\n    {lines},\n){after}"


LISTED = re.compile(r"(?P<name>[\w]+) {2,}(?P<text>\S.*)")


def prose(text: str) -> str:
    """A docstring as Markdown: examples as code, names with what they mean as definitions."""
    return "\n\n".join(_block(block) for block in re.split(r"\n{2,}", text.strip())) + "\n"


def _block(block: str) -> str:
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    if block.startswith(("    ", "hg.")):
        return f"```python\n{inspect.cleandoc(block)}\n```"
    if LISTED.match(block):
        lines = re.sub(r"\n +", " ", block).split("\n")
        return "\n".join(f"`{found['name']}`\n: {found['text']}\n" for found in map(LISTED.match, lines) if found)
    return re.sub(r"\bdocs/([\w-]+\.md)", r"[\1](../\1)", block)


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    for name, text in {"config": config(), "commands": commands(), "python": python()}.items():
        (PLACE / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
