"""`hardgap checks` says what computes here, where the store is, and what is missing for which feature."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hardgap.cli import checks as module
from hardgap.cli import main
from hardgap.cli.checks import FEATURES
from hardgap.runs import file_system

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def told(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, object]:
    with pytest.raises(SystemExit) as ended:
        main(["checks", "--json", *options])
    assert not ended.value.code
    return dict(json.loads(capsys.readouterr().out))


def test_it_tells_machine_store_and_features(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = told(capsys, "--store", str(tmp_path / "not" / "yet"))
    assert {"engine", "torch", "python", "instructions", "threads", "cores", "processor"} <= found.keys()
    assert str(found["store"]).endswith(f"yet, on {file_system.file_system(tmp_path) or 'an unknown file system'}")
    features = found["features"]
    assert isinstance(features, dict)
    assert features["DataFrames: frame(), points()"].startswith("pandas ")


def test_what_is_missing_names_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_version", lambda package: None)
    monkeypatch.setenv("PATH", "")
    features = told(capsys)["features"]
    assert isinstance(features, dict)
    assert features["runs export --to mlflow"] == "missing: pip install 'hardgap[mlflow]'"
    assert features["report --pdf"].startswith("missing: pdf: no browser")
    assert all(state.startswith("missing") for state in features.values())


def test_a_store_that_machines_share_is_warned_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/home {tmp_path / 'far'} wekafs rw 0 0\n")
    monkeypatch.setattr(file_system, "MOUNTS", mounts)
    far, near = (told(capsys, "--store", str(tmp_path / place / "store"))["store"] for place in ("far", "near"))
    assert str(far).endswith(
        "on wekafs: use a store from one machine at a time, SQLite cannot guard it between several"
    )
    assert str(near).endswith("on ext4")


@pytest.mark.parametrize(("extra", "packages"), FEATURES.values(), ids=[extra for extra, _ in FEATURES.values()])
def test_the_extra_that_is_named_brings_the_packages(extra: str, packages: list[str]) -> None:
    brought = [one.partition(">")[0] for one in EXTRAS[extra]]
    for either in packages:
        assert set(either.split("|")) & set(brought)
