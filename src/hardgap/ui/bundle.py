"""`hardgap ui --bundle`: what can be read of the page, as a folder of files that needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.requests import Request

from hardgap.api.training import STORE
from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress
from hardgap.runs.store import Store
from hardgap.ui import ledger, runs
from hardgap.ui.app import make_app
from hardgap.ui.asking import Asked
from hardgap.ui.copies import as_script, page
from hardgap.ui.explore import explore
from hardgap.ui.film import frame, has_film, show_film
from hardgap.ui.filming import film_answers

SIZE = 50
MOST_FILMS = 12
NAMED = ("D", "G")
VIEWS = ("explore", "scrub", "ledger", "runs")


def write_bundle(folder: Path, store: Path, results: Path | None, tell: Progress) -> int:
    """Write the page and its data; how many files. A folder that holds anything else is left alone."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "index.html").exists():
        raise BadInput(f"{folder} holds something else: name an empty or new folder", of="bundle")
    (folder / "data").mkdir(parents=True, exist_ok=True)
    app = make_app(store, token="", results=results)
    app.state.named_store = STORE  # a path of this machine is nothing to whoever reads the copy
    answers: dict[str, Any] = {}
    files: dict[str, str] = {}
    for name, part in [*_explored(tell), *_listed(app, tell), *_films(app, tell), *_claims(app, tell)]:
        if name is None:
            answers |= part
            continue
        files |= dict.fromkeys(part, f"data/{name}.js")
        (folder / "data" / f"{name}.js").write_text(f"globalThis.hardgapKept = {as_script(part)};\n", encoding="utf-8")
    (folder / "index.html").write_text(page(answers, files, VIEWS, "#explore"), encoding="utf-8")
    return 1 + len(set(files.values()))


Part = tuple[str | None, dict[str, Any]]
"""Answers by their address, and the file they go to; None is the page itself."""


def _explored(tell: Progress) -> Iterator[Part]:
    """Every elementary rule, and the paper's wider ones, with nothing or any one entry hidden."""
    names = [*map(str, range(256)), *NAMED]
    for place, name in enumerate(names):
        tell("every gap of one entry", place, len(names))
        entries = len(explore(name, "")["rule"]["table"])
        hides = ["", *map(str, range(entries))]
        yield f"rule-{name}", {f"api/explore?{urlencode({'rule': name, 'hide': h})}": explore(name, h) for h in hides}


def _listed(app: Starlette, tell: Progress) -> Iterator[Part]:
    tell("runs and groups", 0, 0)
    lists = {("api/runs", runs.list_runs): "&sort=-created", ("api/groups", runs.list_groups): ""}
    for (path, answer), more in lists.items():
        total = answer(_asked(app, "page=0&size=1"))["total"]
        for number in range(max(1, -(-total // SIZE))):
            words = f"page={number}&size={SIZE}{more}"
            found = answer(_asked(app, words))
            yield f"{path[4:]}-{number}", {f"{path}?{words}": found}
            one = runs.show_run if path == "api/runs" else runs.show_group
            each = {f"{path}/{row['id']}": one(_asked(app, "", row["id"])) for row in found["rows"]}
            yield f"{path[4:]}-{number}-each", each
            if path == "api/groups":
                yield f"group-{number}-runs", _by_member(each)


def _by_member(groups: dict[str, Any]) -> dict[str, Any]:
    """A group is asked for by any of its runs."""
    return {f"api/groups/{row['id']}": group for group in groups.values() for row in group["runs"]}


def _films(app: Starlette, tell: Progress) -> Iterator[Part]:
    """The newest runs whose weights are here."""
    store = Store(app.state.folder)
    done = [("experiment", "automaton"), ("status", "done")]
    newest = store.listed(where=done, sort="-created", ids=runs.with_weights(store.folder))
    shown = [one for one in newest if has_film(store, one.id)][:MOST_FILMS]
    others = store.count(done) - len(shown)
    store.close()
    where = [("where", f"{name}={value}") for name, value in done]
    asked = f"page=0&size={SIZE}&sort=-created&{urlencode(where, quote_via=quote)}&kept=1"
    rows = [runs.as_row(one) for one in shown]
    yield None, {f"api/runs?{asked}": {"total": len(rows), "others": others, "rows": rows}}
    for place, one in enumerate(shown):
        tell("films", place, len(shown))
        film = show_film(_asked(app, "", one.id))
        frames = [frame(app.state.folder, one.id, step) for step in film["frames"]]
        yield f"film-{one.id}", film_answers(film, frames)


def _claims(app: Starlette, tell: Progress) -> Iterator[Part]:
    claims = ledger.list_claims(_asked(app, "scale=desk"))
    yield None, {"api/claims?scale=desk": claims}
    for place, one in enumerate(claims):
        tell("claims", place, len(claims))
        if one["name"] != "theorems":  # minutes; `hardgap prove` is the place for it
            words = f"name={quote(one['name'], safe='')}&scale=desk"
            yield (
                "claims-" + one["name"].replace("/", "-"),
                {f"api/claim?{words}": ledger.show_claim(_asked(app, words))},
            )


def _asked(app: Starlette, words: str, run: str = "") -> Asked:
    """The request that a browser would send."""
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "app": app, "path_params": {"run": run}}
    return Asked(Request(scope | {"query_string": words.encode()}))
