"""What every request passes first: who asks, from where, how much, and with which right to change something.

A page of somebody else that is open in the same browser can send requests here, too. Its `Origin` gives it away; a name
that it has pointed at this machine shows in `Host`; and the launch token, which only the printed address holds, is
asked for before anything is changed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import secrets
import socket
import sqlite3
import sys
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hardgap.core.errors import BadInput

MOST_BYTES = 64 * 1024
BODY_SECONDS = 10.0
TOKEN = "X-Hardgap-Token"
READING = ("GET", "HEAD")
EVERYWHERE = ("0.0.0.0", "::")
"""Not one address, but all that the machine has."""
BODY = "hardgap.body"
"""Where in the scope a request's body stands, once it has been read."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refused(BadInput):
    """A request that is answered with a status of its own."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def said(data: Any, status: int = 200) -> Response:
    """Plain data as JSON."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


class Guard:
    """The outermost part of the application: nothing gets in unchecked, and no traceback gets out."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: Iterable[str]) -> None:
        self._app, self._token, self._hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._check(scope)
            if scope["method"] not in READING:
                scope[BODY] = await _body(receive)
            await self._app(scope, receive, guarded)
        except Exception as error:
            answer = _explained(error)  # says on the terminal what is a bug
            if not begun:
                await answer(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_here(hosts[0]):
            raise Refused(421, "this page answers only under the address that it was started with")
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope['scheme']}://{hosts[0]}":
            raise Refused(403, "another page may not ask here")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _is_visit(scope, headers):
            raise Refused(403, "another page may not ask here")
        if scope["method"] not in READING:
            given = headers.get(TOKEN, "")
            if not secrets.compare_digest(given.encode(), self._token.encode()):
                raise Refused(403, "only the address that `hardgap ui` printed may change something: open that one")

    def _is_here(self, host: str) -> bool:
        """Ports do not matter (one may be forwarded). A name could be pointed here by anybody; an address could not."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._hosts or ("*" in self._hosts and _is_address(name))


def hosts_of(host: str) -> set[str]:
    """The names in `Host` under which a server that listens at `host` is asked; `*` stands for every bare address."""
    loopback = {"localhost", "127.0.0.1", "::1"}
    if host in loopback:
        return loopback
    return loopback | ({"*", socket.gethostname().lower()} if host in EVERYWHERE else {host.lower()})


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """A link that somebody followed to the page itself."""
    return scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"


async def _body(receive: Receive) -> bytes:
    """The whole body, if it is small and comes soon."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "the request broke off")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > MOST_BYTES:
                    raise Refused(413, f"a request may hold {MOST_BYTES} bytes at most")
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise Refused(408, f"a request must be whole within {BODY_SECONDS:.0f} seconds") from None


def _explained(error: Exception) -> Response:
    """One sentence about what went wrong."""
    match error:
        case Refused():
            return said({"error": str(error)}, error.status)
        case BadInput():
            return said({"error": str(error)}, 400)
        case sqlite3.OperationalError():
            return said({"error": f"the store cannot be used right now: {error}"}, 503)
        case OSError(strerror=str(reason)):
            return said({"error": f"this machine refuses: {reason}"}, 503)
        case RecursionError():
            return said({"error": "the input is nested too deeply"}, 400)
        case MemoryError() | OverflowError():
            return said({"error": "a number in the input is too large for this machine"}, 400)
        case _:
            print(f"hardgap: a bug: {type(error).__name__}: {error}; please report it", file=sys.stderr)
            return said({"error": f"a bug: {type(error).__name__}; the terminal of `hardgap ui` says more"}, 500)
