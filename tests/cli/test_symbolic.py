"""`hardgap symbolic`: train, ask and baselines as a user meets them."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli import main
from hardgap.cli.symbolic import symbolic
from hardgap.core.errors import BadInput
from hardgap.runs.store import Store

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = ["--operators", "^,|,&,R", "--bits", "4", "--scale", "smoke"]


def call(*words: str) -> Any:
    return symbolic(words, exit_on_error=False, print_error=False, result_action="return_value")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    call("train", "^&", *SMALL, "--store", str(folder))
    return folder


@pytest.fixture
def run(store: Path, capsys: pytest.CaptureFixture[str]) -> str:
    call("train", "^&", *SMALL, "--store", str(store), "--json")
    return str(json.loads(capsys.readouterr().out)["run"])


def test_training_reports_every_selection_and_measure(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("train", "^&", *SMALL, "--store", str(store), "--json")
    result = json.loads(capsys.readouterr().out)
    assert set(result["selected"]) == {"final", "eval-holdout", "eval-seen"}
    assert set(result["selected"]["final"]["detail"]["holdout"]) == {"exact", "pair", "ops", "f", "valid", "tokens"}
    assert (result["steps"], result["status"]) == (2, "done")
    call("train", "^&", *SMALL, "--store", str(store))
    table = capsys.readouterr().out
    assert "XOR→AND held out" in table
    assert "eval-seen" in table


def test_the_question_it_proposes_has_an_answer(store: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    call("train", "^&", *SMALL, "--store", str(store))
    command = re.search(r"`hardgap symbolic (ask .*)`", " ".join(capsys.readouterr().err.split()))
    assert command is not None
    call(*command[1].split(), "--select", "eval-seen", "--json")
    assert "^&" in json.loads(capsys.readouterr().out)["fitting"]


def test_opaque_letters_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("train", "^&", *SMALL, "--condition", "opaque", "--store", str(tmp_path), "--json")
    trained = json.loads(capsys.readouterr().out)["run"]
    call("ask", trained, "12", "7", "3", "15", "5", "--store", str(tmp_path), "--json")
    letters = json.loads(capsys.readouterr().out)["letters"]
    assert list(letters) == list("ABCD")
    assert sorted(letters.values()) == sorted("^|&R")
    call("ask", trained, "12", "7", "3", "15", "5", "--store", str(tmp_path))
    assert f"A={letters['A']} B={letters['B']}" in capsys.readouterr().out


def test_asking_shows_the_derivation_and_what_fits(store: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    call("ask", run, "12", "7", "3", "15", "5", "--store", str(store), "--json")
    reply = json.loads(capsys.readouterr().out)
    assert reply["fitting"] == ["||"]  # 12 ^ 7 = 11, | 3 = 11: not 15
    assert reply["truth"] == "12 | 7 = 15 ; 15 | 5 = 15 ; | |"
    assert len(reply["tokens"]) == 15
    assert all(0 < token["confidence"] <= 1 for token in reply["tokens"])
    assert reply["right"] == (reply["derivation"] == reply["truth"])
    call("ask", run[:6], "12", "7", "3", "15", "5", "--store", str(store))
    shown = capsys.readouterr().out
    assert "1 of 16: ||" in shown
    assert reply["derivation"] in shown


def test_a_question_without_an_answer_says_so(store: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    call("ask", run, "0", "0", "0", "9", "5", "--store", str(store))
    shown = capsys.readouterr().out
    assert "0 of 16" in shown
    assert "there is none" in shown
    assert "wrong" in shown


@pytest.mark.parametrize(
    "numbers",
    [["1", "2", "3"], ["1", "2", "3", "4", "16"], ["1", "2", "3", "4", "5", "6"], ["1", "2", "3", "4", "5.5"]],
)
def test_wrong_questions_are_refused(store: Path, run: str, numbers: list[str]) -> None:
    with pytest.raises(BadInput, match="give 5 integers from 0 to 15: a b c d u"):
        call("ask", run, *numbers, "--store", str(store))


def test_unknown_operators_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="write symbols side by side"):
        call("train", "^?", *SMALL, "--store", str(tmp_path))


def test_an_operator_of_ones_own_joins_from_the_current_folder(tmp_path: Path) -> None:
    """As a new user does it: the installed command, a file beside it, and then a look at the store from elsewhere."""
    (tmp_path / "my_ops.py").write_text(
        "from hardgap.worlds.chains.operators import operator\n"
        '@operator("x", "XNOR")\ndef xnor(a, b, mask):\n    return ~(a ^ b) & mask\n'
    )
    hardgap = str(Path(sys.executable).with_name("hardgap"))
    own = ["x|", "--operators", "|,&,R,my_ops:xnor", "--scale", "smoke", "--store", "runs"]
    done = subprocess.run([hardgap, "symbolic", "train", *own], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "x| held out" in done.stdout
    elsewhere = [hardgap, "runs", "list", "--store", str(tmp_path / "runs"), "--json"]
    listed = subprocess.run(elsewhere, cwd=tmp_path.parent, capture_output=True, text=True)
    assert listed.returncode == 0, listed.stderr
    assert "x| held out" in listed.stdout
    with pytest.raises(BadInput, match="my_ops:xnor cannot be imported"):
        call("train", *own)


def test_a_longer_training_warms_up_for_as_large_a_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hardgap.cli.symbolic_options import configure

    desk, longer = (configure("desk", "^|", said) for said in ({}, {"steps": 30_000}))
    assert desk.optimiser.warmup / desk.budget.steps == longer.optimiser.warmup / longer.budget.steps == 0.05


def test_a_trained_network_is_asked_and_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A small world is learned in seconds; what it then answers rightly names operators that fit."""
    world = ["--operators", "^,|,R", "--bits", "2", "--ambiguity", "any", "--condition", "label-only"]
    sizes = ["--train-examples", "400", "--batch", "64", "--learning-rate", "3e-3", "--steps", "150"]
    rarely = ["--evaluate-every", "150", "--test-examples", "5", "--eval-examples", "5"]
    call("train", "^|", *world, *sizes, *rarely, "--scale", "smoke", "--store", str(tmp_path), "--json")
    trained = json.loads(capsys.readouterr().out)
    replies = []
    for question in itertools.product("13", repeat=4):
        call("ask", trained["run"], *question, "0", "--store", str(tmp_path), "--json")
        replies.append(json.loads(capsys.readouterr().out))
    right = [reply for reply in replies if reply["right"]]
    assert right
    assert all(reply["derivation"].replace(" ", "") in reply["fitting"] for reply in right)


def test_baselines_print_every_method(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("baselines", "^|", "--scale", "smoke", "--store", str(store), "--json")
    (result,) = json.loads(capsys.readouterr().out)
    found = {row["method"]: row for row in result["methods"]}
    assert found["Oracle"]["holdout"] == found["Oracle"]["seen"] == 1
    assert found["KNN"]["holdout"] == found["MLP"]["holdout"] == 0
    call("baselines", "^|", "--scale", "smoke", "--store", str(store))
    assert "Learned Tables" in capsys.readouterr().out


def test_baselines_take_other_worlds_and_other_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = ["--operators", "^,|,&", "--bits", "3", "--length", "3", "--scale", "smoke", "--ambiguity", "any"]
    call("baselines", "^|", "^|&", *world, "--baselines", str(tmp_path), "--json")
    assert [one["holdout"] for one in json.loads(capsys.readouterr().out)] == ["^|", "^|&"]
    assert sorted(path.name.rpartition("-")[0] for path in tmp_path.iterdir()) == ["xor-or", "xor-or-and"]
    call("baselines", *world, "--baselines", str(tmp_path), "--json")
    every = {"".join(pair) for pair in itertools.product("^|&", repeat=2)}
    assert {one["holdout"] for one in json.loads(capsys.readouterr().out)} == every


def test_analyses_cover_every_input_and_target(
    store: Path, run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("analyse", run, "--examples", "8", "--store", str(store), "--figures", str(tmp_path), "--json")
    (result,) = json.loads(capsys.readouterr().out)["runs"]
    assert (result["run"], result["holdout"]) == (run, "^&")
    found = result["analyses"]
    assert list(found["corruption"]) == list(found["probes"]) == ["a", "b", "c", "d", "u"]
    assert [one["target"] for one in found["substitution"]["targets"]] == ["^", "|", "&", "R"] * 2
    assert [one["swapped"] for one in found["substitution"]["example"]] == [None, "c, d", "a, b"]
    assert (len(found["attention"]), len(found["lens"]["seen"]), len(found["heads"])) == (15, 3, 1 + 3 * 2 * 4)
    assert {path.name for path in tmp_path.iterdir()} == {f"{run}-{name}.svg" for name in found}


def test_analyses_are_shown_as_tables_at_the_chosen_checkpoint(
    store: Path, run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["analyse", run, "--examples", "4", "--only", "corruption,lens", "--store", str(store)]
    for choice in (["--select", "final"], ["--select", "eval-seen"], ["--step", "0"]):
        call(*asked, *choice)
        shown = capsys.readouterr().out
        assert "d → op2 changed" in shown
        assert "after dec-1" in shown
    with pytest.raises(BadInput, match="no snapshot at step 7"):
        call(*asked, "--step", "7")


def test_impossible_analyses_are_refused(store: Path, run: str) -> None:
    with pytest.raises(BadInput, match="which networks"):
        call("analyse", "--store", str(store))
    with pytest.raises(BadInput, match="--seed -1: a seed is not negative"):
        call("analyse", run, "--seed", "-1", "--store", str(store))
    with pytest.raises(BadInput, match="--examples 0"):
        call("analyse", run, "--examples", "0", "--store", str(store))
    with pytest.raises(BadInput, match="mind: there is no such analysis; choose from corruption, substitution"):
        call("analyse", run, "--only", "mind", "--examples", "1", "--store", str(store))


def test_coverage_prints_every_pair_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Store(tmp_path)

    def cover(*more: str) -> str:
        with pytest.raises(SystemExit):
            main(["reproduce", "symbolic/coverage", "--scale", "smoke", "--store", str(tmp_path), *more])
        said = capsys.readouterr()
        return said.out + said.err

    (report,) = json.loads(cover("--no-run", "--baselines", str(tmp_path), "--json"))
    assert len(report["pairs"]) == 49
    assert report["summary"]["final"]["pairs"] == 0
    assert "NOR→RSHIFT" in cover("--no-run")
    assert "--seeds 0" in cover("--no-run", "--seeds", "0")
    assert "--workers 0" in cover("--workers", "0")
    assert not (tmp_path / "baselines").exists()  # refused before any work
    assert "the time budget is spent; 147 of 147 runs left" in cover("--budget", "0s")
