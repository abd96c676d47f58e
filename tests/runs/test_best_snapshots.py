"""The network that a rule of selection chooses is kept, wherever it stands in the curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from hardgap.core.loop import Observer
from hardgap.core.run import validated
from hardgap.core.task import Score
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution, build_trainer, load_model
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains import task as symbolic
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.selection import select_point

pytestmark = pytest.mark.usefixtures("one_thread")
PEAKS = {"holdout": {24: 0.3, 42: 0.4, 48: 0.4}, "seen": {12: 0.2, 30: 0.9, 105: 0.9}}
"""By step, 0 elsewhere. These ties go to the earliest; neither peak is among the even snapshots (every 9 steps)."""


def small(**changes: Any) -> SymbolicRun:
    data = {
        "holdout": "^|", "operators": list("^|&"), "bits": 3, "train_examples": 40, "eval_examples": 1,
        "test_examples": 1, "optimiser": {"batch": 8}, "budget": {"steps": 105, "evaluate_every": 3},
        "model": {"dim": 8, "heads": 2, "layers": 1, "ffn": 8},
    }  # fmt: skip
    return validated(SymbolicRun, data | changes)


@pytest.fixture
def peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores that are set by hand, whatever the network says."""

    def score(task: object, model: object, step: int) -> Score:
        return Score(0.0, 0.0, {"eval": {name: values.get(step, 0.0) for name, values in PEAKS.items()}})

    monkeypatch.setattr(symbolic.SymbolicTask, "score", score)


def trained(store: Store, run: Any, watcher: Observer | None = None) -> Any:
    store.add([run])
    assert store.claim([run.id], me()) == run.id
    return Execution(store, run, me(), watcher or Observer(), checkpoint_seconds=0.0)()


def assert_the_chosen_are_kept(store: Store, run: SymbolicRun) -> None:
    weights: dict[int, dict[str, torch.Tensor]] = {}
    fresh = build_trainer(run)
    fresh.run(Observer(on_point=lambda point: weights.update({point.step: fresh.weights()})))
    chosen = {by: select_point(store.curve(run.id), by)["step"] for by in run.choices}
    assert chosen == {"eval-holdout": 42, "eval-seen": 30}
    for step in chosen.values():
        model, _ = load_model(store, run.id, step)
        assert all(torch.equal(tensor, weights[step][name]) for name, tensor in model.state_dict().items())
    folder = Checkpoints(store.folder, run.id).folder
    assert sorted(path.name for path in folder.glob("eval-*.safetensors")) == [
        "eval-holdout-00000042.safetensors",
        "eval-seen-00000030.safetensors",
    ]


@pytest.mark.usefixtures("peaks")
def test_the_best_by_each_rule_is_kept_and_those_before_it_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    trained(store, small())
    assert_the_chosen_are_kept(store, small())
    assert list(Checkpoints(tmp_path, small().id).snapshots()) == sorted({*range(0, 105, 9), 30, 42, 105})


@pytest.mark.usefixtures("peaks")
@pytest.mark.parametrize("steps", [20, 31, 46, 80])
def test_an_interruption_changes_nothing(tmp_path: Path, steps: int) -> None:
    store, seen = Store(tmp_path), list[int]()
    stopping = Observer(on_step=seen.append, should_stop=lambda: len(seen) >= steps)
    assert trained(store, small(), stopping) == "interrupted"
    trained(store, small())
    assert_the_chosen_are_kept(store, small())


@pytest.mark.usefixtures("peaks")
def test_a_longer_run_has_the_best_of_the_shorter_one_it_went_on_from(tmp_path: Path) -> None:
    short = small(budget={"steps": 60, "evaluate_every": 3})
    store = Store(tmp_path)
    trained(store, short)
    trained(store, small())
    for step in (30, 42):
        ours, theirs = (load_model(store, run.id, step)[0].state_dict() for run in (small(), short))
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_other_experiments_keep_what_they_kept(tmp_path: Path, tiny: Callable[..., AutomatonRun]) -> None:
    store = Store(tmp_path)
    trained(store, tiny())
    assert not list(Checkpoints(tmp_path, tiny().id).folder.glob("eval-*"))
