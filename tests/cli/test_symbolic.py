"""`hardgap symbolic`: train, ask and baselines as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli.symbolic import symbolic
from hardgap.errors import BadInput

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
    assert set(result["selected"]["final"]["detail"]["holdout"]) == {"exact", "pair", "f", "valid", "tokens"}
    assert (result["steps"], result["status"]) == (2, "done")
    call("train", "^&", *SMALL, "--store", str(store))
    table = capsys.readouterr().out
    assert "XOR→AND held out" in table
    assert "eval-seen" in table


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


@pytest.mark.parametrize("numbers", [["1", "2", "3"], ["1", "2", "3", "4", "16"], ["1", "2", "3", "4", "5", "6"]])
def test_wrong_questions_are_refused(store: Path, run: str, numbers: list[str]) -> None:
    with pytest.raises(BadInput, match="give 5 integers from 0 to 15: a b c d u"):
        call("ask", run, *numbers, "--store", str(store))


def test_unknown_operators_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="write symbols side by side"):
        call("train", "^?", *SMALL, "--store", str(tmp_path))


def test_baselines_print_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    call("baselines", "^|", "--scale", "smoke", "--json")
    found = {row["method"]: row for row in json.loads(capsys.readouterr().out)["methods"]}
    assert found["Oracle"]["holdout"] == found["Oracle"]["seen"] == 1
    assert found["KNN"]["holdout"] == found["MLP"]["holdout"] == 0


def test_analyses_cover_every_input_and_target(store: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    call("analyse", run, "--examples", "8", "--store", str(store), "--json")
    result = json.loads(capsys.readouterr().out)
    assert list(result["corruption"]) == list(result["probes"]) == ["a", "b", "c", "d", "u"]
    assert [one["target"] for one in result["substitution"]] == ["^", "|", "&", "R"] * 2
    assert (len(result["attention"]), len(result["lens"]), len(result["heads"])) == (15, 3, 1 + 3 * 2 * 4)
    call("analyse", run, "--examples", "8", "--only", "corruption,lens", "--store", str(store))
    shown = capsys.readouterr().out
    assert "corruption" in shown
    assert "after dec-1" in shown


def test_impossible_analyses_are_refused(store: Path, run: str) -> None:
    with pytest.raises(BadInput, match="--examples 0"):
        call("analyse", run, "--examples", "0", "--store", str(store))
    with pytest.raises(BadInput, match="--only mind: choose corruption, substitution"):
        call("analyse", run, "--only", "mind", "--examples", "1", "--store", str(store))
