"""A run as the command line that trains it, and as the Python lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hardgap.api.training import STORE
from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import SCALES, Scale
from hardgap.core.wording import flattened
from hardgap.worlds.automaton import recipes
from hardgap.worlds.automaton.recipes import RECIPES, Recipe
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import symbolic_base

OPTIONS = {
    field: f"--{name.replace('_', '-')}"
    for name, field in recipes.OPTIONS.items()
    if name not in ("step_weights", "log_saturation", "device")
}
"""What `hardgap train` says for a field of which a command is made, in the order in which one follows from another."""
TEMPERATURE = "unrolling.temperature"


def command_of(run: Run, store: Path | str = STORE) -> str | None:
    """`hardgap train …`, or nothing where that has no option for what the run asks."""
    found = _nearest(run)
    if not isinstance(run, AutomatonRun) or found is None or found[2].keys() - OPTIONS.keys():
        return None
    recipe, scale, changes = found
    written = {OPTIONS[name]: _written(name, value) for name, value in changes.items()}
    if None in written.values():
        return None
    more = ({"--recipe": recipe} if recipe != "paper" else {}) | ({"--scale": scale} if scale != "desk" else {})
    options = {"--hide": ",".join(map(str, run.hide)), **more, **written}
    options |= {"--store": str(store)} if str(store) != STORE else {}
    return shlex.join(
        ["hardgap", "train", run.rule_as_written, *(str(part) for pair in options.items() for part in pair)]
    )


def python_of(run: Run, store: Path | str = STORE) -> str | None:
    """The lines that train it in Python, or nothing where they would not fit a few lines."""
    if (found := _nearest(run)) is None:
        return None
    recipe, scale, changes = found
    if isinstance(run, AutomatonRun):
        said = [f"hg.Automaton({run.rule_as_written!r}", f"hide={list(run.hide)}"]
    else:
        assert isinstance(run, SymbolicRun)
        said = [f"hg.Chains({run.holdout!r}"]
        said += [f"condition={run.condition!r}"] if run.condition != "familiar" else []
    said += [f"recipe={recipe!r}"] if recipe != "paper" else []
    said += [f"scale={scale!r}"] if scale != "desk" else []
    said += [f"{name.replace('.', '__')}={value!r}" for name, value in changes.items()]
    return f"import hardgap as hg\n\nrun = {', '.join(said)})\nresult = hg.train(run, store={str(store)!r})"


def _nearest(run: Run) -> tuple[str, Scale, dict[str, Any]] | None:
    """The recipe and scale from which a run differs in the fewest fields, and these, if they lead there."""
    ways = [(recipe, scale, _changes(start, run)) for (recipe, scale), start in _starts(run).items()]
    known = [(recipe, scale, changes) for recipe, scale, changes in ways if changes is not None]
    return min(known, key=lambda way: len(way[2]), default=None)


def _starts(run: Run) -> Mapping[tuple[Recipe, Scale], Run]:
    if isinstance(run, AutomatonRun):
        return {(name, scale): make(scale, run.rule, run.hide) for name, make in RECIPES.items() for scale in SCALES}
    if isinstance(run, SymbolicRun) and not run.plugins():
        return {("paper", scale): symbolic_base(scale, run.holdout, run.condition) for scale in SCALES}
    return {}


def _changes(start: Run, run: Run) -> dict[str, Any] | None:
    """What `Run.changed` has to be told to get from one run to the other: one field after another, as some follow."""
    said: dict[str, Any] = {}
    try:
        while (now := start.changed(**said)).id != run.id:
            before, after = _fields(now), _fields(run)
            names = [*OPTIONS, *after.keys() - OPTIONS.keys()]
            name = next(name for name in names if name not in said and before.get(name) != after.get(name))
            said[name] = after[name]
    except (BadInput, StopIteration, KeyError):
        return None
    return said


def _fields(run: Run) -> dict[str, Any]:
    """The fields by dotted name. The course of a temperature is one: half of it is none."""
    flat = flattened(run.model_dump(mode="json"))
    course = {name.removeprefix(f"{TEMPERATURE}."): flat.pop(name) for name in list(flat) if TEMPERATURE in name}
    return flat | ({TEMPERATURE: course} if course else {})


def _written(name: str, value: Any) -> str | None:
    """A value as the command line writes it, if it can."""
    if name == TEMPERATURE:
        start, end, over = value["start"], value["end"], value["over"]
        if value["shape"] != "linear":
            return None
        return _digits(start) if start == end and not over else f"{_digits(start)}:{_digits(end)}:{over}"
    return None if value is None else _digits(value) if isinstance(value, float) else str(value)


def _digits(value: float) -> str:
    """All that make this number, and no more: 8, not 8.0."""
    return repr(value).removesuffix(".0")
