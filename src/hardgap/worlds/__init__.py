"""The worlds: a folder each, with all that is particular to it, and one line here.

A folder's `__init__` registers it (`core/world.py`); nothing else of the package asks which world a run belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.core.run import Run, validated
from hardgap.core.world import World

if TYPE_CHECKING:
    from hardgap.core.task import Task

FOLDERS = (
    "automaton",
    "chains",
)
WORLDS: dict[str, World] = {
    world.name: world for world in (part(f"hardgap.worlds.{folder}:WORLD") for folder in FOLDERS)
}
FIRST = next(iter(WORLDS))
"""The world of a config that names none."""


def parse_run(data: object, written: str | None = None) -> Run:
    """A config from plain values (a store row, a results file, a sweep file), and its user's own words, if kept."""
    if not isinstance(data, dict):
        raise BadInput(f"a config is a table of names and values, not {data!r:.40}")
    kind = world_named(data.get("experiment", FIRST)).run
    in_words = {kind.in_words: written} if kind.in_words and written else {}
    return validated(kind, data | in_words)


def world_named(name: object) -> World:
    if not isinstance(name, str) or name not in WORLDS:
        raise BadInput(f"experiment {name!r} is not known; there is {', '.join(WORLDS)}")
    return WORLDS[name]


def world_of(run: Run) -> World:
    return WORLDS[run.experiment]


def build_task(run: Run, *, decoy: bool = False) -> Task:
    """The task that a config asks for; as a decoy, in a world that is wrong wherever it is hidden (certificate)."""
    task: Task = part(world_of(run).task)(run, decoy=decoy)
    return task
