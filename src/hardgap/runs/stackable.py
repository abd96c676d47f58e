"""Which runs can be trained as one stack, and whether stacks are asked for: `--stack`, HARDGAP_STACK for workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hardgap.core.cores import usable_cores
from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.core.run import Run
from hardgap.nn.native import engine
from hardgap.worlds import build_task, world_of

if TYPE_CHECKING:
    from hardgap.core.stack import Stack

VARIABLE = "HARDGAP_STACK"


def asked() -> int:
    """How many runs a worker is to train at once as one network; 0 if each by itself."""
    text = os.environ.get(VARIABLE) or "0"
    if not text.isdecimal():
        raise BadInput(f"{VARIABLE}={text}: write a number of runs")
    return int(text)


def check_stack(rows: int | None, on: str = "local") -> None:
    """Refuse a stack that cannot be, or an engine that stacks nothing, before anything is trained."""
    if rows is not None and rows < 1:
        raise BadInput(f"stack {rows}: at least one run has to be in it", of="stack")
    if rows is not None and on != "local":
        raise BadInput(
            f"stack {rows}: runs are stacked on this machine, not on {on}; leave one of the two out", of="stack"
        )
    if rows is not None and engine.asked() not in ("auto", engine.EAGER, engine.STACKED):
        one = f"the engine {engine.asked()} trains one run at a time"
        raise BadInput(f"stack {rows}: {one}; leave one of the two out", of="stack")


@contextmanager
def stacking(
    runs: Sequence[Run], rows: int | None, workers: int | None, on: str = "local"
) -> Iterator[tuple[Sequence[Run], int | None]]:
    """The runs in the order in which stacks take them, and as many workers as fit; those that start in here stack.

    One process computes on a GPU, and no more have work than there are stacks.
    """
    if rows is None:
        yield runs, workers
        return
    check_stack(rows, on)
    shapes: dict[str, list[Run]] = {}
    for run in runs:
        shapes.setdefault(run.stack_shape(), []).append(run)
    at_most = 1 if any(run.device != "cpu" for run in runs) else usable_cores()
    before = {name: os.environ.get(name) for name in (VARIABLE, engine.VARIABLE)}
    os.environ |= {VARIABLE: str(rows), engine.VARIABLE: engine.STACKED}
    try:
        together = [run for several in shapes.values() for run in several]
        yield together, workers or max(1, min(at_most, -(-len(together) // rows)))
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def stack_for(run: Run) -> Stack:
    """An empty stack for runs of this one's shape."""
    from hardgap.core.stack import Stack

    path = world_of(run).stacks
    assert path is not None
    return Stack(part(path))


def why_not(run: Run) -> str | None:
    """Why a run cannot be in a stack, which is also said, once; None if it can."""
    stacks = world_of(run).stacks is not None
    if stacks and not run.is_tried_before_stacking():
        return None
    like = run.stack_shape() if stacks else run.experiment
    if like not in _tried:
        _tried[like] = _try_out(run) if stacks else f"there are no stacks of {world_of(run).title}"
        if (why := _tried[like]) is not None:
            print(f"hardgap: run {run.id}, and others like it, are trained without a stack: {why}", file=sys.stderr)
    return _tried[like]


_tried: dict[str, str | None] = {}
"""What was found of each shape with a user's own network, and of worlds."""


def _try_out(run: Run) -> str | None:
    """Two networks of a user's own are stacked, and compared with themselves."""
    from hardgap.core.loop import Trainer
    from hardgap.core.stack import Member

    seeds = (run, run.but(seed=run.seed ^ 1))
    try:
        two = [Trainer(build_task(one), one.optimiser, one.budget, one.seed, make_adam=Member) for one in seeds]
    except BadInput as error:  # it fails, if it does, when it is trained
        return str(error)
    return stack_for(run).why_not(two)
