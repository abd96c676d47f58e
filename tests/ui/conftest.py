"""What the tests of the page share: an application over a store, and a caller that sends exactly what it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hardgap.runs.store import Store
from hardgap.ui.app import make_app

TOKEN = "the-token-of-this-test"
HOST = (b"host", b"127.0.0.1:8377")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Caller:
    """Requests without a client in between that would tidy them up."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def __call__(self, path: str, method: str = "GET", body: Any = None, **more: Any) -> Answer:
        return asyncio.run(self.ask(path, method, body, **more))

    async def ask(
        self, path: str, method: str = "GET", body: Any = None, *, headers: Any = (HOST,), token: str | None = TOKEN
    ) -> Answer:
        path, _, query = path.partition("?")
        sent = [*headers, *([(b"x-hardgap-token", token.encode())] if token and method not in ("GET", "HEAD") else [])]
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode("utf-8", "surrogateescape"),
            "query_string": query.encode("utf-8", "surrogateescape"), "headers": sent, "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8377), "root_path": "", "state": {},
        }  # fmt: skip
        parts, started, sent_all = [], {}, []

        async def receive() -> dict[str, Any]:
            if sent_all:
                await asyncio.Event().wait()  # a client that stays
            sent_all.append(True)
            return {"type": "http.request", "body": raw, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            parts.append(message.get("body", b""))

        await self.app(scope, receive, send)
        headers_back = {name.decode(): value.decode() for name, value in started["headers"]}
        return Answer(started["status"], headers_back, b"".join(parts))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Store(tmp_path / "store").close()
    return tmp_path / "store"


@pytest.fixture
def ask(folder: Path) -> Caller:
    return Caller(make_app(folder, TOKEN))


@pytest.fixture
def started_at(folder: Path) -> Callable[[str], Caller]:
    """The same page, listening somewhere else."""
    return lambda host: Caller(make_app(folder, TOKEN, host))


@pytest.fixture
def filled(folder: Path, fake_result: Callable[..., Any]) -> Path:
    """The store with a few finished runs in it."""
    store = Store(folder)
    for feedback, ends in (("soft", (1.0, 1.0, 0.2)), ("none", (0.0, 0.9, 0.1))):
        for seed, end in enumerate(ends):
            store.put_all_done([fake_result(feedback, seed, end)])
    store.close()
    return folder


@pytest.fixture
def fake_result() -> Callable[..., Any]:
    """A run as if it had been measured: its curve is made up, its config is not."""
    from hardgap import Automaton

    def make(feedback: str, seed: int, end: float) -> Any:
        run = Automaton(150, hide=2, scale="smoke", unrolling__feedback=feedback, seed=seed)
        detail = {"patterns": [1.0] * 8, "rollout_visible": [1.0] * 4, "rollout_holdout": [end] * 4}
        curve = [
            {"step": step, "loss": None if not step else 0.5, "visible": 1.0, "holdout": end if step else 0.0,
             "detail": detail}
            for step in (0, 2)
        ]  # fmt: skip
        return run, curve, "budget", {}, 1.0

    return make
