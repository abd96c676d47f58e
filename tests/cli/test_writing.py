"""What cannot be written in the end is refused at the beginning, before anything is trained or measured."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hardgap.cli import main
from hardgap.cli.writing import check_file, check_folder
from hardgap.core.errors import BadInput

MISSING = "No such file or directory"
NO_FOLDER = "file is not a folder"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["demo", "--page", "nowhere/x.html"], f"--page nowhere/x.html cannot be written: {MISSING}"),
        (["demo", "--page", "folder"], "--page folder cannot be written: Is a directory"),
        (["demo", "--page", "x" * 300], "File name too long"),
        (["demo", "--page", "file/x.html"], "Not a directory"),
        (["reproduce", "main", "--figure", "nowhere/x.svg"], f"--figure nowhere/x.svg cannot be written: {MISSING}"),
        (["reproduce", "symbolic", "--figure", "folder/.svg"], "the name must end in"),
        (["reproduce", "tempered/dial", "--figure", "nowhere/x.svg"], MISSING),
        (["reproduce", "tempered/unharmed", "--keep", "file/results"], NO_FOLDER),
        (["baselines", "--solved", "150", "--figure", "nowhere/x.svg"], MISSING),
        (["baselines", "--rule", "150", "--hide", "3", "--figure", "nowhere/x.svg"], MISSING),
        (["circuits", "9dcd", "--figure", "nowhere/x.svg"], MISSING),
        (["symbolic", "analyse", "9dcd", "--figures", "file/figures"], NO_FOLDER),
        (["reproduce", "symbolic/coverage", "--figure", "nowhere/x.svg"], MISSING),
        (["reproduce", "symbolic/coverage", "--baselines", "file/kept"], NO_FOLDER),
        (["symbolic", "baselines", "^|", "--baselines", "file/kept"], NO_FOLDER),
        (["construct", "110", "--output", "file/x.safetensors"], NO_FOLDER),
        (["construct", "110", "--output", ""], "--output '.': name a file"),
        (["document", "unknown.md"], "there is no block 'nonsense'; there is main-table"),
        (["document", "file"], "there is no mark"),
        (["document", "folder"], "folder cannot be read"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_it_is_refused_at_once_and_leaves_nothing(
    command: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)
    (tmp_path / "file").write_text("a file, not a folder")
    (tmp_path / "folder").mkdir()
    (tmp_path / "unknown.md").write_text("<!-- measured: nonsense -->\n<!-- end -->\n")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main(command)
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert reason in said.err
    assert len(said.err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("before")
    then = path.stat().st_mtime_ns
    time.sleep(0.01)
    check_file("--page", path)
    assert (path.read_text(), path.stat().st_mtime_ns) == ("before", then)
    check_file("--page", tmp_path / "new.html")
    assert list(tmp_path.iterdir()) == [path]
    check_file("--page", Path("/dev/null"))
    (tmp_path / "link.html").symlink_to(tmp_path / "target.html")
    check_file("--page", tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert not (tmp_path / "target.html").exists()


def test_a_folder_may_still_have_to_be_made(tmp_path: Path) -> None:
    check_folder("--keep", tmp_path / "a" / "b" / "c")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadInput, match="File name too long"):
        check_folder("--keep", tmp_path / ("x" * 300))
