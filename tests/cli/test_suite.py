"""`hardgap suite` and `hardgap atlas` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
        (("run", "gru", "--recipe", "hot"), "--recipe hot: choose untempered, tempered"),
        (("run", "gru", "--suite", "v9"), "there is no suite 'v9'; there is v1"),
        (("run", "gru", "--seeds", "0"), "--seeds 0: the suite has 3 of each gap"),
        (("run", "gru", "--seed", "-1"), "--seed -1: a seed is not negative"),
        (("run", "gru", "--card", "no/such/folder/card.json"), "--card no/such/folder/card.json cannot be written"),
        (("run", "gru", "--budget", "soon"), "--budget soon: write a time"),
        (("run", "gru", "--no-run"), "there is no store"),
        (("run", "gru", "--add-to", "missing.json"), "missing.json is not a card of a suite"),
        (("run", "KNN", "--add-to", CARD), "--add-to, --recipe, --seeds and --scale go with networks that are trained"),
        (("run", "KNN", "--seeds", "1"), "--add-to, --recipe, --seeds and --scale go with networks that are trained"),
        (("run", "conv", "--quick", "--seed", "1", "--add-to", CARD), "that card is about another seed: 0, not 1"),
        (("run", "KNN", "--seed", "-1"), "--seed -1: a seed is not negative"),
        (("verify", CARD, "--seed", "-1"), "--seed -1: a seed is not negative"),
        (("verify", "missing.json"), "missing.json is not a card of a suite"),
        (("compare", "missing.json", "missing.json"), "missing.json is not a card of a suite"),
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


def test_the_atlas_has_elementary_rules_alone(call: Call) -> None:
    code, _, err = call("atlas", "D")
    assert code == 2
    assert "the atlas has the 256 elementary rules, of radius 1, not Rule D" in err
