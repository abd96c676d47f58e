"""What runs will cost on this machine: the first steps of each shape are tried, in a process like a worker's.

Told a config on standard input, this module as a program answers with what it took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.plugins import handed_on, take_over
from hardgap.core.progress import Progress, silent
from hardgap.core.run import Run
from hardgap.runs.local import ONE_THREAD

NO_COST = ("seed", "rule", "hide", "holdout", "masking")
"""Fields that change what is learned and not how long a step takes."""
SECONDS, FEWEST_STEPS = 2.0, 4
"""A shape is tried for so long, and at least for so many steps."""


@dataclass(frozen=True)
class Cost:
    """Runs of one shape: what a step and an evaluation take, and the memory of a process that trains one."""

    about: str
    runs: int
    steps: int  # of all of them together, if none stops early
    evaluations: int
    seconds_a_step: float
    seconds_an_evaluation: float
    memory: int  # bytes

    @property
    def seconds(self) -> float:
        """Of one core, at most: a run may stop once it is solved."""
        return self.steps * self.seconds_a_step + self.evaluations * self.seconds_an_evaluation


def estimate(runs: Iterable[Run], told: Progress = silent) -> list[Cost]:
    """What each shape among these runs costs, the dearest first."""
    shapes: dict[str, list[Run]] = {}
    for run in runs:
        shapes.setdefault(_shape(run), []).append(run)
    costs = []
    for place, several in enumerate(shapes.values()):
        told(f"trying {several[0].describe()}", place, len(shapes))
        costs.append(_cost(several, _tried(several[0])))
    return sorted(costs, key=lambda cost: -cost.seconds)


def wall_seconds(costs: Sequence[Cost], workers: int) -> float:
    """With so many runs at a time."""
    longest = max((cost.seconds / cost.runs for cost in costs), default=0.0)
    return max(longest, sum(cost.seconds for cost in costs) / workers)


def _shape(run: Run) -> str:
    asked = {name: value for name, value in run.asked().items() if name not in NO_COST}
    asked["budget"] = {"evaluate_every": run.budget.evaluate_every}
    return json.dumps(asked, sort_keys=True)


def _cost(runs: list[Run], took: dict[str, Any]) -> Cost:
    evaluations = sum(run.budget.steps // run.budget.evaluate_every + 1 for run in runs)
    steps = sum(run.budget.steps for run in runs)
    return Cost(runs[0].describe(), len(runs), steps, evaluations, **took)


def _tried(run: Run) -> dict[str, Any]:
    order = json.dumps({"run": run.asked(), **handed_on()})
    command, env = [sys.executable, "-P", "-m", "hardgap.runs.estimate"], os.environ | ONE_THREAD
    done = subprocess.run(command, input=order, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BadInput(f"{run.describe()} cannot be tried: {last}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _try_out(run: Run) -> dict[str, float | int]:
    """The first evaluation, and steps for about two seconds."""
    import resource

    import torch

    from hardgap.core.loop import Observer
    from hardgap.runs.execute import build_trainer

    torch.set_num_threads(1)
    trainer = build_trainer(run)
    began, evaluated, stepped = time.perf_counter(), list[float](), list[float]()

    def enough() -> bool:
        return len(stepped) > FEWEST_STEPS and stepped[-1] - stepped[0] > SECONDS

    trainer.run(
        Observer(
            on_step=lambda step: stepped.append(time.perf_counter()),
            on_point=lambda point: evaluated.append(time.perf_counter()),
            should_stop=enough,
        )
    )
    each = [after - before for before, after in pairwise(stepped)]
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds_a_step": median(each or [time.perf_counter() - began]),
        "seconds_an_evaluation": evaluated[0] - began,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
    }


if __name__ == "__main__":
    from hardgap.worlds import parse_run

    given = json.load(sys.stdin)
    take_over(given)
    print(json.dumps(_try_out(parse_run(given["run"]))))
