"""The baselines of held-out pairs, measured once and kept as files (paper, Appendix F).

They depend on the data of a run and on nothing else of it, so a file is named by a hash of just that: runs with other
conditions, networks or budgets share it. One file a pair; the folder can be the store's, or one that is committed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardgap.core.progress import Progress, part_of, silent
from hardgap.runs.results import write_text
from hardgap.studies.interpolation.measure import made_with
from hardgap.worlds.chains.baselines import SYMBOLIC_METHODS, SymbolicMethod
from hardgap.worlds.chains.gap import Sets
from hardgap.worlds.chains.run import SymbolicRun

DATA = (
    "holdout", "ambiguity", "operators", "sources", "bits", "length", "train_examples", "eval_examples",
    "test_examples", "seen_examples", "seed",
)  # fmt: skip
"""What of a run says which data its baselines learned from and were judged on."""
FORMAT = 1


@dataclass(frozen=True)
class Baselines:
    """What each method gets right of one held-out pair: `{method: {"seen": …, "holdout": …, …}}`, shares."""

    holdout: str
    methods: dict[str, dict[str, Any]]

    def best(self, among: Iterable[str] | None = None) -> tuple[str, float]:
        """The interpolation method with the highest held-out accuracy, and that accuracy."""
        wanted = set(among) if among is not None else {n for n, found in self.methods.items() if found["interpolates"]}
        name = max((n for n in self.methods if n in wanted), key=lambda n: float(self.methods[n]["holdout"]))
        return name, float(self.methods[name]["holdout"])


def baselines_path(folder: Path, run: SymbolicRun) -> Path:
    """Where the baselines of a run's data are kept."""
    text = json.dumps([FORMAT, _asked(run)], sort_keys=True)
    words = "-".join(
        run.gap.arithmetic.operators[op].name.lower() for op in run.gap.arithmetic.parse_chain(run.holdout)
    )
    return folder / f"{re.sub(r'[^a-z0-9-]', '', words)}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"


def _asked(run: SymbolicRun) -> dict[str, Any]:
    asked = run.model_dump(mode="json", include=set(DATA))
    if not asked["sources"]:  # The first files were made without them.
        del asked["sources"]
    return asked


def kept_baselines(folder: Path, run: SymbolicRun) -> Baselines | None:
    """The baselines of a run's data, if all have been measured; a file that is damaged counts as not there."""
    kept = _kept(folder, run)["methods"]
    return Baselines(run.holdout, kept) if {method.name for method in SYMBOLIC_METHODS} <= kept.keys() else None


def _kept(folder: Path, run: SymbolicRun) -> dict[str, Any]:
    """The file of a run's data with its methods by name: none, if it is not there or damaged."""
    try:
        data = json.loads(baselines_path(folder, run).read_text(encoding="utf-8"))
        methods = {str(one["method"]): one for one in data["methods"]}
        complete = all({"seen", "holdout", "interpolates"} <= one.keys() for one in methods.values())
        return {**data, "methods": methods if complete and data["config"] == _asked(run) else {}}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {"methods": {}}


def measure_baselines(folder: Path, run: SymbolicRun, on_progress: Progress = silent) -> Baselines:
    """The baselines of a run's data; what the folder does not have yet is measured and added."""
    if (whole := kept_baselines(folder, run)) is not None:
        return whole
    kept, made = _kept(folder, run), made_with()
    sizes = {"train": run.train_examples, "evaluate": run.eval_examples, "test": run.test_examples}
    sets = run.gap.sets(**sizes, seen=run.seen_examples, seed=run.seed)
    found: dict[str, dict[str, Any]] = {}
    for done, method in enumerate(SYMBOLIC_METHODS):
        on_progress(f"{run.holdout} {method.name}", done, len(SYMBOLIC_METHODS))
        found[method.name] = kept["methods"].get(method.name) or _measured(method, run, sets)
        if method.name not in kept["methods"] and kept.get("versions", made) != made:
            found[method.name]["versions"] = made  # others than those of the file, which was begun earlier
    versions = kept.get("versions", made)
    head = {"kind": "symbolic-baselines", "about": run.gap.describe(), "config": _asked(run), "versions": versions}
    lines = ",\n".join("  " + json.dumps(one, ensure_ascii=False) for one in found.values())
    top = ",\n".join(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items())
    write_text(baselines_path(folder, run), "{\n" + top + ',\n "methods": [\n' + lines + "\n ]\n}\n")
    return Baselines(run.holdout, found)


def _measured(method: SymbolicMethod, run: SymbolicRun, sets: Sets) -> dict[str, Any]:
    namer = method.fit(run.gap.arithmetic, sets.train, run.seed)
    return {
        "method": method.name, "seen": round(method.accuracy(namer, sets.test_seen), 6),
        "holdout": round(method.accuracy(namer, sets.test_holdout), 6), "interpolates": method.interpolates,
        "answers": method.answers, "examples": min(method.most_examples, len(sets.train)),
    }  # fmt: skip


def measure_all(folder: Path, runs: list[SymbolicRun], on_progress: Progress = silent) -> list[Baselines]:
    """One after another, with one progress for all; what was measured stays when this is stopped."""
    told = [part_of(on_progress, place, len(runs)) for place in range(len(runs))]
    return [measure_baselines(folder, run, tell) for run, tell in zip(runs, told, strict=True)]
