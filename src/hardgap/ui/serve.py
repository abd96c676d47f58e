"""Serving the page: one process, until Ctrl-C. Whoever is silent, or slow to ask, is not waited for."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from hardgap.core.errors import BadInput
from hardgap.ui.app import make_app
from hardgap.ui.guard import EVERYWHERE

SILENT_SECONDS = 10.0
MOST_AT_ONCE = 200
PORT = 8377


class Impatient(H11Protocol):
    """Closes a connection on which no whole request, first or next, has come in time: uvicorn would wait for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_another()

    def on_response_complete(self) -> None:
        answered = self.cycle
        super().on_response_complete()  # which may begin with a request that has come already
        self._expect_another(answered)

    def _expect_another(self, answered: RequestResponseCycle | None = None) -> None:
        self.loop.call_later(SILENT_SECONDS, self._close_if_silent, answered)

    def _close_if_silent(self, answered: RequestResponseCycle | None) -> None:
        if self.cycle is answered and not self.transport.is_closing():
            self.transport.close()


def serve(folder: Path, host: str, port: int | None, results: Path | None, on_start: Callable[[str], None]) -> None:
    """Serve the page of a store until Ctrl-C; `on_start` is told the address that may change something.

    `results` has measured baselines and the weights of some runs.
    """
    token = secrets.token_urlsafe(18)
    bound = _bound(host, port)
    on_start(address_of(host, bound.getsockname()[1], token))
    with bound, suppress(KeyboardInterrupt):
        server_of(make_app(folder, token, host, results)).run(sockets=[bound])


def address_of(host: str, port: int, token: str) -> str:
    """What a browser opens; who listens everywhere is found by the machine's name."""
    name = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/?token={token}"


def server_of(app: Starlette) -> uvicorn.Server:
    """What listens: plain HTTP, few connections at once, and no word more in its answers than needed."""
    config = uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def _bound(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at the port that was asked for, or at the usual one, or at any."""
    for tried in (PORT, 0) if port is None else (port,):
        try:
            family = socket.getaddrinfo(host, tried, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, tried), family=family, backlog=128)
        except (OSError, UnicodeError) as error:  # the second where no host can have such a name
            problem = getattr(error, "strerror", None) or str(error)
    raise BadInput(f"cannot listen at {host}, port {PORT if port is None else port}: {problem}")
