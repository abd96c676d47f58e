"""Built where there is a compiler, left out with a sentence where there is none; the kernel touches only its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hardgap.nn.native import build as building
from hardgap.nn.native import engine, library

ROOT = Path(__file__).parents[3]
COMPILER = shutil.which("g++") or shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


def test_without_a_compiler_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(building.CannotBuildError, match=r"there is no C\+\+ compiler"):
        building.build_all(tmp_path)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(building.CannotBuildError, match="no-such-compiler"):
        building.build_all(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_library_of_another_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    if not engine.state_of("portable").startswith("ready"):
        pytest.skip(engine.state_of("portable"))
    library.load.cache_clear()
    monkeypatch.setattr(library, "source_hash", lambda: "another")
    try:
        assert "was built from another source" in engine.state_of("portable")
    finally:
        library.load.cache_clear()


def test_what_is_no_library_is_not_used(tmp_path: Path) -> None:
    building.library_path("portable", tmp_path).write_text("no library")
    with pytest.raises(library.MissingLibraryError, match=r"kernel-portable\.so cannot be loaded"):
        library.load("portable", tmp_path)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("build", building.BUILDS)
def test_sanitizers_find_nothing(build: str, tmp_path: Path) -> None:
    if not library.runs_here(build):
        pytest.skip("needs another processor")
    program = tmp_path / "exercise"
    flags = [flag for flag in building.FLAGS if flag not in ("-O3", "-shared")] + list(building.BUILDS[build])
    sanitize = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-ignored-attributes"]
    command = [str(COMPILER), *flags, *sanitize, f"-I{building.HERE}", '-DSOURCE=""', '-DCOMPILER=""']
    subprocess.run([*command, str(Path(__file__).with_name("exercise.cpp")), "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-4000:]


@pytest.mark.slow
@needs_compiler
def test_a_wheel_carries_every_build_or_none(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*build, str(tmp_path / "with")], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "with").iterdir()
    inside = zipfile.ZipFile(wheel).namelist()
    assert "py3-none-any" not in wheel.name
    assert {f"hardgap/nn/native/kernel-{name}.so" for name in building.BUILDS} <= set(inside)
    assert "hardgap/nn/native/kernel.cpp" in inside
    environment = os.environ | {"CXX": "no-such-compiler"}
    done = subprocess.run(
        [*build, str(tmp_path / "without")], cwd=ROOT, check=True, capture_output=True, text=True, env=environment
    )
    assert "no native engine, training will be slower" in done.stdout + done.stderr
    (plain,) = (tmp_path / "without").iterdir()
    assert plain.name.endswith("py3-none-any.whl")
