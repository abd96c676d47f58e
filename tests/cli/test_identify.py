"""`hardgap identify`"""

from __future__ import annotations

import json

import pytest

from hardgap.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["identify", *arguments])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_a_determined_gap_says_so_in_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "150", "--hide", "2", "--rows", "20")
    assert code == 0
    assert out.splitlines()[-1] == "Determined: of all 2 tables only Rule 150 fits 2 visible steps."


@pytest.mark.parametrize(("cells", "number"), [("00011", "3"), ("01011", "11"), ("10011,00000", "0,19")])
def test_a_pattern_may_be_written_as_its_cells(capsys: pytest.CaptureFixture[str], cells: str, number: str) -> None:
    by_cells, by_number = (run(capsys, "D", "--hide", text, "--rows", "5", "--json") for text in (cells, number))
    assert by_cells == by_number
    assert json.loads(by_cells[1])["hidden"] == [int(part) for part in number.split(",")]


def test_an_open_gap_names_a_second_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "30", "--hide", "0", "--steps", "1", "--rows", "5", "--criterion", "rule")
    assert "2 tables fit 1 visible step; one is Rule 31, which differs from Rule 30 at pattern 0" in out


def test_json_holds_every_level(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "G", "--hide-random", "8", "--rows", "5", "--json")
    answer = json.loads(out)
    assert len(answer["hidden"]) == 8
    assert answer["gf2"] is None
    assert answer["rule_level"]["every_row"]["identified"] is True


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["30"], "say what to hide"),
        (["30", "--hide", "1", "--hide-random", "2"], "say what to hide"),
        (
            ["30", "--hide", "a"],
            "--hide a: Rule 30 has patterns 0 to 7, not 'a': write a number, or all 3 cells such as 011",
        ),
        (["30", "--hide", "8"], "--hide 8: Rule 30 has patterns 0 to 7"),
        (["30", "--hide", "1", "--level", "gf2"], "--criterion gf2: Rule 30 is not an XOR"),
        (["30", "--hide", "1", "--rows", "0"], "--rows must be 1 to 20000"),
        (["30", "--hide", "1", "--steps", "0"], "--steps 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.splitlines()) == 1
