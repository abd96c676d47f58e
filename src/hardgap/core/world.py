"""What the rest of the package needs to know of a world: one registration instead of a branch for each."""

from __future__ import annotations

from dataclasses import dataclass

from hardgap.core.run import Run


@dataclass(frozen=True)
class World:
    """A world's parts. Those that need torch are named, `hardgap.module:name`, and loaded when they are used.

    name       what configs call it (`experiment`); run ids hold this word
    title      what people call it
    run        what a run of it asks for
    task       from a run (and whether it is to be the certificate's decoy) to its data, loss and score
    table      from a run and its curve to the table that tells how it ended
    stacks     from a task to what a stack of runs asks of it (`core/stack.py`); None if its runs are trained one by one
    opens      from a trained network, names of analyses and a seed to what is found inside it, by analysis
    shows      tables of what was found: by analysis, a function that makes one
    asks       from a trained network and integers to its answer
    """

    name: str
    title: str
    run: type[Run]
    task: str
    table: str
    stacks: str | None = None
    opens: str | None = None
    shows: str | None = None
    asks: str | None = None
