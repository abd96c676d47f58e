"""The generated reference: every field, command and public name is there, and what it tells to write can be written."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hardgap
from hardgap.cli.app import COMMANDS
from hardgap.runs.listing import config_fields
from hardgap.runs.sweep import read_sweep
from hardgap.worlds import parse_run

ROOT = Path(__file__).parents[1]
GENERATE = runpy.run_path(str(ROOT / "docs" / "reference" / "generate.py"))
SETTINGS = [
    pytest.param(kind, setting, id=f"{kind.command}: {setting.path}")
    for kind in GENERATE["KINDS"]
    for _, fields in GENERATE["settings"](kind)
    for setting in fields
]
WAYS = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "reference" / "config.md").read_text(), re.DOTALL)
LEAST: dict[str, dict[str, Any]] = {
    "train": {"rule": "150", "hide": [2], "width": 11, "budget": {"steps": 600}},
    "symbolic train": {"experiment": "symbolic", "holdout": "^|", "budget": {"steps": 600}},
}


@pytest.mark.parametrize(("kind", "setting"), SETTINGS)
def test_a_field_says_what_it_means_and_its_line_can_be_written(kind: Any, setting: Any) -> None:
    assert len(setting.meaning) > 5
    if not setting.line:
        return
    written = tomllib.loads(setting.line)
    merged = {name: LEAST[kind.command].get(name) for name in written}
    data = LEAST[kind.command] | {
        name: old | new if isinstance(old, dict) and isinstance(new, dict) else new
        for (name, new), old in zip(written.items(), merged.values(), strict=True)
    }
    assert parse_run(data).experiment == kind.desk.experiment


def test_every_field_that_runs_can_be_asked_for_is_there() -> None:
    assert {values[1].path for values in (one.values for one in SETTINGS)} >= set(config_fields())


def test_every_command_and_every_public_name_is_there() -> None:
    told = re.findall(r"^## hardgap (\w+)$", GENERATE["commands"](), re.MULTILINE)
    assert told == list(COMMANDS)
    assert set(re.findall(r"^## `hardgap\.(\w+)`$", GENERATE["python"](), re.MULTILINE)) == {*hardgap.__all__}


@pytest.mark.parametrize(
    "block", re.findall(r"```toml\n(.*?)```", (ROOT / "docs/reference/config.md").read_text(), re.S)
)
def test_the_ways_to_name_a_network_are_read(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those behind a comment sign, too, each in its turn."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    others = re.findall(r"^# (model = .*)$", block, re.MULTILINE)
    for line in [None, *others]:
        text = block if line is None else re.sub(r"^model = .*$", line.replace("\\", ""), block, flags=re.MULTILINE)
        (tmp_path / "sweep.toml").write_text(text)
        assert read_sweep(tmp_path / "sweep.toml")
