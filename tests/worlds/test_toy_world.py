"""A world is one folder and one line: a toy is added to a copy of the package, and everything else works for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardgap

TOY = Path(__file__).parent / "toy"
SWEEP = """
[base]
experiment = "toy"
budget = { steps = 30, evaluate_every = 10 }

[grid]
hide = [[2, 3], [0, 4]]
leak = [false, true]
"model.units" = [8]
"""
TRAIN = """
import hardgap as hg
from hardgap.worlds.toy.run import ToyRun

result = hg.train(ToyRun(hide=(1, 2), budget={"steps": 200}, optimiser={"learning_rate": 0.01}), "store", watch=False)
assert result.visible == 1.0, result.curve
print(result.id, result.table())
for use in (lambda: result.ask(1, 2), result.open):
    try:
        use()
    except hg.BadInput as error:
        print(error)
assert len(hg.results("store", hide=[1, 2], model__units=16)) == 1
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and one world more in it."""
    home = tmp_path_factory.mktemp("home")
    package = home / "hardgap"
    shutil.copytree(Path(hardgap.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TOY, package / "worlds" / "toy", ignore=shutil.ignore_patterns("__pycache__"))
    worlds, last = package / "worlds" / "__init__.py", '    "chains",\n'
    text = worlds.read_text()
    assert text.count(last) == 1
    worlds.write_text(text.replace(last, f'{last}    "toy",\n'))
    return home


def python(home: Path, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-P", *arguments]
    environment = os.environ | {"PYTHONPATH": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=environment, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def call(home: Path, line: str, code: int = 0) -> str:
    return python(home, "-m", "hardgap", *line.split(), "--store", "store", code=code)


def test_a_world_is_one_folder_and_one_line(home: Path) -> None:
    run, said = python(home, "-c", TRAIN).split(maxsplit=1)
    assert "| 1 + 2 | 3 |" in said
    assert "a network of sums cannot be asked integers" in said
    assert "there are no analyses of sums" in said

    (home / "toy.toml").write_text(SWEEP)
    swept = {row["run"]: row for row in json.loads(call(home, "sweep toy.toml --workers 2 --json"))}
    assert [row["status"] for row in swept.values()] == ["done"] * 4
    assert {row["about"] for row in swept.values()} == {
        f"{pair} modulo 5 hidden, seed 0" for pair in ("2 + 3", "0 + 4")
    }
    listed = json.loads(call(home, "runs list --where experiment=toy --where hide=2,3 --json"))
    honest, leaky = (
        next(row["run"] for row in listed if row["differs"] == f"leak={leak}") for leak in ("false", "true")
    )

    shown = call(home, f"runs show {run}")
    assert "The sum that was never shown" in shown
    assert "1 + 2" in shown
    assert "no leak in 1 steps" in call(home, f"runs certify {honest}")
    assert "LEAK" in call(home, f"runs certify {leaky} --whole", code=1)
    call(home, f"runs retrain {honest}")
    call(home, "runs export results")
    assert python(home, "-m", "hardgap", "runs", "import", "results", "--store", "other") == ""
    assert len(json.loads(python(home, "-m", "hardgap", "runs", "list", "--store", "other", "--json"))) == 5
