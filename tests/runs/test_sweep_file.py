"""Sweep files: the grid, and every way to write one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardgap.core.errors import BadInput
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


def test_every_way_to_name_a_network(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, by import path, by its fields; in a grid, side by side."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    asked = ['"encoder"', '"conv"', '"own_model:make"', "{ layers = 3 }", '{ kind = "conv", layers = 1 }',
             '{ factory = "own_model:make", args = { radius = 2 } }', '{ network = "gru" }']  # fmt: skip
    path.write_text(BASE + f"[grid]\nmodel = [{', '.join(asked)}]\n")
    made = [
        run.model.model_dump(exclude_defaults=True, exclude={"source"}) | {"kind": run.model.kind}
        for run in read_sweep(path)
    ]
    assert made == [
        {"kind": "encoder"},
        {"kind": "conv"},
        {"kind": "plugin", "factory": "own_model:make"},
        {"kind": "encoder", "layers": 3},
        {"kind": "conv", "layers": 1},
        {"kind": "plugin", "factory": "own_model:make", "args": {"radius": 2}},
        {"kind": "reference", "network": "gru"},
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
        ("", r"budget is missing: write budget = \{ steps = 1000 \}"),
        ("[base]\nbudget = { steps = 1 }\n", 'rule is missing: write rule = "150"'),
        ('rule = "30"\n[base]\n', r"write rule below \[base\]"),
        (BASE.replace("{ steps = 5 }", "5"), r"budget has parts of its own: write \{ steps = 1000 \}, not 5"),
        (BASE.replace("{ steps = 5 }", "{ }"), r"budget\.steps is missing: write steps = 1000"),
        (BASE + "unrolling = { steps = 1, weights = 1 }\n", r"unrolling\.weights: write a list, \[1\]"),
        (BASE + "unrolling = { backward = 'x' }\n", r"unrolling\.backward: input should be a valid number"),
        (
            BASE + "model = { kind = 'own:make' }\n",
            "model.kind own:make: choose encoder, conv, reference or plugin; a network of ",
        ),
        (BASE + "[grid]\nseed = 3\n", r"grid\.seed: write a list of values, \[3\]"),
        (BASE + "[grid]\nseed = []\n", r"grid\.seed: write a list of at least one value"),
        (BASE + "[grid]\nhide = 3\n", r"grid\.hide: write a list of values, \[3\]"),
        (BASE + "[grid]\nhide = [3]\n", r"grid\.hide is a list of lists: write \[\[3\]\]$"),
        (BASE + '[grid]\nhide = ["011"]\n', r"grid\.hide is a list of lists: write \[\['011'\]\]$"),
        (
            BASE + "[grid]\nhide = [3, 5]\n",
            r"grid\.hide is a list of lists: write \[\[3, 5\]\] for one run, \[\[3\], \[5\]\] for 2",
        ),
        (BASE + "[grid]\nseed = [-1]\n", "seed: input should be greater than or equal to 0, not -1"),
        (BASE + '[grid]\n"width.x" = [1]\n', "width is a value"),
        (
            BASE + '[grid]\n"unrolling.feedbak" = ["soft"]\n',
            r"unrolling\.feedbak is not known \(did you mean feedback\?\)",
        ),
        (BASE + "epochs = 3\n", "epochs is not known; there is experiment, optimiser, budget"),
        (BASE.replace("[3]", '["a"]'), "hide: Rule 30 has patterns 0 to 7, not 'a': write a number, or all 3 cells"),
        (BASE.replace("[3]", '["011"]').replace('"30"', '"D"'), "hide: 011 could be pattern 11 or the cells 00011"),
        (BASE.replace("[3]", "[9]"), "hide: Rule 30 has patterns 0 to 7, not 9"),
        (BASE.replace("[3]", "[]"), "hide: at least one pattern must be hidden"),
        (BASE + f"seed = {'9' * 5000}\n", "is not TOML: Exceeds the limit"),
        (BASE + f"seed = 0x{'f' * 5000}\n", "seed: input should be less than 2147483648, not a number of thousands"),
        (BASE + f"train_rows = 0x{'f' * 5000}\n", "train_rows: a number of more than a thousand digits"),
        (f"[grid]\nseed = 0x{'f' * 5000}\n", r"grid\.seed: write a list of values, \[a number of thousands"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        (BASE + "experiment = [1]\n", "experiment"),
    ],
)
def test_a_wrong_file_is_refused_by_name(path: Path, text: str, words: str) -> None:
    path.write_text(text)
    with pytest.raises(BadInput, match=f"{path}.*{words}"):
        read_sweep(path)


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace('"30"', "30"),
        BASE.replace("[3]", "3"),
        BASE.replace("[3]", '"011"'),
        BASE.replace("[3]", '["011"]'),
        BASE.replace("budget =", '"budget.steps" = 5\nbudget =').replace("{ steps = 5 }", "{ steps = 4 }"),
        BASE + "[grid]\nhide = [[3]]\n",
        BASE + "[grid]\nbudget.steps = [5]\n",
        BASE + "[grid.budget]\nsteps = [5]\n",
    ],
)
def test_what_can_only_mean_one_thing_is_taken(path: Path, text: str) -> None:
    path.write_text(BASE)
    plain = read_sweep(path)
    path.write_text(text)
    assert read_sweep(path) == plain


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
