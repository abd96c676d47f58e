"""`hardgap suite` and `hardgap atlas` as a user meets them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from hardgap.core.run import Run
from hardgap.runs.store import Store
from hardgap.suites.card import read_card

from .conftest import Call

CARD = Path(__file__).parents[2] / "results" / "suite" / "v1-quick-conv-tempered.json"
TINY = ("--quick", "--scale", "smoke", "--seeds", "1", "--no-certify", "--workers", "1")
OWN = """
from torch import nn
def make(width):
    return nn.Linear(width, width)
def colder(run):
    return run.changed(unrolling__temperature={"start": 2.0, "end": 2.0})
"""


@pytest.mark.slow
def test_a_network_of_ones_own_is_judged_checked_and_compared(call: Call, tmp_path: Path) -> None:
    (tmp_path / "suitenets.py").write_text(OWN)
    code, out, err = call("suite", "run", "suitenets:make", "--recipe", "suitenets:colder", *TINY, "--json")
    found = json.loads(out)
    assert (code, found["done"], found["planned"], found["parameters"]) == (0, 23, 69, 132)
    assert found["card"] == "v1-quick-suitenets-make-suitenets-colder.json"
    assert f"private part from seed {found['seed']}" in err
    assert len(found["source"]) == 64
    assert found["parts"]["private"]["gaps"] == 5

    again = call("suite", "run", "suitenets:make", "--recipe", "suitenets:colder", *TINY, "--card", "again.json")
    assert "private part from seed" not in again[2]  # nothing is left to train
    assert (tmp_path / "again.json").read_text() == (tmp_path / found["card"]).read_text()
    assert "This is the quick part, a subset of the suite" in again[1]

    twice = ["2" if option == "1" else option for option in TINY]
    elsewhere = ("--store", tmp_path / "elsewhere", "--add-to", "again.json")
    added = call("suite", "run", "suitenets:make", "--recipe", "suitenets:colder", *twice, *elsewhere, "--json")
    assert "23 of 46 runs to train" in added[2]
    one, two = (read_card(tmp_path / name) for name in (found["card"], "again.json"))
    assert [run.model_dump() for run in two.runs[:23]] == [run.model_dump() for run in one.runs]
    assert {run.seed for run in two.runs[23:]} == {1}
    kept = (tmp_path / "again.json").read_text()
    fewer = call("suite", "run", "suitenets:make", "--recipe", "suitenets:colder", *TINY, "--add-to", "again.json")
    assert (fewer[0], (tmp_path / "again.json").read_text()) == (0, kept)  # no run of a card is lost
    refused = call("suite", "run", "gru", *TINY, "--add-to", "again.json")
    assert refused[0] == 2
    assert "--add-to: that card is about another network: suitenets:make, not gru" in refused[2]
    refused = call("suite", "run", "gru", *TINY, "--card", "again.json")
    assert (refused[0], (tmp_path / "again.json").read_text()) == (2, kept)
    assert "again.json has 46 runs that this card would not" in refused[2]

    code, out, _ = call("suite", "verify", found["card"], "--share", "0.05", "--workers", "1", "--json")
    assert (code, json.loads(out)["confirmed"]) == (0, True)
    assert {run["verdict"] for run in json.loads(out)["runs"]} == {"same curve"}

    call("suite", "run", "solver", "--quick")
    code, out, _ = call("suite", "compare", found["card"], "v1-quick-solver.json", "--json")
    compared = json.loads(out)["compared"][0]
    assert (code, compared["both"] + compared["only second"]) == (0, 18)  # the private parts are of other seeds


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("run", "gruu", "--quick"), "there is no reference 'gruu' (did you mean gru?)"),
        (("run", "knn", "--quick"), "there is no reference 'knn' (did you mean KNN?)"),
        (("run", "gru", "--recipe", "hot"), "--recipe hot: choose untempered, tempered"),
        (
            ("run", "gru", "--recipe", "temperd"),
            "--recipe temperd (did you mean tempered?): choose untempered, tempered",
        ),
        (("run", "gru", "--suite", "v9"), "there is no suite 'v9'; there is v1"),
        (("run", "gru", "--seeds", "0"), "--seeds 0: the suite has 3 of each gap"),
        (("run", "gru", "--seed", "-1"), "--seed -1: a seed is not negative"),
        (("run", "gru", "--card", "no/such/folder/card.json"), "--card no/such/folder/card.json cannot be written"),
        (("run", "gru", "--budget", "soon"), "--budget soon: write a time"),
        (("run", "gru", "--no-run"), "there is no store"),
        (("run", "gru", "--add-to", "missing.json"), "missing.json is not a card of a suite"),
        (("run", "conv", "--quick", "--seed", "1", "--add-to", CARD), "that card is about another seed: 0, not 1"),
        (("run", "KNN", "--seed", "-1"), "--seed -1: a seed is not negative"),
        (("verify", CARD, "--seed", "-1"), "--seed -1: a seed is not negative"),
        (("verify", "missing.json"), "missing.json is not a card of a suite"),
        (("compare", "missing.json", "missing.json"), "missing.json is not a card of a suite"),
        (("show", "missing.json"), "missing.json is not a card of a suite"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_before_anything_is_trained(
    call: Call, tmp_path: Path, asked: tuple[str, ...], why: str
) -> None:
    code, out, err = call("suite", *asked)
    assert (code, out) == (2, "")
    assert why in err
    assert not (tmp_path / "hardgap-runs").exists()


def test_the_list_names_every_group_and_every_reference(call: Call) -> None:
    code, out, _ = call("suite", "list")
    assert code == 0
    assert "v1: 90 public gaps, 3 seeds each" in out
    assert all(group in out for group in ("paper", "linear", "one-sided", "nonlinear", "radius 2", "radius 3"))
    data = json.loads(call("suite", "list", "--json")[1])
    assert len(data["gaps"]) == 90
    assert {"encoder", "gru", "solver", "KNN"} <= data["networks"].keys()


def test_a_computed_reference_cannot_be_trained_again(call: Call) -> None:
    call("suite", "run", "majority", "--quick")
    code, _, err = call("suite", "verify", "v1-quick-majority.json")
    assert code == 2
    assert "majority is not trained" in err


@pytest.mark.parametrize(
    "ignored",
    [
        ("--add-to", CARD),
        ("--recipe", "untempered"),
        ("--seeds", "1"),
        ("--scale", "smoke"),
        ("--no-run",),
        ("--budget", "xx"),
        ("--no-certify",),
        ("--on", "foo"),
        ("--workers", "0"),
        ("--engine", "native"),
    ],
)
def test_what_only_training_heeds_is_refused_where_nothing_is_trained(
    call: Call, tmp_path: Path, ignored: tuple[str, ...]
) -> None:
    code, out, err = call("suite", "run", "KNN", "--quick", *ignored)
    assert (code, out, list(tmp_path.iterdir())) == (2, "", [])
    assert err == f"hardgap: {ignored[0]}: KNN is computed at once, nothing is trained\n"


def test_a_computed_card_takes_no_other_cards_place(call: Call, tmp_path: Path) -> None:
    (victim := tmp_path / "victim.json").write_text(CARD.read_text())
    code, out, err = call("suite", "run", "KNN", "--quick", "--card", "victim.json")
    assert (code, out, victim.read_text()) == (2, "", CARD.read_text())
    assert "victim.json has 69 runs that this card would not: name another file with --card" in err

    asked = ("suite", "run", "KNN", "--quick", "--card", "knn.json")
    assert call(*asked)[0] == 0
    kept = (tmp_path / "knn.json").read_text()
    assert call(*asked, "--seed", "1")[0] == 2
    assert call("suite", "run", "majority", *asked[3:])[0] == 2
    assert (call(*asked)[0], (tmp_path / "knn.json").read_text()) == (0, kept)  # the very same is no loss


def test_a_card_is_shown_as_its_run_showed_it(call: Call, tmp_path: Path) -> None:
    run = call("suite", "run", "KNN", "--quick", "--card", "knn.json")
    made = json.loads(call("suite", "run", "KNN", "--quick", "--card", "knn.json", "--json")[1])
    before = list(tmp_path.iterdir())
    assert call("suite", "show", "knn.json") == (0, run[1], "")
    assert json.loads(call("suite", "show", "knn.json", "--json")[1]) == made
    assert list(tmp_path.iterdir()) == before  # no store, no other file
    assert "KNN: v1, quick part" in call("suite", "show", "knn.json", "--format", "markdown")[1]
    assert {part["fitting"] for part in made["parts"].values()} == {None}  # nothing was trained


def test_the_json_of_a_card_tells_transfer_and_standing(call: Call) -> None:
    found = json.loads(call("suite", "show", CARD, "--json")[1])
    shown = call("suite", "show", CARD)[1]
    assert found["transfer"] == {"21": [68, 68], "101": [68, 68]}
    assert "on wider rows, too: 68 of 68 at width 21, 68 of 68 at width 101." in shown
    (knn,) = [one for one in found["standing"] if one["reference"] == "KNN"]
    assert knn == {"reference": "KNN", "seeds": "", "gaps": 18, "recovered": 8, "by this card": 18}
    assert all(one["reference"] in shown for one in found["standing"])
    assert found["parts"]["public"]["fitting"] == 18


def test_a_comparison_says_what_the_cards_were_not_asked_alike(call: Call, tmp_path: Path) -> None:
    card = read_card(CARD)
    first = [run for run in card.runs if run.seed == 0 and run.gap.part == "public"]
    card.model_copy(update={"runs": tuple(first)}).save(tmp_path / "fewer.json")
    said = [
        "Seeds a gap: 1 of A, 3 of B; a majority of more is judged more surely.",
        "Gaps that only one card has are left out: 0 of A, 5 of B.",
    ]
    assert call("suite", "compare", "fewer.json", CARD)[1].splitlines()[-2:] == said
    assert json.loads(call("suite", "compare", "fewer.json", CARD, "--json")[1])["remarks"] == said
    assert json.loads(call("suite", "compare", CARD, CARD, "--json")[1])["remarks"] == []


def test_the_atlas_tells_the_eight_gaps_of_a_rule_without_any_run(call: Call, tmp_path: Path) -> None:
    (empty := tmp_path / "results").mkdir()
    code, out, _ = call("atlas", "150", "--results", empty, "--json")
    cells = json.loads(out)
    assert code == 0
    assert [cell["determined"] for cell in cells] == [2] * 8
    assert {cell["similarity"] for cell in cells} == {"wrong"}
    assert [cell["trained"] for cell in cells] == [None] * 8
    assert "not yet" in call("atlas", "150", "--results", empty)[1]


def test_the_atlas_reads_committed_runs(call: Call) -> None:
    results = Path(__file__).parents[2] / "results"
    cells = json.loads(call("atlas", "110", "--results", results, "--json")[1])
    assert {cell["trained"]["settled"] for cell in cells} == {"recovered"}
    shown = call("atlas", "110", "--results", results)[1]
    assert all(cell["trained"]["run"] in shown for cell in cells)
    assert "`hardgap runs retrain RUN`" in shown


def test_the_atlas_brings_the_committed_runs_along(call: Call) -> None:
    """Wherever it is called, and no folder that is not there passes for one without runs."""
    assert "not yet" not in call("atlas", "110")[1]
    assert call("atlas", "110", "--results", "nowhere")[::2] == (
        2,
        "hardgap: --results nowhere: there is no such folder\n",
    )


def test_the_atlas_trains_what_the_store_has_not_whatever_was_measured_before(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And shows the store's own runs then: here each is told to end otherwise than the committed ones."""
    asked: list[int] = []

    def trained(store: Store, runs: list[Run], *, workers: int | None) -> int:
        missed = [{"step": 25, "visible": 1.0, "holdout": 0.0, "loss": 0.1, "detail": {}}]
        store.put_all_done([(run, missed, "budget", {}, 1.0) for run in runs])
        asked.append(len(runs))
        return 0

    monkeypatch.setattr("hardgap.cli.sweep.run_and_report", trained)
    before, after = (json.loads(call("atlas", "150", *run, "--json")[1]) for run in ((), ("--run",)))
    assert asked == [8]
    assert [{cell["trained"]["settled"] for cell in cells} for cells in (before, after)] == [
        {"recovered"},
        {"the other table"},
    ]


def test_the_atlas_gives_all_gaps_as_data(call: Call, tmp_path: Path) -> None:
    code, out, _ = call("atlas", "all", "--format", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert (code, len(rows)) == (0, 2048)
    assert {"rule", "hidden", "determined", "similarity", "forecast", "trained", "steps", "run"} <= rows[0].keys()
    (row,) = [row for row in rows if (row["rule"], row["hidden"]) == ("8", "111")]
    assert (row["determined"], row["trained"], row["run"]) == ("2", "like Rule 136", "2ad772691613")
    (empty := tmp_path / "none").mkdir()
    assert len(json.loads(call("atlas", "all", "--results", empty, "--json")[1])) == 2048
    assert call("atlas", "all", "--run")[::2] == (
        2,
        "hardgap: --run trains the gaps of one rule; `hardgap reproduce atlas` trains all\n",
    )


def test_a_folder_of_somebody_elses_results_does_not_hide_the_committed_ones(call: Call, tmp_path: Path) -> None:
    """Be it empty or not; one into which runs were written is taken."""
    (theirs := tmp_path / "results" / "theirs").mkdir(parents=True)
    assert "not yet" not in call("atlas", "110")[1]
    (theirs / "scores.json").write_text("{}")
    (theirs.parent / "index.csv").write_text("name,score\n")
    assert "not yet" not in call("atlas", "110")[1]
    (cell,) = [c for c in json.loads(call("atlas", "110", "--json")[1]) if c["pattern"] == 7]
    committed = Path(__file__).parents[2] / "results"
    (file,) = committed.rglob(f"{cell['trained']['run']}.json")
    (theirs / file.name).write_bytes(file.read_bytes())
    assert call("atlas", "110")[1].count("not yet") == 7


def test_the_atlas_has_elementary_rules_alone(call: Call) -> None:
    code, _, err = call("atlas", "D")
    assert code == 2
    assert "the atlas has the 256 elementary rules, of radius 1, not Rule D" in err
