"""What the paper says across cells and inside networks of Experiment 2, where the right verdict is known."""

import json
from pathlib import Path
from typing import Any

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.run import only
from hardgap.runs.store import Store
from hardgap.studies.ledger import beside, numbers_of
from hardgap.studies.measure import measure
from hardgap.studies.study import STUDIES, Study
from hardgap.studies.symbolic.inside import inside_tables, substitution
from hardgap.studies.symbolic.relations import against_tables, order_tables, ratio
from hardgap.worlds.chains.run import SymbolicRun

RESULTS = Path(__file__).parents[3] / "results"


def store_of(folder: Path, study: Study, accuracy: dict[tuple[str, str], float]) -> Store:
    """Every run of a study, solved as well as its pair and condition say, give or take a point."""
    store = Store(folder)
    for run in only(SymbolicRun, study.runs("desk")):
        share = accuracy[run.holdout, run.condition] + {42: -0.01, 123: 0.0, 456: 0.01}.get(run.seed, 0.0)
        right = {"exact": share, "pair": share, "f": share}
        detail: dict[str, Any] = {"holdout": right, "seen": right, "eval": {"holdout": right, "seen": right}}
        store.put_all_done([(run, [point(share, detail)], "", {}, 1.0)])
    return store


def point(share: float, detail: dict[str, Any]) -> dict[str, Any]:
    return {"step": 1, "visible": 0.9, "holdout": share, "loss": None, "detail": detail}


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [((0.7, 0.5, 0.3, 0.4), "holds"), ((0.2, 0.5, 0.3, 0.4), "does not hold as written"),
     ((0.7, 0.5, 0.495, 0.49), "inconclusive")],
)  # fmt: skip
def test_the_order_of_pairs_is_contradicted_only_by_what_is_told_apart(
    tmp_path: Path, shares: tuple[float, ...], verdict: str
) -> None:
    study = STUDIES["chains/order"]
    by_place = {(pair, "familiar"): share for pair, share in zip(("^|", "&L", "R^", "d|"), shares, strict=True)}
    result = study.measure(store_of(tmp_path, study, by_place))
    assert result.arm.comparison.word == verdict
    (table,) = order_tables([result])
    assert verdict in table.title


@pytest.mark.parametrize(("left", "verdict"), [(0.3, "holds"), (0.05, "differs (lower)"), (0.5, "differs (higher)")])
def test_labels_alone_halve_the_accuracy_or_do_not(tmp_path: Path, left: float, verdict: str) -> None:
    study = STUDIES["chains/label-only"]
    pairs = ("^|", "&L", "R^", "d|")
    shares = {(p, "familiar"): 0.6 for p in pairs} | {(p, "label-only"): left for p in pairs}
    (table,) = against_tables([study.measure(store_of(tmp_path, study, shares))])
    assert [row[-2] for row in table.rows] == ["no test"] * 4 + [f"{verdict} at desk scale"]
    assert table.rows[-1][5] == "0.39"  # of the paper's own means


def test_that_half_is_left_is_judged_by_an_interval(tmp_path: Path) -> None:
    """Seeds that lie far apart leave open what their mean alone, a quarter, would deny."""
    study, store = STUDIES["chains/label-only"], Store(tmp_path)
    for place, run in enumerate(only(SymbolicRun, study.runs("desk"))):
        share = 0.5 if run.condition == "familiar" else (0.0, 0.25)[place % 2]
        right = {"exact": share, "pair": share, "f": share}
        detail: dict[str, Any] = {"holdout": right, "seen": right, "eval": {"holdout": right, "seen": right}}
        store.put_all_done([(run, [point(share, detail)], "", {}, 1.0)])
    result = study.measure(store)
    assert result.comparison.verdict == "inconclusive at desk scale"
    assert result.comparison.why == "25 % (15 to 35), 95 % interval; about half is 33 to 67 % here"
    assert result.comparison.settles == "about 10 seeds of each pair and condition would settle it"
    assert ratio(result.arms[-1]) == ratio(study.measure(store).arms[-1])  # always the same draws
    numbers = numbers_of(result)
    assert [arm.labels["pair"] for arm in numbers] == ["all"]
    assert beside(result) == ("about half (39 %) is left", "25 % (15 to 35) is left")


@pytest.mark.parametrize("half", ["label-only of one pair", "one seed of each cell but one"])
def test_what_is_half_measured_is_not_judged_by_other_pairs(tmp_path: Path, half: str) -> None:
    study, store = STUDIES["chains/label-only"], Store(tmp_path)
    for run in only(SymbolicRun, study.runs("desk")):
        first = run.seed == 42 or (run.holdout, run.condition) == ("^|", "familiar")
        if run.condition == "familiar" or run.holdout == "d|" if half.startswith("label") else first:
            right = {"exact": 0.5, "pair": 0.5, "f": 0.5}
            detail: dict[str, Any] = {"holdout": right, "seen": right, "eval": {"holdout": right, "seen": right}}
            store.put_all_done([(run, [point(0.5, detail)], "", {}, 1.0)])
    result = study.measure(store)
    assert result.arms[-1].comparison.word == "not run"
    assert against_tables([result])


def test_both_conditions_of_ours_may_grow_where_they_are_compared(tmp_path: Path) -> None:
    study = STUDIES["chains/opaque"]
    pairs = ("^|", "&L", "R^", "d|")
    shares = {(p, "familiar"): 0.3 + place / 10 for place, p in enumerate(pairs)}
    result = study.measure(store_of(tmp_path, study, shares | {(p, "opaque"): 0.45 for p in pairs}))
    assert result.ran == 48  # each of them is in two arms
    assert "the paper has" not in "".join(arm.comparison.note for arm in result.arms)


def test_every_number_inside_the_networks_is_read_from_the_committed_analyses(tmp_path: Path) -> None:
    counts = {"probes": 16, "attention": 12, "corruption": 24, "lens": 24, "heads": 2, "substitution": 4}
    for name, count in counts.items():
        result = measure(STUDIES[f"chains/{name}"], "desk", Store(tmp_path), RESULTS / "symbolic")
        assert len(result.arms) == count
        assert all(arm.value is not None for arm in result.arms)
        assert len(inside_tables([result])[0].rows) == count
        assert {arm.value["networks"] for arm in result.arms} == {3}  # of each pair


def test_networks_of_one_pair_are_judged_together(tmp_path: Path) -> None:
    def opened(pair: str, share: float) -> dict[str, Any]:
        places = {name: {"op1": share, "op2": share} for name in "abcdu"}
        return {"holdout": pair, "condition": "familiar", "analyses": {"probes": places}}

    runs = [opened("^|", share) for share in (0.1, 0.6, 0.64)] + [opened("&L", share) for share in (0.1, 0.2)]
    (tmp_path / "symbolic").mkdir()
    (tmp_path / "symbolic" / "analyses-desk.json").write_text(json.dumps({"runs": runs}))
    result = STUDIES["chains/probes"].measure(Store(tmp_path))
    found = {tuple(arm.labels.values()): (arm.value, arm.comparison) for arm in result.arms}
    assert found["^|", "a, op1"][0] == {"middle": 60.0, "least": 10.0, "most": 64.0, "networks": 3}  # published 63.9
    assert found["^|", "a, op1"][1].word == "reproduced"
    assert (found["^|", "d, op2"][1].word, found["^|", "d, op2"][1].way) == ("differs", "lower")  # 83.8
    assert (found["&L", "a, op1"][1].word, found["&L", "a, op1"][1].needed) == ("inconclusive", None)
    assert found["R^", "a, op1"][1].word == "not run"
    (table,) = inside_tables([result])
    assert table.rows[0][:6] == ["^|", "a, op1", "63.9", 3, "60.0", "10.0 to 64.0"]


def test_analyses_that_are_missing_or_damaged_are_not_measured(tmp_path: Path) -> None:
    study = STUDIES["chains/substitution"]
    (tmp_path / "symbolic").mkdir()
    (tmp_path / "symbolic" / "analyses-desk.json").write_text(json.dumps({"runs": 3}))
    result = study.measure(Store(tmp_path))
    assert {arm.comparison.word for arm in result.arms} == {"not run"}
    with pytest.raises(BadInput, match="no network of Experiment 2"):
        substitution([result])
