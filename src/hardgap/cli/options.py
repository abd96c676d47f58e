"""Options that commands share, and options that are fields of a run's config: one line each, the rest is derived.

An option that sets a field has its type, its choices and its help from the field, and what is wrong with its value is
said about the option. It is not set where it is not given, so every default stays with the scale and the recipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, Union, Unpack, get_args, get_origin

from cyclopts import Parameter

from hardgap.core.errors import BadInput
from hardgap.core.refusal import fields_of
from hardgap.core.run import Run

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from hardgap.worlds.automaton.gap import Gap

Command = TypeVar("Command", bound=Callable[..., Any])

ScaleName = Annotated[Literal["smoke", "desk", "paper"], Parameter(help="Where defaults come from.")]
Hide = Annotated[str | None, Parameter(help="Patterns to hide, by number or by all their cells: 3 or 011; 1,4,12.")]
HideRandom = Annotated[int | None, Parameter(help="Hide this many patterns, drawn at random.")]
HideSeed = Annotated[int, Parameter(help="Seed of that draw.")]

Conditions = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="FIELD=VALUE: only runs whose config says so, e.g. rule=150 or unrolling.feedback=soft. Fields "
        "named once must all agree; of one that is named again, any value will do.",
    ),
]


@dataclass(frozen=True)
class Written:
    """A field that is written as text, in this form, and how that is read."""

    path: str
    form: str
    read: Callable[[str], Any]


class Options:
    """Options by name, each the dotted path of the field that it sets; the help says what a desk-scale run has."""

    def __init__(self, desk: Run, **options: str | Written) -> None:
        self._desk, self._options = desk, options

    def only(self, *names: str) -> Options:
        return Options(self._desk, **{name: self._options[name] for name in names})

    def of(self, command: Command) -> Command:
        """The command with these options; those that are given reach it as its `**said`."""
        hints = {name: self._hint(option) for name, option in self._options.items()}
        command.__annotations__["said"] = Unpack[TypedDict("Said", hints, total=False)]  # type: ignore[operator]
        return command

    def values(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """What was said, by path; 0 says "without" where a field may be None."""
        found = {}
        for name, value in said.items():
            option = self._options[name]
            if isinstance(option, Written):
                found[option.path] = _read(name, option, value)
            else:
                found[option] = None if value == 0 and _may_be_none(self._field(option)) else value
        return found

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """What is wrong with a field is said about its option."""
        try:
            yield
        except BadInput as error:
            field = re.sub(r"^model\.\w+\.", "model.", f"{error.of}.")  # what checks it names the kind of network, too
            for name, option in self._options.items():
                if field.startswith(f"{_path(option)}."):
                    raise error.about(_flag(name)) from error
            raise

    def _field(self, path: str) -> FieldInfo:
        *inside, name = path.split(".")
        return fields_of(type(self._desk), inside)[name]

    def _hint(self, option: str | Written) -> Any:
        field = self._field(_path(option))
        words = [field.description or "", option.form if isinstance(option, Written) else ""]
        if isinstance(option, str) and _may_be_none(field):
            words.append("0 goes without")
        text = "; ".join(filter(None, words))
        usual = reduce(getattr, _path(option).split("."), self._desk)
        shown = f" (desk: {usual})" if isinstance(usual, str | int | float) and not isinstance(usual, bool) else ""
        hint = str if isinstance(option, Written) else _without_bounds(field.annotation)
        return Annotated[hint, Parameter(help=f"{text[:1].upper()}{text[1:]}.{shown}", negative="")]


def parse_gap(rule: str, hide: str | None, count: int | None, seed: int) -> Gap:
    """The gap that `--hide`, or `--hide-random` with `--hide-seed`, makes in a rule."""
    from hardgap.worlds.automaton.gap import Gap, draw_hidden, parse_hidden
    from hardgap.worlds.automaton.rule import parse_rule

    parsed = parse_rule(rule)
    if (hide is None) == (count is None):
        raise BadInput("say what to hide: either --hide 3 (or 011, or 1,4,12), or --hide-random 8")
    if count is not None:
        check_seed(seed, "--hide-seed")
        try:
            return Gap(parsed, draw_hidden(parsed, count, seed=seed))
        except BadInput as error:
            raise error.about("--hide-random") from error
    assert hide is not None
    try:
        return Gap(parsed, parse_hidden(parsed, hide))
    except BadInput as error:
        raise BadInput(f"--hide {hide:.60}: {error}") from error


def check_seed(seed: int, option: str = "--seed") -> None:
    """Refuse what no generator takes."""
    if seed < 0:
        raise BadInput(f"{option} {seed}: a seed is not negative")


def fields_and_values(conditions: Iterable[str]) -> list[tuple[str, str]]:
    """What `--where` was told."""
    found = []
    for text in conditions:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--where {text}: write FIELD=VALUE, such as rule=150")
        found.append((name.strip(), value.strip()))
    return found


def _read(name: str, option: Written, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError as error:
        why = str(error) if isinstance(error, BadInput) else f"write {option.form}"
        raise BadInput(f"{_flag(name)} {text}: {why}") from None


def _path(option: str | Written) -> str:
    return option.path if isinstance(option, Written) else option


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _may_be_none(field: FieldInfo) -> bool:
    return NoneType in get_args(field.annotation)


def _without_bounds(hint: Any) -> Any:
    """A field's type as cyclopts reads it; bounds are checked by the config, and None is what is not given."""
    if get_origin(hint) is Annotated:
        return _without_bounds(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_without_bounds(one) for one in get_args(hint) if one is not NoneType)]  # noqa: UP007
    return hint
