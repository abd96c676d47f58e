"""What the page is told: gaps, runs, groups, claims, and how to have a run elsewhere."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import hardgap as hg
from hardgap.core.run import Run
from hardgap.runs.store import Store
from hardgap.theory.votes import votes_of_set
from hardgap.ui import ledger
from hardgap.ui.commands import command_of, python_of
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import parse_rule


def test_a_gap_of_rule_150_cannot_be_filled_by_similarity_and_is_determined_from_two_steps_on(ask: Any) -> None:
    found = ask("/api/explore?rule=L1^C^R1&hide=010").data
    assert found["rule"]["name"] == "150"
    assert found["rule"]["table"] == [0, 1, 1, 0, 1, 0, 0, 1]
    assert {one["answer"] for one in found["votes"][0]["methods"]} == {0}
    assert [one["determined"] for one in found["determined"]] == [False, True, True, True]
    witness = found["determined"][0]["witness"]
    assert witness["name"] == "146"
    assert witness["differs"] == [2]


@pytest.mark.parametrize(("rule", "hidden"), [("30", (0, 5)), ("D", (1, 4, 12)), ("110", (7,))])
def test_what_similarity_answers_is_what_theory_says(ask: Any, rule: str, hidden: tuple[int, ...]) -> None:
    found = ask(f"/api/explore?rule={rule}&hide={','.join(map(str, hidden))}").data["votes"]
    for shown, truth in zip(found, votes_of_set(Gap(parse_rule(rule), hidden)), strict=True):
        said = {one["method"]: one["verdict"] for one in shown["methods"]}
        assert {name: said[name] for name in truth.methods} == {n: v.verdict for n, v in truth.methods.items()}
        for one in shown["methods"]:
            if one["verdict"] in ("right", "wrong"):
                assert (one["answer"] == truth.output) == (one["verdict"] == "right")


def test_what_would_take_minutes_is_left_to_the_command_line(ask: Any) -> None:
    """In processor time, so that a busy machine does not decide it."""
    many = ",".join(map(str, range(100)))
    began = time.process_time()
    assert ask(f"/api/explore?rule=r3:0x123456789abcdef&hide={many}").data["determined"] == []
    wide = ask("/api/explore?rule=r3:0x123456789abcdef&hide=1").data["determined"]
    assert wide[-1] == {"steps": 4, "determined": None}
    assert time.process_time() - began < 30  # about half a second


def test_runs_are_listed_sorted_filtered_and_paged(ask: Any, filled: Path) -> None:
    first = ask("/api/runs?size=4&sort=-holdout").data
    assert first["total"] == 6
    assert [row["holdout"] for row in first["rows"]] == [1.0, 1.0, 0.9, 0.2]
    assert len(ask("/api/runs?size=4&page=1").data["rows"]) == 2
    only = ask("/api/runs?where=unrolling.feedback=none&where=seed=1").data
    assert [row["holdout"] for row in only["rows"]] == [0.9]
    assert "did you mean seed" in ask("/api/runs?where=sed=1").data["error"]


def test_a_group_is_all_seeds_of_a_setting_whichever_run_names_it(ask: Any, filled: Path) -> None:
    groups = ask("/api/groups").data
    assert groups["total"] == 2
    assert {(one["runs"], one["recovered"]) for one in groups["rows"]} == {(3, 2), (3, 1)}
    soft = next(one for one in groups["rows"] if "soft" in one["about"])
    members = ask(f"/api/groups/{soft['id']}").data
    assert [one["seed"] for one in members["runs"]] == [0, 1, 2]
    assert ask(f"/api/groups/{members['runs'][2]['id']}").data["about"] == members["about"]
    assert members["bands"]["steps"] == [0, 2]
    assert members["bands"]["holdout"]["median"] == [0.0, 1.0]
    assert members["bands"]["holdout"]["low"] == [0.0, 0.6]


def test_two_groups_are_compared_seed_by_seed(ask: Any, filled: Path) -> None:
    soft, none = (ask(f"/api/runs?where=unrolling.feedback={kind}").data["rows"][0]["id"] for kind in ("soft", "none"))
    found = ask(f"/api/compare?a={soft}&b={none}").data
    assert found["counts"] == {"both": 1, "a": 1, "b": 0, "neither": 1}
    assert [(one["a"], one["b"]) for one in found["pairs"]] == [(1.0, 0.0), (1.0, 0.9), (0.2, 0.1)]
    assert found["p"] == 1.0
    assert found["difference"] == pytest.approx(0.4)


def test_the_list_can_be_taken_along(ask: Any, filled: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(ask("/api/runs.csv?where=seed=0").body.decode())))
    assert {row["unrolling.feedback"] for row in rows} == {"soft", "none"}
    answer = ask("/api/runs.json")
    assert len(json.loads(answer.body)) == 6
    assert answer.headers["content-disposition"] == 'attachment; filename="runs.json"'


def test_a_run_is_shown_by_the_beginning_of_its_id_and_removed_with_the_token(ask: Any, filled: Path) -> None:
    run_id = ask("/api/runs").data["rows"][0]["id"]
    assert ask(f"/api/runs/{run_id[:8]}").data["id"] == run_id
    assert ask(f"/api/runs/{run_id}", "DELETE", token=None).status == 403
    assert ask(f"/api/runs/{run_id}", "DELETE").data == {"removed": run_id}
    assert ask(f"/api/runs/{run_id}").status == 400
    assert Store(filled).count() == 5


@pytest.mark.slow
def test_a_page_of_five_thousand_runs_is_quick(ask: Any, folder: Path, fake_result: Any) -> None:
    store = Store(folder)
    one = fake_result("soft", 0, 1.0)
    store.put_all_done([(one[0].but(seed=seed), *one[1:]) for seed in range(5000)])
    began = time.process_time()
    assert len(store.rows()) == 5000
    all_of_them = time.process_time() - began
    store.close()
    ask("/api/runs")
    for path in ("/api/runs?size=50&page=40", "/api/runs?sort=-holdout&where=rule=150", "/api/groups"):
        took = []
        for _ in range(3):
            began = time.process_time()
            assert ask(path).status == 200
            took.append(time.process_time() - began)
        assert min(took) < all_of_them / 4, (path, took, all_of_them)


def test_a_claim_is_shown_with_its_verdict_and_its_table(ask: Any) -> None:
    claims = ask("/api/claims").data
    assert {"main/rule-d-soft", "gf2", "theorems"} <= {one["name"] for one in claims}
    soft = next(one for one in claims if one["name"] == "main/rule-d-soft")
    assert (soft["done"], soft["planned"]) == (0, 10)
    assert ask("/api/claim?name=main/rule-d-soft").data["verdict"] == "not run"
    assert ask("/api/claim?name=main/rule-e").status == 400


def test_a_slow_claim_holds_nobody_else_up(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where more ask for one than there are threads."""
    begun, finish = threading.Event(), threading.Event()

    def measured(*_: Any) -> None:
        begun.set()
        finish.wait(600)

    monkeypatch.setattr(ledger, "_measured", measured)
    monkeypatch.setattr("hardgap.studies.measure.judged", lambda _: [])

    async def crowd() -> int:
        slow = [asyncio.create_task(ask.ask("/api/claim?name=gf2")) for _ in range(50)]
        try:
            async with asyncio.timeout(300):
                while not begun.is_set():
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.2)
                return int((await ask.ask("/api/fields")).status)
        finally:
            finish.set()
            await asyncio.gather(*slow, return_exceptions=True)

    assert asyncio.run(crowd()) == 200


def test_what_was_measured_is_asked_again_after_another_run_and_the_older_is_forgotten(
    ask: Any, folder: Path, fake_result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger._known.clear()
    assert ask("/api/claim?name=main/rule-d-soft").data["verdict"] == "not run"
    before = dict(ledger._known)
    assert ask("/api/claim?name=main/rule-d-soft").status == 200
    assert all(ledger._known[key] is value for key, value in before.items())
    store = Store(folder)
    store.put_all_done([fake_result("soft", 0, 1.0)])
    store.close()
    assert ask("/api/claim?name=main/rule-d-soft").status == 200
    assert len(ledger._known) == len(before)
    assert all(ledger._known.get(key) is not value for key, value in before.items())


TILTED = {"start": 1 / 3, "end": 3.0, "over": 100}
RUNS = [
    hg.Automaton(150, hide=2),
    hg.Automaton("L1 ^ (C & R1)", hide=[3, 5], seed=4),
    hg.Automaton(150, hide=2, unrolling__feedback="none"),
    hg.Automaton("D", hide=[1, 4], unrolling__feedback="hard", seed=1),
    hg.Automaton(150, hide=3, recipe="tempered", seed=2),
    hg.Automaton(150, hide=3, recipe="tempered", budget__steps=800),
    hg.Automaton(30, hide=3, scale="smoke", unrolling__temperature={"start": 4.0, "end": 4.0}),
    hg.Automaton(30, hide=3, unrolling__temperature={"start": 4.0, "end": 1.0, "over": 300}),
    hg.Automaton(150, hide=2, scale="paper", width=33, masking="first"),
    hg.Automaton(150, hide=2, model__positions="waves", optimiser__learning_rate=0.0003),
    hg.Automaton(150, hide=2, optimiser__learning_rate=0.0012345678, unrolling__temperature=TILTED),
]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_the_command_line_that_is_shown_trains_this_very_run(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from hardgap.cli import main
    from hardgap.cli import train as command

    asked: list[Run] = []

    def note(_store: Any, run: Run) -> None:
        asked.append(run)
        raise hg.BadInput("noted")

    monkeypatch.setattr(command, "train_one", note)
    shown = command_of(run)
    assert shown is not None
    with pytest.raises(SystemExit):
        main([*shlex.split(shown)[1:], "--store", str(tmp_path)])
    assert [one.id for one in asked] == [run.id]


CHAINS = [
    hg.Chains("^|", condition="opaque", seed=2),
    hg.Chains("&L", scale="smoke"),
    hg.Chains("^|", condition="label-only"),  # its own batch at this scale
    hg.Chains("^|", condition="label-only", optimiser__batch=128),
]


@pytest.mark.parametrize("run", [*RUNS, *CHAINS], ids=lambda run: run.id)
def test_the_python_lines_that_are_shown_train_this_very_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Run] = []
    monkeypatch.setattr(hg, "train", lambda run, store: asked.append(run))
    shown = python_of(run)
    assert shown is not None
    exec(shown, {})
    assert [one.id for one in asked] == [run.id]


def test_the_usual_store_is_not_named(tmp_path: Path) -> None:
    assert "--store" not in (command_of(RUNS[0]) or "")
    assert (command_of(RUNS[0], tmp_path / "my runs") or "").endswith("/my runs'")


def test_what_has_no_option_is_not_made_up() -> None:
    run = hg.Automaton(150, hide=2, budget__evaluate_every=7)
    assert command_of(run) is None
    assert "budget__evaluate_every=7" in (python_of(run) or "")


def test_a_plan_is_the_run_that_its_words_describe_in_the_store_of_the_page(ask: Any, folder: Path) -> None:
    found = ask("/api/plan?rule=150&hide=010&feedback=soft&temperature=4&seed=3").data
    assert found["id"] == hg.Automaton(150, hide=2, unrolling__temperature={"start": 4.0, "end": 4.0}, seed=3).id
    named = shlex.quote(str(folder))
    assert found["command"] == f"hardgap train 150 --hide 2 --temperature 4 --seed 3 --store {named}"
    assert f"store={str(folder)!r}" in found["python"]
    assert ask("/api/plan?rule=150&hide=2&feedback=loud").status == 400


def test_a_line_that_broke_goes_on_after_the_last_evaluation_that_came_over(ask: Any, filled: Path) -> None:
    run_id = ask("/api/runs").data["rows"][0]["id"]
    whole = ask(f"/api/live/{run_id}/events").body.decode()
    assert [line for line in whole.splitlines() if line.startswith("id:")] == ["id: 0", "id: 2"]
    assert whole.rstrip().splitlines()[-2] == "event: end"
    after = ask(f"/api/live/{run_id}/events", headers=[(b"host", b"127.0.0.1"), (b"last-event-id", b"0")]).body.decode()
    assert [line for line in after.splitlines() if line.startswith("id:")] == ["id: 2"]


ASKED_WHILE_LOADING = """
import sys, threading, time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from hardgap.runs.store import Store
from hardgap.ui.ledger import list_claims

@contextmanager
def store():
    yield Store(Path(sys.argv[1]))

loading = threading.Thread(target=__import__, args=["hardgap.studies"])
loading.start()
while "hardgap.studies" not in sys.modules:
    time.sleep(0.001)
claims = list_claims(SimpleNamespace(store=store, text=lambda name, default: default))
loading.join()
from hardgap.studies.study import STUDIES
print([claim["name"] for claim in claims] == list(STUDIES) != [])
"""


def test_who_asks_for_claims_while_they_are_loaded_gets_all_of_them(tmp_path: Path) -> None:
    """The page loads them in a thread of its own, a second after it was started."""
    asked = [sys.executable, "-c", ASKED_WHILE_LOADING, str(tmp_path / "store")]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "True\n"
