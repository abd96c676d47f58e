"""A shard of a sweep as one batch job: runs that the local executor trains into a store of the node's own.

The job and its driver share a folder and nothing else:

order.json   what to train, written once by the driver      in/, code/   states to go on from, plug-ins
news/        what each run is now, by the job               out/         the checkpoint files of each run
beat.json    a number that grows while the job lives        stop         the driver wants it to save and leave

What is in the folder is all that a job needs, so one that was stopped at its time limit and queued again goes on.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Literal

import hardgap
from hardgap.core.errors import BadInput
from hardgap.core.plugins import take_over
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.cluster.mirror import Files, News, Order, news_of, take_order
from hardgap.runs.cluster.scratch import scratch
from hardgap.runs.local import Workers
from hardgap.runs.results import write_text
from hardgap.runs.store import Store

Life = Literal["running", "requeued", "ended"]


class Shard:
    """What a job calls. Pickled by submitit, so it holds the name of its folder and nothing else until it runs."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self) -> None:
        order = json.loads((Path(self.folder) / "order.json").read_text())
        if order["version"] != hardgap.__version__:
            raise BadInput(f"hardgap {hardgap.__version__} is on the node, the driver's is {order['version']}")
        os.environ["HARDGAP_ENGINE"] = order["engine"]
        take_over({"trusted": order["trusted"], "path": [str(Path(self.folder) / "code")]})
        own = scratch()
        try:
            self._train(Store(own / "store"), order)
        finally:
            shutil.rmtree(own, ignore_errors=True)

    def checkpoint(self) -> Any:
        """Called by submitit at the time limit or before preemption: save all there is, and be queued again."""
        from submitit.helpers import DelayedSubmission

        self._pool.end()
        self._export(ending=False)
        self._beat("requeued")
        return DelayedSubmission(Shard(self.folder))

    def _train(self, store: Store, order: dict[str, Any]) -> None:
        self._store, self._sent, self._beats = store, {}, 0
        self._runs = [run_id for run_id in map(self._begin, order["runs"]) if run_id is not None]
        self._pool = Workers(store, self._runs, order["workers"], order["checkpoint_seconds"])
        try:
            with store.wanted((run_id, 0) for run_id in self._runs) as wanted:
                while wanted.any_open() and not (Path(self.folder) / "stop").exists():
                    self._beat("running")
                    self._pool.tend(len(self._runs))
                    self._export(ending=False)
        finally:
            self._pool.end()
        self._export(ending=True)
        self._beat("ended")

    def _begin(self, order: Order) -> str | None:
        """Have a run in the store of the node, as far as it is known; None if it has ended in an earlier turn."""
        place, run_id = Path(self.folder), order["run"]
        earlier = read_news(place, run_id)
        if earlier is not None and earlier["status"] in ("done", "failed"):
            return None
        files: Files = {name: (place / "in" / name).read_bytes() for name in order["files"]}
        if earlier is not None and (names := Checkpoints(place / "out", run_id).names()):
            files = {name: data for name, data in files.items() if not name.startswith("checkpoints/")}
            files |= {f"checkpoints/{run_id}/{name}": read_file(place, run_id, name) for name in names}
            order = order | {"seconds": earlier["seconds"]}
        return take_order(self._store, order, files)

    def _export(self, *, ending: bool) -> None:
        """Write what is new into the folder, files before the news of them."""
        for run_id in self._runs:
            out = Checkpoints(Path(self.folder) / "out", run_id)
            news, files = news_of(self._store, run_id, {"point": -1, "files": out.names()})
            if news["status"] == "queued" and not ending:
                news["status"] = "running"  # not begun yet, or to be gone on with
            for name, data in files.items():
                out.take_file(name, data)
            if self._sent.get(run_id) != news:
                write_text(Path(self.folder) / "news" / f"{run_id}.json", json.dumps(news))
                self._sent[run_id] = news

    _sent: dict[str, News]

    def _beat(self, life: Life) -> None:
        self._beats += 1
        write_text(Path(self.folder) / "beat.json", json.dumps({"beat": self._beats, "life": life}))


def read_news(folder: Path, run_id: str) -> News | None:
    """What a job has told of a run."""
    return _read(folder / "news" / f"{run_id}.json")


def read_beat(folder: Path) -> dict[str, Any] | None:
    return _read(folder / "beat.json")


def read_file(folder: Path, run_id: str, name: str) -> bytes:
    return (folder / "out" / "checkpoints" / run_id / name).read_bytes()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return found
