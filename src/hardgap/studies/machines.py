"""What training committed runs again on another machine gave (`results/machines.json`), and which weights are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent
from hardgap.report.document import NOT_YET, Content, markdown, paragraph
from hardgap.runs.comparing import read_compared
from hardgap.runs.kept_weights import FOLDER, replica_file, runs_with_weights
from hardgap.runs.results import RUN_FILE, read_result

FILE = "machines.json"
BLOCKS = ("machines", "machines-summary", "weights")
Compared = Sequence[dict[str, Any]]


def content(results: Path) -> Content:
    """The comparison as a table and in a few sentences, and the networks that open without training."""
    found = read_compared(results / FILE)
    return Content({
        "machines": markdown([machines_table(found)]) if found else NOT_YET,
        "machines-summary": "".join(map(paragraph, summary(found))) if found else NOT_YET,
        "weights": markdown([weights_table(results)]),
    })  # fmt: skip


def machines_table(found: Compared) -> Table:
    """A row a run: what is committed, and what came out here."""
    rows = [
        [one["run"], one["about"], "yes" if one["identical"] else "no", *_both(one, "steps"),
         *map(percent, _both(one, "holdout")), *("yes" if value else "no" for value in _both(one, "recovered"))]
        for one in found
    ]  # fmt: skip
    numbers = ["steps", "steps again", "holdout %", "holdout % again"]
    columns = ["run", "about", "same bits", *numbers, "recovered", "recovered again"]
    return Table("Runs trained again", columns, rows, right=numbers, detail=["recovered", "recovered again"])


def _both(one: dict[str, Any], name: str) -> list[Any]:
    return [one["committed"][name], one["again"][name]]


def summary(found: Compared) -> list[str]:
    """In sentences: identical bits, by whether the engine and the machine were the same; ends; answers."""
    same = [one for one in found if len(set(_both(one, "made_with"))) == 1]
    said = []
    if same:
        kinds = "; ".join(sorted({one["again"]["made_with"] for one in same}))
        said = [f"{len(same)} of {len(found)} runs had been made with the same processor and engine ({kinds}): "
                f"{_identical(same)}."]  # fmt: skip
    for name, title in (("automaton", "Experiment 1"), ("symbolic", "Experiment 2")):
        other = [one for one in found if one not in same and one["experiment"] == name]
        if other:
            whose = f"{title}, {len(other)} runs whose machine and engine are others or were not recorded"
            sides = f" {_sides(other)}" if name == "automaton" else ""  # 70 % is a threshold of Experiment 1 alone
            said.append(f"{whose}: {_identical(other)}. {_differences(other)}{sides}")
    return said


def _identical(runs: Compared) -> str:
    return f"{sum(one['identical'] for one in runs)} of {len(runs)} gave the same bits"


def _differences(runs: Compared) -> str:
    moved = sum(len(set(_both(one, "steps"))) > 1 for one in runs)
    apart = sorted(100 * abs(before - after) for before, after in (_both(one, "holdout") for one in runs))
    return (
        f"{moved} stopped at another step. The final holdout accuracy differs by {median(apart):.1f} points in the "
        f"median and {apart[-1]:.1f} at most."
    )


def _sides(runs: Compared) -> str:
    flipped = sum(len(set(_both(one, "recovered"))) > 1 for one in runs)
    before, again = (sum(one[when]["recovered"] for one in runs) for when in ("committed", "again"))
    return f"{flipped} changed sides (70 % holdout or not); recovered were {before} before and {again} again."


def weights_table(results: Path) -> Table:
    """The networks whose weights are kept beside results."""
    rows = [_kept(results, run_id) for run_id in runs_with_weights(results)]
    columns = ["run", "about", "weights", "steps", "visible %", "holdout %"]
    return Table("Networks that open without training", columns, rows, right=columns[3:])


def _kept(results: Path, run_id: str) -> list[Any]:
    told = replica_file(results / FOLDER, run_id)
    replica = told.exists()
    path = told if replica else next(p for p in results.rglob(f"{run_id}.json") if RUN_FILE.fullmatch(p.name))
    run, curve, *_ = read_result(path)
    last = curve[-1]
    ends = [percent(last["visible"]), percent(last["holdout"])]
    return [f"`{run_id}`", run.describe(), "a replica's" if replica else "its own", last["step"], *ends]
