"""A run trained in this process: what cannot be trained is not written down, and no claim outlives its turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.specs import Budget
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import build_trainer
from hardgap.runs.store import Store
from hardgap.runs.train import train_here
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_claim_does_not_outlive_a_full_disk(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bool:
        raise sqlite3.OperationalError("database or disk is full")

    store, run = Store(tmp_path), tiny()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish", full)
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            train_here(store, run)
    assert store.progress([run.id])[run.id][0] == "queued"
    train_here(store, run)
    assert store.progress([run.id])[run.id][0] == "done"


def test_chains_without_examples_are_refused_before_they_are_written_down(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = SymbolicRun(holdout="^|", bits=1, train_examples=96, budget=Budget(steps=2))
    with pytest.raises(BadInput):
        train_here(store, run)
    assert store.rows() == []


def test_a_store_used_in_another_thread_is_not_called_damaged(tmp_path: Path) -> None:
    store, said = Store(tmp_path), list[BaseException]()

    def look() -> None:
        try:
            store.rows()
        except BaseException as error:
            said.append(error)

    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert isinstance(said[0], sqlite3.ProgrammingError)


def test_a_state_from_before_restarts_can_be_gone_on_from_by_a_longer_run(tiny: Tiny, tmp_path: Path) -> None:
    trainer = build_trainer(tiny())
    trainer.run()
    tensors, meta = trainer.state()
    del meta["attempt"]  # as the first states were written
    longer = Checkpoints(tmp_path, tiny(budget={"steps": 99, "evaluate_every": 3}).id)
    longer.save_state(tensors, meta)
    found = longer.latest()
    assert found is not None
    assert tuple(found[1]["attempt"]) == (0, 0)
