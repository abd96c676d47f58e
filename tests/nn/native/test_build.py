"""Built where there is a compiler, left out with a sentence where there is none; the kernel touches only its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from hardgap.nn.native import build as building
from hardgap.nn.native import engine, library

ROOT = Path(__file__).parents[3]
COMPILER = shutil.which("g++") or shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
FOR_ARM = shutil.which("aarch64-linux-gnu-g++")
EMULATOR = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
needs_arm = pytest.mark.skipif(FOR_ARM is None, reason="no compiler for aarch64 (Debian: g++-aarch64-linux-gnu)")


def exercise(compiler: str | None, flags: Sequence[str], into: Path) -> Path:
    """A program that calls everything in the kernel."""
    flags = [*(flag for flag in building.FLAGS if flag not in ("-O3", "-shared")), *flags]
    command = [str(compiler), *flags, f"-I{building.HERE}", '-DSOURCE=""', '-DCOMPILER=""']
    subprocess.run([*command, str(Path(__file__).with_name("exercise.cpp")), "-o", str(into)], check=True)
    return into


def test_without_a_compiler_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(building.CannotBuildError, match=r"there is no C\+\+ compiler"):
        building.build_all(tmp_path)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(building.CannotBuildError, match="no-such-compiler"):
        building.build_all(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_library_of_another_source_is_not_used_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not engine.state_of("portable").startswith("ready"):
        pytest.skip(engine.state_of("portable"))
    for cached in (library.load, engine._asked, engine._tell_once):
        cached.cache_clear()
    monkeypatch.delenv(engine.VARIABLE, raising=False)
    monkeypatch.setattr(library, "source_hash", lambda: "another")
    try:
        assert "was built from another source" in engine.state_of("portable")
        for _ in range(2):
            engine.choose(None)
        assert engine.current() is None
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith("hardgap: the native engine is left out: kernel-portable.so was built from another")
        monkeypatch.setitem(library.SIGNATURES, "later", (None, []))  # an older library lacks what came since
        assert "was built from another source" in engine.state_of("avx2")
    finally:
        for cached in (library.load, engine._asked):
            cached.cache_clear()


@needs_compiler
def test_what_a_compiler_cannot_make_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that knows of no AVX-512 makes the other builds; the best of these computes then."""
    compiler = tmp_path / "old-compiler"
    compiler.write_text(f"""#!/bin/sh
case "$*" in *avx512*) echo "cc1plus: note: old" >&2; echo "cc1plus: error: no avx512" >&2; exit 1;; esac
exec {COMPILER} "$@" -O0
""")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    made, folder = {name for name in building.BUILDS if name != "avx512"}, tmp_path / "made"
    folder.mkdir()
    assert {path.name for path in building.build_all(folder)} == {f"kernel-{name}.so" for name in made}
    assert {path.name for path in folder.iterdir()} == {f"kernel-{name}.so" for name in made}
    assert library.load(None, folder).build == next(name for name in library.fitting_builds() if name in made)
    monkeypatch.setattr(building, "BUILDS", {"avx512": ("-mavx512f",)})
    with pytest.raises(building.CannotBuildError, match=r"fails: cc1plus: error: no avx512$"):
        building.build_all(folder)


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
    sanitize = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-ignored-attributes"]
    program = exercise(COMPILER, [*building.BUILDS[build], *sanitize], tmp_path / "exercise")
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr[-4000:]


@pytest.mark.slow
@needs_arm
def test_the_portable_build_compiles_for_neon_without_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", str(FOR_ARM))
    monkeypatch.setattr(building, "BUILDS", {"portable": ()})
    (made,) = building.build_all(tmp_path, extra=("-Werror",))
    assert made.read_bytes()[18:20] == b"\xb7\x00"  # EM_AARCH64, in the header of an ELF file


@pytest.mark.slow
@needs_arm
@needs_compiler
@pytest.mark.skipif(EMULATOR is None, reason="nothing here runs a program for aarch64 (Debian: qemu-user)")
def test_neon_computes_what_this_processor_does(tmp_path: Path) -> None:
    here = [exercise(COMPILER, ["-O2"], tmp_path / "here")]
    there = [EMULATOR, exercise(FOR_ARM, ["-O2", "-static"], tmp_path / "there")]
    said, expected = (subprocess.run(run, capture_output=True, text=True, check=True).stdout for run in (there, here))
    (*found, done), (*exact, _) = said.splitlines(), expected.splitlines()
    assert done == "done"
    assert len(found) > 50
    for one, other in zip(found, exact, strict=True):
        assert [float(n) for n in one.split()] == pytest.approx([float(n) for n in other.split()], rel=1e-4), other


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
    assert not any(name.endswith(".so") for name in zipfile.ZipFile(plain).namelist())
