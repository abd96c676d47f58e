"""`hardgap prove` and `hardgap construct`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardgap.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


@pytest.mark.slow
def test_prove_prints_every_statement_and_is_not_surprised(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "prove")
    assert code == 0
    assert "Theorem 4 (spectrum): holds" in out
    assert "Conclusion (Random Forests): does not hold as written" in out
    assert "63927/823543" in out


def test_prove_reproduces_the_published_column(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "prove", "--rule", "30", "--json")
    verdicts = [row["methods"]["3-NN"]["verdict"] for row in json.loads(out)["patterns"]]
    assert verdicts == ["wrong", "wrong", "wrong", "right", "wrong", "wrong", "wrong", "right"]
    _, out, _ = run(capsys, "prove", "--rule", "30")
    assert out.splitlines()[-1] == "No method is right, ties apart, on 2 of 8 patterns: 0, 4."


def test_prove_says_so_where_no_pattern_is_hopeless(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "prove", "--rule", "90")
    assert out.splitlines()[-1] == "For each of these patterns there is a method that is not forced to be wrong."


def test_prove_takes_a_set_of_hidden_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "prove", "--rule", "150", "--hide", "000,111", "--json")
    answer = json.loads(out)
    assert (code, answer["hidden"], [row["pattern"] for row in answer["patterns"]]) == (0, [0, 7], [0, 7])
    assert {row["methods"]["3-NN"]["verdict"] for row in answer["patterns"]} == {"wrong"}
    assert "GP / ridge" not in answer["patterns"][0]["methods"]
    _, out, _ = run(capsys, "prove", "--rule", "150", "--hide", "0,7")
    assert "Rule 150: 2 patterns hidden at once" in out
    assert "No method is right, ties apart, on 2 of 2 patterns." in out
    assert "GP and kernel ridge are settled for a single hidden pattern only" in out
    _, out, _ = run(capsys, "prove", "--rule", "150", "--hide", "3", "--json")
    assert json.loads(out)["patterns"][0]["methods"]["GP / ridge"]["verdict"] == "wrong"


def test_construct_verifies_and_saves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from hardgap.core.checkpoint import load_tensors

    path = tmp_path / "c.safetensors"
    code, out, _ = run(capsys, "construct", "150", "--compact", "--width", "17", "--output", str(path), "--json")
    report = json.loads(out)
    assert (code, report["exact"]) == (0, True)
    assert report["smallest_margin"] > 9.99
    assert [check["width"] for check in report["checks"]] == [*range(3, 13), 17]
    weights, meta = load_tensors(path)
    assert (meta["rules"], meta["width"], meta["model"]["ffn"]) == (["150"], 17, 4)
    assert weights["readout.bias"].item() == -10
    code, out, _ = run(capsys, "prove", "--weights", str(path))
    assert code == 0
    assert "largest relative deviation" in out


def test_construct_composes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    code, out, _ = run(
        capsys, "construct", "30", "--then", "110", "--shape", "paper", "--width", "9", "--output", str(path)
    )
    assert code == 0
    assert "Rule 30 then 110" in out
    assert "64 dimensions, 4 heads, 2 layers, 128 hidden units" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["construct", "300"], "rule number 300 is out of range"),
        (["construct", "30", "--width", "2"], "width 2 is not possible: give 3 to 4096"),
        (["construct", "30", "--compact", "--then", "4"], "cannot be composed"),
        (["construct", "30", "--code", "circle"], "for compositions only"),
        (["construct", "L3 ^ R3", "--shape", "paper"], "heads 4 is too small for this construction: it needs 6"),
        (["prove", "--rule", "30", "--weights", "x"], "give one of them"),
        (["prove", "--hide", "3"], "--hide goes with --rule"),
        (["prove", "--rule", "30", "--hide", "9"], "--hide 9: Rule 30 has patterns 0 to 7"),
        (["prove", "--weights", "nowhere.safetensors"], "nowhere.safetensors"),
    ],
)
def test_refusals_are_one_sentence(
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
