"""The release as a stranger has it: built from the sources, installed without a clone, used from an empty folder.

Only what hardgap depends on comes from this environment, by a path; every file of hardgap itself comes from the wheel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hardgap

ROOT = Path(__file__).parents[1]
WITHOUT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "HARDGAP"))}


def run(*command: Any, cwd: Path) -> str:
    done = subprocess.run(
        [str(one) for one in command], cwd=cwd, env=WITHOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from nothing but the source distribution."""
    pytest.importorskip("hatchling")
    built = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", built, cwd=ROOT)
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        packed.extractall(built, filter="data")
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        built,
        cwd=built / f"hardgap-{hardgap.__version__}",
    )
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that has the wheel, and dependencies by a path."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    run(sys.executable, "-m", "pip", "--python", folder, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    where = run(folder / "bin" / "python", "-c", "import hardgap; print(hardgap.__file__)", cwd=folder)
    assert Path(where.strip()).is_relative_to(site)
    return folder / "bin" / "hardgap"


@pytest.fixture
def ui(installed: Path, tmp_path: Path) -> Iterator[str]:
    """The printed address of the page."""
    command = [str(installed), "ui", "--no-browser", "--port", "0"]
    page = subprocess.Popen(command, cwd=tmp_path, env=WITHOUT, stdout=subprocess.PIPE, text=True)
    assert page.stdout is not None
    yield page.stdout.readline().strip()
    page.terminate()
    page.communicate(timeout=600)


@pytest.mark.slow
def test_a_wheel_is_small_and_has_results_without_weights(wheel: Path) -> None:
    assert wheel.stat().st_size < 9.6e6  # four of them are the atlas's 2,344 files; weights would be 15 more
    listed = run(sys.executable, "-m", "zipfile", "--list", wheel, cwd=wheel.parent)
    assert "results/symbolic/search" not in listed  # it belongs to no study
    assert len(re.findall(r"^hardgap/results/main/\w+\.json", listed, re.M)) > 100
    assert "safetensors" not in listed


@pytest.mark.slow
def test_claims_are_judged_from_packaged_results(installed: Path, tmp_path: Path) -> None:
    assert run(installed, "--version", cwd=tmp_path).strip() == hardgap.__version__
    (claim,) = json.loads(run(installed, "reproduce", "main/rule-d-soft", "--no-run", "--json", cwd=tmp_path))
    assert [arm["verdict"] for arm in claim["arms"]] == ["reproduced at desk scale"]
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
    named = subprocess.run([installed, "reproduce", "main", "--no-run", "--store", "mine"], cwd=tmp_path, env=WITHOUT,
                           capture_output=True, text=True, check=False)  # fmt: skip
    assert named.returncode == 2
    assert "mine" in named.stderr  # a store that was asked for is not replaced by another


@pytest.mark.slow
def test_the_demo_tells_its_story(installed: Path, tmp_path: Path) -> None:
    """Whether the entry is recovered is the machine's bits' to say; JSON and exit code agree on it."""
    done = subprocess.run([installed, "demo", "--json"], cwd=tmp_path, env=WITHOUT, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert (told["holdout"]["soft"] > 0.99) == (done.returncode == 0)
    assert "<svg" in (tmp_path / "hardgap-demo.html").read_text()


@pytest.mark.slow
def test_the_page_is_served(ui: str) -> None:
    with urllib.request.urlopen(ui, timeout=600) as page:
        text = page.read().decode()
    assert "<title>hardgap" in text
    base = re.match(r"http://[^/]+/", ui)
    assert base is not None
    for script in re.findall(r'src="/?([^"]+\.js)"', text):
        with urllib.request.urlopen(base[0] + script, timeout=600) as answer:
            assert answer.status == 200
