"""Networks of gaps that every seed misses: opened from a store, kept as files, told by what they compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from hardgap.core.progress import silent
from hardgap.runs.kept_weights import take_weights
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.studies.atlas.opened import WORDS, open_missed, opened_table, opened_words
from hardgap.studies.atlas.study import SEEDS, atlas_run, missed, missed_gaps, opened, opened_run
from hardgap.studies.measure import Measured, StudyResult, measure
from hardgap.worlds.automaton.circuits.consistency import Verdict
from hardgap.worlds.automaton.rule import Rule

RESULTS = Path(__file__).parents[2] / "results"
RULE_54 = "be77446e963f"  # its network smuggles, and is committed


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The runs of Rule 54 with 010 hidden, which three seeds miss, with the committed weights of one."""
    found = Store(tmp_path / "store")
    import_runs(found, RESULTS, {atlas_run("desk", 54, 2).but(seed=seed).id for seed in SEEDS})
    take_weights(found, RESULTS, [RULE_54])
    return found


def test_a_network_that_smuggles_is_opened_once_and_told(store: Store, tmp_path: Path) -> None:
    assert opened_run("desk", Rule(1, 54), 2).id == RULE_54
    kept = tmp_path / "opened"
    open_missed("desk", store, kept, silent, lambda: False)
    (path,) = kept.iterdir()
    found = json.loads(path.read_text())
    assert (found["run"], found["rule"], found["replica"]) == (RULE_54, "50", False)
    assert found["visible"]["graded"][1] > 0.99 > 0.9 > found["visible"]["rounded"][1]
    written = path.stat().st_mtime_ns
    open_missed("desk", store, kept, silent, lambda: False)
    assert path.stat().st_mtime_ns == written

    result = measure(opened, "desk", store, kept)
    (row,) = opened_table(result).rows
    assert row == ["54", "010", "Rule 50", "a wrong rule that agrees with what is visible through graded values alone",
                   "99.9", "86.0", RULE_54]  # fmt: skip
    words = " ".join(opened_words(result, measure(missed, "desk", store)).split())
    assert words.startswith("Of 1 gap that three seeds miss, one network each of 1 is opened. A wrong rule that agrees")
    assert words.endswith(
        "through graded values alone: 1, of which training with rounding recovers none (Rule 54 (010))."
    )


def test_no_wrong_rule_of_a_determined_gap_is_said_to_be_consistent() -> None:
    """Every verdict of the analysis has words of its own; those of Rule 36 fit what is visible but for a few cells."""
    assert set(WORDS) == set(get_args(Verdict))
    run = opened_run("desk", Rule(1, 36), 2).id
    found = json.loads((RESULTS / "atlas" / "opened" / f"opened-{run}.json").read_text())
    table = opened_table(StudyResult(opened, "desk", (Measured({"rule": "36", "pattern": 2}, 0, value=found),)))
    assert table.rows[0][2:4] == ["Rule 32", "a wrong rule that hardly anything visible contradicts"]
    assert table.columns[4] == "visible cells right at step 2, graded %"


def test_nothing_is_opened_of_a_gap_that_a_seed_recovers_nor_when_it_is_late(store: Store, tmp_path: Path) -> None:
    open_missed("desk", store, tmp_path / "late", silent, lambda: True)
    right = atlas_run("desk", 54, 2).but(seed=SEEDS[2])
    solved = [{"step": 25, "visible": 1.0, "holdout": 1.0, "loss": 0.1, "detail": {}}]
    fresh = Store(tmp_path / "fresh")
    import_runs(fresh, RESULTS, {atlas_run("desk", 54, 2).but(seed=seed).id for seed in SEEDS[:2]})
    fresh.put_all_done([(right, solved, "solved", {}, 1.0)])
    open_missed("desk", fresh, tmp_path / "fresh-kept", silent, lambda: False)
    assert not (tmp_path / "late").exists()
    assert not (tmp_path / "fresh-kept").exists()


def test_every_gap_that_is_opened_is_one_that_is_looked_into() -> None:
    own = {opened_run("desk", *gap).id for gap in missed_gaps()}
    files = sorted((RESULTS / "atlas" / "opened").glob("opened-*.json"))
    assert files
    assert {json.loads(path.read_text())["run"] for path in files} <= own
