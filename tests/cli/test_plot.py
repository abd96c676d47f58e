"""Pictures by one command each: curves of runs, a rule."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hardgap.cli import main
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store

RESULTS = Path(__file__).parents[2] / "results"
HARD = "005bff3516cd"
MAGIC = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose store has all seeds of one setting, and one run of another."""
    (tmp_path / "few").mkdir()
    for path in (RESULTS / "main").glob("*.json"):
        text = path.read_text()
        if "Rule D, 8 of 32 patterns hidden, hard×4" in text or path.stem == "00283248d523":
            shutil.copy(path, tmp_path / "few")
    import_runs(Store(tmp_path / "hardgap-runs"), tmp_path / "few")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)
    return tmp_path


def call(line: str, code: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert (ended.value.code or 0) == code


@pytest.mark.parametrize("ending", MAGIC)
@pytest.mark.parametrize("command", [f"runs plot {HARD}", "rule 30"])
def test_the_ending_names_the_format(home: Path, command: str, ending: str) -> None:
    call(f"{command} --figure a.{ending}")
    assert (home / f"a.{ending}").read_bytes().startswith(MAGIC[ending])


def test_several_seeds_are_a_band_and_its_seeds(home: Path) -> None:
    call(f"runs plot {HARD} 0028 --seeds --figure a.svg")
    drawn = (home / "a.svg").read_text()
    assert "holdout: median, middle half, each seed" in drawn
    assert "Rule D, 8 of 32 patterns hidden, hard×4, width 11" in drawn
    assert "Rule G, 8 of 32 patterns hidden, soft×4, width 11" in drawn
    assert drawn.count("stroke-opacity: 0.45") == 2 * 10  # two lines a seed


def test_a_single_run_is_named_with_its_seed(home: Path) -> None:
    call(f"runs plot {HARD} --figure a.svg")
    drawn = (home / "a.svg").read_text()
    assert "seed 0" in drawn
    assert "median" not in drawn


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"runs plot {HARD} --figure a.gif", "the name must end in .png, .svg, .pdf"),
        (f"runs plot {HARD} --figure no/a.svg", "--figure no/a.svg cannot be written"),
        ("runs plot", "requires an argument"),
        ("runs plot ffff", "there is no run ffff"),
        ("rule 30 --figure no/a.svg", "--figure no/a.svg cannot be written"),
    ],
)
def test_what_cannot_be_drawn_is_said(home: Path, capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    call(line, 2)
    assert said in capsys.readouterr().err


PAPER = ("setup", "interpolation/levels", "chains/substitution", "k-sweep", "symbolic/coverage", "dynamics/threshold")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "study"), list(enumerate(PAPER, 1)))
def test_each_figure_of_the_paper_is_one_command(
    number: int, study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a store, from the measurements that come with hardgap."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)
    ending = list(MAGIC)[number % 3]
    call(f"reproduce {study} --no-run --figure figure-{number}.{ending}")
    assert (tmp_path / f"figure-{number}.{ending}").read_bytes().startswith(MAGIC[ending])
    assert len(list(tmp_path.iterdir())) == 1
