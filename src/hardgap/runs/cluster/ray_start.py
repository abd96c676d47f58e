"""Start a Ray of one's own, or join one: with a token, without dashboard and statistics."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.runs.cluster.scratch import scratch

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns about graphics cards that nobody asked for
    "RAY_worker_niceness": "0",  # of the workers of a Ray of one's own; Ray lets everybody else go first
}
OBJECT_STORE_BYTES = 256 * 2**20
"""What is under way between workers and driver fits a fraction of it; Ray would take a third of the memory."""
CONNECT_SECONDS = 10.0


def connect(address: str | None, namespace: str, cpus: int) -> Callable[[], None]:
    """Join the Ray at HOST:PORT, or start one with so many places if there is no address; how to leave it again."""
    import ray

    if ray.is_initialized():
        _check_same(address, ray.get_runtime_context().gcs_address)
        return lambda: None
    before = {name: os.environ.get(name) for name in (*QUIET, *TOKEN)}
    os.environ.update(QUIET)
    folder = None if address else scratch()

    inside: Any = import_module("ray._private.worker")
    prints = inside.print_to_stdstream

    def leave() -> None:
        ray.shutdown()
        inside.print_to_stdstream = prints
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})

    inside.print_to_stdstream = lambda *_, **__: None  # Ray tells of dead nodes on stdout, where our data goes
    common: dict[str, Any] = {"namespace": namespace, "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        with _own_signals():
            if folder is None:
                assert address is not None
                _take_token()
                _check_port(address)
                with _hushed():
                    ray.init(address, **common)
            else:
                _make_token(folder / "token")
                ray.init("local", num_cpus=cpus, include_dashboard=False, object_store_memory=OBJECT_STORE_BYTES,
                         _temp_dir=str(folder / "ray"), **common)  # fmt: skip
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        leave()
        raise BadInput(_refused(address, error), of="on") from error
    except BaseException:
        leave()
        raise
    return leave


def _check_same(address: str | None, joined: str) -> None:
    """A process is in one Ray at a time."""
    if address != joined:
        asked = "ray" if address is None else f"ray://{address}"
        raise BadInput(
            f"on {asked}: this process is in the Ray at {joined} already; write ray://{joined} to use that one, or "
            "leave it before with ray.shutdown()",
            of="on",
        )


TOKEN = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def _make_token(path: Path) -> None:
    """A token that only this user can read; Ray's own would be readable by everybody."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    os.environ.pop("RAY_AUTH_TOKEN", None)
    os.environ["RAY_AUTH_TOKEN_PATH"] = str(path)
    _use_tokens()


def _take_token() -> None:
    """Use the token that is at hand, if there is one, and say if others can read it."""
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    if not os.environ.get("RAY_AUTH_TOKEN") and path.exists() and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        _tell(f"others can read the token in {path}: `chmod 600 {path}`")
    if "RAY_AUTH_MODE" not in os.environ and (os.environ.get("RAY_AUTH_TOKEN") or path.exists()):
        _use_tokens()


def _use_tokens() -> None:
    """Ray has looked at the environment when it was imported."""
    raylet: Any = import_module("ray._raylet")
    os.environ["RAY_AUTH_MODE"] = "token"
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()


def _check_port(address: str) -> None:
    """Ray waits for minutes where nobody answers."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


def _refused(address: str | None, error: Exception) -> str:
    reason = " ".join(str(error).split())[:200]
    if address is None:
        return f"on ray: Ray does not start: {reason}"
    return (
        f"on ray://{address}: it cannot be joined ({reason}); PORT is that of `ray start`, this machine has to be "
        "one of its nodes, and if it asks for a token: RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=FILE"
    )


def tell_open(address: str) -> None:
    """Say that a cluster which was joined asks nobody for a token."""
    _tell(
        f"the Ray cluster at {address} has no authentication: whoever reaches its ports runs code on it "
        "(CVE-2025-62593); start each of its nodes with `ray get-auth-token --generate; chmod 600 ~/.ray/auth_token; "
        "RAY_AUTH_MODE=token ray start …`, the same token on all"
    )


def _tell(sentence: str) -> None:
    print(f"hardgap: {sentence}", file=sys.stderr)


@contextmanager
def _hushed() -> Iterator[None]:
    """Ray's own words about every try go nowhere: what they come to is said afterwards."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray puts an answer of its own to SIGTERM in the place of ours."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
