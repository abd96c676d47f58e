"""Compile the kernel with the system's C++ compiler; `pip install` does so through hatch_build.py.

Stands alone: the build hook loads this file by its path, before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = ("kernel.cpp", "seq2seq.h", "network.h", "blocks.h", "layers.h", "dropout.h", "gemm.h", "vectors.h")
FLAGS = ("-std=c++17", "-O3", "-fPIC", "-shared", "-fno-math-errno", "-ffp-contract=fast", "-Wall", "-Wno-psabi")
X86 = {
    "avx512": ("-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma", "-mprefer-vector-width=512"),
    "avx2": ("-mavx2", "-mfma"),
}
BUILDS = {**(X86 if platform.machine() in ("x86_64", "AMD64") else {}), "portable": ()}
"""The builds of this kind of machine, fastest first, and what each adds to the flags."""


class CannotBuildError(Exception):
    """Why there is no library; one sentence."""


def library_path(build: str, folder: Path = HERE) -> Path:
    return folder / f"kernel-{build}.so"


def source_hash() -> str:
    """Of everything that the library is made from."""
    digest = hashlib.sha256(repr((FLAGS, BUILDS)).encode())
    for name in SOURCES:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()[:12]


def build_all(folder: Path = HERE, extra: tuple[str, ...] = ()) -> list[Path]:
    """Compile every build into a folder, all at the same time; those that the compiler can make."""
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        raise CannotBuildError("there is no C++ compiler (c++, g++ or clang++)")
    define = (f'-DSOURCE="{source_hash()}"', f'-DCOMPILER="{_version(compiler)}"')
    made = {library_path(build, folder): flags for build, flags in BUILDS.items()}
    running = [
        subprocess.Popen(
            [*compiler.split(), *FLAGS, *define, *flags, *extra, str(HERE / "kernel.cpp"), "-o", f"{path}.part"],
            stderr=subprocess.PIPE,
            text=True,
        )
        for path, flags in made.items()
    ]
    said = [process.communicate()[1] for process in running]
    for process, path in zip(running, made, strict=True):
        part = Path(f"{path}.part")
        part.unlink(missing_ok=True) if process.returncode else part.replace(path)
    if all(process.returncode for process in running):
        raise CannotBuildError(f"{compiler} fails: {_first_error(said[-1])}")
    return [path for process, path in zip(running, made, strict=True) if not process.returncode]


def _first_error(said: str) -> str:
    lines = said.strip().splitlines()
    return next((line for line in lines if "error" in line), "".join(lines[:1]))


def _version(compiler: str) -> str:
    """Name and version, such as `g++ 12.2.0`."""
    try:
        asked = [*compiler.split(), "-dumpfullversion", "-dumpversion"]
        number = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotBuildError(f"{compiler} does not answer: {error}") from error
    return f"{Path(compiler.split()[0]).name} {number}"


if __name__ == "__main__":
    try:
        print(*build_all(), sep="\n")
    except CannotBuildError as reason:
        sys.exit(f"no native engine: {reason}")
