"""README and the pages say what the committed results say, word by word; so does the index."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.report.document import Content, fill
from hardgap.studies.documents import BLOCK_SETS, PAGES, contents, read_pages, write_pages

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def committed() -> tuple[dict[Path, str], dict[Path, Content]]:
    """Every page's text, and what the results would make of it."""
    texts = read_pages([ROOT / page for page in PAGES])
    return texts, contents(texts, ROOT / "results")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_the_results_say(page: str, committed: tuple[dict[Path, str], dict[Path, Content]]) -> None:
    texts, found = committed
    text = texts[ROOT / page]
    assert fill(text, found[ROOT / page].blocks) == text, "`hardgap document` writes it anew"
    assert "Not measured yet" not in text


def test_the_index_names_every_results_file(committed: tuple[dict[Path, str], dict[Path, Content]]) -> None:
    _, found = committed
    written = (ROOT / "results" / "index.csv").read_text()
    assert found[ROOT / "results" / "README.md"].files == {"index.csv": written}
    named = {row["file"] for row in csv.DictReader(written.splitlines())}
    assert named == {path.relative_to(ROOT / "results").as_posix() for path in (ROOT / "results").rglob("*.json")}


def test_every_page_with_something_measured_is_written() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("results/*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")]
    marked = {page.relative_to(ROOT).as_posix() for page in pages if "\n<!-- measured:" in page.read_text("utf-8")}
    assert marked == set(PAGES)


def test_block_names_are_of_one_set_each() -> None:
    names = [name for one_set in BLOCK_SETS for name in one_set.blocks]
    assert len(names) == len(set(names))


def test_pages_are_filled_from_the_results_alone(tmp_path: Path) -> None:
    """Of one run, a whole page: its index is written beside it, the second time nothing is."""
    results = tmp_path / "results"
    (results / "main").mkdir(parents=True)
    page = results / "README.md"
    page.write_text("See [the index](index.csv).\n<!-- measured: folders -->\nold\n<!-- end -->\nmine\n")
    one = next((ROOT / "results" / "main").glob("*.json"))
    (results / "main" / one.name).write_bytes(one.read_bytes())
    assert write_pages(read_pages([page]), results) == {page: [page, results / "index.csv"]}
    assert "| `main/` | 1 | main/" in page.read_text()
    assert page.read_text().endswith("<!-- end -->\nmine\n")
    assert write_pages(read_pages([page]), results) == {page: []}


def test_a_page_that_shows_what_is_not_measured_says_so(tmp_path: Path) -> None:
    page, results = tmp_path / "page.md", tmp_path / "results"
    page.write_text("<!-- measured: main-words -->\nold\n<!-- end -->\n")
    (results / "main").mkdir(parents=True)
    write_pages(read_pages([page]), results)
    assert page.read_text() == "<!-- measured: main-words -->\n\nNot measured yet.\n\n<!-- end -->\n"


def test_an_unknown_block_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- measured: nonsense -->\n<!-- end -->\n")
    with pytest.raises(
        BadInput, match="there is no block 'nonsense'; there is main-table, main-words, main-table-paper-scale, "
    ):
        read_pages([page])
