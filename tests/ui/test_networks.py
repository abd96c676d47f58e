"""What the page shows of trained networks: films, panels, derivations. Tiny ones, which have learned nothing."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import hardgap as hg
from hardgap.runs.store import Store
from hardgap.ui import film


@pytest.fixture
def automaton(folder: Path) -> str:
    return hg.train(hg.Automaton(150, hide=2, scale="smoke"), store=folder).id


@pytest.fixture
def chains(folder: Path) -> str:
    return hg.train(hg.Chains("^|", scale="smoke"), store=folder).id


def test_a_film_has_a_frame_for_all_weights_that_were_kept(ask: Any, automaton: str) -> None:
    film = ask(f"/api/film/{automaton}").data
    assert film["frames"] == [0, 2]
    assert [point["step"] for point in film["curve"]] == [0, 2]
    first, last = (ask(f"/api/film/{automaton}/frame?step={step}").data for step in film["frames"])
    assert first["probabilities"] != last["probabilities"]
    assert first["probabilities"][0] == film["rows"][0]
    assert len(last["table"]) == 8
    assert last["lens"][0]["title"] == "embedding"
    assert {"-1", "0", "1"} <= last["attention"][0]["weights"].keys()
    assert "no snapshot at step 1" in ask(f"/api/film/{automaton}/frame?step=1").data["error"]


def test_what_is_remembered_of_a_network_ends_when_it_is_trained_anew(
    ask: Any, folder: Path, automaton: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = film.load_model
    monkeypatch.setattr(film, "load_model", lambda *which: loaded.append(which[1]) or load(*which))
    for _ in range(2):
        assert ask(f"/api/film/{automaton}/frame?step=2").status == 200
    assert loaded == [automaton]
    Store(folder).remove(automaton)
    hg.train(hg.Automaton(150, hide=2, scale="smoke"), store=folder)
    assert ask(f"/api/film/{automaton}/frame?step=2").status == 200
    assert loaded == [automaton] * 2


def test_a_film_can_be_taken_along(ask: Any, automaton: str) -> None:
    moving = Image.open(io.BytesIO(ask(f"/api/film/{automaton}/film.gif").body))
    assert (moving.format, moving.n_frames) == ("GIF", 2)
    text = ask(f"/api/film/{automaton}/film.html").body.decode()
    assert not re.search(r'(src|href)="', text)
    kept = json.loads(re.search(r'id="kept">(.*?)</script>', text)[1])  # type: ignore[index]
    assert kept["start"] == f"#scrub?run={automaton}"
    assert kept["answers"][f"api/film/{automaton}/frame?step=2"]["step"] == 2
    named = json.loads(re.search(r'type="importmap">(.*?)</script>', text)[1])["imports"]  # type: ignore[index]
    for module in named.values():
        source = base64.b64decode(module.partition(",")[2]).decode()
        for imported in re.findall(r'from "([^"]+)"', source):
            assert imported in named


def test_a_network_is_opened_beside_the_one_that_computes_the_rule_exactly(ask: Any, automaton: str) -> None:
    exact = ask(f"/api/open/{automaton}/finding?panel=rule&of=constructed").data
    outputs = [row[exact["table"]["columns"].index("answer")] for row in exact["table"]["rows"]]
    assert outputs == ["0", "1", "1", "0", "1", "0", "0", "1"]
    for of in ("trained", "constructed"):
        panel = ask(f"/api/open/{automaton}/panel.svg?panel=attention&of={of}")
        assert panel.headers["content-type"] == "image/svg+xml"
        assert b"Attention" in panel.body
    assert "choose a panel" in ask(f"/api/open/{automaton}/panel.svg?panel=soul").data["error"]


def test_a_network_is_asked_and_c_and_d_are_swapped_for_another_second_operator(ask: Any, chains: str) -> None:
    typed = ask(f"/api/ask/{chains}?numbers=12+7+33+43+21").data
    assert typed["fitting"] == ["^|"]
    assert typed["truth"] == "12 ^ 7 = 11 ; 11 | 21 = 31 ; ^ |"
    assert all(0 <= one["confidence"] <= 1 for one in typed["tokens"])
    swapped = ask(f"/api/ask/{chains}?numbers=12+7+33+43+21&to=%26").data
    assert swapped["fitting"] == ["^&"]
    assert swapped["numbers"][:2] == [12, 7]
    assert swapped["numbers"][4] == 21
    assert "0 to 63" in ask(f"/api/ask/{chains}?numbers=1+2").data["error"]
    assert ask(f"/api/ask/{chains}?numbers=12+7+33+43+21&to=x").status == 400


def test_each_view_says_which_kind_of_run_it_is_for(ask: Any, chains: str) -> None:
    for path in (f"/api/film/{chains}", f"/api/open/{chains}/finding?panel=rule"):
        assert "the other experiment" in ask(path).data["error"]


def test_what_can_be_looked_at_is_listed_apart_from_what_came_without_weights(
    ask: Any, filled: Path, chains: str
) -> None:
    from hardgap.runs.checkpoints import Checkpoints

    trained = hg.train(hg.Automaton(150, hide=5, scale="smoke"), store=filled).id
    replica = ask("/api/runs?where=seed=2").data["rows"][0]["id"]
    Checkpoints(filled / "replicas", replica).folder.mkdir(parents=True)
    found = ask("/api/runs?kept=1&where=experiment=automaton&sort=created").data
    assert [one["id"] for one in found["rows"]] == [replica, trained]
    assert (found["total"], found["others"]) == (2, 5)
    assert len(ask("/api/runs?kept=1&size=1&page=1").data["rows"]) == 1
    assert ask("/api/runs").data["total"] == 8
