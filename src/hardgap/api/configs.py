"""Runs, described: a world, what is hidden in it, and how to train."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from hardgap.core.errors import BadInput
from hardgap.core.run import Run, named
from hardgap.core.specs import Scale, check_scale
from hardgap.worlds.automaton.recipes import RECIPES, Recipe
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import starting_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from hardgap.core.specs import Spec

    Network = str | dict[str, Any] | Spec | type[nn.Module] | Callable[..., nn.Module]

R = TypeVar("R", bound=Run)


def Automaton(  # noqa: N802 (it makes a run, as a class would)
    rule: str | int,
    hide: int | str | Iterable[int | str],
    *,
    recipe: Recipe = "paper",
    scale: Scale = "desk",
    model: Network | None = None,
    **fields: Any,
) -> AutomatonRun:
    """A run of a cellular automaton with some entries of its rule hidden.

    >>> import hardgap as hg
    >>> hg.Automaton(150, hide=2).describe()
    'Rule 150, pattern 010 hidden, soft×4, width 11, seed 0'
    >>> hg.Automaton("L1 ^ (C & R1)", hide=["101", 6], recipe="tempered", seed=3, model="conv").describe()
    'Rule 120 = L1 ^ (C & R1), 2 of 8 patterns hidden, soft×4, T=8, conv, restart at 600, width 11, seed 3'

    rule     a number, a name (`"D"`), a wider rule (`"r2:0x…"`) or a formula
    hide     patterns, by number or by all their cells
    recipe   `paper`, or `tempered`: warmer feedback, one restart (docs/tempered.md)
    scale    where all other values come from: `desk` takes half a minute, `paper` hours, `smoke` shows nothing
    model    `"encoder"`, `"conv"`, or a network of your own: a class or function in a file that can be imported, or
             `"package.module:name"`. It is called with the row width
    fields   any field of the config. Two underscores reach inside: `unrolling__feedback="hard"`, `budget__steps=900`
    """
    check_scale(scale)
    if recipe not in RECIPES:
        raise BadInput(f"recipe {recipe!r}: choose {', '.join(RECIPES)}")
    if model is not None:
        fields["model"] = model
    start = RECIPES[recipe](scale, plain(rule), plain(hide))
    return named(start.changed(**{name: plain(value) for name, value in fields.items()}))


def Chains(holdout: str, *, scale: Scale = "desk", **fields: Any) -> SymbolicRun:  # noqa: N802
    """A run of chains of operators with one pair of operators held out: `"^|"` is XOR, then OR.

    >>> import hardgap as hg
    >>> hg.Chains("^|", condition="label-only", seed=1).describe()
    '^| XOR→OR held out, label-only, seed 1'

    Fields are as for `Automaton`; `operators` may hold functions of your own. The desk scale has larger batches for
    label-only: say the condition here, since `grid` changes a field and nothing else.
    """
    check_scale(scale)
    asked = {name: plain(value) for name, value in fields.items()}
    run = named(starting_from(scale, asked).changed(**asked, holdout=holdout))
    assert run.gap  # making it checks it; a config alone imports no operator
    return run


def grid(run: R, **lists: Iterable[Any]) -> list[R]:
    """Every combination of these values, as runs; the last varies fastest.

    >>> import hardgap as hg
    >>> runs = hg.grid(hg.Automaton(150, hide=2), unrolling__feedback=["soft", "none"], seed=range(2))
    >>> [one.describe() for one in runs][-1]
    'Rule 150, pattern 010 hidden, none, width 11, seed 1'
    >>> len(runs)
    4
    """
    for name, values in lists.items():
        if isinstance(values, str | dict) or not isinstance(values, Iterable):
            raise BadInput(f"{name}: give a list of values, [{values!r:.60}]")
    combinations = product(*([plain(value) for value in values] for values in lists.values()))
    found = [_varied(run, dict(zip(lists, values, strict=True))) for values in combinations]
    return list({one.id: one for one in found}.values())


def _varied(run: R, fields: dict[str, Any]) -> R:
    """The run with these values. Code of the user's own is named by what is said here, not by where `run` is from."""
    one = run.changed(**fields)
    return named(one) if one.plugins().items() - run.plugins().items() else one


def plain(value: Any) -> Any:
    """A value as a config holds it: an array as numbers, several values as a list, code by its import path."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, range | set | frozenset | tuple | list):
        return [plain(one) for one in value]
    return import_path(value) if callable(value) else value


def import_path(code: Any) -> str:
    """`package.module:name` of a class or function, or why worker processes could not find it under one."""
    name, module = getattr(code, "__qualname__", None), getattr(code, "__module__", None)
    if name is None or module is None:
        raise BadInput(f"{code!r:.60} has no name to import it by; give a class, or a function that makes the network")
    if module == "__main__":
        raise BadInput(
            f"{name} is defined in this session or script, where worker processes cannot find it: "
            f"write it to a file, such as nets.py, and say `from nets import {name.partition('.')[0]}`"
        )
    if getattr(sys.modules.get(module), name, None) is not code:
        raise BadInput(f"{name} cannot be imported from {module}: define it at the top of that file, under this name")
    return f"{module}:{name}"
