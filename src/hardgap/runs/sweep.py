"""A sweep file: what all runs share, and what varies."""

from __future__ import annotations

import math
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

from hardgap.errors import BadInput
from hardgap.runs.config import Run, all_named, parse_run

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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not TOML: {error}") from error
    if unknown := sorted(data.keys() - {"base", "grid"}):
        raise BadInput(f"{path}: [{unknown[0]}] is not known; a sweep has [base] and [grid]")
    base, grid = data.get("base", {}), data.get("grid", {})
    if not isinstance(base, dict) or not isinstance(grid, dict):
        raise BadInput(f"{path}: [base] and [grid] are tables")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise BadInput(f"{path}: grid.{name} must be a list of values")
    if (count := math.prod(map(len, grid.values()))) > MOST_RUNS:
        raise BadInput(f"{path}: the grid asks for {count:,} runs; {MOST_RUNS:,} are allowed")
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    runs = all_named(_one(path, base, chosen) for chosen in combinations)
    return list({run.id: run for run in runs}.values())


def _one(path: Path, base: dict[str, Any], chosen: dict[str, Any]) -> Run:
    data = base
    try:
        for dotted, value in chosen.items():
            data = _with(data, dotted.split("."), value)
        return parse_run(data)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def _with(data: dict[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """A copy of nested tables with one value set."""
    first, *rest = names
    if not rest:
        return data | {first: value}
    inner = data.get(first, {})
    if not isinstance(inner, dict):
        raise BadInput(f"{first} is a value in [base], so the grid cannot reach {'.'.join(names)}")
    return data | {first: _with(inner, rest, value)}
