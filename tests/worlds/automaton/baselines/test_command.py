"""`hardgap baselines`: tables, JSON and figures for runs and rules; bad input in one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli.baselines import baselines
from hardgap.cli.output import Output
from hardgap.core.errors import BadInput
from hardgap.runs.store import Store

QUICK = ["KNN", "GP", "majority"]


JSON = Output(json=True)


def asked(capsys: pytest.CaptureFixture[str], *runs: str, **options: Any) -> Any:
    capsys.readouterr()
    baselines(*runs, output=JSON, **options)
    return json.loads(capsys.readouterr().out)


def test_a_rule_without_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    report = asked(capsys, rule="150", hide="3,5", method=QUICK)
    assert [p["neighbourhood"] for p in report["patterns"]] == ["011", "101"]
    assert list(report["table"][0]["holdout"]) == QUICK
    baselines(rule="150", hide="3", method=QUICK)
    table = capsys.readouterr().out
    assert "pattern 011 hidden" in table
    assert "majority" in table


def test_a_run_at_every_level(trained: tuple[Store, str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    store, run = trained
    picture = tmp_path / "levels.svg"
    report = asked(capsys, run[:6], store=store.folder, method=QUICK, size=30, figure=picture)
    assert report["runs"][0]["run"] == run
    assert [line["title"] for line in report["table"]][:2] == ["Input space (3-bit)", "Nbhd. embedding (24-d)"]
    assert report["setting"]["size"] == 30
    assert "after the network" in picture.read_text()
    baselines(run, store=store.folder, method=QUICK, size=30)
    assert "Nbhd. embedding, fixed position (24-d)" in capsys.readouterr().out


def test_sizes_and_their_figure(trained: tuple[Store, str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    store, run = trained
    picture = tmp_path / "sizes.png"
    report = asked(capsys, run, store=store.folder, method=["KNN"], sizes="20,10", figure=picture)
    assert [entry["size"] for entry in report["sizes"]] == [10, 20]
    assert picture.read_bytes().startswith(b"\x89PNG")
    baselines(run, store=store.folder, method=["KNN"], sizes="10,20")
    assert "by number of examples learned from" in capsys.readouterr().out


def test_the_temporal_table(capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"rule": "150", "hide": "2", "temporal": True, "width": 9, "size": 40}
    report = asked(capsys, **options, method=["KNN (k=1)"])
    assert set(report["methods"]["KNN (k=1)"]) == {"holdout", "visible", "shown"}
    baselines(**options, method=["KNN (k=1)"])
    assert "42.5" in capsys.readouterr().out  # the published number stands beside it


def test_a_method_from_a_file_in_the_current_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_methods.py").write_text("from sklearn.naive_bayes import BernoulliNB as Bayes\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    report = asked(capsys, rule="30", hide="3", method=["my_methods:Bayes", "KNN"])
    assert list(report["table"][0]["holdout"]) == ["Bayes", "KNN"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "say what to measure"),
        ({"rule": "150"}, "say what to hide"),
        ({"rule": "150", "hide": "9"}, "--hide 9: Rule 150 has patterns 0 to 7"),
        ({"rule": "150", "hide": "x"}, "--hide x: Rule 150 has patterns 0 to 7, not 'x': write a number"),
        ({"rule": "150", "hide": "3", "sizes": "10"}, "--rule goes without runs"),
        ({"hide": "3"}, "--hide and --temporal go with --rule"),
        ({"rule": "150", "hide": "3", "method": ["nope"]}, "method nope: choose KNN"),
        (
            {"rule": "150", "hide": "3", "method": ["KNN"], "figure": Path("x.doc")},
            "the name must end in .png, .svg, .pdf",
        ),
        ({"rule": "150", "hide": "3", "method": ["KNN"], "figure": Path("no/where/x.svg")}, "No such file"),
        ({"rule": "150", "hide": "3", "temporal": True, "size": 0}, "size 0"),
    ],
)
def test_bad_input_is_one_sentence(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        baselines(**options)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"sizes": "10;20"}, "sizes 10;20: write numbers"),
        ({"size": 1}, "size 1: a method needs at least 2"),
        ({"solved": "150"}, "say what to measure"),
    ],
)
def test_bad_input_about_a_run(trained: tuple[Store, str], options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        baselines(trained[1], store=trained[0].folder, method=["KNN"], **options)


def test_long_measurements_tell_where_they_are(
    trained: tuple[Store, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardgap.runs.watching.PLAIN_SECONDS", 0.0)
    store, run = trained
    baselines(run, store=store.folder, method=["KNN"], size=30, output=JSON)
    captured = capsys.readouterr()
    assert "Input space: KNN" in captured.err
    json.loads(captured.out)  # progress is not mixed into the data
