"""`hardgap report` and `hardgap reproduce --dry-run` as a user meets them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hardgap.cli import main
from hardgap.studies.study import STUDIES

ROOT = Path(__file__).parents[2]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_what_cannot_be_done_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "report", "--results", "nowhere")
    assert (code, err.splitlines()[-1]) == (2, "hardgap: there is no folder nowhere")
    assert not list(tmp_path.iterdir())
    for command in (["report", "--results", "."], ["runs", "import", "."]):
        code, _, err = run(capsys, *command)
        assert (code, err.splitlines()[-1]) == (2, "hardgap: there are no exported runs in .")
    assert not list(tmp_path.iterdir())
    code, _, err = run(capsys, "report", "--out", "no/such/page.html")
    assert code == 2
    assert "--out no/such/page.html cannot be written" in err
    monkeypatch.setenv("PATH", "")
    code, _, err = run(capsys, "report", "--pdf", "report.pdf")
    assert code == 2
    assert "--pdf: no browser to print with is on the PATH; looked for chromium" in err


def test_a_dry_run_tells_runs_time_and_memory_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a store that has one of two runs: the other is tried, in a process of its own, and not trained."""
    store = tmp_path / "store"
    asked = ("reproduce", "main/rule-d-soft", "--scale", "smoke", "--seeds", "2", "--store", str(store))
    code, out, _ = run(capsys, *asked, "--dry-run", "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["runs"], told["missing"], told["scale"]) == (2, 2, "smoke")
    (shape,) = told["shapes"]
    assert shape["runs"] == 2
    assert 0 < shape["seconds_a_step"] < told["seconds"] < 600
    assert 50 * 2**20 < shape["memory"] <= told["memory"]
    assert not store.exists()


def test_a_dry_run_of_what_is_done_or_computed_takes_no_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "reproduce", "gf2", "theorems", "--dry-run")
    assert code == 0
    assert out.splitlines()[0] == "0 runs at desk scale, 0 of them still to be trained."
    assert "Computed before that, and not counted: what theorems" in out
    code, _, err = run(capsys, "reproduce", "main", "--dry-run", "--seeds", "0")
    assert (code, err) == (2, "hardgap: --seeds 0: at least one seed is needed\n")


@pytest.mark.slow
def test_the_report_is_written_and_told_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, pdf = tmp_path / "page.html", tmp_path / "page.pdf"
    printed = ["--pdf", str(pdf)] if shutil.which("chromium") else []
    code, out, err = run(capsys, "report", "--results", str(ROOT / "results"), "--out", str(page), "--json", *printed)
    assert code == 0
    assert f"{page} written" in err
    told = json.loads(out)
    assert {one["study"] for one in told["claims"]} == set(STUDIES)
    assert page.read_text().startswith("<!doctype html>")
    assert not printed or pdf.read_bytes().startswith(b"%PDF")
