"""A sweep file: what all runs share, and what varies."""

from __future__ import annotations

import math
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.refusal import shown
from hardgap.core.run import Run, all_named, with_value
from hardgap.core.wording import flattened
from hardgap.runs.listing import fields_of, is_list
from hardgap.worlds import FIRST, parse_run, world_named

MOST_RUNS = 100_000
"""A larger grid is a slip of the pen."""


def read_sweep(path: Path) -> list[Run]:
    """Every combination of the grid's lists, the last one varying fastest; each validated.

    The file is the user's own: plug-ins that it names are trusted.
    """
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except RecursionError as error:
        raise BadInput(f"{path} is nested too deeply") from error
    except ValueError as error:  # also bytes that are no text, and integers of thousands of digits
        raise BadInput(f"{path} is not TOML: {error}") from error
    try:
        return _runs(data)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def _runs(data: dict[str, Any]) -> list[Run]:
    for name, value in data.items():
        if name not in ("base", "grid"):
            slip = f"[{name}] is not known" if isinstance(value, dict) else f"write {name} below [base]"
            raise BadInput(f"{slip}; a sweep has [base] and [grid]")
    base, grid = data.get("base", {}), data.get("grid", {})
    if not isinstance(base, dict) or not isinstance(grid, dict):
        raise BadInput("[base] and [grid] are tables")
    varied = flattened(grid)  # `unrolling.steps = …` means the same without quotes, as a table inside a table
    lists = _lists(base.get("experiment", FIRST))
    for name, values in varied.items():
        _check_values(name, values, is_list=name in lists)
    if (count := math.prod(map(len, varied.values()))) > MOST_RUNS:
        raise BadInput(f"the grid asks for {count:,} runs; {MOST_RUNS:,} are allowed")
    combinations = [dict(zip(varied, values, strict=True)) for values in product(*varied.values())]
    runs = all_named(_one(base, chosen) for chosen in combinations)
    return list({run.id: run for run in runs}.values())


def _lists(experiment: object) -> set[str]:
    """What is a list in one run already, so that a grid has a list of lists."""
    return {name for name, kind in fields_of(world_named(experiment).run) if is_list(kind)}


def _check_values(name: str, values: Any, *, is_list: bool) -> None:
    if not isinstance(values, list):
        raise BadInput(f"grid.{name}: write a list of values, [{shown(values)}]")
    if not values:
        raise BadInput(f"grid.{name}: write a list of at least one value")
    if is_list and not all(isinstance(value, list) for value in values):
        one, several = f"[{shown(values)}]", ", ".join(f"[{shown(value)}]" for value in values)
        write = one if len(values) == 1 else f"{one} for one run, [{several:.80}] for {len(values)}"
        raise BadInput(f"grid.{name} is a list of lists: write {write}")


def _one(base: dict[str, Any], chosen: dict[str, Any]) -> Run:
    data: dict[str, Any] = {}
    # A dotted name goes inside what a plain one says, whichever comes first.
    for dotted, value in (*sorted(base.items(), key=lambda item: "." in item[0]), *chosen.items()):
        data = with_value(data, dotted.split("."), value)
    return parse_run(data)
