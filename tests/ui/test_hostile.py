"""More than a thousand hostile requests: nothing escapes, nothing hangs, no traceback is shown."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hardgap.runs.store import Store
from hardgap.ui import app, guard, serve
from hardgap.ui.app import ROUTES, make_app

from .conftest import Caller

SECONDS = 120
"""How long to wait for what must happen: a busy machine is slow, not wrong."""
TOKEN, HOST = "the-token-of-this-test", (b"host", b"127.0.0.1:8377")
READ = ["/", "/static/app.js", "/api/explore?rule=150&hide=2", "/api/runs", "/api/claims", "/api/groups", "/api/fields"]
CHANGE = [("/api/live", "POST"), ("/api/live/0123456789ab", "POST"), ("/api/runs/0123456789ab", "DELETE")]
UP = ["..", "%2e%2e", "..%2f..", "..\\..", "%252e%252e", "....//....", "\x00", "~root", "/etc/passwd", "C:\\Windows"]
SECRETS = ("app.py", "../app.py", "etc/passwd", "runs.sqlite", "vendor/../../guard.py", ".git/config")
HOSTS = [
    b"", b"evil.example", b"evil.example:8377", b"127.0.0.1.evil.example", b"localhost.evil.example", b"0.0.0.0",
    b"127.0.0.1@evil.example", b"evil.example#127.0.0.1", b"[::1", b"192.168.0.7", b"2130706433x", b"\xff\xfe",
    b"127.0.0.1 evil.example", b"http://127.0.0.1", b"127.1.evil", b"user:pw@localhost.evil",
]  # fmt: skip
ORIGINS = [
    "http://evil.example", "https://127.0.0.1:8377", "http://127.0.0.1:8378", "null", "", "http://localhost:8377",
    "http://127.0.0.1:8377.evil.example", "file://", "http://127.0.0.1:8377/", "HTTP://127.0.0.1:8377",
]  # fmt: skip
VALUES = [
    "", "-1", "1e9", "9" * 500, "NaN", "0x10", "٣", "1;DROP TABLE runs", "' OR 1=1 --", "<script>alert(1)</script>",
    "../../etc/passwd", "\x00", "💥", "%s%n", "a" * 3000, "{}", "[]", "null", "__class__", "r9:0", "~" * 300, "(" * 300,
    "L1 ^", "150,150", "true", "1 2 3", "\u202e", "$(reboot)", "|", "r3:0x" + "f" * 60, "=cmd", "model.args.__init__",
]  # fmt: skip
ASKED = [
    ("/api/explore", "rule"), ("/api/explore?rule=150", "hide"), ("/api/runs", "sort"), ("/api/runs", "page"),
    ("/api/runs", "size"), ("/api/runs", "where"), ("/api/groups", "where"), ("/api/claim", "name"),
    ("/api/claims", "scale"), ("/api/compare?a=00", "b"), ("/api/plan", "rule"), ("/api/plan?rule=150", "hide"),
    ("/api/plan", "temperature"), ("/api/plan", "seed"), ("/api/plan", "recipe"), ("/api/plan", "scale"),
    ("/api/plan", "feedback"), ("/api/plan", "steps"), ("/api/plan", "strange"), ("/api/runs.csv", "where"),
    ("/api/film/0123456789ab/frame", "step"), ("/api/ask/0123456789ab", "numbers"),
    ("/api/open/0123456789ab/finding", "panel"), ("/api/live/0123456789ab/events", "after"),
]  # fmt: skip
BODIES = [
    b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b'{"run": "../../x"}', b'{"run": {}}', b'{"rule": []}',
    b'{"do": "explode"}', b'{"do": 3}', b'{"rule": "150", "hide": {"$gt": 0}}', b'{"rule": "150", "hide": null}',
    b'{"temperature": 1e999}', b'{"temperature": "nan"}', b'{"seed": -1}', b'{"seed": 1e30}', b"[" * 60_000,
    b'{"a":' * 10_000, b'{"model": "os:system"}', b'{"rule": "' + b"9" * 60_000 + b'"}', b'{"steps": 0}',
    b'{"recipe": "__import__"}', b'{"scale": "huge"}', b'{"rule": "150", "hide": "0,1,2,3,4,5,6,7"}',
]  # fmt: skip


def hostile() -> Iterator[tuple[set[int], dict[str, Any]]]:
    """Each request, and the statuses that it may be answered with."""
    refused = {400, 403, 404, 405, 413, 421}
    for up in UP:
        for secret in SECRETS:
            for base in ("/static/", "/api/", "/", "/api/runs/", "/api/film/", "/static/vendor/"):
                yield refused, {"path": f"{base}{up}/{secret}"}
    for host in HOSTS:
        for path in READ:
            yield {421}, {"path": path, "headers": [(b"host", host)]}
        for path, method in CHANGE:
            yield {421}, {"path": path, "method": method, "body": {}, "headers": [(b"host", host)]}
    yield {421}, {"path": "/", "headers": []}
    yield {421}, {"path": "/", "headers": [HOST, (b"host", b"evil.example")]}
    for origin in ORIGINS:
        for path in READ:
            yield {403}, {"path": path, "headers": [HOST, (b"origin", origin.encode())]}
        for path, method in CHANGE:
            headers = [HOST, (b"origin", origin.encode())]
            yield {403}, {"path": path, "method": method, "body": {}, "headers": headers}
    for site in ("cross-site", "same-site", "evil"):
        yield {403}, {"path": "/api/runs", "headers": [HOST, (b"sec-fetch-site", site.encode())]}
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü" * 30):
        for path, method in CHANGE:
            yield {403}, {"path": path, "method": method, "body": {}, "token": token}
    for path, name in ASKED:
        for value in VALUES:
            asked = f"{path}{'&' if '?' in path else '?'}{name}={value}"
            yield {200, *refused}, {"path": asked.replace("#", "%23")}
    for path, method in CHANGE:
        for body in BODIES:
            yield refused, {"path": path, "method": method, "body": body}
        yield {413}, {"path": path, "method": method, "body": b" " * (guard.MOST_BYTES + 1)}
    for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"):
        for path in READ:
            yield {400, 403, 404, 405}, {"path": path, "method": method}


def test_over_a_thousand_hostile_requests_are_refused_in_one_sentence(ask: Any, folder: Path) -> None:
    """The odd one that is allowed, such as a rule of 300 negations, must be answered properly."""
    asked = list(hostile())
    assert len(asked) >= 1000
    answers = asyncio.run(_all(ask, [request for _, request in asked]))
    for (allowed, request), (answer, seconds) in zip(asked, answers, strict=True):
        assert seconds < 60, request  # of a processor, and far more than any needs: a busy machine is slow, not wrong
        assert answer.status in allowed, (request, answer)
        check_answer(answer, request)
    store = Store(folder)
    assert store.count() == 0
    assert list(folder.parent.glob("**/*.html")) == []


async def _all(ask: Any, requests: list[dict[str, Any]]) -> list[tuple[Any, float]]:
    """Each answer, and the seconds of a processor that it took."""
    answers = []
    for request in requests:
        began = time.process_time()
        answers.append((await ask.ask(**request), time.process_time() - began))
    return answers


def check_answer(answer: Any, request: Any) -> None:
    for name, value in guard.HEADERS.items():
        assert answer.headers[name.lower()] == value, request
    assert b"Traceback" not in answer.body
    assert b'File "' not in answer.body
    if answer.status >= 400:
        sentence = answer.data["error"]
        assert sentence.strip()
        assert str(Path(__file__).parent.parent.parent) not in sentence


def test_a_place_in_a_run_that_is_no_step_is_refused(ask: Any, filled: Path) -> None:
    path = f"/api/live/{ask('/api/runs').data['rows'][0]['id']}/events"
    for place in ("--5", "5-", "²", "٣", "1e3", "9" * 12, "-"):
        answers = [ask(f"{path}?after={place}")]
        if place != "٣":  # no header can hold it
            answers.append(ask(path, headers=[HOST, (b"last-event-id", place.encode("latin-1"))]))
        assert {answer.status for answer in answers} == {400}, place


def test_every_address_that_changes_something_wants_the_token(ask: Any) -> None:
    """Also one that is added tomorrow: asked of the table of addresses itself."""
    reading = {"GET", "HEAD"}
    changing = [(one.path, method) for one in ROUTES for method in (getattr(one, "methods", None) or set()) - reading]
    assert len(changing) >= 3
    for path, method in changing:
        assert ask(path.replace("{run:run}", "0123456789ab"), method, {}, token=None).status == 403


def test_the_whole_page_may_be_visited_by_a_link_but_its_data_may_not_be_asked_for(ask: Any) -> None:
    from_elsewhere = [HOST, (b"sec-fetch-site", b"cross-site"), (b"sec-fetch-mode", b"navigate")]
    assert ask("/", headers=from_elsewhere).status == 200
    assert ask("/api/runs", headers=from_elsewhere).status == 403


@pytest.mark.parametrize(
    ("host", "asked", "answered"),
    [
        ("127.0.0.1", b"localhost:9000", True),
        ("127.0.0.1", b"[::1]:8377", True),
        ("127.0.0.1", b"192.168.0.7", False),
        ("0.0.0.0", b"192.168.0.7:8377", True),
        ("0.0.0.0", b"lab.example", False),
        ("lab.example", b"lab.example:8377", True),
        ("lab.example", b"192.168.0.7", False),
    ],
)
def test_it_answers_under_its_own_addresses_alone(started_at: Any, host: str, asked: bytes, answered: bool) -> None:
    answer = started_at(host)("/api/fields", headers=[(b"host", asked)])
    assert (answer.status == 200) == answered


@pytest.mark.parametrize(
    ("host", "printed"),
    [("0.0.0.0", "Box-7:80"), ("::", "Box-7:80"), ("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80")],
)
def test_the_address_that_is_printed_can_be_opened(
    started_at: Any, monkeypatch: pytest.MonkeyPatch, host: str, printed: str
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Box-7")
    assert serve.address_of(host, 80, "x") == f"http://{printed}/?token=x"
    assert started_at(host)("/", headers=[(b"host", printed.encode())]).status == 200


def test_a_bug_is_told_without_its_traceback(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ask.app.state.folder = 3
    answer = ask("/api/runs")
    assert answer.status == 500
    assert answer.data["error"].startswith("a bug: TypeError")
    assert "a bug: TypeError" in capsys.readouterr().err


@pytest.fixture
def port(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A real server that is less patient than usual, though not with a client that a busy machine holds up."""
    monkeypatch.setattr(serve, "SILENT_SECONDS", 3.0)
    monkeypatch.setattr(guard, "BODY_SECONDS", 3.0)
    server = serve.server_of(make_app(folder, TOKEN))
    bound = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join(SECONDS)
    assert not thread.is_alive()


SLOW = [
    b"",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    b"POST /api/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Hardgap-Token: %b\r\nContent-Length: 999\r\n\r\n{"
    % TOKEN.encode(),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 70_000,
]


def test_slow_and_broken_clients_hold_nobody_up(port: int) -> None:
    waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(10) for _ in SLOW]
    for connection, said in zip(waiting, SLOW * 10, strict=True):
        with suppress(ConnectionError):  # whoever says too much may be hung up on in the middle
            connection.sendall(said)
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as honest:
        honest.sendall(b"GET /api/fields HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert honest.recv(4096).startswith(b"HTTP/1.1 200")
    for connection in waiting:
        connection.settimeout(SECONDS)
        answer = _until_closed(connection)
        assert answer == b"" or answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 408")), answer
        assert b"Traceback" not in answer


def test_who_asked_properly_once_is_not_waited_for_either_but_what_is_being_answered_goes_on(
    port: int, folder: Path, fake_result: Any
) -> None:
    """A run that somebody else trains is followed without an end."""
    run = fake_result("soft", 0, 1.0)[0]
    store = Store(folder)
    store.add([run])
    assert store.claim([run.id], "somebody:1:1") is not None
    good = b"GET /api/fields HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as following:
        following.sendall(b"GET /api/live/%b/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % run.id.encode())
        assert following.recv(65536).startswith(b"HTTP/1.1 200")
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as slow:
            for _ in range(2):  # a connection is used again
                slow.sendall(good)
                answer = slow.recv(65536)
                assert answer.startswith(b"HTTP/1.1 200")
                while not answer.endswith(b"]}"):  # head and body may come apart
                    part = slow.recv(65536)
                    assert part, answer
                    answer += part
            slow.sendall(b"GET / HT")
            while slow.recv(65536):  # closed in time, or this raises
                pass
        store.fail(run.id, "somebody:1:1", "gave up")
        found = b""
        while b"event: end" not in found:
            part = following.recv(65536)
            assert part, found
            found += part


def _until_closed(connection: socket.socket) -> bytes:
    found = b""
    with connection:
        try:
            while part := connection.recv(65536):
                found += part
                if b"\r\n\r\n" in found and json.loads(found.partition(b"\r\n\r\n")[2] or b"null"):
                    break
        except (ConnectionError, ValueError):
            pass
    return found


def test_what_breaks_in_the_middle_of_an_answer_is_said_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    async def breaks(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError("here")

    answer = Caller(guard.Guard(breaks, token=TOKEN, hosts=guard.hosts_of("127.0.0.1")))("/api/runs")
    assert (answer.status, answer.body) == (200, b"")
    assert capsys.readouterr().err == "hardgap: a bug: ZeroDivisionError: here; please report it\n"


def test_weights_that_are_damaged_are_named_while_the_page_warms_up(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    (results / "weights").mkdir(parents=True)
    run = "34cc297255b6"
    (committed,) = (Path(__file__).parents[2] / "results").rglob(f"{run}.json")
    (results / committed.name).write_bytes(committed.read_bytes())
    (results / "weights" / f"{run}.step-00000600.safetensors").write_bytes(b"no weights")
    app._warm(folder, results)
    assert capsys.readouterr().err.endswith("; passed over\n")
