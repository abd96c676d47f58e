"""Table 1 and Figure 2: what interpolation gets out of each representation level, over several runs.

The claim is about ranges, not about success counts: before the network's layers no method gets the hidden pattern of
Rule 150 right; after them a random forest does, in runs where the network itself does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from statistics import fmean
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress, part_of, silent
from hardgap.runs.execute import load_model
from hardgap.runs.store import Row, Store
from hardgap.runs.summary import summarise
from hardgap.runs.versions import versions
from hardgap.runs.weights import find_weights, is_here
from hardgap.studies.interpolation.published import PUBLISHED
from hardgap.worlds.automaton.baselines.levels import LEVELS, Level
from hardgap.worlds.automaton.baselines.methods import METHODS, Method
from hardgap.worlds.automaton.baselines.questions import prepare_exam
from hardgap.worlds.automaton.baselines.table import LevelResult, measure
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import split_rows

SIZE = 2000
"""Visible cells that a method learns from; `hardgap baselines RUN --sizes …` shows what other sizes give."""
MOST_ASKED = 1000
SOLVED = 0.95
"""Table 1 is about runs with at least this final holdout accuracy."""
AT_MOST = 6
"""As many runs as the paper had."""


@dataclass(frozen=True)
class Setting:
    """How Table 1 is measured: by which methods, at which levels, from how many examples."""

    methods: Sequence[Method] = METHODS
    levels: Sequence[Level] = LEVELS
    size: int = SIZE
    most_asked: int = MOST_ASKED
    seed: int = 0

    def __post_init__(self) -> None:
        if self.size < 2:
            raise BadInput(f"size {self.size}: a method needs at least 2 examples to learn from", of="size")

    def as_dict(self) -> dict[str, Any]:
        methods = {method.name: method.settings for method in self.methods}
        return {"size": self.size, "most_asked": self.most_asked, "seed": self.seed, "methods": methods}


@dataclass(frozen=True)
class RunTable:
    """Table 1 for one run."""

    run: str
    config: AutomatonRun
    final_holdout: float
    lines: list[LevelResult]
    replica: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "about": f"{self.config.describe()}{', a replica' if self.replica else ''}",
            "width": self.config.width,
            "final_holdout": self.final_holdout,
            "levels": [_line(line) for line in self.lines],
        }


def _line(line: LevelResult) -> dict[str, Any]:
    return {
        "level": line.level.name,
        "title": line.title,
        "shown": line.shown,
        "asked": line.asked,
        "network": asdict(line.network),
        "methods": {name: asdict(accuracy) for name, accuracy in line.methods.items()},
    }


def measure_run(store: Store, run_id: str, setting: Setting, on_progress: Progress = silent) -> RunTable:
    """Table 1 for a run of the store: learned from its training rows, judged on its test rows."""
    row = _automaton_row(store, run_id)
    model, config = load_model(store, row.id)
    assert isinstance(config, AutomatonRun)
    learn, judge = (
        config.gap.trajectory(rows, 1)
        for rows in split_rows(config.width, config.train_rows, config.test_rows, config.seed)
    )
    exam = prepare_exam(
        model, config.gap, learn, judge, size=setting.size, most_asked=setting.most_asked, seed=setting.seed
    )
    lines = measure(exam, setting.methods, setting.levels, seed=setting.seed, on_progress=on_progress)
    found = find_weights(store, row.id)
    return RunTable(row.id, config, summarise(found.store.curve(row.id)).final_holdout, lines, found.replica)


def _automaton_row(store: Store, run_id: str) -> Row:
    row = store.get(run_id)
    if not isinstance(row.config, AutomatonRun):
        raise BadInput(f"run {row.id} is no cellular automaton run; Table 1 is about those")
    if not store.curve(row.id):
        raise BadInput(f"run {row.id} has not been trained yet; `hardgap runs list` shows what is done")
    return row


def measure_runs(
    store: Store, run_ids: Iterable[str], setting: Setting, on_progress: Progress = silent
) -> list[RunTable]:
    """Table 1 for several runs, with one progress for all."""
    ids = list(dict.fromkeys(run_ids))
    told = [part_of(on_progress, place, len(ids), f"{run_id}, ") for place, run_id in enumerate(ids)]
    return [measure_run(store, run_id, setting, tell) for run_id, tell in zip(ids, told, strict=True)]


def measure_sizes(
    store: Store, run_ids: Sequence[str], setting: Setting, sizes: Iterable[int], on_progress: Progress = silent
) -> dict[int, list[RunTable]]:
    """Table 1 again for each number of shown examples: does the answer depend on it?"""
    wanted, curve = sorted(set(sizes)), {}
    for place, size in enumerate(wanted):
        told = part_of(on_progress, place, len(wanted), f"{size} examples, ")
        curve[size] = measure_runs(store, run_ids, replace(setting, size=size), told)
    return curve


def solved_runs(store: Store, rule: str, *, at_most: int = AT_MOST) -> list[str]:
    """The first finished encoder runs that solve a rule (`SOLVED`), one a family, none leaky.

    They come in the order in which they were finished, so that later runs do not change the choice. Those that can be
    opened come first; a replica counts by its own accuracy.
    """
    spec = parse_rule(rule).spec
    opens: dict[str, str] = {}
    closed: dict[str, str] = {}
    for row in sorted(store.rows(), key=lambda row: (row.finished or 0.0, row.id)):
        config = row.config
        if row.status != "done" or not isinstance(config, AutomatonRun):
            continue
        if (config.rule, config.masking, config.model.kind) != (spec, "every", "encoder"):
            continue
        place = find_weights(store, row.id).store
        for curve in place.curves([row.id]).values():
            if summarise(curve).final_holdout >= SOLVED:
                (opens if is_here(place, place.get(row.id)) else closed).setdefault(config.family, row.id)
    found = opens | {family: run_id for family, run_id in closed.items() if family not in opens}
    if not found:
        raise BadInput(
            f"solved {rule}: {store.folder} holds no finished run with {SOLVED:.0%} holdout accuracy", of="solved"
        )
    return list(found.values())[:at_most]


def ranges(tables: Sequence[RunTable]) -> list[dict[str, Any]]:
    """Table 1 as the paper prints it: for each level and method the smallest and largest accuracy over the runs.

    Percent; beside it what was published, where these runs are of the kind that the paper's table is about.
    """
    names = dict.fromkeys(line.level.name for table in tables for line in table.lines)
    return [
        _range_line([line for t in tables for line in t.lines if line.level.name == name], tables) for name in names
    ]


def _range_line(lines: Sequence[LevelResult], tables: Sequence[RunTable]) -> dict[str, Any]:
    name = lines[0].level.name
    titles = {line.title for line in lines}
    measured = {
        method: (_percent(min(values)), _percent(max(values)))
        for method in lines[0].methods
        for values in [[line.methods[method].holdout for line in lines]]
    }
    published = PUBLISHED.get(name, {}) if all(_as_published(table) for table in tables) else {}
    return {
        "level": name,
        "title": titles.pop() if len(titles) == 1 else name,
        "holdout": measured,
        "network": _percent(fmean(line.network.holdout for line in lines)),
        "visible": {m: _percent(fmean(line.methods[m].visible for line in lines)) for m in measured},
        "published": published,
    }


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _as_published(table: RunTable) -> bool:
    return table.config.rule == "150" and len(table.config.hide) == 1 and table.final_holdout >= SOLVED


def about(configs: Sequence[AutomatonRun]) -> str:
    """What these runs are about, in a few words."""
    gaps = list(dict.fromkeys(config.gap.describe() for config in configs))
    if len(gaps) > 1:
        rules = ", ".join(dict.fromkeys(config.gap.rule.name for config in configs))
        counts = sorted({len(config.hide) for config in configs})
        hidden = f"{' or '.join(map(str, counts))} pattern{'s' * (counts != [1])} hidden"
        gaps = [f"Rule {rules}, {hidden} ({len(gaps)} different gaps)"]
    widths = ", ".join(map(str, sorted({config.width for config in configs})))
    return f"{gaps[0]}; {len(configs)} run{'s' * (len(configs) > 1)}, width {widths}"


def made_with() -> dict[str, Any]:
    """The versions that a baseline's number depends on."""
    return versions() | {"scikit-learn": version("scikit-learn")}


def as_report(tables: Sequence[RunTable], setting: Setting) -> dict[str, Any]:
    """Everything that was measured, as plain data: what `--json` prints and the figure is drawn from."""
    return {
        "kind": "levels",
        "about": about([table.config for table in tables]),
        "setting": setting.as_dict(),
        "versions": made_with(),
        "table": ranges(tables),
        "runs": [table.as_dict() for table in tables],
    }


def sizes_report(curve: dict[int, list[RunTable]], setting: Setting) -> dict[str, Any]:
    """The size curve as plain data."""
    return {
        "kind": "sizes",
        "about": about([table.config for table in next(iter(curve.values()))]),
        "setting": setting.as_dict() | {"size": list(curve)},
        "versions": made_with(),
        "runs": [table.run for table in next(iter(curve.values()))],
        "sizes": [{"size": size, "table": ranges(tables)} for size, tables in curve.items()],
    }
