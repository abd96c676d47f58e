"""What is said about runs that were trained again: 70 % is a threshold of Experiment 1 alone."""

from __future__ import annotations

from typing import Any

from hardgap.studies.machines import summary


def again(experiment: str, holdout: float) -> dict[str, Any]:
    ends = [{"steps": 600, "holdout": value, "recovered": value >= 0.7, "made_with": where}
            for value, where in ((1.0, ""), (holdout, "here"))]  # fmt: skip
    return {"experiment": experiment, "identical": False, "committed": ends[0], "again": ends[1]}


def test_sides_are_of_experiment_1_alone() -> None:
    first, second = summary([again("automaton", 0.0), again("symbolic", 0.5)])
    assert first.endswith("100.0 at most. 1 changed sides (70 % holdout or not); recovered were 1 before and 0 again.")
    assert second.endswith("differs by 50.0 points in the median and 50.0 at most.")
