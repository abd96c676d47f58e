"""What is inside solved networks of Rule 150 (paper §4.4, Appendix B), over every one that a store holds.

Each network is opened once and kept as a file, `circuit-RUN.json`; the committed ones are in results/circuits. Numbers
of the paper are of two networks at width 101: their mean is printed here beside the median of ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

from hardgap.core.progress import Progress
from hardgap.core.specs import Scale
from hardgap.core.table import Table
from hardgap.runs.store import Row, Store
from hardgap.runs.summary import summarise
from hardgap.studies.circuits.quantities import QUANTITIES, SHARE, Network, Quantity
from hardgap.studies.kept import keep_file, kept_file
from hardgap.studies.measure import StudyResult
from hardgap.studies.networks import spread
from hardgap.studies.numbers import span
from hardgap.studies.study import Arm, study
from hardgap.worlds.automaton.regime import Unrolling
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.scales import base

ANALYSES = ("polynomial", "layers", "lens", "probes", "patching", "neurons")
SOLVED = 0.99


@study(
    "circuits",
    tables=f"{__name__}:circuit_study_tables",
    figure="hardgap.studies.circuits.study_figure:circuit_study_figure",
    prepare=f"{__name__}:open_networks",
    more=f"{__name__}:spreads",
    folder="circuits",
)
def circuits(scale: Scale) -> Iterator[Arm]:
    """Solved networks compute XOR: routed in layer 0, computed in layer 1, absent before, exact after."""
    for place, one in enumerate(QUANTITIES):
        yield Arm({"analysis": one.analysis, "of": one.of}, (), one.number, partial(_spread, scale, place))


def open_networks(scale: Scale, store: Store, kept: Path, on_progress: Progress, is_late: Callable[[], bool]) -> None:
    """Open each solved network that is not kept yet, until it is late; a replica counts if it is solved as well."""
    from hardgap.core.checkpoint import CorruptFile
    from hardgap.runs.execute import load_trained
    from hardgap.runs.weights import at_end, find_weights
    from hardgap.worlds.automaton.circuits.opening import open_trained

    rows = solved_networks(store, scale)
    for place, row in enumerate(rows):
        name = f"circuit-{row.id}.json"
        if is_late() or kept_file(kept, name) is not None:
            continue
        on_progress(f"opening {row.config.describe()}", place, len(rows))
        found = find_weights(store, row.id)
        end = found.store.curve(row.id)[-1]
        if not _is_solved(found.store, row):
            continue
        try:
            if at_end(found.store, found.store.get(row.id)) is None:  # without its weights
                continue
        except CorruptFile as error:
            print(f"hardgap: {error}; passed over", file=sys.stderr)
            continue
        trained = load_trained(store, row.id)
        about = {"kind": "circuits", "scale": scale, "run": row.id, "about": found.about(row.config)}
        ends = {which: end[which] for which in ("step", "visible", "holdout")}
        made = {"replica": found.replica, "versions": found.store.get(row.id).versions}
        opened = {analysis: _short(one) for analysis, one in open_trained(trained, ANALYSES, 0).items()}
        keep_file(kept, name, about | ends | made | wanted(opened))


def _is_solved(store: Store, row: Row) -> bool:
    end = summarise(store.curve(row.id))
    return min(end.final_visible, end.final_holdout) >= SOLVED


def solved_networks(store: Store, scale: Scale) -> list[Row]:
    """Finished encoders of Rule 150 with one pattern hidden and the paper's feedback, solved; one a family."""
    found: dict[str, Row] = {}
    for row in store.rows():
        run = row.config
        if row.status != "done" or not isinstance(run, AutomatonRun) or (run.rule, len(run.hide)) != ("150", 1):
            continue
        of_paper = run.family == base(scale, "150", run.hide).but(seed=run.seed).family and run.unrolling == Unrolling()
        if of_paper and _is_solved(store, row):
            found.setdefault(run.family, row)
    return sorted(found.values(), key=lambda row: row.config.describe())


def wanted(opened: dict[str, Any]) -> dict[str, Any]:
    """What the study and its page speak of: whole levels, and the clearest unit."""
    whole = ("embedding", "layers.0.normed2", "layers.1.normed2")
    patches = [one for one in opened["patching"]["patches"] if one["site"] in whole]
    layers = [one for one in opened["layers"]["results"] if one["kind"] == "zero"]
    return opened | {
        "patching": opened["patching"] | {"patches": patches},
        "layers": opened["layers"] | {"results": layers},
        "neurons": {"best": opened["neurons"]["best"][:1]},
    }


def _short(value: Any) -> Any:
    """Four digits are enough of a share."""
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


def _networks(scale: Scale, kept: Path) -> list[Network]:
    files = sorted(kept.glob("circuit-*.json")) if kept.is_dir() else []
    found = (_read(path, path.stat().st_mtime_ns) for path in files)
    return [one for one in found if one is not None and one["scale"] == scale]


@cache
def _read(path: Path, written: int) -> Network | None:
    """A kept file; one in which a number is missing counts as not there."""
    found = kept_file(path.parent, path.name)
    try:
        for one in QUANTITIES if found is not None else ():
            one.find(found or {})
    except (KeyError, TypeError, StopIteration):
        return None
    return found


def _spread(scale: Scale, place: int, kept: Path) -> dict[str, float] | None:
    values = [QUANTITIES[place].find(one) for one in _networks(scale, kept)]
    return spread(_middle(QUANTITIES[place], values), values) if values else None


def _middle(one: Quantity, values: Sequence[float]) -> float:
    return fmean(values) if one.of == SHARE else median(values)


def spreads(result: StudyResult, store: Store, kept: Path) -> dict[str, Any]:
    """Every network's numbers: its run, and a value for each arm."""
    networks = _networks(result.scale, kept)
    return {
        "networks": [{name: one[name] for name in ("run", "about", "step", "versions")} for one in networks],
        "values": [[round(quantity.find(one), 2) for one in networks] for quantity in QUANTITIES],
    }


def circuit_study_tables(results: Sequence[StudyResult]) -> list[Table]:
    """A row a number: the paper's networks, the median and range of ours, the verdict."""
    (result,) = results
    rows = [
        [arm.labels["analysis"], arm.labels["of"], " ".join(f"{value:g}" for value in dict.fromkeys(one.published)),
         "" if arm.value is None else f"{arm.value['middle']:g}", _range(one, values), arm.comparison.verdict,
         arm.comparison.note]
        for arm, one, values in zip(result.arms, QUANTITIES, result.more["values"], strict=True)
    ]  # fmt: skip
    count = len(result.more["networks"])
    title = f"Inside solved networks of Rule 150: the paper's two beside the median of {count}, {result.scale} scale"
    columns = ["analysis", "of", "published", "median", "range", "verdict", "why"]
    return [Table(title, columns, rows, right=columns[2:5], detail=["why", "range"])]


def _range(one: Quantity, values: Sequence[float]) -> str:
    """As closely as the paper prints it: a verdict can hang on a tenth of a percent or a hundredth of a coefficient."""
    return span(values, ".1f" if one.unit == "%" else ".2f") if values else ""
