"""What a driver on Ray does with runs and workers that are not as they should be; nothing here starts a Ray."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import RayActorError

import hardgap
from hardgap.runs.cluster import on_ray
from hardgap.runs.cluster.on_ray import RayPool, Worker
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]


class Actor:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.train = self.adopt = SimpleNamespace(remote=lambda *said: self.asked.append(said) or len(self.asked))


def test_a_run_that_cannot_be_sent_fails_alone(tmp_path: Path, tiny: Tiny) -> None:
    store, runs = Store(tmp_path / "store"), [tiny(initial="0" * 64), tiny()]
    store.add(runs)
    pool, actor = RayPool(store, [run.id for run in runs], 1, 15.0), Actor()
    pool._give(Worker(actor))
    assert [json.loads(order)["config"] for order, *_ in actor.asked] == [runs[1].asked()]
    assert [store.get(run.id).status for run in runs] == ["failed", "running"]


def test_a_worker_of_another_version_gets_no_more_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = RayPool(Store(tmp_path / "store"), [], 1, 15.0)
    assert RayPool(Store(tmp_path / "store"), [], 1, 15.0)._made == before._made
    monkeypatch.setattr(hardgap, "__version__", "0.0.1")
    assert RayPool(Store(tmp_path / "store"), [], 1, 15.0)._made != before._made


@pytest.mark.parametrize("place", [me().rsplit(":", 2)[0], "this-host:before"], ids=["here", "before a reboot"])
def test_a_worker_that_dies_while_it_is_adopted_is_a_dead_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    pool, killed = RayPool(Store(tmp_path / "store"), [], 1, 15.0), []
    dead = f"{place}:{2**22 + 1}:1"

    def dies(answer: object, timeout: float) -> bool:
        raise RayActorError

    said = json.dumps({"driver": dead, "made": pool._made, "run": None})
    monkeypatch.setattr(on_ray, "RAY", SimpleNamespace(get=dies))
    monkeypatch.setattr(on_ray, "ray", SimpleNamespace(get=lambda answer: said, kill=killed.append))
    pool._ask(worker := Worker(Actor(), strange=True), "answer")
    pool._hear("answer")
    assert killed == [worker.actor]
    assert not pool._workers


def test_a_driver_that_cannot_be_seen_lives_as_long_as_it_is_heard(tmp_path: Path, tiny: Tiny) -> None:
    """One before a reboot, for example: its workers would be nobody's for ever."""
    store, before = Store(tmp_path / "store"), "this-host:before:1:1"
    store.add([run := tiny()])
    store.claim([run.id], before)
    pool = RayPool(store, [], 1, 15.0)
    assert pool._lives(before)
    assert pool._lives(pool._owner)
    store._db.execute("UPDATE runs SET heartbeat = heartbeat - 1000")
    assert not pool._lives(before)
    assert not pool._lives("another-host:1:1")
