"""The page without a server: everything that it would ask for is written down with it.

A browser loads no module and no data from a file beside the page, so modules stand in the page itself, as an import map
of `data:` addresses, and so do answers; large ones are scripts beside it, which a browser does load.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data: 'self' file:; style-src 'unsafe-inline'; img-src data: blob:"
)
_IMPORT = re.compile(r'(from |import )"\./([\w/-]+\.js)"')


def page(answers: Mapping[str, Any], files: Mapping[str, str], views: Sequence[str], start: str) -> str:
    """One HTML file: `answers` by what would be asked, `files` that hold more of them, the views, the first address."""
    kept = {"answers": answers, "files": files, "views": views, "start": start}
    modules = {f"hardgap/{path.relative_to(STATIC).as_posix()}": _module(path) for path in STATIC.rglob("*.js")}
    style = "".join((STATIC / name).read_text() for name in ("vendor/uplot.css", "app.css"))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>hardgap</title><style>{style}</style>
<script type="application/json" id="kept">{as_script(kept)}</script>
<script type="importmap">{as_script({"imports": dict(sorted(modules.items()))})}</script></head>
<body><div id="app"></div><script type="module">import "hardgap/app.js";</script></body></html>
"""


def as_script(data: Any) -> str:
    """JSON that may stand inside a script element: no text in it ends the element."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _module(path: Path) -> str:
    """A module as an address, with every import by a name that the import map knows."""
    text = path.read_text()
    assert "/" not in path.relative_to(STATIC).as_posix() or not _IMPORT.search(text)  # vendored files import nothing
    named = _IMPORT.sub(r'\1"hardgap/\2"', text)
    return "data:text/javascript;base64," + base64.b64encode(named.encode()).decode()
