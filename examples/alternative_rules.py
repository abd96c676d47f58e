"""What did the failed runs learn? Recovers the rule of every failed run of a store, and asks whether it is
consistent with everything visible, as the paper says of its own (limitation 3).

    python examples/alternative_rules.py --store hardgap-runs --rule 150

One line a run: the rule it computes, how many visible cells its decisions contradict at steps 2 to 4, how many
of those at step 2 its probabilities repair, and the clearest mark. docs/circuits.md discusses the result.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from hardgap.runs.execute import load_model
from hardgap.runs.store import Store
from hardgap.worlds.automaton.circuits.consistency import Consistency, check_consistency
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import split_rows

SUCCESS = 0.7


def failed_runs(store: Store, rule: str) -> Iterator[AutomatonRun]:
    """Finished runs with soft feedback whose hidden patterns were not recovered."""
    for row in store.rows():
        run = row.config
        if row.status != "done" or not isinstance(run, AutomatonRun):
            continue
        if run.rule == rule and run.unrolling.feedback == "soft" and store.curve(row.id)[-1]["holdout"] < SUCCESS:
            yield run


def consistency_of(store: Store, run: AutomatonRun) -> Consistency:
    model, _ = load_model(store, run.id)
    rows = split_rows(run.width, run.train_rows, run.test_rows, run.seed)[1]
    return check_consistency(model, run.gap, rows, regime=run.unrolling)


def line(run: AutomatonRun, found: Consistency) -> str:
    wrong = [100 * (1 - (share or 0)) for share in found.fed["rounded"].visible[1:]]
    graded = [100 * (1 - (share or 0)) for share in found.fed["graded"].visible[1:]]
    mark = found.marks[0] if found.marks else None
    told = f"{mark.cells} at {-mark.offset:+d}: {mark.near:.2f}/{mark.far:.2f} (AUC {mark.auc:.2f})" if mark else ""
    hidden = run.gap.rule.pattern_text(run.hide[0])
    return (
        f"{run.id}  {hidden} seed {run.seed} {run.budget.steps:5d} steps  Rule {found.rule:4s} "
        f"contradicted {wrong[0]:4.1f} {wrong[1]:4.1f} {wrong[2]:4.1f} %  graded {graded[0]:4.1f} {graded[1]:4.1f} "
        f"{graded[2]:4.1f} %  repaired {100 * (found.repaired or 0):3.0f} %  {told}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("hardgap-runs"))
    parser.add_argument("--rule", default="150")
    parser.add_argument("--json", type=Path, help="also write all numbers here")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    store = Store(asked.store, create=False)
    found = {}
    for run in failed_runs(store, asked.rule):
        found[run.id] = consistency_of(store, run)
        print(line(run, found[run.id]), flush=True)
    if not found:
        sys.exit(f"no failed run of Rule {asked.rule} in {asked.store}")
    verdicts = [result.verdict for result in found.values()]
    for verdict in sorted(set(verdicts)):
        print(f"{verdicts.count(verdict):4d} of {len(verdicts)}: {verdict}")
    repaired = [result.repaired for result in found.values() if result.repaired is not None]
    if repaired:
        print(f"repaired at step 2: median {100 * np.median(repaired):.0f} % of {len(repaired)} runs")
    if asked.json:
        asked.json.write_text(json.dumps({run_id: result.as_dict() for run_id, result in found.items()}, indent=1))


if __name__ == "__main__":
    main()
