"""The studies of the tempered recipe, and the recipe in `train`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardgap.cli import main
from hardgap.runs.results import export_runs
from hardgap.runs.store import Store
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.recipes import tempered
from hardgap.worlds.automaton.run import AutomatonRun


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HARDGAP_STORE", raising=False)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_a_study_is_trained_printed_and_drawn_and_the_second_time_it_is_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = ("reproduce", "tempered/unharmed", "--scale", "smoke", "--seeds", "1", "--json")
    code, out, _ = call(capsys, *asked)
    (first,) = json.loads(out)
    assert code == 0
    assert [(arm["labels"], arm["n"], arm["planned"]) for arm in first["arms"]] == [
        ({"rule": rule, "way": way}, 1, 1) for rule in ("D", "G") for way in ("tempered", "T = 1")
    ]
    assert json.loads(call(capsys, *asked, "--no-run")[1]) == [first]
    code, out, _ = call(capsys, *asked[:4], "--no-run", "--format", "markdown")
    assert (code, out.count("/1 of 10")) == (0, 4)
    _, out, _ = call(capsys, "reproduce", "--list", "tempered", "--scale", "smoke", "--json")
    assert {row["study"]: row["done"] for row in json.loads(out)}["tempered/unharmed"] == 4
    _one_run_has_one_file(capsys, tmp_path)


def _one_run_has_one_file(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """`--keep` leaves out what stands anywhere in the results already."""
    keep = ("reproduce", "tempered/unharmed", "--scale", "smoke", "--no-run", "--keep", "results")
    assert "4 new runs written" in call(capsys, *keep)[2]
    files = sorted(folder.glob("results/tempered/unharmed/*.json"))
    assert len(files) == 4
    (folder / "results/main").mkdir()
    files[0].rename(folder / "results/main" / files[0].name)
    assert "0 new runs written" in call(capsys, *keep)[2]
    assert not files[0].exists()


def test_without_any_store_the_studies_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "baselines-only").mkdir()  # `symbolic baselines` keeps its tables in a folder without a database
    for folder in ("nowhere", "baselines-only"):
        code, out, _ = call(capsys, "reproduce", "--list", "--json", "--store", folder)
        assert code == 0
        assert {row["study"]: (row["done"], row["planned"]) for row in json.loads(out)}["tempered/target"] == (0, 240)
    assert [path.name for path in tmp_path.rglob("*")] == ["baselines-only"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["tempered/dail"], "there is no study 'tempered/dail' (did you mean tempered/dial?)"),
        (["tempered/dial", "--seeds", "0"], "--seeds 0: at least one seed is needed"),
        (["tempered/dial", "--no-run", "--store", "nowhere"], "no store"),
        (["tempered/unharmed", "--figure", "x.svg"], "there is no figure of tempered/unharmed"),
        (["tempered/dial", "--figure", "x.jpg"], "--figure x.jpg: the name must end in"),
        (["tempered/dial", "--budget", "soon"], "--budget soon: write a time such as"),
        (["tempered/dial", "--workers", "0"], "--workers 0: at least one worker is needed"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    code, out, err = call(capsys, "reproduce", *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "hardgap-runs").exists()  # nothing was trained, or begun, before it was said


def test_a_page_is_filled_and_drawn_from_results_and_the_second_time_it_is_up_to_date(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for folder in ("main", "tempered/search"):
        (tmp_path / "results" / folder).mkdir(parents=True)
    run = tempered("desk", "150", (3,))
    store, page = Store(tmp_path / "s"), tmp_path / "page.md"
    detail = {"patterns": [1.0] * 8, "rollout_visible": [1.0] * 4, "rollout_holdout": [1.0] * 4}
    curve = [{"step": 0, "loss": None, "visible": 1.0, "holdout": 1.0, "detail": detail}]
    store.put_all_done([(run, curve, "solved", {}, 1.0)])
    export_runs(store, store.rows(), tmp_path / "results/tempered/target")
    page.write_text("![](figures/tempered-target.svg)\n<!-- measured: target -->\n<!-- end -->\n")
    code, _, err = call(capsys, "document", "page.md")
    assert (code, err.splitlines()[-2:]) == (0, ["page.md written", "figures/tempered-target.svg written"])
    assert "| Rule 150 | pattern 3 | 0/10 | 0/0 of 10 | 2,640 | 1/1 of 10 |" in page.read_text()
    assert (tmp_path / "figures/tempered-target.svg").read_text().startswith("<?xml")
    assert "page.md is up to date" in call(capsys, "document", "page.md")[2]
    page.write_text("nothing to fill\n")
    code, _, err = call(capsys, "document", "page.md")
    assert (code, err.count("\n")) == (2, 1)
    assert "there is no mark" in err
    assert page.read_text() == "nothing to fill\n"


def trained(capsys: pytest.CaptureFixture[str], *options: str) -> AutomatonRun:
    """What `train` makes of its options, at smoke scale."""
    code, out, err = call(capsys, "train", "150", "--hide", "3", "--scale", "smoke", "--json", *options)
    assert code == 0, err
    run = parse_run(json.loads(out)["config"])
    assert isinstance(run, AutomatonRun)
    return run


def test_the_recipe_is_a_choice_and_options_win(capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tempered("smoke", "150", (3,))
    assert trained(capsys, "--recipe", "tempered") == recipe
    assert trained(capsys).unrolling.temperature.start == 1.0
    warmer = trained(capsys, "--recipe", "tempered", "--temperature", "16", "--unroll-steps", "3")
    assert (warmer.unrolling.temperature.start, warmer.unrolling.steps) == (16.0, 3)
    assert warmer.budget == recipe.budget
    longer = trained(capsys, "--recipe", "tempered", "--steps", str(3 * recipe.budget.steps))
    assert longer.budget.restart_at == 3 * recipe.budget.restart_at
    assert trained(capsys, "--recipe", "tempered", "--steps", "1").budget.restart_at is None
    assert trained(capsys, "--recipe", "tempered", "--unroll", "none").unrolling.feedback == "none"


def test_saturation_is_logged_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    run = trained(capsys, "--log-saturation")
    _, out, _ = call(capsys, "runs", "show", run.id, "--json")
    assert json.loads(out)["curve"][-1]["detail"]["saturation"]["logit_hidden"] > 0
