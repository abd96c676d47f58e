"""One run in two stores: that of the driver, and one far away in which it is trained.

The far side is asked what the run is now, and told what the driver has of it; it answers with the rest. The answer to
the same question is the same, so nothing is lost or written twice if one of them dies in between. What goes over is
JSON and the bytes of checkpoint files.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hardgap.core.checkpoint import CannotWrite, save_bytes
from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.runs.checkpoints import Checkpoints, initial_path
from hardgap.runs.detail import check_curve
from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds import parse_run

Order = dict[str, Any]
"""A run to be trained: its config, and the seconds that it has taken so far."""
Known = dict[str, Any]
"""What the driver has of a run: the step of its last evaluation, and the names of its files."""
News = dict[str, Any]
"""What a run is now: status, step, seconds, new evaluations, and what it ended with."""
Files = dict[str, bytes]


# On the far side


def take_order(store: Store, order: Order, files: Files) -> str:
    """Have a run in the store of this machine, as far as it is trained; its id."""
    for name, data in files.items():
        save_bytes(store.folder / name, data)
    run = parse_run(order["config"])
    store.add([run])
    if order["seconds"]:
        store.claim([run.id], me())
        store.checkpointed(run.id, me(), order["seconds"])
        store.release(run.id, me())
    return run.id


def news_of(store: Store, run_id: str, known: Known) -> tuple[News, Files]:
    """What the driver does not know yet of a run that is trained here."""
    row, checkpoints = store.get(run_id), Checkpoints(store.folder, run_id)
    points = [point for point in store.curve(run_id) if point["step"] > known["point"]]
    files: Files = {}
    for name in checkpoints.names():
        if name not in known["files"]:
            try:
                files[name] = (checkpoints.folder / name).read_bytes()
            except FileNotFoundError:  # a newer one has just replaced it
                continue
    said = ("status", "step", "seconds", "stopped", "versions", "error")
    return {"run": run_id, "points": points} | {name: getattr(row, name) for name in said}, files


# At the driver


@contextmanager
def failing_alone(store: Store, run_id: str, owner: str) -> Iterator[None]:
    """A claimed run that cannot be read, or whose files are gone, fails; the others go on."""
    try:
        yield
    except CannotWrite:  # this machine's disk is full: the same would befall the others
        store.release(run_id, owner)
        raise
    except (BadInput, FileNotFoundError) as error:
        store.fail(run_id, owner, f"{type(error).__name__}: {error}")


class Record:
    """A run that is trained far away, as the driver's store has it under the driver's claim."""

    def __init__(self, store: Store, run: Run, owner: str) -> None:
        self.run, self._store, self._owner = run, store, owner
        self._checkpoints = Checkpoints(store.folder, run.id)
        self._point = -1  # All are told once more: they are those of this training, whatever was there before.

    def order(self) -> tuple[Order, Files]:
        """What another machine needs to train this run, or to go on with it."""
        Execution(self._store, self.run, self._owner).state()  # sets a damaged one aside, takes a shorter run's over
        files = {f"checkpoints/{self.run.id}/{name}" for name in self._checkpoints.names() if name.startswith("state-")}
        if (initial := self.run.starts_from()) is not None:
            files.add(str(initial_path(self._store.folder, initial).relative_to(self._store.folder)))
        order = {"config": self.run.asked(), "seconds": self._store.get(self.run.id).seconds}
        return order, {name: (self._store.folder / name).read_bytes() for name in sorted(files)}

    def known(self) -> Known:
        return {"point": self._point, "files": self._checkpoints.names()}

    def take(self, news: News, files: Files) -> bool:
        """Write down what is new. Whether the run has ended there, or is no longer trained for this driver."""
        run_id = self.run.id
        if not self._store.heartbeat(run_id, self._owner, news["step"]):
            self._tell_twice(news)
            return True
        self._store.add_points(run_id, self._owner, news["points"])
        self._point = max([self._point, *(point["step"] for point in news["points"])])
        for name, data in files.items():
            self._checkpoints.take_file(name, data)
        self._end_or_go_on(news, any(name.startswith("state-") for name in files))
        return bool(news["status"] != "running")

    def _end_or_go_on(self, news: News, state_came: bool) -> None:
        run_id, status = self.run.id, news["status"]
        seconds = max(0.0, news["seconds"] - self._store.get(run_id).seconds)
        if status == "done":
            self._finish(news, seconds)
        elif status == "failed":
            self._store.fail(run_id, self._owner, news["error"])
        elif state_came:
            self._store.checkpointed(run_id, self._owner, seconds)
        if status == "queued":
            self._store.release(run_id, self._owner)

    def _finish(self, news: News, seconds: float) -> None:
        curve = [point for point in self._store.curve(self.run.id) if point["step"] <= news["step"]]
        try:
            check_curve(self.run, curve)
        except BadInput as error:
            self._store.fail(self.run.id, self._owner, f"what came back is no result of it: {error}")
            return
        self._store.finish(self.run.id, self._owner, curve, news["stopped"], news["versions"], seconds)

    def _tell_twice(self, news: News) -> None:
        """A driver that took over from one that died may hear of an end that it has: that took the same seconds."""
        here = self._store.progress([self.run.id]).get(self.run.id)
        if news["status"] != "done" or here is None or here[0] != "done":
            return
        if not math.isclose(self._store.get(self.run.id).seconds, news["seconds"]):
            print(f"hardgap: run {self.run.id} was finished twice; the first result is kept", file=sys.stderr)

    def release(self) -> None:
        """Nobody has begun with it."""
        self._store.release(self.run.id, self._owner)

    def lost(self) -> None:
        """Whoever trained it has died."""
        self._store.lost(self.run.id, self._owner)
