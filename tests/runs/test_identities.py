"""Nothing measured moves: every run of `results/` still has the id and the family that it was measured under."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from hardgap.runs.results import RUN_FILE
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.rule import parse_rule

RESULTS = Path(__file__).parents[2] / "results"
USUAL = {"automaton": "encoder", "symbolic": "seq2seq"}


def config_of(path: Path) -> dict[str, Any]:
    """What was asked for, without reading the curve: it stands in a line of its own before it."""
    with path.open(encoding="utf-8") as lines:
        (line,) = (line for line in map(str.strip, [next(lines) for _ in range(6)]) if line.startswith('"config": '))
    config: dict[str, Any] = json.loads(line.removeprefix('"config": ').removesuffix(","))
    return config


def digest(asked: dict[str, Any]) -> str:
    text = json.dumps({"version": 1, **asked}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def derived(config: dict[str, Any]) -> tuple[str, str]:
    """Id and family from a file alone, knowing no default of any config: as they were made from the beginning."""
    asked = dict(config)
    if "rule" in asked:
        asked["rule"] = parse_rule(asked["rule"]).spec  # a file keeps its user's words
    if asked.get("model", {}).get("kind") == USUAL[asked["experiment"]]:
        asked["model"] = {name: value for name, value in asked["model"].items() if name != "kind"}
    run_id = digest(asked)
    if asked.get("optimiser", {}).get("schedule", "constant") != "constant":
        return run_id, run_id
    return run_id, digest(asked | {"budget": {k: v for k, v in asked["budget"].items() if k != "steps"}})


def test_every_measured_run_has_the_id_and_the_family_that_it_had() -> None:
    files = [path for path in RESULTS.rglob("*.json") if RUN_FILE.fullmatch(path.name)]
    assert len(files) >= 1_294
    moved = []
    for path in files:
        config = config_of(path)
        run = parse_run(config)
        if (path.stem, derived(config)) != (run.id, (run.id, run.family)):
            moved.append(path)
    assert moved == []


@pytest.mark.parametrize("change", [{"width": 12}, {"test_rows": 501}, {"unrolling": {"noise": 0.5}}])
def test_another_config_would_be_noticed(change: dict[str, Any]) -> None:
    path = next(path for path in sorted((RESULTS / "main").rglob("*.json")))
    assert parse_run(config_of(path) | change).id != path.stem
