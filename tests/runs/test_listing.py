"""Lists of runs: chosen, sorted and cut inside the store; two runs that differ never read the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.wording import differences
from hardgap.runs.listing import check_list
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.runs.wanted import Wanted
from hardgap.worlds import parse_run
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]


def point(step: int, holdout: float, attempt: int = 0) -> dict[str, Any]:
    detail = {"attempt": attempt} if attempt else {}
    return {"step": step, "loss": None, "visible": 1.0, "holdout": holdout, "detail": detail}


@pytest.fixture
def store(tmp_path: Path, tiny: Tiny) -> Store:
    """Six runs of three kinds; the first three are finished, the better the later."""
    store = Store(tmp_path / "store")
    warm = {"steps": 3, "temperature": {"start": 8.0, "end": 8.0}}
    runs = [
        tiny(seed=0),
        tiny(seed=1, optimiser={"batch": 6, "clip": 1.0}),
        tiny(seed=2, unrolling=warm, budget={"steps": 7, "restart_at": 3}),
        tiny(rule="L1 ^ (C & R2)", hide=[5, 4]),
        tiny(rule="150", unrolling={"feedback": "hard"}),
        tiny(model={"kind": "plugin", "factory": "mine:net", "args": {"depth": 3}}),
    ]
    store.add(runs)
    for run in runs[:3]:
        store.claim([run.id], me())
        curve = [point(0, 0.5), point(3, 0.0), point(7, 0.25 * run.seed, run.seed // 2)]
        store.finish(run.id, me(), curve, "solved" if run.seed == 2 else "budget", {}, 3.0 - run.seed)
    return store


def seeds(store: Store, *where: tuple[str, str], sort: str = "created") -> list[int]:
    return [run.config["seed"] for run in store.listed(where=where, sort=sort)]


@pytest.mark.parametrize(
    ("where", "number"),
    [
        ((), 6),
        ([("status", "done")], 3),
        ([("stopped", "solved")], 1),
        ([("seed", "1")], 1),
        ([("seed", "1"), ("seed", "2")], 2),
        ([("seed", "1"), ("status", "queued")], 0),
        ([("unrolling.feedback", "hard")], 1),
        ([("unrolling.temperature.start", "8")], 1),
        ([("unrolling.temperature.start", "8.0")], 1),
        ([("rule", "150")], 1),
        ([("rule", "R1 ^ C ^ L1")], 1),
        ([("hide", "3")], 5),
        ([("hide", "4,5")], 1),
        ([("hide", "[4, 5]")], 1),
        ([("budget.restart_at", "none")], 5),
        ([("budget.restart_at", "3")], 1),
        ([("optimiser.clip", "1")], 1),
        ([("optimiser.fused", "false")], 6),
        ([("log_saturation", "true")], 0),
        ([("model.kind", "plugin")], 1),
        ([("model.args.depth", "3")], 1),
        ([("model.args.depth", "4")], 0),
        ([("experiment", "symbolic")], 0),
    ],
)
def test_runs_are_chosen_by_what_their_configs_say(store: Store, where: list[tuple[str, str]], number: int) -> None:
    assert store.count(where) == len(store.listed(where=where)) == number


def test_runs_are_sorted_by_anything_and_those_without_a_value_come_last(store: Store) -> None:
    assert seeds(store)[:3] == [0, 1, 2]
    assert seeds(store, sort="-created")[-3:] == [2, 1, 0]
    assert seeds(store, ("status", "done"), sort="holdout") == [0, 1, 2]
    assert seeds(store, sort="-holdout") == [2, 1, 0, 0, 0, 0]
    assert seeds(store, ("status", "done"), sort="seconds") == [2, 1, 0]
    assert seeds(store, sort="-seed")[:2] == [2, 1]
    assert store.listed(sort="rule")[0].config["rule"] == "150"


def test_a_page_is_a_part_of_the_whole(store: Store) -> None:
    whole = store.listed(sort="-holdout")
    pages = [store.listed(sort="-holdout", limit=4, offset=offset) for offset in (0, 4, 8)]
    assert [run for page in pages for run in page] == whole
    assert [len(page) for page in pages] == [4, 2, 0]


@pytest.mark.parametrize(
    ("where", "sort", "words"),
    [
        ([("colour", "red")], "created", "runs have no field 'colour'"),
        ([("feedback", "soft")], "created", "did you mean unrolling.feedback?"),
        ([("seeed", "1")], "created", "did you mean seed?"),
        ([("unrolling", "1")], "created", "runs have no field 'unrolling'"),
        ([("seed", "one")], "created", "seed=one: input should be a valid integer"),
        (
            [("unrolling.feedback", "warm")],
            "created",
            "unrolling.feedback=warm: input should be 'soft', 'hard' or 'none'",
        ),
        ([("status", "over")], "created", "status over: choose queued, running, done, failed"),
        ([("rule", "banana")], "created", "unknown rule 'banana'"),
        ([], "colour", "runs have no field 'colour'"),
        ([], "id; DROP TABLE runs", "runs have no field"),
        ([("seed') OR 1=1 --", "1")], "created", "runs have no field"),
        ([("model.args.x') --", "1")], "created", "runs have no field"),
    ],
)
def test_what_no_run_can_have_is_refused(store: Store, where: list[tuple[str, str]], sort: str, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        store.listed(where=where, sort=sort)
    assert words in str(refused.value)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_becomes_part_of_a_statement(name: str, value: str) -> None:
    from hardgap.runs.listing import condition, ordering

    for words in (name, "rule", "model.args.x", "unrolling.feedback"):
        try:
            chosen, values = condition([(words, value)])
            order, more = ordering(name)
        except BadInput:
            continue
        assert chosen.count("?") == len(values)
        assert order.count("?") == len(more)
        assert value not in chosen or value in "WHERE (CASE json_valid(config) THEN json_extract(config, ?) END IS '$')"


def test_a_list_says_how_runs_went(store: Store) -> None:
    runs = store.listed()
    assert [run.summary and run.summary["final_holdout"] for run in runs] == [0.0, 0.25, 0.5, None, None, None]
    assert [run.summary and run.summary["restarts"] for run in runs][:3] == [[], [], [7]]
    assert [run.status for run in runs] == ["done"] * 3 + ["queued"] * 3
    assert "T=8, restart at 3" in runs[2].about


def test_a_run_in_training_is_listed_as_far_as_it_is(store: Store) -> None:
    run = store.listed(where=[("rule", "150")])[0]
    store.claim([run.id], me())
    store._put_points(run.id, [point(0, 0.5), point(3, 0.75)])
    (run,) = store.listed(where=[("rule", "150")])
    assert run.summary is not None
    assert (run.status, run.summary["final_holdout"]) == ("running", 0.75)


def test_what_the_user_wrote_is_kept(store: Store, tiny: Tiny, tmp_path: Path) -> None:
    from hardgap.runs.results import as_text

    formula = "L1 ^ (C & R2)"
    (run,) = store.listed(where=[("rule", formula)])
    assert (run.written, run.about.startswith(f"Rule {formula}, 2 of 32 patterns hidden")) == (formula, True)
    config = store.get(run.id).config
    assert isinstance(config, AutomatonRun)
    assert config.describe() == run.about == config.but(seed=0).describe()
    assert config.id == tiny(rule=config.rule, hide=[4, 5]).id == run.id
    assert config == tiny(rule=config.rule, hide=[4, 5])
    assert tiny(rule="l1 ^  (c|r1)").describe().startswith("Rule 30 = l1 ^ (c|r1), pattern 011 hidden")
    assert tiny(rule="d", hide=[3]).describe().startswith("Rule D, pattern 00011 hidden")
    assert len(tiny(rule="~" * 60 + "(" * 30 + "C & R3" + ")" * 30, hide=[3]).describe()) < 140
    # A results file keeps it too, and any store takes it in again.
    text = as_text(store.get(run.id), [])
    assert json.loads(text)["config"]["rule"] == formula


# Two runs that differ never read the same

REGIMES = st.sampled_from(
    [
        {"feedback": "none"},
        {"feedback": "hard"},
        {"feedback": "hard", "backward": 2.0},
        {"steps": 3},
        {"noise": 0.5},
        {"rounded": 0.25},
        {"cells": "hidden"},
        {"backward": "identity"},
        {"weights": [1, 1, 2, 2]},
        *[{"temperature": {"start": s, "end": e, "over": o, "shape": k}}
          for s, e, o, k in [(8, 8, 0, "linear"), (8, 1, 40, "linear"), (8, 1, 50, "linear"), (8, 1, 40, "cosine"),
                             (8, 1, 40, "step"), (8, 1, 0, "random"), (8, 1, 0, "learned"), (2, 2, 0, "linear")]],
    ]
)  # fmt: skip
AUTOMATA = st.fixed_dictionaries(
    {"rule": st.sampled_from(["150", "30", "D"]), "hide": st.sampled_from([[3], [1], [1, 3], [2, 3]]),
     "budget": st.fixed_dictionaries({"steps": st.sampled_from([7, 8])}, optional={
         "restart_at": st.sampled_from([3, 4]), "evaluate_every": st.just(3), "solved_at": st.just(0.9)})},
    optional={
        "masking": st.just("first"),
        "width": st.sampled_from([9, 11]),
        "train_rows": st.just(64),
        "unrolling": REGIMES,
        "seed": st.integers(0, 2),
        "log_saturation": st.just(True),
        "optimiser": st.sampled_from([{"clip": 1}, {"clip": 2}, {"learning_rate": 0.01}, {"fused": True}]),
        "model": st.sampled_from([
            {"kind": "encoder", "dim": 8}, {"kind": "encoder", "positions": "waves"}, {"kind": "conv", "radius": 2},
            {"kind": "plugin", "factory": "a:b"}, {"kind": "plugin", "factory": "a:b", "args": {"x": 1}},
            {"kind": "plugin", "factory": "a:b", "args": {"x": "1"}}]),
    },
)  # fmt: skip
SYMBOLIC = st.fixed_dictionaries(
    {"experiment": st.just("symbolic"), "holdout": st.sampled_from(["^|", "&&"]), "budget": st.just({"steps": 7})},
    optional={
        "condition": st.sampled_from(["opaque", "label-only"]),
        "ambiguity": st.sampled_from(["any", "seen"]),
        "bits": st.just(5),
        "seen_examples": st.sampled_from([3, 4]),
        "model": st.sampled_from([{"dropout": 0.1}, {"dim": 32}]),
        "seed": st.integers(0, 2),
    },
)


def lines(runs: list[Run]) -> list[tuple[str, str]]:
    about = [run.describe() for run in runs]
    configs = [json.loads(run.model_dump_json()) for run in runs]
    return list(zip(about, differences(list(zip(about, configs, strict=True))), strict=True))


@given(st.lists(AUTOMATA, min_size=2, max_size=5) | st.lists(SYMBOLIC, min_size=2, max_size=5))
def test_runs_that_differ_never_read_the_same(asked: list[dict[str, Any]]) -> None:
    runs = list({run.id: run for run in map(parse_run, asked)}.values())
    assert len(set(lines(runs))) == len(runs)
    # With seeds aside too: what reads the same asks for the same.
    said = {(about.rsplit(", seed", 1)[0], differs) for about, differs in lines(runs)}
    assert len(said) == len({json.dumps(run.asked() | {"seed": 0}, sort_keys=True) for run in runs})


def test_runs_that_read_alike_say_what_tells_them_apart(tiny: Tiny) -> None:
    runs: list[Run] = [tiny(), tiny(seed=1, optimiser={"batch": 6, "clip": 1.0}), tiny(rule="150")]
    assert [said for _, said in lines(runs)] == ["optimiser.clip=none", "optimiser.clip=1.0", ""]


def test_every_field_of_a_config_can_be_asked_for() -> None:
    from hardgap.core.wording import flattened
    from hardgap.runs.listing import config_fields

    budget = {"budget": {"steps": 7}}
    for data in ({"rule": "150", "hide": [3]}, {"experiment": "symbolic", "holdout": "^|"}):
        fields = flattened(json.loads(parse_run(data | budget).model_dump_json()))
        parts = {name.rpartition(".")[0] for name in config_fields()}  # one that is not there has no fields to ask for
        assert fields.keys() <= config_fields().keys() | parts


# Growth


def steps_of(db: sqlite3.Connection, work: Callable[[], object]) -> int:
    """How many of SQLite's own instructions some work takes, in hundreds."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    db.set_progress_handler(tick, 100)
    work()
    db.set_progress_handler(None, 100)
    return count


def queued(folder: Path, number: int, run: AutomatonRun) -> tuple[Store, list[str]]:
    """A store with so many queued runs. They share one config, which nothing here reads."""
    store = Store(folder)
    ids = [f"{n:012x}" for n in range(number)]
    config = run.model_dump_json()
    with closing(sqlite3.connect(store.path)) as db, db:
        db.executemany(
            "INSERT INTO runs (id, family, config, about, status, created) VALUES (?, '', ?, '', 'queued', ?)",
            [(run_id, config, float(place)) for place, run_id in enumerate(ids)],
        )
    return store, ids


def test_a_claim_costs_the_same_however_many_runs_there_are(tmp_path: Path, tiny: Tiny) -> None:
    small, large = (_cost_of_claims(*queued(tmp_path / str(size), size, tiny())) for size in (2_000, 20_000))
    assert large <= 1.5 * small
    assert large < 50 * 10  # a thousand instructions a claim


def _cost_of_claims(store: Store, ids: list[str]) -> int:
    """Of claiming and finishing fifty runs, and finding one by its name."""
    claimed: list[str | None] = []
    with store.wanted((run_id, 7) for run_id in ids) as wanted:
        cost = steps_of(store._db, lambda: claimed.extend(_train(store, wanted) for _ in range(50)))
    assert claimed == ids[:50]
    return cost + steps_of(store._db, lambda: store.find(ids[7]))


def _train(store: Store, wanted: Wanted) -> str | None:
    run_id = store.claim_from(wanted, me())
    assert run_id is not None
    store.finish(run_id, me(), [point(7, 1.0)], "budget", {}, 1.0)
    return run_id


def test_a_sweep_that_was_mostly_done_is_not_read_again_at_every_claim(tmp_path: Path, tiny: Tiny) -> None:
    store, ids = queued(tmp_path, 5_000, tiny())
    store._db.execute("UPDATE runs SET status = 'failed' WHERE created < 4990")
    with store.wanted((run_id, 7) for run_id in ids) as wanted:
        assert store.claim_from(wanted, me()) == ids[4990]
        assert steps_of(store._db, lambda: store.claim_from(wanted, me())) < 20
        store.release(ids[4990], me())
        for run_id in ids[4992:]:
            assert store.claim_from(wanted, me()) == run_id
        assert store.claim_from(wanted, me()) == ids[4990]  # given back behind the cursor
        assert store.claim_from(wanted, me()) is None
        assert steps_of(store._db, lambda: store.claim_from(wanted, me())) < 20
        assert wanted.any_open()


def test_progress_is_counted_inside_the_store_and_not_all_the_time(
    tmp_path: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardgap.runs import driver

    monkeypatch.setattr(driver, "COUNTING_COSTS", 1e6)
    store, ids = queued(tmp_path, 5_000, tiny())
    with store.wanted((run_id, 7) for run_id in ids) as wanted:
        meter = driver.Meter(wanted)
        assert (meter.read().total, meter.read().steps_left) == (5_000, 35_000)
        assert steps_of(store._db, meter.read) < 5


def test_a_page_of_a_long_list_reads_only_that_page(tmp_path: Path, tiny: Tiny) -> None:
    store, _ = queued(tmp_path, 5_000, tiny())
    assert steps_of(store._db, lambda: store.listed(sort="-created", limit=50)) < 50
    assert [run.created for run in store.listed(sort="-created", limit=2, offset=1)] == [4998.0, 4997.0]


def test_cells_are_not_read_as_a_number() -> None:
    with pytest.raises(BadInput, match="011 reads as cells, not as a number: write 3"):
        check_list([("hide", "011")], "created")
    check_list([("hide", "3"), ("hide", "1,5")], "created")
