"""Nothing lower imports anything higher. Read from the syntax tree, so that lazy imports count."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hardgap

LAYERS: list[set[str]] = [
    {"core"},
    {"nn"},
    {"worlds"},
    {"theory"},
    {"runs"},
    {"report"},
    {"suites"},
    {"studies"},
    {"api"},
    {"bench"},
    {"ui"},
    {"cli"},
    {"__main__"},
]
"""Low to high. A part may import the parts below its own; not its neighbours, not what is above."""
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
SOURCE = Path(hardgap.__file__).parent
PART = re.compile(r"hardgap(\.\w+)+:\w+")
HEAVY = ("torch", "sklearn", "scipy", "matplotlib")


def imported(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Every module of this package that a file names in an import, wherever it stands, and the line."""
    package = ["hardgap", *path.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from . import x` in hardgap/runs/store.py is about hardgap.runs.
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Constant) and PART.fullmatch(str(node.value)):  # loaded by `core/parts.py` when used
            yield node.lineno, str(node.value).replace(":", ".")
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def violations(root: Path) -> list[str]:
    """What breaks the direction, and what stands in no layer."""
    found = []
    for path in sorted(root.rglob("*.py")):
        own = path.relative_to(root).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        if own not in RANK:
            found.append(f"{own} has no place among the layers; give it one in tests/test_layers.py")
            continue
        for line, module in imported(path, root):
            names = module.split(".")
            other = names[1] if names[0] == "hardgap" and len(names) > 1 else own
            place = path.relative_to(root)
            if other != own and RANK.get(other, -1) >= RANK[own]:
                found.append(f"{place}:{line}: {own} imports {other}, which is not below it")
            within = own == "worlds" and len(place.parts) > 2  # the list of all worlds is no world
            if within and names[:2] == ["hardgap", own] and names[2:3] not in ([], [place.parts[1]]):
                found.append(f"{place}:{line}: world {place.parts[1]} imports world {names[2]}")
    return found


def test_nothing_lower_imports_anything_higher() -> None:
    assert violations(SOURCE) == []


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("worlds/x/a.py", "from hardgap.runs.store import Store", "worlds/x/a.py:1: worlds imports runs"),
        ("worlds/x/a.py", "def f():\n    import hardgap.runs.store", "worlds/x/a.py:2: worlds imports runs"),
        ("worlds/x/a.py", "from hardgap.worlds.y.gap import Gap", "worlds/x/a.py:1: world x imports world y"),
        ("worlds/x/a.py", "from hardgap.worlds import y", "worlds/x/a.py:1: world x imports world y"),
        ("worlds/x/deep/a.py", "from ...y import gap", "worlds/x/deep/a.py:1: world x imports world y"),
        ("nn/a.py", "from hardgap import worlds", "nn/a.py:1: nn imports worlds"),
        ("nn/a.py", "from ..worlds import automaton", "nn/a.py:1: nn imports worlds"),
        ("nn/a.py", "from .. import cli", "nn/a.py:1: nn imports cli"),
        ("theory/a.py", "import hardgap.runs.store as store", "theory/a.py:1: theory imports runs"),
        ("runs/deep/a.py", "from ...studies import study", "runs/deep/a.py:1: runs imports studies"),
        ("runs/a.py", "import importlib\nimportlib.import_module('hardgap.cli.app')", "runs/a.py:2: runs imports cli"),
        ("core/errors.py", "from hardgap.nn.spec import Spec", "core/errors.py:1: core imports nn"),
        ("report/a.py", "if True:\n    from hardgap.studies import x", "report/a.py:2: report imports studies"),
        ("core/a.py", "TASK = 'hardgap.worlds.x.task:Task'", "core/a.py:1: core imports worlds"),
        ("helpers/a.py", "", "helpers has no place among the layers"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, path: str, text: str, found: str) -> None:
    planted = tmp_path / path
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text)
    (problem,) = violations(tmp_path)
    assert problem.startswith(found)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("runs/a.py", "from hardgap.runs.store import Store\nfrom . import results\nfrom .results import x"),
        ("cli/a.py", "import hardgap\nfrom hardgap import __version__\nfrom hardgap.worlds.automaton import rule"),
        ("nn/a.py", "import torch\nfrom hardgap.core.errors import BadInput"),
        ("worlds/x/a.py", "from hardgap.worlds.x.gap import Gap\nfrom . import gap\nfrom ..x import gap"),
        ("worlds/x/a.py", "import cli\nfrom runs import x"),
    ],
)
def test_what_is_allowed_is_not_found(tmp_path: Path, path: str, text: str) -> None:
    planted = tmp_path / path
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text)
    assert violations(tmp_path) == []


def loaded_by(code: str) -> list[str]:
    """Which of the heavy packages a fresh interpreter has loaded after running this."""
    watch = f"{code}\nimport sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


HEAVY_PARTS = ("task.py", "ask.py", "unrolling.py", "saturation.py", "native_loss.py", "stacked.py")
"""Of a world, what trains or asks a network needs torch; what is true, what is hidden and what is asked do not."""


def test_what_is_true_and_what_is_hidden_load_no_heavy_package() -> None:
    parts = [
        f"hardgap.{path.relative_to(SOURCE).with_suffix('').as_posix().replace('/', '.')}"
        for world in sorted((SOURCE / "worlds").iterdir())
        for path in sorted(world.glob("*.py"))
        if path.name not in (*HEAVY_PARTS, "baselines.py") and not path.stem.startswith("__")
    ]
    assert {"hardgap.worlds.automaton.gap", "hardgap.worlds.chains.gap"} <= set(parts)
    assert loaded_by("\n".join(f"import {module}" for module in parts)) == []


def test_the_public_names_load_nothing_until_they_are_used() -> None:
    loaded = "import sys, hardgap; hardgap.__version__; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy", "pydantic", "hardgap.core"} & set(done.stdout.split())


def test_describing_a_run_loads_no_heavy_package() -> None:
    assert loaded_by("import hardgap as hg; hg.Automaton(150, hide=2); hg.Chains('^|'); hg.BadInput") == []


def test_declaring_every_study_loads_no_heavy_package() -> None:
    """`hardgap reproduce --list` answers in under a second."""
    assert loaded_by("import hardgap.studies") == []


def test_a_heavy_package_would_be_noticed() -> None:
    assert loaded_by("import scipy") == ["scipy"]


def refusals(path: Path) -> Iterator[tuple[int, str]]:
    """The fixed words of every sentence that a file refuses something with, commands in backticks left out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("BadInput", "ValueError", "blamed"):
            words = [n.value for arg in node.args for n in ast.walk(arg) if isinstance(n, ast.Constant)]
            yield node.lineno, re.sub(r"`[^`]*`", "", " ".join(map(str, words)))


def test_only_the_command_line_speaks_of_options() -> None:
    """The library says `steps`; the command line says `--steps`, if that was typed."""
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "cli"]
    found = {path.name: list(refusals(path)) for path in files}
    assert sum(map(len, found.values())) > 100
    assert not [(name, line, said) for name, several in found.items() for line, said in several if " --" in f" {said}"]
