"""Sweep files: the grid, and every way to write one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.errors import BadInput
from hardgap.runs.sweep import read_sweep

BASE = '[base]\nrule = "30"\nhide = [3]\nwidth = 7\nbudget = { steps = 5 }\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sweep.toml"


def test_every_combination_the_last_varying_fastest(path: Path) -> None:
    path.write_text(BASE + '[grid]\n"unrolling.feedback" = ["soft", "hard"]\nseed = [0, 1, 2]\n')
    runs = read_sweep(path)
    assert [(run.unrolling.feedback, run.seed) for run in runs] == [
        ("soft", 0), ("soft", 1), ("soft", 2), ("hard", 0), ("hard", 1), ("hard", 2),
    ]  # fmt: skip
    assert {run.width for run in runs} == {7}
    assert {run.budget.steps for run in runs} == {5}


def test_a_dotted_name_keeps_its_neighbours(path: Path) -> None:
    path.write_text(BASE + '[grid]\n"budget.evaluate_every" = [1, 2]\n"optimiser.batch" = [4]\n')
    assert [(r.budget.steps, r.budget.evaluate_every, r.optimiser.batch) for r in read_sweep(path)] == [
        (5, 1, 4),
        (5, 2, 4),
    ]


def test_a_file_without_a_grid_is_one_run_and_equal_runs_count_once(path: Path) -> None:
    path.write_text(BASE)
    assert len(read_sweep(path)) == 1
    path.write_text(BASE + '[grid]\nrule = ["30", "L1 ^ (C | R1)"]\nseed = [0, 0]\n')
    assert len(read_sweep(path)) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rule = ", "is not TOML"),
        ("[bse]\n", r"\[bse\] is not known; a sweep has \[base\] and \[grid\]"),
        ("base = 3\n", r"\[base\] and \[grid\] are tables"),
        ("grid = [1]\n" + BASE, r"\[base\] and \[grid\] are tables"),
        ("", "budget: field required"),
        (BASE + "[grid]\nseed = 3\n", r"grid\.seed must be a list of values"),
        (BASE + "[grid]\nseed = []\n", r"grid\.seed must be a list of values"),
        (BASE + "[grid]\nseed = [-1]\n", "seed: input should be greater than or equal to 0, not -1"),
        (BASE + '[grid]\n"width.x" = [1]\n', "width is a value"),
        (BASE + '[grid]\n"unrolling.feedbak" = ["soft"]\n', r"unrolling\.feedbak: .*not permitted"),
        (BASE + "[grid.unrolling]\nsteps = [1]\n", r"grid\.unrolling must be a list"),
        (BASE.replace("[3]", '["a"]'), r"hide\.0"),
        (BASE.replace("[3]", "[9]"), "--hide 9: Rule 30 has patterns 0 to 7"),
        (BASE + "experiment = [1]\n", "experiment"),
    ],
)
def test_a_wrong_file_is_refused_by_name(path: Path, text: str, words: str) -> None:
    path.write_text(text)
    with pytest.raises(BadInput, match=f"{path}.*{words}"):
        read_sweep(path)


def test_a_file_that_cannot_be_read_is_refused(path: Path) -> None:
    with pytest.raises(BadInput, match=f"cannot read {path}: No such file"):
        read_sweep(path)
    path.mkdir()
    with pytest.raises(BadInput, match=f"cannot read {path}: Is a directory"):
        read_sweep(path)
    (path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="is not TOML"):
        read_sweep(path / "binary")


def test_a_grid_too_large_to_list_is_refused(path: Path) -> None:
    lines = "\n".join(
        f'"optimiser.{name}" = [{", ".join(map(str, range(1, 101)))}]' for name in ("batch", "warmup", "clip")
    )
    path.write_text(BASE + "[grid]\n" + lines + "\nseed = [1, 2, 3]\n")
    with pytest.raises(BadInput, match="asks for 3,000,000 runs"):
        read_sweep(path)
