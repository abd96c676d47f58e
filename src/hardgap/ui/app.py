"""Every address that the page asks, and what answers there."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from hardgap.core.errors import BadInput
from hardgap.core.parts import part
from hardgap.ui import ledger, live, runs
from hardgap.ui.asking import Asked, Line, route, slow_route
from hardgap.ui.explore import answer_explore
from hardgap.ui.guard import Guard, hosts_of, said
from hardgap.ui.live import Live

STATIC = Path(__file__).parent / "static"


def make_app(folder: Path, token: str, host: str = "127.0.0.1", results: Path | None = None) -> Starlette:
    """The page of the store in `folder`; whoever changes something there shows the token.

    `results` may have measured baselines, and networks that are taken into the store.
    """
    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Guard, token=token, hosts=hosts_of(host))],
        exception_handlers={HTTPException: _not_served},
        lifespan=_until_the_end,
    )
    app.state.folder, app.state.results, app.state.live = folder, results, Live(folder)
    app.state.named_store = folder
    return app


@asynccontextmanager
async def _until_the_end(app: Starlette) -> AsyncIterator[None]:
    """Load what is slow to load while the first view is looked at; let every worker save and leave at the end."""
    warm = threading.Timer(1.0, _warm, [app.state.folder, app.state.results])
    warm.daemon = True
    warm.start()
    yield
    warm.cancel()
    app.state.live.end()


def _warm(folder: Path, results: Path | None) -> None:
    import scipy.stats  # noqa: F401

    import hardgap.studies  # noqa: F401
    from hardgap.runs.kept_weights import runs_with_weights, take_in

    for run_id in runs_with_weights(results) if results is not None else ():
        try:
            take_in(folder, run_id, results or folder)
        except BadInput as error:
            print(f"hardgap: {error}; passed over", file=sys.stderr)


def _index(request: Request) -> Response:
    return Response((STATIC / "index.html").read_bytes(), media_type="text/html")


def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing at this address", 405: "this address takes another method"}
    return said({"error": words.get(error.status_code, error.detail)}, error.status_code)


def _later(name: str) -> Callable[[Asked], Any]:
    """An answer that needs torch: loaded when it is asked for."""
    return lambda asked: part(name)(asked)


CLAIMS, DRAWINGS = Line("claims"), Line("drawings")
ROUTES: list[BaseRoute] = [
    Route("/", _index),
    Mount("/static", StaticFiles(directory=STATIC)),
    route("/api/explore", answer_explore),
    route("/api/claims", ledger.list_claims),
    slow_route("/api/claim", ledger.show_claim, CLAIMS),
    route("/api/runs", runs.list_runs),
    route("/api/fields", runs.fields),
    route("/api/runs.{kind:kind}", runs.download),
    route("/api/runs/{run:run}", runs.show_run),
    route("/api/runs/{run:run}", runs.delete, "DELETE"),
    route("/api/groups", runs.list_groups),
    route("/api/groups/{run:run}", runs.show_group),
    route("/api/compare", runs.compare),
    route("/api/plan", live.plan),
    route("/api/live", live.list_training),
    route("/api/live", live.start, "POST"),
    route("/api/live/{run:run}", live.control, "POST"),
    Route("/api/live/{run:run}/events", live.events),
    route("/api/film/{run:run}", _later("hardgap.ui.film:show_film")),
    route("/api/film/{run:run}/frame", _later("hardgap.ui.film:show_frame")),
    slow_route("/api/film/{run:run}/film.gif", _later("hardgap.ui.filming:as_gif"), DRAWINGS),
    slow_route("/api/film/{run:run}/film.html", _later("hardgap.ui.filming:as_html"), DRAWINGS),
    slow_route("/api/open/{run:run}/panel.svg", _later("hardgap.ui.opened:show_panel"), DRAWINGS),
    slow_route("/api/open/{run:run}/finding", _later("hardgap.ui.opened:show_finding"), DRAWINGS),
    route("/api/ask/{run:run}", _later("hardgap.ui.symbolic:ask")),
]
