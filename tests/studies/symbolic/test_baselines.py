"""Baselines of held-out pairs are measured once, whatever runs ask for them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hardgap.core.run import validated
from hardgap.studies.symbolic.baselines import baselines_path, kept_baselines, measure_all, measure_baselines
from hardgap.worlds.chains.baselines import SymbolicMethod
from hardgap.worlds.chains.run import SymbolicRun


def small(**changes: Any) -> SymbolicRun:
    data = {
        "holdout": "^|", "operators": list("^|&"), "bits": 3, "train_examples": 40, "eval_examples": 1,
        "test_examples": 2, "budget": {"steps": 1},
    }  # fmt: skip
    return validated(SymbolicRun, data | changes)


def test_what_was_measured_is_read_back_and_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_baselines(tmp_path, small()) is None
    first = measure_baselines(tmp_path, small())
    assert first.methods["Oracle"]["holdout"] == 1
    assert first.best(["KNN", "MLP"])[1] == 0
    monkeypatch.setattr(SymbolicMethod, "fit", None)
    same_data = small(condition="label-only", budget={"steps": 9}, optimiser={"batch": 7}, model={"dim": 8, "heads": 2})
    assert measure_all(tmp_path, [small(), same_data]) == [first, first]


@pytest.mark.parametrize(
    "changes", [{"seed": 1}, {"holdout": "|^"}, {"train_examples": 41}, {"ambiguity": "any"}, {"bits": 4}]
)
def test_other_data_are_other_baselines(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert baselines_path(tmp_path, small(**changes)) != baselines_path(tmp_path, small())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"methods": []}', '{"methods": [{"method": "KNN"}], "config": {}}'])
def test_a_damaged_file_is_measured_again(tmp_path: Path, text: str) -> None:
    path = baselines_path(tmp_path, small())
    path.write_text(text)
    assert kept_baselines(tmp_path, small()) is None


def test_a_method_that_is_missing_is_added_and_the_others_stay_as_they_are(tmp_path: Path) -> None:
    first = measure_baselines(tmp_path, small())
    path = baselines_path(tmp_path, small())
    lines = [line for line in path.read_text().splitlines() if '"KRR of f"' not in line]
    changed = re.sub(r'("method": "KNN", "seen": )[0-9.]+', r"\g<1>0.123", "\n".join(lines))
    path.write_text(re.sub(r'"numpy": "[^"]*"', '"numpy": "0.1"', changed))
    assert kept_baselines(tmp_path, small()) is None
    again = measure_baselines(tmp_path, small())
    assert again.methods["KNN"] == first.methods["KNN"] | {"seen": 0.123}
    added = again.methods["KRR of f"]
    assert added["versions"]["numpy"] != "0.1" == json.loads(path.read_text())["versions"]["numpy"]
    assert {name: added[name] for name in first.methods["KRR of f"]} == first.methods["KRR of f"]
    assert kept_baselines(tmp_path, small()) == again
