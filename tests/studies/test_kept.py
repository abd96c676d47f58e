"""Files that were computed once: read, missing, damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.studies.kept import kept_file


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": NaN}', '{"a": "\\u0007"}'])
def test_a_damaged_file_is_named_once_and_counts_as_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "kept.json").write_text(text)
    assert kept_file(tmp_path, "kept.json") is None
    assert f"{tmp_path / 'kept.json'} is damaged, passed over: " in capsys.readouterr().err
    assert kept_file(tmp_path, "kept.json") is None
    assert kept_file(tmp_path, "none.json") is None
    assert kept_file(tmp_path / "none", "none.json") is None
    assert capsys.readouterr().err == ""
    (tmp_path / "kept.json").write_text('{"a": 1}')
    assert kept_file(tmp_path, "kept.json") == {"a": 1}
