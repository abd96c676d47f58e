"""Runs that the page trains: what it may begin, what it must not destroy, and what it says of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hardgap as hg
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.store import Store
from hardgap.ui import live, worker


@pytest.fixture
def two_at_most(ask: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a small machine; whoever trains at the end of a test is let go."""
    monkeypatch.setattr(live, "MOST_WORKERS", 2)
    yield
    for one in ask.app.state.live._workers.values():
        one._process.kill()
        one.end()


def test_a_finished_run_is_not_rewound_where_it_could_not_start_again(
    ask: Any, folder: Path, two_at_most: None
) -> None:
    done = hg.train(hg.Automaton(150, hide=2, scale="smoke"), store=folder).id
    for seed in (1, 2):
        words = {"rule": "150", "hide": "2", "scale": "smoke", "seed": seed, "paused": True}
        assert ask("/api/live", "POST", words).status == 200
    refused = ask(f"/api/live/{done}", "POST", {"do": "rewind"})
    assert (refused.status, refused.data["error"]) == (400, "2 runs are training already: stop one first")
    store = Store(folder)
    assert [point["step"] for point in store.curve(done)] == [0, 2]
    assert list(Checkpoints(folder, done).snapshots()) == [0, 2]


@pytest.mark.parametrize("word", ["rewind", "resume", "step", "retrain"])
def test_somebodys_code_is_not_run_from_the_page_whatever_is_asked_for(
    ask: Any, folder: Path, two_at_most: None, word: str
) -> None:
    store = Store(folder)
    run = hg.Automaton(150, hide=2, scale="smoke").but(model={"kind": "plugin", "factory": "nobody:net"})
    store.add([run])
    assert "somebody's code" in ask(f"/api/live/{run.id}", "POST", {"do": word}).data["error"]


def test_what_trains_at_the_moment_can_be_found_again(ask: Any, two_at_most: None) -> None:
    assert ask("/api/live").data == []
    run = ask("/api/live", "POST", {"rule": "150", "hide": "2", "scale": "smoke", "paused": True}).data
    (found,) = ask("/api/live").data
    assert (found["id"], found["about"]) == (run["id"], run["about"])
    assert found["state"] in ("starting", "paused")
    process = ask.app.state.live.worker(run["id"])._process
    process.kill()
    process.wait()
    assert ask("/api/live").data == []


def test_a_run_that_the_page_trains_keeps_a_frame_of_every_evaluation(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere about ten; a run may be solved, and end, after the first few of them."""
    store = Store(folder)
    run = hg.Automaton(150, hide=2, scale="smoke", budget__steps=60)
    store.add([run])
    worker._train(store, run.id, worker.Control(paused=False))
    assert [point["step"] for point in store.curve(run.id)] == [*range(0, 61, 2)]
    assert list(Checkpoints(folder, run.id).snapshots()) == [*range(0, 61, 2)]
    assert '"state": "training"' in capfd.readouterr().out


def test_weights_that_are_made_again_are_said_to_be_here(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = hg.train(hg.Automaton(150, hide=2, scale="smoke"), store=folder).id
    Checkpoints(folder, run).remove()
    worker._retrain(Store(folder), run, worker.Control(paused=False))
    assert json.loads(capfd.readouterr().out.splitlines()[-1]) == {"state": "retrained", "same": True}
    assert list(Checkpoints(folder, run).snapshots()) == [0, 2]


class Paused:
    """Somebody who trains a run and has stopped for a moment."""

    streams = 0

    def last(self, run_id: str) -> dict[str, Any]:
        return {"state": "paused"}


def test_who_follows_a_run_that_is_removed_is_told_its_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewound run is gone for a moment, too: the line must not break off in the middle."""
    monkeypatch.setattr(live, "GONE_SECONDS", 0.5)
    store, run, said = Store(folder), hg.Automaton(150, hide=2, scale="smoke"), Paused()
    store.add([run])

    async def follow() -> list[str]:
        told = live._told(said, folder, run.id, -1)  # type: ignore[arg-type]
        first = await anext(told)
        store.remove(run.id)
        return [first, *[words async for words in told]]

    first, *_, end = asyncio.run(follow())
    assert "event: now" in first
    assert end.startswith("event: end")
    assert said.streams == 0


def test_a_disk_that_takes_no_checkpoints_is_not_the_runs_fault(folder: Path) -> None:
    store, run = Store(folder), hg.Automaton(150, hide=2, scale="smoke")
    store.add([run])
    (folder / "checkpoints").write_text("in the way")
    with pytest.raises(hg.BadInput, match="cannot write"):
        worker._train(store, run.id, worker.Control(paused=False))
    assert store.get(run.id).status == "queued"
