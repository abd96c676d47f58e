"""`hardgap document` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.cli.app import main


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(["document", *arguments])
    return ended.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "README.md cannot be read"),
        (["mine.md"], "there is no block 'nonsense'; there is main-table"),
        (["plain.md"], "there is no mark"),
        (["index.md", "--results", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.md").write_text("<!-- measured: nonsense -->\n<!-- end -->\n")
    Path("plain.md").write_text("nothing to fill\n")
    Path("index.md").write_text("<!-- measured: folders -->\n<!-- end -->\n")
    code, err = call(capsys, *arguments)
    assert (code, complaint in err.splitlines()[-1]) == (2, True), err
    assert "Traceback" not in err


def test_a_page_is_written_once_and_then_up_to_date(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    Path("page.md").write_text("before\n<!-- measured: folders -->\n<!-- end -->\nafter\n")
    assert call(capsys, "page.md")[1].splitlines()[-1] == "page.md written"
    assert Path("page.md").read_text().startswith("before\n<!-- measured: folders -->\n\nFiles by folder")
    assert call(capsys, "page.md")[1].splitlines()[-1] == "page.md is up to date"
