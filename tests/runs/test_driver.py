"""The seam between a sweep and the place where it is trained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from hardgap.core.errors import BadInput
from hardgap.runs import file_system
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]


@pytest.mark.parametrize("on", ["", "here", "Local", "ray:", "ray://host", "slurmy", "slurm:", "ray://host:port"])
def test_a_place_that_does_not_exist_is_refused_before_anything_is_queued(on: str, tmp_path: Path, tiny: Tiny) -> None:
    store = Store(tmp_path / "store")
    with pytest.raises(BadInput, match=f"^on {on}: choose local"):
        run_sweep(store, [tiny()], on=on)
    assert not store.rows()


def test_a_device_that_is_not_here_is_refused_before_anything_is_queued(tmp_path: Path, tiny: Tiny) -> None:
    store, missing = Store(tmp_path / "store"), "cuda" if torch.backends.mps.is_available() else "mps"
    with pytest.raises(BadInput, match=f"device {missing} is not available here"):
        run_sweep(store, [tiny(), tiny(seed=1, device=missing)])
    assert not store.rows()


def test_a_store_on_a_network_file_system_is_named(
    tmp_path: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a folder's name has a space, and not where a local disk is mounted inside the network one."""
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(file_system, "MOUNTS", mounts)
    far, near = tmp_path / "far away" / "store", tmp_path / "far away" / "near" / "store"
    points = [str(place.parent).replace(" ", "\\040") for place in (far, near)]
    mounts.write_text(
        f"/dev/sda / ext4 rw 0 0\nserver:/home {points[0]} nfs4 rw 0 0\n/dev/sdb {points[1]} ext4 rw 0 0\n"
    )
    for place, said in ((far, f"the store {far} is on a network file system (nfs4)"), (near, "")):
        assert run_sweep(Store(place), [tiny()], seconds=-1) == "budget"
        heard = capsys.readouterr().err
        assert said in heard
        assert bool(said) == bool(heard)
