"""`hardgap circuits`: tables, JSON, pages, and refusals in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli.circuits import circuits
from hardgap.cli.output import Output
from hardgap.core.errors import BadInput
from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.studies.circuits.figure import circuits_figure, timeline_figure
from hardgap.studies.circuits.findings import findings_table
from hardgap.worlds.automaton.circuits.opening import ANALYSES
from hardgap.worlds.automaton.circuits.tables import circuit_tables
from hardgap.worlds.automaton.run import AutomatonRun

JSON = Output(json=True)


def train(folder: Path, run: AutomatonRun) -> None:
    store, owner = Store(folder), me()
    store.add([run])
    store.claim([run.id], owner)
    Execution(store, run, owner)()
    store.close()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, tiny: Callable[..., AutomatonRun]) -> tuple[Path, str]:
    folder, run = tmp_path_factory.mktemp("store"), tiny(test_rows=40)
    train(folder, run)
    return folder, run.id


@pytest.fixture(scope="module")
def printed(trained: tuple[Path, str]) -> dict[str, object]:
    """What `--json` prints for all analyses, once for the tests that only read it."""
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()) as text:
        circuits(trained[1], store=trained[0], output=JSON)
    data: dict[str, object] = json.loads(text.getvalue())
    return data


def test_json_holds_every_analysis_and_the_run(printed: dict[str, object], trained: tuple[Path, str]) -> None:
    assert printed["run"] == trained[1]
    assert set(ANALYSES) <= set(printed)


def test_each_analysis_has_a_table_and_a_titled_panel(printed: dict[str, object]) -> None:
    assert len(circuit_tables(printed)) == len(ANALYSES)
    page = circuits_figure(printed, "a heading")
    assert len(page.axes) == len(ANALYSES) + 1  # the recovered rule has two panels
    assert all(axes.get_title(loc="left") for axes in page.axes)


def test_what_was_found_comes_first_in_a_few_lines(
    trained: tuple[Path, str], capsys: pytest.CaptureFixture[str], printed: dict[str, Any]
) -> None:
    circuits(trained[1], store=trained[0])
    lines = capsys.readouterr().out.splitlines()
    verdict = next(i for i, line in enumerate(lines) if line.startswith("It computes Rule "))
    details = next(i for i, line in enumerate(lines) if line.startswith("Polynomial: "))
    assert (verdict, details) <= (0, 15)
    assert f"It computes Rule {printed['rule']['rule']} instead of 30" in lines[0]


def test_the_verdict_names_the_rule_and_every_wrong_entry() -> None:
    def entry(cells: str, hidden: bool, true: int, output: int) -> dict[str, Any]:
        return {"cells": cells, "hidden": hidden, "true": true, "output": output}

    def verdict(*entries: dict[str, Any], local: bool = True) -> str:
        rule = {"rule": "148", "true_rule": "150", "local": local, "entries": list(entries)}
        return findings_table({"rule": rule}).title

    seen, right, wrong = entry("000", False, 0, 0), entry("010", True, 1, 1), entry("001", True, 1, 0)
    assert verdict(seen, right) == "It computes the true rule, 150: the hidden pattern is recovered"
    assert verdict(right, right | {"cells": "011"}).endswith("all 2 hidden patterns are recovered")
    assert verdict(right, wrong) == (
        "It computes Rule 148 instead of 150: 1 of 2 hidden patterns recovered, wrong at 001"
    )
    assert "though not in every context: 0 of 1 hidden pattern recovered" in verdict(wrong, local=False)


def test_only_what_is_asked_for_is_done(trained: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    circuits(trained[1][:6], only="lens, attention", store=trained[0], step=3)
    told = capsys.readouterr()
    assert "Logit lens" in told.out
    assert "Attention by offset" in told.out
    assert "Polynomial" not in told.out
    assert "1/2 lens" in told.err


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_page_is_drawn(trained: tuple[Path, str], tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"page.{suffix}"
    circuits(trained[1], only="lens", store=trained[0], figure=target)
    assert target.stat().st_size > 1000


def test_over_time_follows_the_snapshots(trained: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    circuits(trained[1], over_time=True, store=trained[0], output=JSON)
    data = json.loads(capsys.readouterr().out)
    steps = [moment["step"] for moment in data["moments"]]
    assert steps == sorted(steps)
    assert steps[0] == 0
    assert steps[-1] == 7
    assert timeline_figure(data, "a heading").axes


def test_a_run_that_went_on_from_a_shorter_one_is_followed_from_the_start(
    tmp_path: Path, tiny: Callable[..., AutomatonRun], capsys: pytest.CaptureFixture[str]
) -> None:
    short, long = (tiny(test_rows=40, budget={"steps": steps, "evaluate_every": 3}) for steps in (3, 6))
    train(tmp_path, short)
    train(tmp_path, long)
    capsys.readouterr()
    circuits(long.id, over_time=True, store=tmp_path, output=JSON)
    assert [moment["step"] for moment in json.loads(capsys.readouterr().out)["moments"]] == [0, 3, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"only": "lense"}, "lense: there is no such analysis .did you mean lens"),
        ({"figure": Path("page.doc")}, "must end in .png, .svg, .pdf"),
        ({"over_time": True, "only": "lens"}, "goes without --only"),
        ({"step": 4}, "no snapshot at step 4"),
    ],
)
def test_a_wrong_request_is_refused(trained: tuple[Path, str], arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        circuits(trained[1], store=trained[0], **arguments)  # type: ignore[arg-type]


def test_reasons_take_the_place_of_panels_and_tables(printed: dict[str, object]) -> None:
    without = {name: value for name, value in printed.items() if name != "lens"}
    without["does_not_apply"] = {"lens": "the logit lens needs one stream"}
    assert circuit_tables(without)[-1].rows == [["lens", "the logit lens needs one stream"]]
    titles = [axes.get_title(loc="left") for axes in circuits_figure(without, "a heading").axes]
    assert "lens: does not apply" in titles


def test_nothing_asked_for_is_nothing_to_draw() -> None:
    with pytest.raises(BadInput, match="nothing to draw"):
        circuits_figure({}, "a heading")
