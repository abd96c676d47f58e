"""Every address that the page asks, and what answers there."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from hardgap.ui.asking import route
from hardgap.ui.explore import answer_explore
from hardgap.ui.guard import Guard, hosts_of, said

STATIC = Path(__file__).parent / "static"


def make_app(folder: Path, token: str, host: str = "127.0.0.1") -> Starlette:
    """The page of the store in `folder`; whoever changes something there shows the token."""
    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Guard, token=token, hosts=hosts_of(host))],
        exception_handlers={HTTPException: _not_served},
    )
    app.state.folder = folder
    return app


def _index(request: Request) -> Response:
    return Response((STATIC / "index.html").read_bytes(), media_type="text/html")


def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing at this address", 405: "this address takes another method"}
    return said({"error": words.get(error.status_code, error.detail)}, error.status_code)


ROUTES: list[BaseRoute] = [
    Route("/", _index),
    Mount("/static", StaticFiles(directory=STATIC)),
    route("/api/explore", answer_explore),
]
