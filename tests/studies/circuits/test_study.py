"""Solved networks, opened, as a study: on the constructed network, whose circuit is known, and on damaged files."""

import json
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from hardgap.cli.baselines import one_thread
from hardgap.core.loop import Observer
from hardgap.core.progress import silent
from hardgap.nn.spec import EncoderSpec
from hardgap.runs.retrain import retrain_run
from hardgap.runs.store import Store
from hardgap.studies.circuits import study
from hardgap.studies.circuits.quantities import COEFFICIENTS, QUANTITIES
from hardgap.studies.circuits.study import (
    ANALYSES,
    circuit_study_tables,
    circuits,
    open_networks,
    solved_networks,
    wanted,
)
from hardgap.studies.circuits.study_figure import circuit_study_figure
from hardgap.studies.measure import Measured, measure
from hardgap.studies.networks import OfNetworks, spread
from hardgap.theory.construction import construct
from hardgap.worlds.automaton.circuits.opening import Subject, open_network
from hardgap.worlds.automaton.gap import Gap
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.scales import base

RESULTS = Path(__file__).parents[3] / "results"


def test_the_constructed_network_gives_the_numbers_that_were_put_there(tmp_path: Path) -> None:
    rule = parse_rule("150")
    rows = np.random.default_rng(0).integers(0, 2, (64, 7), dtype=np.uint8)
    with one_thread():
        opened = open_network(
            Subject(construct(rule, 7, spec=EncoderSpec(dim=12, heads=2, ffn=8)).model, Gap(rule, (2,)), rows), ANALYSES
        ).as_dict()
    about = {"scale": "desk", "run": "0" * 12, "about": "constructed", "step": 0, "versions": {}}
    kept = tmp_path / "circuits"
    kept.mkdir()
    (kept / "circuit-000000000000.json").write_text(json.dumps(about | wanted(opened)))
    (kept / "circuit-111111111111.json").write_text("{")
    result = measure(circuits, "desk", Store(tmp_path))
    found = {tuple(arm.labels.values()): arm.value["middle"] for arm in result.arms}
    assert found["polynomial", "is XOR, of networks"] == 100
    put_there = {"constant term": -10, "coefficient of left": 20, "coefficient of left·right": -40,
                 "coefficient of left·centre·right": 80}  # fmt: skip
    for term, coefficient in put_there.items():
        assert found["polynomial", term] == pytest.approx(coefficient, abs=0.1)
    assert found["probe", "XOR, embedding"] < 75 < found["probe", "XOR, after layer 1"] == 100
    assert {arm.comparison.word for arm in result.arms if arm.published} == {"inconclusive"}  # of one network
    (table,) = circuit_study_tables([result])
    assert "median of 1" in table.title
    assert circuit_study_figure([result]).axes


def test_the_printed_coefficients_are_those_of_xor_with_one_pattern_less_sure() -> None:
    """Every term has both of its numbers, in the paper's order: only `010` is far from the other patterns' logits."""
    assert len(COEFFICIENTS) == 8
    for place in range(2):
        logits = {}
        for pattern in product((0, 1), repeat=3):
            on = {name for name, bit in zip(("L1", "C", "R1"), pattern, strict=True) if bit}
            logits[pattern] = sum(c[place] for term, c in COEFFICIENTS.items() if set(term.split("·")) <= on | {"1"})
        assert all((logit > 0) == sum(pattern) % 2 for pattern, logit in logits.items())
        assert min(logits, key=lambda pattern: abs(logits[pattern])) == (0, 1, 0)
        assert abs(logits[0, 1, 0]) < 2 < 5.6 < min(abs(z) for pattern, z in logits.items() if pattern != (0, 1, 0))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((100, 100, 0), "reproduced"), ((0, 0, 100), "inconclusive"), ((0, 1, 2), "differs (lower)"),
     ((100, 100), "inconclusive")],
)  # fmt: skip
def test_networks_that_lie_on_both_sides_of_the_papers_show_no_difference(
    values: tuple[float, ...], verdict: str
) -> None:
    published = OfNetworks("Appendix B", 99.0, 10.0, (98.0, 100.0))
    found = Measured({}, 0, published=published, value=spread(median(values), values))
    assert found.comparison.verdict.startswith(verdict)


def test_nothing_opened_is_said_and_draws_nothing(tmp_path: Path) -> None:
    result = measure(circuits, "desk", Store(tmp_path))
    assert {arm.comparison.word for arm in result.arms} == {"not run", "paper is silent"}
    assert len(circuit_study_tables([result])[0].rows) == len(QUANTITIES)


def test_a_solved_network_counts_once_a_family_and_only_under_the_papers_feedback(tmp_path: Path) -> None:
    store, short = Store(tmp_path), base("desk", "150", (2,))
    point = {"step": 600, "visible": 1.0, "holdout": 1.0, "loss": None, "detail": {}}
    for run in (short, base("desk", "150", (2,), epochs=220), base("desk", "150", (2, 3)), base("desk", "30", (2,))):
        store.put_all_done([(run, [point], "solved", {}, 1.0)])
    store.put_all_done([(short.but(seed=1), [point | {"holdout": 0.5}], "steps", {}, 1.0)])
    assert [row.config.family for row in solved_networks(store, "desk")] == [short.family]


def test_a_replica_is_opened_if_it_is_solved_as_well_and_says_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, run = Store(tmp_path / "store"), base("smoke", "150", (2,))
    solved = {"step": run.budget.steps, "visible": 1.0, "holdout": 1.0, "loss": None, "detail": {}}
    store.put_all_done([(run, [solved], "solved", {"engine": "eager"}, 1.0)])  # without weights
    with one_thread():
        again = retrain_run(store, store.get(run.id), Observer())
        open_networks("smoke", store, tmp_path, silent, lambda: False)
        assert not again.same
        assert not list(tmp_path.glob("*.json"))  # two steps solve nothing

        monkeypatch.setattr(study, "SOLVED", 0.0)  # whatever it has learned will do
        open_networks("smoke", store, tmp_path, silent, lambda: False)
    found = json.loads((tmp_path / f"circuit-{run.id}.json").read_text())
    assert (found["replica"], found["about"]) == (True, f"{run.describe()}, a replica")


def test_a_committed_analysis_that_is_not_marked_is_of_the_committed_run_itself() -> None:
    """Another network never passes for the run whose id it carries."""
    for path in (RESULTS / "circuits").glob("circuit-*.json"):
        opened = json.loads(path.read_text())
        kept = json.loads(next(RESULTS.rglob(f"{opened['run']}.json")).read_text())
        ends = [[one[name] for name in ("step", "visible", "holdout")] for one in (opened, kept["curve"][-1])]
        own = ends[0] == ends[1] and opened["versions"].get("engine") == kept["versions"].get("engine")
        assert own or opened["replica"], path.name
        assert opened.get("replica", False) == opened["about"].endswith(", a replica")


def test_a_range_is_told_as_closely_as_its_verdict_needs(tmp_path: Path) -> None:
    """Ours begin at 1.33: rounded, the published 1 would seem to lie among them."""
    (table,) = circuit_study_tables([measure(circuits, "desk", Store(tmp_path), RESULTS / "circuits")])
    (row,) = [row for row in table.rows if row[0] == "parity neurons"]
    assert (row[4], str(row[5]).partition(" at ")[0]) == ("1.33 to 3.18", "differs (higher)")
