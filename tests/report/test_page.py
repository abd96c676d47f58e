"""The page is self-contained, escapes what it is given, and says where it cannot be written."""

from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.report.page import Page


def test_text_is_escaped_and_code_is_marked() -> None:
    page = Page("<script>", "a & b")
    page.paragraph("run `hardgap prove <x>` now")
    html = page.html("end")
    assert "<script>" not in html
    assert "<code>hardgap prove &lt;x&gt;</code>" in html


def test_hidden_rows_stand_out_and_numbers_are_aligned() -> None:
    page = Page("t", "l")
    page.table(Table("", ["name", "value"], [["a", 1], ["b", 22]], right=["value"]), marked=[1])
    html = page.html("")
    assert "<tr class=marked><td>b</td>" in html
    assert '<td class="number">22</td>' in html


def test_an_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"cannot write .*file/page\.html"):
        Page("t", "l").write(tmp_path / "file" / "page.html", "")
