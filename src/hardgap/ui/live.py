"""Runs that the page trains: started, paused, stepped and stopped in processes of their own, and told as they go."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hardgap.api.configs import Automaton
from hardgap.core.cores import usable_cores
from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.runs.local import GRACE_SECONDS, process_of
from hardgap.runs.store import Store
from hardgap.ui.asking import Asked
from hardgap.ui.commands import command_of, python_of
from hardgap.ui.guard import Refused
from hardgap.ui.runs import slim
from hardgap.worlds.automaton.run import AutomatonRun

LOOK_SECONDS = 0.25
ALIVE_SECONDS = 10.0
GONE_SECONDS = 3.0
"""A run that is rewound is gone for a moment; one that is gone for longer was removed."""
MOST_STREAMS = 32
MOST_WORKERS = max(2, usable_cores())
DOING = ("pause", "resume", "step", "stop")


class Worker:
    """One process that trains one run, and the last that it said."""

    def __init__(self, folder: Path, run_id: str, *, paused: bool, retrain: bool) -> None:
        self.last: dict[str, Any] = {"state": "starting"}
        self.retrain = retrain
        self._process = process_of("hardgap.ui.worker", stdout=subprocess.PIPE, text=True)
        order = {"store": str(folder.resolve()), "run": run_id, "paused": paused, "retrain": retrain}
        self.tell(json.dumps(order))
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            for line in said:
                with suppress(ValueError):  # what a library prints
                    self.last = self.last | json.loads(line)

    def tell(self, word: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # it may have left already
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Let it save its state and leave; by force if it does not."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Live:
    """The workers of one server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()
        self.streams = 0

    def start(self, run_id: str, *, paused: bool = False, retrain: bool = False) -> None:
        with self._lock:
            if self.worker(run_id) is None:
                self._check_room(run_id)
                self._begin(run_id, paused=paused, retrain=retrain)

    def start_over(self, run_id: str, forget: Callable[[], None]) -> None:
        """Wait at the start of a run that is forgotten first: only once nothing can refuse the start any more."""
        with self._lock:
            self._check_room(run_id)
            self.stop(run_id)
            forget()
            self._begin(run_id, paused=True, retrain=False)

    def _check_room(self, run_id: str) -> None:
        if sum(one.alive for name, one in self._workers.items() if name != run_id) >= MOST_WORKERS:
            raise BadInput(f"{MOST_WORKERS} runs are training already: stop one first")

    def _begin(self, run_id: str, *, paused: bool, retrain: bool) -> None:
        if (before := self._workers.pop(run_id, None)) is not None:
            before.end()  # it has left already; its pipes are closed
        self._workers[run_id] = Worker(self._folder, run_id, paused=paused, retrain=retrain)

    def worker(self, run_id: str) -> Worker | None:
        """The process that trains a run at the moment."""
        found = self._workers.get(run_id)
        return found if found is not None and found.alive else None

    def training(self) -> list[str]:
        return [run_id for run_id, one in self._workers.copy().items() if one.alive]

    def last(self, run_id: str) -> dict[str, Any]:
        """What was said of a run the last time; its state is that of now."""
        found = self._workers.get(run_id)
        if found is None:
            return {"state": "resting"}
        return found.last if found.alive else found.last | {"state": "resting"}

    def stop(self, run_id: str) -> None:
        if (found := self.worker(run_id)) is not None:
            found.end()

    def end(self) -> None:
        for one in list(self._workers.values()):
            one.end()


def list_training(asked: Asked) -> list[dict[str, Any]]:
    """The runs that the page trains at the moment, or holds paused."""
    with asked.store() as store:
        found = store.listed(ids=asked.live.training())
    return [{"id": one.id, "about": one.about, "state": asked.live.last(one.id)["state"]} for one in found]


def plan(asked: Asked) -> dict[str, Any]:
    """The run that is described, and how to have it elsewhere."""
    run = described(dict(asked.request.query_params))
    with asked.store() as store:
        status, step = store.progress([run.id]).get(run.id, ("new", 0))
    told = {"id": run.id, "about": run.describe(), "status": status, "step": step, "steps": run.budget.steps}
    return told | {"command": command_of(run, asked.named_store), "python": python_of(run, asked.named_store)}


def described(words: dict[str, Any]) -> AutomatonRun:
    """A run from the few words that the page has for it."""
    known = ("rule", "hide", "recipe", "scale", "feedback", "temperature", "seed", "steps")
    if strange := next((name for name in words if name not in known), None):
        raise BadInput(f"{strange!r:.40} is nothing that can be chosen here")
    if unread := next((name for name, value in words.items() if not isinstance(value, str | int | float)), None):
        raise BadInput(f"{unread} must be text or a number")
    text = {name: str(value).strip() for name, value in words.items() if str(value).strip()}
    fields: dict[str, Any] = {}
    if "feedback" in text:
        fields["unrolling.feedback"] = text["feedback"]
    if "temperature" in text and text.get("feedback", "soft") == "soft":
        degrees = _number("temperature", text["temperature"])
        fields["unrolling.temperature"] = {"start": degrees, "end": degrees}
    for name, field in (("seed", "seed"), ("steps", "budget.steps")):
        if name in text:
            fields[field] = int(_number(name, text[name]))
    chosen: dict[str, Any] = {"recipe": text.get("recipe", "paper"), "scale": text.get("scale", "desk")}
    if missing := next((name for name in ("rule", "hide") if name not in text), None):
        raise BadInput(f"{missing} is missing")
    return Automaton(text["rule"], text["hide"], **chosen, **fields)


def _number(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise BadInput(f"{name} {text:.40}: write a number") from None
    if not abs(found) < 1e9:
        raise BadInput(f"{name} {text:.40}: that is too large")
    return found


def start(asked: Asked) -> dict[str, Any]:
    """Train a run that is described, or one of the store."""
    from hardgap.runs.train import queue

    body, live = asked.body(), asked.live
    paused = bool(body.pop("paused", False))
    with asked.store() as store:
        run: Run = store.get(str(body["run"])).config if "run" in body else described(body)
        _refuse_plugins(run)
        queue(store, run)
        done = store.progress([run.id])[run.id][0] == "done"
    if not done:
        live.start(run.id, paused=paused)
    return {"id": run.id, "about": run.describe(), "done": done}


def _refuse_plugins(run: Run) -> None:
    if plugins := run.plugins():
        raise BadInput(f"run {run.id} names somebody's code, {next(iter(plugins))}: train it from the command line")


def control(asked: Asked) -> dict[str, Any]:
    """Pause, resume, take one step, stop, go back to the start, or make the weights again."""
    word, live = asked.body().get("do"), asked.live
    with asked.store() as store:
        row = store.get(asked.run)
    if word == "stop":
        live.stop(row.id)
    elif word == "rewind":
        _rewind(asked, row.config)
    elif word == "retrain":
        _refuse_plugins(row.config)
        live.start(row.id, retrain=True)
    elif word in DOING:
        if (worker := live.worker(row.id)) is None and row.status != "done":
            _refuse_plugins(row.config)
            live.start(row.id, paused=word != "resume")
        if (worker := live.worker(row.id)) is not None:
            worker.tell(word)
    else:
        raise BadInput(f"do must be one of {', '.join((*DOING, 'rewind', 'retrain'))}")
    return {"id": row.id, **live.last(row.id)}


def _rewind(asked: Asked, run: Run) -> None:
    """Forget what was trained of a run and wait at its start: the same weights, since they follow from its config."""
    from hardgap.runs.checkpoints import Checkpoints

    def forget() -> None:
        with asked.store() as store:
            store.remove(run.id)
            Checkpoints(store.folder, run.id).remove()
            store.add([run])

    _refuse_plugins(run)
    asked.live.start_over(run.id, forget)


async def events(request: Request) -> Response:
    """A run as it trains, as server-sent events; after a break, from the evaluation after the last that came over."""
    app, run_id = request.app, str(request.path_params["run"])
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "-1"
    if not re.fullmatch(r"-?[0-9]{1,11}", given):
        raise BadInput("the last event's id is the step of an evaluation")
    live: Live = app.state.live
    if live.streams >= MOST_STREAMS:
        raise Refused(503, f"{MOST_STREAMS} pages follow runs already: close one")
    run_id = (await run_in_threadpool(_look, app.state.folder, run_id, -1))["id"]
    return StreamingResponse(_told(live, app.state.folder, run_id, int(given)), media_type="text/event-stream")


async def _told(live: Live, folder: Path, run_id: str, last: int) -> AsyncIterator[str]:
    live.streams += 1
    said: dict[str, Any] = {}
    quiet = there = time.monotonic()
    try:
        while True:
            last_words = live.last(run_id)
            try:
                found = await run_in_threadpool(_look, folder, run_id, last)
            except BadInput:
                if time.monotonic() - there > GONE_SECONDS:
                    yield _event("end", said)
                    return
                await asyncio.sleep(LOOK_SECONDS)
                continue
            there = time.monotonic()
            parts = [_event("point", slim(point), point["step"]) for point in found["points"]]
            last = max([last, *(point["step"] for point in found["points"])])
            now = {"step": found["step"], **last_words, "status": found["status"]}
            now["error"] = found["error"] or last_words.get("error")
            if now["state"] == "resting":  # the last that was said may be of a step before the end
                now["step"] = found["step"]
            if now != said:
                parts.append(_event("now", now))
                said = now
            if now["state"] == "resting" and found["status"] != "running":
                yield "".join([*parts, _event("end", now)])
                return
            if parts or time.monotonic() - quiet > ALIVE_SECONDS:
                quiet = time.monotonic()
                yield "".join(parts) or ": still here\n\n"
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        live.streams -= 1


def _look(folder: Path, run_id: str, after: int) -> dict[str, Any]:
    """Where a run stands, and its evaluations after a step."""
    with closing(Store(folder)) as store:
        found = store.find(run_id)
        at = list(store.query("SELECT status, step, error FROM runs WHERE id = ?", [found]))
        if not at:
            raise BadInput(f"run {found} was just removed")
        ((status, step, error),) = at
        rows = store.query("SELECT point FROM points WHERE run = ? AND step > ? ORDER BY step", [found, after])
        points = [json.loads(point) for (point,) in rows]
        return {"id": found, "status": status, "step": step, "error": error, "points": points}


def _event(name: str, data: dict[str, Any], number: int | None = None) -> str:
    place = f"id: {number}\n" if number is not None else ""
    return f"{place}event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"
