"""A study is a claim, of the paper or ours, with the arms that measure it and its own table and figure.

    smoke   seconds; what the tests use, shows nothing
    desk    the phenomenon at a width and step count that two CPU cores finish in a minute or two a run
    paper   the paper's own numbers
A number always carries its scale: a desk number is never shown as if it were a paper number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import Scale, check_scale
from hardgap.core.wording import did_you_mean
from hardgap.studies.published import Published

if TYPE_CHECKING:
    from hardgap.runs.store import Store
    from hardgap.studies.measure import StudyResult

Labels = dict[str, str | int | float]
WORDS = {"rule": "Rule {}", "pattern": "pattern {}", "T": "T = {:g}", "steps": "{} steps", "statement": "statement {}"}
"""How a label is said; others are said as they are."""


def words(labels: Labels) -> list[str]:
    """An arm's labels as they are printed.

    >>> words({"rule": "D", "T": 8.0, "way": "tempered"})
    ['Rule D', 'T = 8', 'tempered']
    """
    return [WORDS.get(name, "{}").format(value) for name, value in labels.items()]


@dataclass(frozen=True)
class Arm:
    """One setting of a study: what sets it apart, the runs or the computation that measure it, what was published.

    Curves are read as far as the step `until`: a longer run of the same family is, so far, the shorter one.
    """

    labels: Labels
    runs: tuple[Run, ...] = ()
    published: Published | None = None
    compute: Callable[[Path], Any] | None = None  # given the folder of kept files
    until: int | None = None


@dataclass(frozen=True)
class Study:
    """A named claim and its arms at each scale. Parts are named as `hardgap.module:function`, loaded when used.

    tables    from what several studies measured to their tables: studies that share it are shown together
    figure    likewise, to a figure
    more      what belongs to this study alone, from what was measured, the store, and the folder of kept files
    prepare   what is measured and kept there before runs are trained
    folder    that folder's name, in a store and in results/
    ours      whether it goes beyond the paper
    scaled    whether its numbers depend on the scale, so that its verdict has to name it
    """

    name: str
    claim: str
    arms: Callable[[Scale], list[Arm]]
    tables: str
    figure: str | None = None
    more: str | None = None
    prepare: str | None = None
    folder: str = "baselines"
    ours: bool = False
    scaled: bool = True

    @property
    def judged_with(self) -> tuple[str, str]:
        """Shared by studies whose rows stand in one table and are corrected together."""
        return self.tables, self.name.partition("/")[0]

    def runs(self, scale: Scale) -> list[Run]:
        """Every run of every arm, once."""
        return list({run.id: run for arm in self.arms(scale) for run in arm.runs}.values())

    def measure(self, store: Store | Path | str, scale: Scale = "desk") -> StudyResult:
        """What the finished runs of a store say about the claim; nothing is trained."""
        from hardgap.runs.store import open_store
        from hardgap.studies.measure import judged, measure

        check_scale(scale)
        return judged([measure(self, scale, open_store(store))])[0]


STUDIES: dict[str, Study] = {}
Declared = Callable[[Scale], Iterable[Arm]] | Callable[[Scale], Iterable[Run]]


def study(name: str, published: Published | None = None, **parts: Any) -> Callable[[Declared], Study]:
    """Declare a function from a scale to arms, or to the runs of one arm, as a study.

    The first paragraph of its docstring is the claim.
    """

    def declare(function: Declared) -> Study:
        claim = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        return add(Study(name, claim, lambda scale: _arms(function(scale), published), **parts))

    return declare


def add(one: Study) -> Study:
    STUDIES[one.name] = one
    return one


def _arms(found: Iterable[Arm] | Iterable[Run], published: Published | None) -> list[Arm]:
    listed: list[Any] = list(found)
    return listed if listed and isinstance(listed[0], Arm) else [Arm({}, tuple(listed), published)]


def choose(names: Iterable[str]) -> list[Study]:
    """The studies with these names, or whose names begin so (`main` is all of `main/…`); the paper's if none given."""
    wanted = list(names)
    if not wanted:
        return [one for one in STUDIES.values() if not one.ours]
    chosen: dict[str, Study] = {}
    for name in wanted:
        found = {key: value for key, value in STUDIES.items() if key == name or key.startswith(f"{name}/")}
        if not found:
            known = dict.fromkeys([*STUDIES, *(key.partition("/")[0] for key in STUDIES)])
            raise BadInput(
                f"there is no study {name!r}{did_you_mean(name, known)}; `hardgap reproduce --list` shows all"
            )
        chosen |= found
    return list(chosen.values())


def limited(one: Study, seeds: int) -> Study:
    """The same study with only the first so many seeds of every arm."""

    def arms(scale: Scale) -> list[Arm]:
        return [replace(arm, runs=tuple(run for rank, run in _ranked(arm) if rank < seeds)) for arm in one.arms(scale)]

    return replace(one, arms=arms)


def most_informative_first(studies: Iterable[Study], scale: Scale) -> list[Run]:
    """Every run of these studies once: one seed of everything before a second seed of anything.

    Within a rank the short runs come first, since a longer one of the same family goes on from there.
    """
    ranked: dict[str, tuple[int, Run]] = {}
    for arm in (arm for one in studies for arm in one.arms(scale)):
        for rank, run in _ranked(arm):
            ranked.setdefault(run.id, (rank, run))
    return [run for _, run in sorted(ranked.values(), key=lambda item: (item[0], item[1].budget.steps))]


def _ranked(arm: Arm) -> Sequence[tuple[int, Run]]:
    """Each run with the place of its seed among those of its arm, from 0: an arm may begin with any seed."""
    seeds = list(dict.fromkeys(run.seed for run in arm.runs))
    return [(seeds.index(run.seed), run) for run in arm.runs]
