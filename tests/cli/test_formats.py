"""Whatever a command prints as a table can be had in every format, and reads back as the same cells."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli import main
from hardgap.core.table import Table
from hardgap.report import render
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store

RESULTS = Path(__file__).parents[2] / "results"
ONE = (
    "train 30 --hide 3 --scale smoke",
    "symbolic train ^& --scale smoke",
    "symbolic baselines ^| --scale smoke",
    "identify 150 --hide 2 --rows 20",
    "prove --rule 30",
    "baselines --rule 150 --hide 3",
    "runs list",
    "reproduce --list tempered",
    "reproduce tempered/wide --no-run",
    "reproduce main/rule-d-soft --no-run",
    "reproduce --list",
    "construct 110 --width 5",
)
SEVERAL = ("rule D", "runs show 9310", "circuits 9310 --only consistency,attention")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some runs in it."""
    made = tmp_path_factory.mktemp("formats")
    import_runs(Store(made / "hardgap-runs"), RESULTS / "tempered" / "wide")
    return made


@pytest.fixture
def printed(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)

    def run(line: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(line.split())
        said = capsys.readouterr()
        assert not ended.value.code, said.err
        return said.out

    return run


class Page(HTMLParser):
    """The tables of a page: captions, and the cells of each row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.captions: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.inside = tag
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "caption":
            self.captions.append(data)
        if self.inside in ("td", "th"):
            self.tables[-1][-1][-1] += data


def of_markdown(text: str) -> list[list[str]]:
    """The cells of all its rows, titles and rules left out."""
    lines = [line[2:-2] for line in text.splitlines() if line.startswith("| ") and "| ---" not in line]
    return [[cell.replace("\\|", "|") for cell in re.split(r" (?<!\\)\| ", line)] for line in lines]


@pytest.mark.parametrize("line", [*ONE, *SEVERAL])
def test_every_format_holds_the_same_cells(printed: Any, line: str) -> None:
    on_terminal = printed(line)
    tables = [Table(one["title"], list(one["rows"][0]), [list(row.values()) for row in one["rows"]])
              for one in json.loads(printed(f"{line} --format json"))]  # fmt: skip
    assert (len(tables) > 1) == (line in SEVERAL)
    assert all(table.title in on_terminal and table.columns[1] in on_terminal for table in tables)
    wanted = [[list(table.columns), *([render.text(cell) for cell in row] for row in table.rows)] for table in tables]

    page = Page(printed(f"{line} --format html"))
    assert page.tables == wanted
    assert page.captions == [table.title for table in tables]
    assert of_markdown(printed(f"{line} --format markdown")) == [row for table in wanted for row in table]

    head, *rows = csv.reader(StringIO(printed(f"{line} --format csv")))
    if line in ONE:
        assert [[head, *rows]] == wanted
    else:  # one table with a column that says which
        named = [[table.title, *row] for table, cells in zip(tables, wanted, strict=True) for row in cells[1:]]
        assert [[cell for cell in row if cell] for row in rows] == [[cell for cell in row if cell] for row in named]

    latex = printed(f"{line} --format latex")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\toprule") == len(tables)
    assert latex.count(r" \\") == sum(map(len, wanted))


def test_json_is_all_data_not_the_cells(printed: Any) -> None:
    assert {"facts", "rows"}.isdisjoint(json.loads(printed("rule D --json")))
    assert json.loads(printed("runs show 9310 --json"))["curve"]


def test_a_table_has_one_format(printed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for line, words in (
        ("rule 30 --json --format csv", "hardgap: --json and --format csv: choose one of them\n"),
        ("rule 30 --format pdf", 'hardgap: Invalid value "pdf" for --format. Choose from: "table", "markdown"'),
    ):
        with pytest.raises(SystemExit) as ended:
            main(line.split())
        assert ended.value.code == 2
        assert capsys.readouterr().err.startswith(words)


def test_words_around_a_table_stay_out_of_a_file(printed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Determined: of all 2 tables" in printed("identify 150 --hide 2 --rows 20")
    with pytest.raises(SystemExit):
        main(["identify", "150", "--hide", "2", "--rows", "20", "--format", "csv"])
    said = capsys.readouterr()
    assert "Determined" not in said.out
    assert "Determined: of all 2 tables" in said.err
