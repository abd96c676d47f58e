"""Compiles the native engine while the package is built or installed, also as editable; packs the measured results.

Without a C++ compiler nothing is lost but speed: it says so in a sentence, and PyTorch's own operations compute.
"""

from __future__ import annotations

import csv
import importlib.util
import platform
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path(__file__).parent / "src" / "hardgap" / "nn" / "native"


class NativeEngine(BuildHookInterface[Any]):
    """Puts the compiled libraries beside their source and into the wheel, which then belongs to one platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        if version == "standard":  # as editable, results are read where they are
            build_data["force_include"] |= _results(Path(self.root) / "results")
        build = _load_build()
        try:
            made = build.build_all()
        except build.CannotBuildError as reason:
            self.app.display_warning(f"hardgap: no native engine, training will be slower: {reason}")
            return
        build_data["artifacts"] += [f"/{path.relative_to(Path(self.root)).as_posix()}" for path in made]
        build_data["pure_python"] = False
        # Called through ctypes, so any Python 3 of this platform will do.
        build_data["tag"] = f"py3-none-{_platform()}"


def _results(folder: Path) -> dict[str, str]:
    """What an installed ledger reads. Weights, and runs that belong to no study, stay in the repository."""
    with (folder / "index.csv").open(encoding="utf-8", newline="") as index:
        unread = {folder / row["file"] for row in csv.DictReader(index) if not row["studies"]}
    unread |= set((folder / "weights").rglob("*"))
    read = [path for path in folder.rglob("*") if path.is_file() and path not in unread]
    return {str(path): f"hardgap/results/{path.relative_to(folder)}" for path in read}


def _load_build() -> Any:
    """The package is not installed yet, so its file is loaded by its path."""
    spec = importlib.util.spec_from_file_location("hardgap_native_build", NATIVE / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _platform() -> str:
    libc, number = platform.libc_ver()
    if libc == "glibc":
        return f"manylinux_{number.replace('.', '_')}_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
