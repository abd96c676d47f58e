"""Which plug-ins are imported at all, and how a change of their code is noticed."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.plugins import load_plugin, source_of, trust, trusted
from hardgap.core.run import named
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun

Write = Callable[..., str]
numbers = itertools.count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that modules are imported from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def name() -> str:
    """A module name that no other test uses: a process imports a name once."""
    return f"nets_{next(numbers)}"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


# Trust


def test_only_what_was_named_is_imported(folder: Path, name: str) -> None:
    write(folder / f"{name}.py", "def make(width): ...")
    with pytest.raises(BadInput, match=f"model {name}:make is named by a stored run, not by you, and .* --trust"):
        load_plugin("--model", f"{name}:make")
    assert name not in sys.modules
    trust([f"{name}:other"])
    with pytest.raises(BadInput, match="--trust"):
        load_plugin("--model", f"{name}:make")
    trust([f"{name}:make"])
    assert load_plugin("--model", f"{name}:make").__name__ == "make"
    assert trusted() == [f"{name}:make", f"{name}:other"]


def test_the_source_is_found_without_importing(folder: Path, name: str) -> None:
    write(folder / f"{name}.py", "raise SystemExit(3)")
    assert len(source_of(f"{name}:make")) == 64
    assert name not in sys.modules


def test_a_run_is_named_with_its_source(folder: Path, name: str) -> None:
    write(folder / f"{name}.py", "def make(width): ...")
    plain = AutomatonRun(rule="30", hide=(3,), budget={"steps": 1}, model={"kind": "plugin", "factory": f"{name}:make"})
    run = named(plain)
    assert run.plugins() == {f"{name}:make": source_of(f"{name}:make")}
    assert trusted() == [f"{name}:make"]
    assert run.id != plain.id
    assert parse_run(run.asked()) == run == named(run)
    assert f", {name}:make {source_of(f'{name}:make')[:6]}, width" in run.describe()


def test_operators_are_named_with_their_source(folder: Path, name: str) -> None:
    write(folder / f"{name}.py", "x = None")
    plain = SymbolicRun(holdout="x|", operators=("|", "&", f"{name}:x"), budget={"steps": 1})
    run = named(plain)
    assert run.sources == {f"{name}:x": source_of(f"{name}:x")}
    assert run.id != plain.id
    assert plain.describe() == "x| held out, familiar, seed 0"
    assert run.describe() == f"x| held out, familiar, code {source_of(f'{name}:x')[:6]}, seed 0"
    assert name not in sys.modules
    with pytest.raises(BadInput, match="sources: elsewhere:x is not among the operators"):
        plain.but(sources={"elsewhere:x": "0" * 64})


def test_runs_keep_the_ids_that_they_had_before_there_was_a_source() -> None:
    run = AutomatonRun(rule="30", hide=(3,), budget={"steps": 1})
    assert named(run) is run
    plugin = run.but(model={"kind": "plugin", "factory": "somebodys.nets:make"})
    assert plugin.id == "3871fbd459a5"
    assert SymbolicRun(holdout="x|", operators=("|", "&", "a.b:x"), budget={"steps": 1}).id == "5b9e37b27708"


# What counts as its source


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ("nets/model.py", True),
        ("nets/__init__.py", True),
        ("nets/layers.py", True),
        ("nets/deep/__init__.py", True),
        ("nets/deep/blocks.py", True),
        ("nets/lazy.py", True),
        ("beside.py", True),
        ("bare/inner.py", True),
        ("nets/plots.py", False),
        ("train_all.py", False),
        ("nets/data.json", False),
    ],
)
def test_what_import_statements_reach_in_its_folder_counts(folder: Path, name: str, changed: str, counts: bool) -> None:
    files = {
        "nets/__init__.py": "",
        "nets/model.py": f"""
            from . import layers
            from .deep.blocks import Block
            import torch, beside, {name}.model
            from bare.inner import thing
            def make(width):
                from {name} import lazy
        """,
        "nets/layers.py": "",
        "nets/deep/__init__.py": "",
        "nets/deep/blocks.py": "from .. import model",
        "nets/lazy.py": "",
        "nets/plots.py": "",
        "nets/data.json": "{}",
        "beside.py": "",
        "bare/inner.py": "",  # a folder without __init__.py
        "train_all.py": f"import {name}.model",
    }
    place = {file: folder / file.replace("nets/", f"{name}/", 1) for file in files}
    for file, text in files.items():
        write(place[file], "\n".join(line[12:] for line in text.split("\n")) if "\n" in text else text)
    before = source_of(f"{name}.model:make")
    assert source_of(f"{name}.model:make") == before
    place[changed].write_text(place[changed].read_text() + "\n")
    assert (source_of(f"{name}.model:make") != before) is counts


def test_an_installed_package_counts_as_a_whole() -> None:
    assert source_of("json:loads") == source_of("json.decoder:JSONDecoder") != source_of("email:message")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no.such:thing", "no.such:thing cannot be imported: No module named 'no'"),
        ("sys:exit", "sys:exit cannot be imported: sys has no file"),
        ("__main__:thing", "__main__:thing cannot be imported: write it into a file"),
    ],
)
def test_what_has_no_source_is_refused_in_a_sentence(path: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        source_of(path)


# A change is noticed


def test_other_code_than_the_runs_is_refused(folder: Path, name: str) -> None:
    write(folder / f"{name}.py", "def make(width): ...")
    trust([f"{name}:make"])
    source = source_of(f"{name}:make")
    write(folder / f"{name}.py", "def make(width): return 1 / 0")
    now = source_of(f"{name}:make")
    with pytest.raises(BadInput, match=f"source {source[:8]} then, {now[:8]} now.* or train again, which is a new run"):
        load_plugin("--model", f"{name}:make", source)
    assert name not in sys.modules


def test_code_that_changes_after_it_was_imported_is_not_taken_for_the_new_one(folder: Path, name: str) -> None:
    write(folder / f"{name}.py", "def make(width): ...")
    trust([f"{name}:make"])
    load_plugin("--model", f"{name}:make", source_of(f"{name}:make"))
    write(folder / f"{name}.py", "def make(width): return None")
    with pytest.raises(BadInput, match="the code changed after it was imported; start Python again"):
        load_plugin("--model", f"{name}:make", source_of(f"{name}:make"))
