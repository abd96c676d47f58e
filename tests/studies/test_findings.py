"""Each finding says what was expected, measured, why, what would settle it, and by which command it is seen."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.studies.study import choose

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text()
FINDINGS = PAGE.split("\n## ")[1:]
COMMAND = re.compile(r"`((?:hardgap|python -m hardgap)[^`]*)`")


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.partition("\n")[0])
def test_a_finding_is_whole_and_its_commands_are_of_studies_that_are_there(finding: str) -> None:
    places = [finding.index(f"**{word}:**") for word in ("Expected", "Measured", "Likely cause", "Would settle it")]
    assert places == sorted(places)
    commands = [shlex.split(" ".join(found[1].split())) for found in COMMAND.finditer(finding)]
    assert commands
    for words in commands:
        if words[:2] == ["hardgap", "reproduce"]:
            assert choose(word for word in words[2:3] if not word.startswith("-"))
