"""A user's own network, method or operator, named by its import path: `package.module:name`.

It is imported only if it was named by the user (on the command line, in Python, in a sweep file of their own), or if
they said `--trust`. A run that somebody else's file or store brings is data, and data runs no code.

The *source* of a plug-in is the SHA-256 of its module's file and of the files of all modules that import statements
reach from there, as far as they lie in the folder from which its top-level package (or module) is imported. Of an
installed package, or one of Python's own, it is every Python file of that package. Not seen are modules that are
imported in other ways, other installed packages, and data files. Any changed byte counts.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput

_trusted: set[str] = set()
_imported: dict[str, str] = {}
"""The source that each plug-in's module had when it was imported into this process."""


class Untrusted(BadInput):
    """Code that nobody named has not been run. `hardgap.trust` lets it be."""


def trust(paths: str | Iterable[str]) -> None:
    """Let this plug-in, or these, be imported in this process."""
    _trusted.update([paths] if isinstance(paths, str) else paths)


def trusted() -> list[str]:
    """What may be imported."""
    return sorted(_trusted)


def handed_on() -> dict[str, list[str]]:
    """What may be imported, and where it is found: for processes that this one starts."""
    return {"trusted": trusted(), "path": [str(Path(place).resolve()) for place in sys.path]}


def take_over(order: dict[str, Any]) -> None:
    """Import what the process that gave this order may import, from where it does."""
    trust(order.get("trusted", ()))
    # Last, so that it shadows nothing: a script's own folder is on its path.
    sys.path += [place for place in order.get("path", ()) if place not in sys.path]


def load_plugin(asked: str, path: str, source: str | None = None) -> Any:
    """What the path names; `asked` is what it was asked for as ("model"), for the sentence if it cannot be had.

    With `source`, it is refused unless its code is that one.
    """
    check_plugin(asked, path, source)
    module, _, name = path.partition(":")
    if source is not None and _imported.setdefault(module, source) != source:
        raise BadInput(f"{asked} {path}: the code changed after it was imported; start Python again", of=asked)
    _look_here()
    with blamed(f"{asked} {path} cannot be imported", of=asked):
        return getattr(importlib.import_module(module), name)


@contextmanager
def blamed(sentence: str, *, of: str = "") -> Iterator[None]:
    """Somebody else's code may raise anything, even SystemExit: it becomes this sentence and the reason.

    Our own sentences and Ctrl-C stay what they are.
    """
    try:
        yield
    except (BadInput, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise BadInput(f"{sentence}: {first_line(error)}", of=of) from error


def check_plugin(asked: str, path: str, source: str | None = None) -> None:
    """Refuse a plug-in that nobody named, or whose code is another one than `source`; nothing is imported."""
    if path not in _trusted:
        raise Untrusted(
            f"{asked} {path} is named by a stored run, not by you, and is not run: trust it if you know its code"
        )
    if source is not None and (now := source_of(path)) != source:
        raise BadInput(
            f"{asked} {path}: the code is not that of this run (source {source[:8]} then, {now[:8]} now); "
            "put the old code back, or train again, which is a new run"
        )


def source_of(path: str) -> str:
    """The SHA-256 of the code behind an import path, as this module defines it. Nothing is imported."""
    _look_here()
    module = path.partition(":")[0]
    digest = hashlib.sha256()
    try:
        for name, file in sorted(_files(module).items()):
            digest.update(f"{name}\n{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    except (OSError, ImportError, ValueError) as error:
        raise BadInput(f"plug-in {path} cannot be imported: {first_line(error)}") from error
    return digest.hexdigest()


def travelling(path: str) -> dict[str, bytes]:
    """The code behind an import path that a machine without it has to be given: file names, and what is in them.

    It is the code that counts as the plug-in's source. Nothing of an installed package: that has to be there.
    """
    _look_here()
    module = path.partition(":")[0]
    try:
        found = importlib.util.find_spec(module.partition(".")[0])
        if found is None or _is_installed(folder := _folder(found)):
            return {}
        return {str(file.relative_to(folder)): file.read_bytes() for file in _files(module).values()}
    except (OSError, ImportError, ValueError) as error:
        raise BadInput(f"plug-in {path} cannot be sent: {first_line(error)}") from error


def _files(module: str) -> dict[str, Path]:
    """The files that count, by module name."""
    top = module.partition(".")[0]
    if top == "__main__":
        raise ImportError("write it into a file of its own, where other processes find it, too")
    found = importlib.util.find_spec(top)
    if found is None:
        raise ImportError(f"No module named {top!r}")
    folder = _folder(found)
    if _is_installed(folder):
        return _whole(folder, top)
    files = _reached(module, folder)
    if module not in files:
        raise ImportError(f"{module} has no Python file in {folder}")
    return files


def _folder(found: ModuleSpec) -> Path:
    """The folder from which a top-level package or module is imported."""
    if found.submodule_search_locations:
        return Path(next(iter(found.submodule_search_locations))).resolve().parent
    if found.origin is None or not found.has_location:
        raise ImportError(f"{found.name} has no file, so its code cannot be told from other code")
    return Path(found.origin).resolve().parent


def _is_installed(folder: Path) -> bool:
    """Whether a folder holds installed packages or Python's own."""
    own = Path(sysconfig.get_path("stdlib")).resolve()
    return folder.is_relative_to(own) or not {"site-packages", "dist-packages"}.isdisjoint(folder.parts)


@cache
def _whole(folder: Path, top: str) -> dict[str, Path]:
    """Every Python file of a top-level package, or the file of a top-level module."""
    inside = sorted((folder / top).rglob("*.py")) or sorted(folder.glob(f"{top}.*"))
    return {str(file.relative_to(folder)): file for file in inside}


def _reached(module: str, folder: Path) -> dict[str, Path]:
    """The modules of a folder that import statements reach from one of them, itself included."""
    found: dict[str, Path] = {}
    left = {module}
    while left:
        name = left.pop()
        file = _file_of(name, folder)
        if name in found or file is None:
            continue
        found[name] = file
        left |= _parents(name)
        if file.suffix == ".py":
            left |= {reached for one in _imports(name, file) for reached in (one, *_parents(one))}
    return found


def _file_of(name: str, folder: Path) -> Path | None:
    place = folder.joinpath(*name.split("."))
    choices = [place / "__init__.py", *(place.with_name(place.name + end) for end in (*EXTENSION_SUFFIXES, ".py"))]
    return next((file for file in choices if file.is_file()), None)


def _parents(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))}


def _imports(name: str, file: Path) -> Iterator[str]:
    """Every name that import statements of a file may mean; some are no modules."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):  # then it cannot be imported, either
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def _look_here() -> None:
    if (here := str(Path.cwd())) not in sys.path:  # a console script does not look there; last, so it shadows nothing
        sys.path.append(here)


def first_line(error: BaseException) -> str:
    """The first line of what somebody else's code raised."""
    if isinstance(error, SystemExit):
        return f"it calls exit({error.code!r:.40})"
    return str(error).strip().partition("\n")[0] or type(error).__name__
