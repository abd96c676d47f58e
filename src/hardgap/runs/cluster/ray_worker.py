"""A worker on a Ray cluster: trains one run at a time in a store of its own, and answers whoever drives it.

It is a detached actor, so it outlives its driver: it trains its run to the end and keeps the result until a driver of
the same store comes for it, or `PATIENCE_SECONDS` have passed. Without a run it leaves when its driver is silent.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time

import hardgap
from hardgap.core.errors import BadInput
from hardgap.core.plugins import take_over
from hardgap.runs.cluster.mirror import Files, news_of, take_order
from hardgap.runs.cluster.scratch import scratch
from hardgap.runs.execute import single_thread
from hardgap.runs.owner import me
from hardgap.runs.store import LEASE, Store
from hardgap.runs.worker import execute_safely

PATIENCE_SECONDS = 12 * 3600.0
Answer = tuple[str, Files]


class RayWorker:
    """The actor. It is told and tells JSON, with files beside it."""

    def __init__(self, order: str, code: Files) -> None:
        told = json.loads(order)
        os.environ["HARDGAP_ENGINE"] = told["engine"]
        self._folder = scratch()
        for name, source in code.items():
            (self._folder / "code" / name).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / "code" / name).write_bytes(source)
        take_over({"trusted": told["trusted"], "path": [str(self._folder / "code")]})
        self._driver: str = told["driver"]
        self._made: str = told["made"]
        self._checkpoint_seconds: float = told["checkpoint_seconds"]
        self._store = Store(self._folder / "store")
        self._run: str | None = None
        self._ended, self._stop = threading.Event(), threading.Event()
        self._broken: Exception | None = None
        self._heard = time.monotonic()
        threading.Thread(target=self._leave_unless_heard, daemon=True).start()

    def hello(self) -> str:
        """Who this is: whose worker, made how, at which run, with which package; whether a token is asked for here."""
        self._heard = time.monotonic()
        mode = os.environ.get("RAY_AUTH_MODE", "disabled").lower()
        mine = {"driver": self._driver, "made": self._made, "run": self._run}
        return json.dumps(mine | {"version": hardgap.__version__, "authentication": mode})

    def adopt(self, before: str, driver: str) -> bool:
        """Work for another driver from now on, unless some third one was quicker."""
        if self._driver != before:
            return False
        self._driver = driver
        return True

    def train(self, order: str, files: Files, known: str, wait: float) -> Answer:
        """Begin a run, or go on with it; then as `news`."""
        self._forget()
        self._run = take_order(self._store, json.loads(order), files)
        self._ended.clear()
        self._stop.clear()
        threading.Thread(target=self._train, args=[self._run], daemon=True).start()
        return self.news(known, wait)

    def news(self, known: str, wait: float, stop: bool = False) -> Answer:
        """What the driver does not know yet, once the run has ended or some seconds have passed."""
        if stop:
            self._stop.set()
        self._ended.wait(wait)
        self._heard = time.monotonic()
        if self._broken is not None:
            raise self._broken
        assert self._run is not None
        news, files = news_of(self._store, self._run, json.loads(known))
        if not self._ended.is_set():
            news["status"] = "running"  # also before it is claimed here, and until its thread has left
        return json.dumps(news), files

    def leave(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _train(self, run_id: str) -> None:
        try:
            single_thread()
            store, owner = Store(self._store.folder), me()
            store.claim([run_id], owner)
            execute_safely(store, run_id, owner, self._stop, self._checkpoint_seconds)
            store.close()
        except (sqlite3.Error, OSError, BadInput) as error:  # a full disk, a folder that was taken away
            self._broken = error
        finally:
            self._heard = time.monotonic()
            self._ended.set()

    def _forget(self) -> None:
        """A run that is at the driver's need not stay here."""
        if self._run is not None:
            self._store.remove(self._run)
            shutil.rmtree(self._store.folder / "checkpoints", ignore_errors=True)

    def _is_training(self) -> bool:
        return self._run is not None and not self._ended.is_set()

    def _leave_unless_heard(self) -> None:
        while self._is_training() or time.monotonic() - self._heard < (PATIENCE_SECONDS if self._run else LEASE):
            time.sleep(10.0)
        self.leave()
        os._exit(0)
