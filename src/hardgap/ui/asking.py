"""How an endpoint reads what it was asked: values with bounds, a body that is a JSON object, a store of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.runs.store import Store
from hardgap.ui.guard import BODY, said

if TYPE_CHECKING:
    from hardgap.ui.live import Live

R = TypeVar("R", bound=Run)
LONGEST = 2000
Line = RunVar[CapacityLimiter]
"""Whoever waits in a line is answered one by one: two of a kind at once would only wait for one another."""


class _Run(StringConvertor):
    """An id, or its beginning: no other text reaches an answer, so no path does."""

    regex = "[0-9a-f]{1,12}"


class _Kind(StringConvertor):
    regex = "csv|json"


register_url_convertor("run", _Run())
register_url_convertor("kind", _Kind())


@dataclass(frozen=True)
class Asked:
    """One request: the words in its address, what its body holds, and the store that it is about."""

    request: Request

    @property
    def folder(self) -> Path:
        return Path(self.request.app.state.folder)

    @property
    def named_store(self) -> Path:
        """The store as a command that is shown names it."""
        return Path(self.request.app.state.named_store)

    @property
    def live(self) -> Live:
        """The runs that are trained from the page."""
        return self.request.app.state.live  # type: ignore[no-any-return]

    @property
    def results(self) -> Path | None:
        """A folder of measured runs, which may hold more than the store took in."""
        return self.request.app.state.results  # type: ignore[no-any-return]

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store, open for this request: SQLite connections belong to a thread."""
        with closing(Store(self.folder)) as store:
            yield store

    @property
    def run(self) -> str:
        """The run that the address names; an id or nothing, so never a path."""
        return str(self.request.path_params["run"])

    def text(self, name: str, default: str | None = None) -> str:
        given = self.request.query_params.get(name, default)
        if given is None:
            raise BadInput(f"{name} is missing")
        if len(given) > LONGEST:
            raise BadInput(f"{name} has more than {LONGEST} characters")
        return given

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        given = self.text(name, str(default))
        if not (given.isascii() and given.isdigit() and len(given) < 10) or not low <= int(given) <= high:
            raise BadInput(f"{name} must be a whole number from {low} to {high}")
        return int(given)

    def body(self) -> dict[str, Any]:
        try:
            found = json.loads(self.request.scope.get(BODY) or b"{}")
        except ValueError:
            raise BadInput("the request is not JSON") from None
        if not isinstance(found, dict):
            raise BadInput("the request is not a JSON object")
        return found


def of_kind(kind: type[R], run: Run) -> R:
    """A run of the world that an answer is about."""
    if not isinstance(run, kind):
        raise BadInput(f"{run.describe()}: a run of the other experiment has nothing to show here")
    return run


def route(path: str, answer: Callable[[Asked], Any], method: str = "GET") -> Route:
    """An address whose answer is plain data, or a response of its own. It is made in a thread."""
    return Route(path, _endpoint(answer), methods=[method])


def slow_route(path: str, answer: Callable[[Asked], Any], line: Line) -> Route:
    """An address whose answer takes seconds: one of its line at a time, and who waits holds no thread."""
    endpoint = _endpoint(answer)

    async def in_line(request: Request) -> Response:
        if (limiter := line.get(None)) is None:
            line.set(limiter := CapacityLimiter(1))
        return await run_sync(endpoint, request, limiter=limiter)

    return Route(path, in_line)


def _endpoint(answer: Callable[[Asked], Any]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        found = answer(Asked(request))
        return found if isinstance(found, Response) else said(found)

    return endpoint
