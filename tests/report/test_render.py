"""One table in every rendering: read back, it says the same."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

from hardgap.core.table import Table
from hardgap.report import render

TABLE = Table(
    "100 % of a|b & <c>",
    ["pair", "mean %", "note"],
    [["^|", "73.2 ± 2.0", "a_b, {c} $5"], ["R^", None, 'a "quote",\nand a line']],
    right=["mean %"],
)


class CellReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def test_markdown_has_a_line_a_row_whatever_a_cell_holds() -> None:
    title, _, head, rule, *rows = render.markdown(TABLE).splitlines()
    assert title == "100 % of a\\|b & <c>:"
    assert (head, rule) == ("| pair | mean % | note |", "| --- | ---: | --- |")
    assert rows == ["| ^\\| | 73.2 ± 2.0 | a_b, {c} $5 |", '| R^ |  | a "quote", and a line |']


def test_html_is_escaped_and_numbers_are_aligned() -> None:
    page = render.html(TABLE, marked=[1])
    assert "<c>" not in page
    assert '<td class="number">73.2 ± 2.0</td>' in page
    assert "<tr class=marked><td>R^</td>" in page
    parser = CellReader()
    parser.feed(page)
    assert parser.found[:5] == [TABLE.title, *TABLE.columns, "^|"]


def test_csv_reads_back_cell_by_cell() -> None:
    head, *rows = csv.reader(io.StringIO(render.comma_separated(TABLE)))
    assert head == TABLE.columns
    assert rows == [["^|", "73.2 ± 2.0", "a_b, {c} $5"], ["R^", "", 'a "quote",\nand a line']]


def test_latex_is_booktabs_with_nothing_left_to_escape() -> None:
    text = render.latex(TABLE)
    assert r"\caption{100 \% of a\textbar{}b \& \textless{}c\textgreater{}}" in text
    assert r"\begin{tabular}{lrl}" in text
    assert r"\textasciicircum{}\textbar{} & 73.2 $\pm$ 2.0 & a\_b, \{c\} \$5 \\" in text
    assert [line for line in text.splitlines() if "rule" in line] == [r"\toprule", r"\midrule", r"\bottomrule"]


def test_plain_data_and_a_frame_hold_the_same_cells() -> None:
    rows = render.plain(TABLE)["rows"]
    assert rows[0] == {"pair": "^|", "mean %": "73.2 ± 2.0", "note": "a_b, {c} $5"}
    frame = render.frame(TABLE)
    assert list(frame.columns) == TABLE.columns
    assert frame["pair"].tolist() == ["^|", "R^"]


def test_notes_are_a_column_where_there_are_only_columns() -> None:
    table = Table("Claims", ["study", "done"], [["a", 1], ["b", 2]], notes=["it holds", "it does not"])
    assert render.plain(table)["rows"][1] == {"study": "b", "done": 2, "note": "it does not"}
    assert render.comma_separated(table).splitlines() == ["study,done,note", "a,1,it holds", "b,2,it does not"]
    assert "| b | 2 | it does not |" in render.markdown(table)


def test_several_tables_are_one_csv_that_says_which() -> None:
    text = render.RENDERERS["csv"]([Table("One", ["a", "b"], [[1, 2]]), Table("Two", ["b", "c"], [[3, None]])])
    assert text.splitlines() == ["table,a,b,c", "One,1,2,", "Two,,3,"]
