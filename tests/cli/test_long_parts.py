"""Nothing that takes over two seconds is silent, whether its parts are told or not."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from hardgap.cli import main
from hardgap.cli.progress import show_parts
from hardgap.runs import watching as module


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_long_part_is_told_though_nothing_happens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PLAIN_SECONDS", 0.05)
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.2)
    lines: list[str] = []
    began = time.monotonic()
    with show_parts("reading the runs"):
        while len(lines) < 3:
            assert time.monotonic() - began < 120
            time.sleep(0.05)
            lines += capsys.readouterr().err.splitlines()
    took = time.monotonic() - began
    captured = capsys.readouterr()
    assert captured.out == ""
    lines += captured.err.splitlines()
    assert set(lines) == {"reading the runs …"}
    assert len(lines) <= 1 + took / 0.2  # no more often than that, however long it took


def test_what_is_over_at_once_says_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.PLAIN_SECONDS == 2
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    with show_parts() as progress:
        progress("one", 0, 2)
        progress("two", 1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("identify 150 --hide 2 --rows 5 --json", "5/8 rule: all the rows"),
        ("baselines --rule 30 --hide 3 --method KNN --method KRR --json", "1/2 KRR"),
        ("construct 110 --width 5 --json", "8/8192 every row of width 3"),
        ("prove --rule 90 --json", "every method on every hidden pattern"),
    ],
)
def test_each_command_tells_where_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, told: str
) -> None:
    monkeypatch.setattr(module, "PLAIN_SECONDS", 0)
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 0
    assert any(line.startswith(told) or told in line for line in capsys.readouterr().err.splitlines())
