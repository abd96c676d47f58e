"""`hardgap runs list` as a user meets it: a short table that says what it leaves out, and data for everything else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

from .conftest import Call

Tiny = Callable[..., AutomatonRun]


@pytest.fixture
def store(tmp_path: Path, tiny: Tiny) -> Store:
    """Sixty queued runs, then three finished ones, of which the second did best."""
    store = Store(tmp_path / "hardgap-runs")
    store.add(tiny(seed=seed) for seed in range(60))
    for seed, holdout in ((100, 0.25), (101, 1.0), (102, 0.5)):
        curve = [{"step": 7, "loss": 0.1, "visible": 1.0, "holdout": holdout, "detail": {}}]
        store.put_all_done([(tiny(seed=seed, optimiser={"batch": seed}), curve, "budget", {}, 1.0)])
    return store


def seeds(out: str) -> list[int]:
    return [int(run["about"].rpartition("seed ")[2]) for run in json.loads(out)]


def test_a_table_shows_the_newest_and_says_how_many_there_are(store: Store, call: Call) -> None:
    code, out, err = call("runs", "list")
    assert (code, out.count("Rule 30")) == (0, 50)
    assert "50 of 63 runs; --limit 0 shows all" in err
    assert out.index("seed 59") < out.index("seed 102")  # the newest stand last
    assert "seed 12," not in out
    assert call("runs", "list", "--limit", 0)[1].count("Rule 30") == 63
    assert call("runs", "list", "--limit", 2)[1].count("Rule 30") == 2
    assert call("runs", "list", "--status", "done")[2] == ""


def test_json_gives_all_unless_told_otherwise(store: Store, call: Call) -> None:
    code, out, err = call("runs", "list", "--json")
    assert (code, err) == (0, "")
    assert seeds(out) == [*range(60), 100, 101, 102]
    assert seeds(call("runs", "list", "--json", "--limit", 2)[1]) == [101, 102]


def test_runs_are_chosen_and_sorted(store: Store, call: Call) -> None:
    best = ("runs", "list", "--json", "--limit", 2)
    assert seeds(call(*best, "--sort", "-holdout")[1]) == [101, 102]
    assert seeds(call(*best, "--sort=-holdout")[1]) == [101, 102]
    assert seeds(call(*best, "--sort", "holdout", "--reverse")[1]) == [101, 102]
    assert seeds(call(*best, "--sort", "holdout")[1]) == [100, 102]
    assert seeds(call(*best, "--reverse")[1]) == [102, 101]
    two = call("runs", "list", "--json", "--where", "seed=3", "--where", "seed=101", "--where", "rule=30")
    assert seeds(two[1]) == [3, 101]
    assert seeds(call("runs", "list", "--json", "--where", "seed=3", "--status", "done")[1]) == []


def test_what_tells_runs_apart_stands_in_the_table(store: Store, call: Call) -> None:
    out = call("runs", "list", "--status", "done")[1]
    assert all(f"optimiser.batch={seed}" in out for seed in (100, 101, 102))
    assert "optimiser.batch" not in call("runs", "list", "--status", "queued")[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit=-1"], "--limit -1: give a number of runs, or 0 for all"),
        (["--where", "seed"], "--where seed: write FIELD=VALUE, such as rule=150"),
        (["--where", "feedback=soft"], "runs have no field 'feedback'; did you mean unrolling.feedback?"),
        (["--where", "seed=x"], "seed=x: input should be a valid integer"),
        (["--sort", "colour"], "runs have no field 'colour'"),
    ],
)
def test_wrong_options_get_one_sentence(store: Store, call: Call, options: list[str], words: str) -> None:
    code, out, err = call("runs", "list", *options)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert words in err


def test_the_formula_of_a_run_is_kept_from_training_to_another_store(call: Call) -> None:
    formula = "L1 ^ (C & R2)"
    call("train", formula, "--hide", "5", "--scale", "smoke")
    for folder in ("hardgap-runs", "other"):
        (run,) = json.loads(call("runs", "list", "--json", "--store", folder)[1])
        assert run["about"].startswith(f"Rule {formula}, pattern 00101 hidden")
        assert run["written"] == formula
        assert formula in call("runs", "show", run["run"], "--store", folder)[1]
        call("runs", "export", "out")
        call("runs", "import", "out", "--store", "other")
    assert json.loads((Path("out") / f"{run['run']}.json").read_text())["config"]["rule"] == formula
    code, _, err = call("train", "(R2 & C) ^ L1", "--hide", "5", "--scale", "smoke")
    assert (code, "step" in err) == (0, False)  # the same run, however it is written


def test_a_run_to_remove_is_named(store: Store, call: Call) -> None:
    assert "say which run to remove, or --damaged" in call("runs", "rm")[2]
    assert "removed damaged runs: there are none" in call("runs", "rm", "--damaged")[2]
    store._db.execute("UPDATE runs SET seconds = 9 WHERE status = 'done'")
    assert call("runs", "rm", "--damaged")[2].count(",") == 2
    assert store.count() == 60


def test_a_chain_that_is_shown_has_its_accuracy_and_the_pair_that_it_holds_out(call: Call, tmp_path: Path) -> None:
    chain = min((Path(__file__).parents[2] / "results" / "symbolic" / "runs").glob("*.json"))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / chain.name).write_bytes(chain.read_bytes())
    call("runs", "import", "one")
    kept = json.loads(chain.read_text())
    rows = csv.DictReader(io.StringIO(call("runs", "show", chain.stem, "--format", "csv")[1]))
    told = [row["value"] for row in rows if row["field"] == "holdout"]
    assert told == [str(kept["curve"][-1]["holdout"]), kept["config"]["holdout"]]
