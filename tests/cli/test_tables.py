"""What commands print, at every width: nothing is cut, verdicts are whole, and what is left out is said."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from rich.box import HEAVY_HEAD
from rich.cells import cell_len

from hardgap.cli import main, output
from hardgap.cli.output import show_table
from hardgap.cli.tables import READABLE, Line, columns_of, table_lines
from hardgap.core.table import Table
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store
from hardgap.studies.interpolation.tables import tables_of
from hardgap.studies.symbolic.tables import analysis_tables

RESULTS = Path(__file__).parents[2] / "results"
WIDTHS = (60, 80, 110, 200)
OF_STORE = (
    "reproduce main --no-run",
    "reproduce symbolic --no-run",
    "reproduce --list",
    "reproduce tempered/target --no-run",
    "reproduce tempered/wide --no-run",
    "reproduce tempered/unharmed --no-run",
    "runs list",
    "runs show 0c02dce15cde",
)
OTHERS = (
    "rule D",
    "identify 150 --hide 2 --rows 20",
    "prove --rule 30",
    "baselines --rule 150 --hide 3",
    f"symbolic baselines ^| --baselines {RESULTS / 'symbolic/baselines'}",
    "train 30 --hide 3 --scale smoke",
    "circuits 9310fdef83c5 --only consistency,attention",
)


def at(table: Table, width: int) -> list[str]:
    return [text for text, _ in table_lines(table, width, HEAVY_HEAD)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    """The tables of many commands, each of which is run once."""
    folder, found = tmp_path_factory.mktemp("tables"), []

    def keep(table: Table, width: int, box: object) -> Iterator[Line]:
        found.append(table)
        return iter(())

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()):
        patch.chdir(folder)
        patch.delenv("HARDGAP_STORE", raising=False)
        with closing(Store(folder / "s")) as store:
            for part in ("main", "symbolic/runs", "tempered/wide"):
                import_runs(store, RESULTS / part)
        patch.setattr(output, "table_lines", keep)
        for command in (*(f"{line} --store s" for line in OF_STORE), *OTHERS):
            with pytest.raises(SystemExit) as ended:
                main(command.split())
            assert not ended.value.code, command
        for path in RESULTS.glob("baselines/*-*.json"):  # what no method measured has no dash: theorems.json
            found += tables_of(json.loads(path.read_text()))
        found += analysis_tables(json.loads((RESULTS / "symbolic/analyses-desk.json").read_text())["runs"])
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_every_table_can_be_read(tables: list[Table], width: int) -> None:
    assert len(tables) > 40
    for table in tables:
        lines = at(table, width)
        assert max(map(cell_len, lines)) <= width
        if lines[0].startswith("┏"):
            _boxed(table, lines)
        else:
            _stacked(table, lines)


def _boxed(table: Table, lines: list[str]) -> None:
    """Every cell of a column that is shown is there, unbroken if it must be; a column that is not is named below."""
    columns = columns_of(table)
    inside = [line.strip("┃│").split("┃" if line[0] == "┃" else "│") for line in lines if line[0] in "┃│"]
    count = len(inside[0])
    parts = ["".join(row[place] for row in inside if len(row) == count) for place in range(count)]
    shown = [column for column in columns if _together(column.name, *column.cells) in map(_together, parts)]
    assert len(shown) == count
    missing = [column.name for column in columns if column not in shown]
    assert set(missing) <= set(table.detail)
    last = " ".join(lines[lines.index(next(line for line in lines if line[0] == "└")) + 1 :])
    assert all(name in last for name in missing)
    assert ("--json" in last) == bool(missing)
    for column, part in zip(shown, inside[0], strict=True):
        assert len(part) - 2 >= min(READABLE, max(map(cell_len, column.cells)))
        for cell in column.cells if column.whole else ():
            assert any(cell in line for line in lines)
    assert _together(*table.notes) in _together(*(row[0] for row in inside if len(row) == 1))


def _stacked(table: Table, lines: list[str]) -> None:
    """Every cell is there, with its name before it."""
    text, columns = _together(*lines), columns_of(table)
    for cells in zip(*(column.cells for column in columns), strict=True):
        assert all(_together(cell) in text for cell in cells)
    assert all(_together(column.name) in text for column in columns[1:] if any(column.cells))
    assert all(_together(note) in text for note in table.notes)


def _together(*texts: str) -> str:
    return "".join("".join(text.split()) for text in texts)


def test_words_of_the_first_column_are_broken_between_words_alone() -> None:
    table = Table("", ["study", "runs"], [["symbolic/nand-or/label-only or another", "1/10"]], ["runs"])
    assert at(table, 38)[3].startswith("│ symbolic/nand-or/label-only │ 1/10 │")
    assert at(table, 38)[4].startswith("│ or another ")
    assert at(table, 37)[0] == "symbolic/nand-or/label-only or"  # no room for its longest word: stacked


def test_a_list_of_studies_and_its_longest_table_fit_80_columns(tables: list[Table]) -> None:
    (studies,) = [table for table in tables if table.title.startswith("Studies at")]
    assert max(map(len, studies.notes)) < 120
    (wide,) = [table for table in tables if table.title.startswith("wide, ")]
    assert all(at(table, 80)[0].startswith("┏") for table in (studies, wide))


def test_detail_goes_from_the_last_on_then_rows_are_stacked() -> None:
    row = ["9dcd", "one two", 600, "1 min 30 s"]
    table = Table("", ["run", "about", "steps", "time"], [row], ["steps"], ["steps", "time"])
    assert at(table, 41)[3] == "│ 9dcd │ one two │   600 │ 1 min 30 s │"
    assert at(table, 38)[3] == "│ 9dcd │ one two │   600 │"
    assert (
        " ".join(at(table, 38)[5:]) == "Not shown at this width: time. A wider terminal, --json or --format shows all."
    )
    assert at(table, 25)[3] == "│ 9dcd │ one two │"
    assert " ".join(at(table, 25)[5:]).startswith("Not shown at this width: steps · time. ")
    assert at(table, 17) == ["9dcd", "  about  one two", "  steps  600", "  time   1 min 30", "         s"]


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    words = "a sentence that goes on " * 20
    show_table(Table("A title " * 30, ["run", "about"], [["9dcd", words]], notes=["a claim " * 60]))
    title, top, _, _, row, note, bottom = capsys.readouterr().out.splitlines()
    assert title.count("title") == 30
    assert row.count("sentence") == 20
    assert note.count("claim") == 60
    assert len({cell_len(line) for line in (top, row, note, bottom)}) == 1


def test_no_cell_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(Table("", ["a"], [["\x1b[2Jgone\r\x07\ud800"]]))
    assert "│ �[2Jgone��� │" in capsys.readouterr().out


def test_on_a_terminal_the_verdict_is_whole_and_the_claim_stands_below_its_row(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "hardgap-runs")) as store:
        import_runs(store, RESULTS / "main")
    lines = [" ".join(line.split()) for line in on_terminal(80, tmp_path, "reproduce", "main", "--no-run")]
    place = lines.index("│ main/rule-150-long │ 47/60 │ 14/60 │ differs (lower) at desk scale │")
    assert lines[place + 1] == "│ Given 4.4 times as long, most runs recover the patterns of Rule 150 that │"
    assert any("Not shown at this width: why · success rate, Wilson % · mean %" in line for line in lines)


def on_terminal(width: int, folder: Path, *arguments: str) -> list[str]:
    """What a command prints on a real terminal of this width, without styles."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "HARDGAP_STORE")}
    process = subprocess.Popen(
        [sys.executable, "-m", "hardgap", *arguments],
        cwd=folder, stdout=theirs, stdin=subprocess.DEVNULL, env=environment | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    printed = b""
    try:
        while part := os.read(ours, 65536):
            printed += part
    except OSError:  # Linux says so when the last writer is gone
        pass
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).splitlines()
