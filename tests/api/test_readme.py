"""The Python of README runs as it stands there, at smoke scale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_example_of_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block.count('scale="desk"') == 2
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")
    exec(compile(block.replace('scale="desk"', 'scale="smoke"'), "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Recovered rule: " in printed
    assert printed.splitlines()[-1] == "not run"
