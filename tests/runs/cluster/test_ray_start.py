"""What is refused or said before a Ray is joined; nothing here starts one."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hardgap.core.errors import BadInput
from hardgap.runs.cluster import ray_start, scratch
from hardgap.runs.driver import executor


def test_without_ray_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hardgap.runs.cluster.on_ray", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"^on ray://head:6379: ray is not installed; pip install 'hardgap\[ray\]'"):
        executor("ray://head:6379")


def test_a_port_where_nobody_listens_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.socket() as taken:  # and kept, so that nobody else begins to listen there
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = rf"^on ray://{address}: it cannot be joined \(.*refused.*RAY_AUTH_TOKEN_PATH"
        with pytest.raises(BadInput, match=refused):
            ray_start.connect(address, "namespace", 1)


def test_a_token_that_others_can_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("f" * 64)
    token.chmod(0o644)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    ray_start._take_token()
    assert f"others can read the token in {token}: `chmod 600 {token}`" in capsys.readouterr().err
    token.chmod(0o600)
    ray_start._take_token()
    assert capsys.readouterr().err == ""


def test_a_token_of_our_own_is_ours_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ray_start.TOKEN:
        monkeypatch.setenv(name, "before")
    monkeypatch.setattr(ray_start, "_use_tokens", lambda: None)
    ray_start._make_token(tmp_path / "token")
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert len((tmp_path / "token").read_text()) == 64


def test_a_cluster_without_authentication_is_named_with_the_command_that_mends_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ray_start.tell_open("head:6379")
    said = capsys.readouterr().err
    assert "the Ray cluster at head:6379 has no authentication" in said
    assert "RAY_AUTH_MODE=token ray start" in said


def test_folders_of_the_dead_are_cleared_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    first = scratch.scratch()
    assert first.stat().st_mode & 0o777 == 0o700
    place, _, _ = (first / scratch.OWNER).read_text().rsplit(":", 2)
    (first / scratch.OWNER).write_text(f"{place}:{2**22 + 1}:1")  # no such process
    second, elsewhere = scratch.scratch(), tmp_path / f"{scratch.PREFIX}elsewhere"
    assert not first.exists()
    elsewhere.mkdir()
    (elsewhere / scratch.OWNER).write_text("another-host:1:1")
    assert scratch.scratch().exists()
    assert second.exists()
    assert elsewhere.exists()


def test_a_folder_is_never_seen_with_an_owner_half_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A neighbour that looks while the owner's name is being written lets the folder be."""
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    write = Path.write_text

    def interrupted(path: Path, text: str, **given: str) -> int:
        write(path, "")
        if path.parent.name.startswith(scratch.PREFIX):
            monkeypatch.setattr(Path, "write_text", write)
            scratch.scratch()
        return write(path, text, **given)

    monkeypatch.setattr(Path, "write_text", interrupted)
    assert scratch.scratch().exists()


@pytest.mark.parametrize(("address", "on"), [(None, "ray"), ("head:6379", "ray://head:6379")])
def test_a_ray_that_was_joined_before_is_used_only_if_it_is_the_one_asked_for(
    monkeypatch: pytest.MonkeyPatch, address: str | None, on: str
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: True)
    monkeypatch.setattr("ray.get_runtime_context", lambda: SimpleNamespace(gcs_address="10.0.0.1:6379"))
    with pytest.raises(BadInput, match=rf"^on {on}: this process is in the Ray at 10\.0\.0\.1:6379 already"):
        ray_start.connect(address, "namespace", 1)
    ray_start.connect("10.0.0.1:6379", "namespace", 1)()
