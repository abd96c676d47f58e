"""Workers on a Ray cluster: detached actors, one run each at a time, whose answers the driver writes into its store."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError

import hardgap
from hardgap.core.cores import usable_cores
from hardgap.core.errors import BadInput
from hardgap.core.plugins import first_line, travelling, trusted
from hardgap.nn.native import engine
from hardgap.runs.cluster.mirror import Record, failing_alone
from hardgap.runs.cluster.ray_start import connect, tell_open
from hardgap.runs.cluster.ray_worker import RayWorker
from hardgap.runs.execute import HEARTBEAT_SECONDS
from hardgap.runs.local import GRACE_SECONDS, MOST_GIVEN_UP, POLL_SECONDS
from hardgap.runs.owner import is_alive, me
from hardgap.runs.store import LEASE, Store

STRANGE_SECONDS = 30.0
ANSWERS_PER_SECOND = 100.0
"""The more workers there are, the more rarely each is asked."""


RAY: Any = ray  # in parts without types
ACTOR: Any = ray.remote(RayWorker)


@dataclass(eq=False)
class Worker:
    """An actor as the driver sees it."""

    actor: Any
    record: Record | None = None
    strange: bool = False  # nobody has asked yet whose it is
    foreign: bool = False  # with other code, perhaps: it ends what it is at, and leaves
    leaving: bool = False
    asked: float = field(default_factory=time.monotonic)


class RayPool:
    """As many workers as the cluster has processors, or as were asked for; at most one call of each is under way."""

    def __init__(
        self, store: Store, ids: list[str], size: int | None, checkpoint_seconds: float, address: str | None = None
    ) -> None:
        self._store, self._size, self._address, self._owner = store, size, address, me()
        asked = engine.asked()
        chosen = {"engine": engine.ANY if asked == "auto" else asked, "checkpoint_seconds": checkpoint_seconds}
        self._code = {name: data for path in trusted() for name, data in travelling(path).items()}
        order = chosen | {"trusted": trusted(), "version": hardgap.__version__}
        self._made = hashlib.sha256(repr((order, sorted(self._code.items()))).encode()).hexdigest()
        self._order = json.dumps(order | {"driver": self._owner, "made": self._made})
        self._workers: set[Worker] = set()
        self._asked: dict[Any, Worker] = {}  # those of whom an answer is awaited
        self._idle: list[Worker] = []
        self._gave_up, self._wait = 0, HEARTBEAT_SECONDS
        self._told = self._stopping = self._connected = False
        self._namespace = _namespace(store)
        self._open = ExitStack()
        self._wanted = self._open.enter_context(store.wanted((run_id, 0) for run_id in ids))
        self._ids = set(ids)
        if address is not None:  # there may be workers of an earlier driver, even if nothing is left to train
            self._connect()
            self._adopt_all()

    # What the driver calls

    def tend(self, runs_left: int) -> None:
        """Take in answers, give out runs, start and dismiss workers."""
        if not self._connected:
            self._connect()
        self._employ(runs_left)
        self._listen(POLL_SECONDS)

    def end(self) -> None:
        """Let every worker save its state and leave; end by force what does not, or all of them at another Ctrl-C."""
        give_up = time.monotonic() + GRACE_SECONDS
        try:
            while self._idle:
                self._dismiss(self._idle.pop())
            self._stopping = True
            self._drop(lambda worker: worker.record is None and not worker.leaving and not worker.strange)
            while self._asked and time.monotonic() < give_up:
                self._listen(min(POLL_SECONDS, give_up - time.monotonic()))
        except KeyboardInterrupt:
            pass
        finally:
            for worker in list(self._workers):
                self._lose(worker)
            self._open.close()

    # Starting

    def _connect(self) -> None:
        self._open.callback(connect(self._address, self._namespace, self._size or usable_cores()))
        self._connected = True
        self._size = self._size or max(1, int(RAY.cluster_resources().get("CPU", 1)))
        self._wait = max(HEARTBEAT_SECONDS, self._size / ANSWERS_PER_SECOND)

    def _employ(self, runs_left: int) -> None:
        """Have as many workers as can be used: idle ones get runs, or leave if none is left for them."""
        assert self._size is not None
        wanted = min(self._size, runs_left)
        idle, self._idle = self._idle, []
        for worker in idle:
            self._give(worker)
        while self._idle and len(self._asked) + len(self._idle) > wanted:
            self._dismiss(self._idle.pop())
        while len(self._asked) + len(self._idle) < wanted:
            named = {"name": f"{self._owner}/{uuid.uuid4().hex}", "namespace": self._namespace, "lifetime": "detached"}
            worker = Worker(ACTOR.options(**named, num_cpus=1).remote(self._order, self._code))
            self._ask(worker, worker.actor.hello.remote())

    def _adopt_all(self) -> None:
        """Ask all workers that a dead driver of this store has started whose they are now."""
        for name in ray.util.list_named_actors(all_namespaces=True):
            starter = name["name"].partition("/")[0]
            if name["namespace"] == self._namespace and not self._lives(starter):
                with suppress(ValueError):  # it has died meanwhile
                    worker = Worker(ray.get_actor(**name), strange=True)
                    self._ask(worker, worker.actor.hello.remote())

    def _lives(self, driver: str) -> bool:
        """Whether a driver is there; one of another container, or before a reboot, is known by its heartbeats only."""
        return is_alive(driver, self._store.last_heard(driver), LEASE)

    def _meet(self, worker: Worker, said: dict[str, Any]) -> None:
        """Take over a worker whose driver has died; one of a living driver stays with it."""
        worker.strange = False
        living = self._lives(said["driver"])
        if living or not RAY.get(worker.actor.adopt.remote(said["driver"], self._owner), timeout=LEASE):
            self._workers.discard(worker)
            return
        worker.foreign = said["made"] != self._made
        if (run_id := said["run"]) is None or run_id not in self._store.progress([run_id]):
            self._go_on(worker)
            return
        self._store.hand_over(run_id, said["driver"], self._owner)
        worker.record = Record(self._store, self._store.get(run_id).config, self._owner)
        self._ask_for_news(worker, stop=self._stopping or run_id not in self._ids)

    # Talking

    def _listen(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not self._asked:
                time.sleep(left)
                return
            ready, _ = ray.wait(list(self._asked), num_returns=1, timeout=left)
            if ready:
                ready, _ = ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
            for answer in ready:
                self._hear(answer)
            self._drop(self._hangs)

    def _hear(self, answer: Any) -> None:
        worker = self._asked.pop(answer)
        try:
            said = ray.get(answer)
            if worker.strange:
                self._meet(worker, json.loads(said))
                return
        except RayError as error:
            self._died(worker, error)
            return
        if worker.leaving:
            self._lose(worker)
        elif worker.record is None:
            self._greet(worker, json.loads(said))
        else:
            self._take(worker, *said)

    def _greet(self, worker: Worker, said: dict[str, Any]) -> None:
        if said["version"] != hardgap.__version__:
            raise BadInput(f"hardgap {said['version']} is on a node of the cluster, here it is {hardgap.__version__}")
        if said["authentication"] != "token" and not self._told:
            tell_open(self._address or "this address")
            self._told = True
        self._gave_up = 0
        self._give(worker)

    def _take(self, worker: Worker, said: str, files: dict[str, bytes]) -> None:
        news = json.loads(said)
        assert worker.record is not None
        if not worker.record.take(news, files):
            self._ask_for_news(worker, stop=self._stopping)
            return
        worker.record = None
        if news["status"] == "running":  # trained on for nobody
            self._lose(worker)
        else:
            self._go_on(worker)

    def _go_on(self, worker: Worker) -> None:
        """To the next run, unless it may have other code."""
        if worker.foreign:
            self._dismiss(worker)
        else:
            self._give(worker)

    def _give(self, worker: Worker) -> None:
        """The next run, if there is one."""
        if self._stopping:
            self._dismiss(worker)
            return
        while (run_id := self._store.claim_from(self._wanted, self._owner)) is not None:
            with failing_alone(self._store, run_id, self._owner):
                record = Record(self._store, self._store.get(run_id).config, self._owner)
                order, files = record.order()
                worker.record, known = record, json.dumps(record.known())
                self._ask(worker, worker.actor.train.remote(json.dumps(order), files, known, self._wait))
                return
        self._idle.append(worker)

    def _ask_for_news(self, worker: Worker, *, stop: bool) -> None:
        assert worker.record is not None
        self._ask(worker, worker.actor.news.remote(json.dumps(worker.record.known()), self._wait, stop))

    def _dismiss(self, worker: Worker) -> None:
        worker.leaving = True
        self._ask(worker, worker.actor.leave.remote())

    def _ask(self, worker: Worker, answer: Any) -> None:
        worker.asked = time.monotonic()
        self._workers.add(worker)
        self._asked[answer] = worker

    # Deaths

    def _died(self, worker: Worker, error: RayError) -> None:
        """A worker that was killed is replaced without limit; one that cannot start, or gives up, will do so again."""
        self._lose(worker)
        if worker.leaving or (isinstance(error, RayActorError) and not error.actor_init_failed):
            return
        self._gave_up += 1
        why = getattr(error, "cause", None) or error
        print(f"hardgap: a worker on Ray cannot go on: {first_line(why)}", file=sys.stderr)
        if self._gave_up >= MOST_GIVEN_UP:
            raise BadInput("the workers on Ray cannot start or go on; what they said is above")

    def _lose(self, worker: Worker) -> None:
        self._workers.discard(worker)
        if worker.record is not None:
            worker.record.lost()
        ray.kill(worker.actor)

    def _hangs(self, worker: Worker) -> bool:
        """Whether it has been silent for too long: a network may hang in foreign code and keep it from answering.

        So is a worker that a dead driver has asked for and for which the cluster has no place; living ones answer.
        """
        silent = time.monotonic() - worker.asked - self._wait
        return silent > STRANGE_SECONDS if worker.strange else silent > LEASE and worker.record is not None

    def _drop(self, which: Callable[[Worker], bool]) -> None:
        """Wait for these no longer."""
        for answer, worker in list(self._asked.items()):
            if which(worker):
                del self._asked[answer]
                self._lose(worker)


def _namespace(store: Store) -> str:
    """One for each store, the same whenever a driver is started for it."""
    there = f"{socket.gethostname()}:{store.folder.resolve()}:{store.path.stat().st_ino}"
    return f"hardgap-{hashlib.sha256(there.encode()).hexdigest()[:16]}"
