"""Experiment 2 as a reader meets it: verdicts, tables in the paper's layout, figures, the document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.errors import BadInput
from hardgap.core.run import only
from hardgap.report.document import Content, fill, markdown, write_page
from hardgap.report.figures import as_svg
from hardgap.runs.results import export_runs
from hardgap.runs.store import Store
from hardgap.studies.measure import StudyResult, measure
from hardgap.studies.published import Seeds
from hardgap.studies.study import STUDIES, Study, limited
from hardgap.studies.symbolic.baselines import DATA, baselines_path
from hardgap.studies.symbolic.cells import (
    ambiguity_table,
    exact,
    measures_table,
    paper_table,
    seeds_table,
)
from hardgap.studies.symbolic.coverage_figure import coverage_figure, symbolic_table_figure
from hardgap.studies.symbolic.coverage_tables import coverage_tables
from hardgap.studies.symbolic.document import figures, read_measured, sections
from hardgap.studies.symbolic.figures import analysis_figures
from hardgap.studies.symbolic.published import PAPERS_KRR
from hardgap.studies.symbolic.tables import analysis_tables
from hardgap.worlds.chains.baselines import SYMBOLIC_METHODS
from hardgap.worlds.chains.run import SymbolicRun

ROOT = Path(__file__).parents[3]
COVERAGE = STUDIES["symbolic/coverage"]
STUDY = limited(STUDIES["symbolic/xor-or/familiar"], 3)  # published: 70.4, 74.0, 75.2


def curve(*points: tuple[float, float, float]) -> list[dict[str, Any]]:
    """Evaluations of which each gives: eval on held-out, eval on seen, and the held-out test accuracy."""
    rest = {"valid": 0.9, "tokens": 0.9}
    return [
        {"step": 10 * i, "loss": 0.1, "visible": 0.9, "holdout": test,
         "detail": {"eval": {"holdout": holdout, "seen": seen}, "seen": rest | {"exact": 0.9, "pair": 0.9},
                    "holdout": rest | {"exact": test, "pair": min(1.0, test + 0.1), "f": min(1.0, test + 0.2)},
                    "chains": {"^^": 0.9}}}
        for i, (holdout, seen, test) in enumerate(points)
    ]  # fmt: skip


def measured(folder: Path, tests: list[float], study: Study = STUDY) -> StudyResult:
    store = Store(folder)
    for run, test in zip(study.runs("desk"), tests, strict=False):
        store.put_all_done([(run, curve((0.1, 0.1, 0.0), (0.5, 0.2, test), (0.3, 0.3, test / 2)), "budget", {}, 1.0)])
    return measure(study, "desk", store)


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        ([], "not run"),
        ([0.7, 0.74], "inconclusive so far at desk scale"),
        ([0.70, 0.74, 0.76], "reproduced at desk scale"),
        ([0.30, 0.33, 0.31], "differs (lower) at desk scale"),
        ([0.95, 0.96, 0.94], "differs (higher) at desk scale"),
        ([0.95, 0.10, 0.94], "inconclusive at desk scale"),  # so wide a spread rules nothing out
    ],
)
def test_the_verdict_follows_welchs_test(tmp_path: Path, tests: list[float], verdict: str) -> None:
    assert measured(tmp_path, tests).arm.comparison.verdict == verdict


def test_every_choice_of_checkpoint_is_told_with_every_measure(tmp_path: Path) -> None:
    found = measured(tmp_path, [0.6, 0.7, 0.8])
    assert exact(found.arm, "eval-holdout") == found.arm.accuracies() == [0.6, 0.7, 0.8]
    assert exact(found.arm, "eval-seen") == exact(found.arm, "final") == [0.3, 0.35, 0.4]
    assert found.arm.mean == pytest.approx(0.7)
    assert paper_table([found]).rows[0] == ["^|", "70.0 ± 8.2 [73.2 ± 2.0]", "", ""]
    assert seeds_table([found]).rows[1] == ["^|", 123, "70.0 [74.0]", "", ""]
    (row,) = measures_table([found]).rows
    assert row[2:] == ["35.0", "70.0", "35.0", "45.0", "80.0", "45.0", "55.0", "90.0", "55.0", "90.0", "90.0", "90.0"]
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_is_not_there_yet_is_told_apart_from_zero(tmp_path: Path) -> None:
    found = measured(tmp_path, [0.0])
    assert paper_table([found]).rows[0][1] == "0.0 (1 of 3 seeds) [73.2 ± 2.0]"
    assert seeds_table([found]).rows[1][2] == "– [74.0]"
    assert "published" in as_svg(symbolic_table_figure([found]))


def test_the_weaker_filter_stands_beside_the_default_one(tmp_path: Path) -> None:
    default = measured(tmp_path, [0.6, 0.7, 0.8])
    weaker = measured(tmp_path, [0.1, 0.2, 0.0], STUDIES["ambiguity/xor-or"])
    rows = {row[1]: row for row in ambiguity_table([default], [weaker]).rows}
    more = measured(tmp_path / "more", [0.6, 0.7, 0.8, 0.0], STUDIES["symbolic/xor-or/familiar"])
    assert ambiguity_table([more], [weaker]).rows[1] == rows["eval-holdout"]  # the same seeds are compared
    assert rows["eval-holdout"] == ["^|", "eval-holdout", "70.0 ± 8.2", "10.0 ± 8.2", "0.0018", "73.2"]
    assert rows["eval-seen"][2:4] == ["35.0 ± 4.1", "5.0 ± 4.1"]
    assert paper_table([default]).rows == paper_table([default, weaker]).rows  # the paper's table has the default alone
    assert "weaker filter" in as_svg(symbolic_table_figure([weaker]))


def keep_baselines(folder: Path, run: Any, value: float) -> None:
    path = baselines_path(folder, run)
    data = run.model_dump(mode="json")
    methods = [
        {
            "method": m.name,
            "seen": 0.5,
            "holdout": value if m.name == PAPERS_KRR else 0.0,
            "interpolates": m.interpolates,
        }
        for m in SYMBOLIC_METHODS
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"config": {name: data[name] for name in DATA if name != "sources"}, "methods": methods})
    )


@pytest.fixture
def covered(tmp_path: Path) -> Path:
    """Two seeds of `^|`, one of `dd`; baselines of both; nothing of the other 47 pairs."""
    store = Store(tmp_path / "store")
    runs = only(SymbolicRun, COVERAGE.runs("desk"))
    for run, test in zip([r for r in runs if r.holdout == "^|"], (0.6, 0.8), strict=False):
        store.put_all_done([(run, curve((0.5, 0.5, test)), "budget", {}, 1.0)])
    lone = next(run for run in runs if run.holdout == "dd")
    store.put_all_done([(lone, curve((0.5, 0.5, 0.1)), "budget", {}, 1.0)])
    keep_baselines(tmp_path / "results" / "baselines", runs[0], 0.2)
    keep_baselines(tmp_path / "results" / "baselines", lone, 0.15)
    export_runs(store, store.rows(), tmp_path / "results" / "runs")
    return tmp_path


def test_coverage_counts_pairs_above_their_own_baseline(covered: Path) -> None:
    store = Store(covered / "store")
    found = measure(limited(COVERAGE, 2), "desk", store, covered / "results" / "baselines")
    summary = json.loads(json.dumps(found.as_dict()))["summary"]["eval-holdout"]
    assert (summary["pairs"], summary["runs"], summary["compared"], summary["above"]) == (2, 3, 2, 1)
    assert (summary["mean"], summary["range"]) == (pytest.approx(0.4), [0.1, pytest.approx(0.7)])
    assert summary[f"{PAPERS_KRR} range"] == [0.15, 0.2]
    pairs, baselines, together, _ = coverage_tables([found])
    rows = pairs.rows
    assert len(rows) == 49
    assert [rows[0][0], rows[0][4], rows[0][9], rows[0][10]] == ["^|", "70.0", f"20.0 ({PAPERS_KRR})", 73.2]
    assert rows[1][0] == "dd"
    assert rows[2][2:9] == [0, *"––––––"]
    assert baselines.rows[0][:5] == ["^|", "70.0 [73.2]", "0.0 [0.0]", "0.0 [0.0]", "0.0"]
    assert baselines.rows[0][baselines.columns.index(PAPERS_KRR)] == "20.0 [13.8]"
    assert together.rows[1] == ["pairs above every interpolation baseline", "49 of 49", *["1 of 2"] * 3]
    drawn = as_svg(coverage_figure([found]))
    assert f"best interpolation baseline of any pair ({PAPERS_KRR}, 20.0 %)" in drawn
    assert drawn.index(">dd<") < drawn.index(">^|<")  # sorted, the best on top


def test_that_all_pairs_are_above_is_judged_by_those_with_seeds_enough(covered: Path) -> None:
    store, kept = Store(covered / "store"), covered / "results" / "baselines"
    first = measure(COVERAGE, "desk", store, kept)
    assert isinstance(first.arms[0].published, Seeds)  # of `^|`, whose seeds are printed
    together = first.arms[-1].comparison
    assert (together.word, together.so_far) == ("inconclusive", True)
    assert together.why == "not above (seeds): dd (1); 49 of 49 pairs have fewer than 3 seeds"
    runs = [run for run in only(SymbolicRun, COVERAGE.runs("desk")) if run.holdout == "dd"]
    for run, test in zip(runs[1:], (0.09, 0.11), strict=True):
        store.put_all_done([(run, curve((0.5, 0.5, test)), "budget", {}, 1.0)])
    together = measure(COVERAGE, "desk", store, kept).arms[-1].comparison
    assert (together.word, together.why) == ("does not hold as written", "dd below")
    assert coverage_tables([first])[-1].rows[-1][3] == "inconclusive so far at desk scale"


def test_an_empty_figure_is_refused(tmp_path: Path) -> None:
    found = measure(COVERAGE, "desk", Store(tmp_path))
    with pytest.raises(BadInput, match="no pair has a finished run"):
        coverage_figure([found])


def opened(holdout: str, condition: str) -> dict[str, Any]:
    places = {"a": 0.5, "b": 0.1, "c": 0.2, "d": 0.1, "u": 0.1}
    ops = {name: {"op1": 0.25, "op2": 0.75} for name in places}
    layers = {name: {"op1": 0.5, "op2": 1.0} for name in ("embedding", "after dec-0", "after dec-1")}
    heads = [{"attention": "none", "head": None, "seen": 0.9, "holdout": 0.7},
             {"attention": "dec_cross_0", "head": 0, "seen": 0.85, "holdout": 0.4}]  # fmt: skip
    targets = [{"swapped": "c, d", "target": "&", "examples": 7, "follows": 0.5, "keeps": 1.0},
               {"swapped": "a, b", "target": "L", "examples": 0, "follows": None, "keeps": None}]  # fmt: skip
    example = [{"swapped": None, "target": None, "inputs": [1, 2, 3, 3, 5], "named": "^|", "derivation": "1 ^ 2 = 3"}]
    analyses = {
        "corruption": ops, "probes": ops, "attention": {"0:a": places, "4:e": places, "10:f": places},
        "lens": {"holdout": layers, "seen": layers}, "heads": heads,
        "substitution": {"targets": targets, "example": example},
    }  # fmt: skip
    return {"run": f"{holdout}{condition}", "about": "", "holdout": holdout, "condition": condition, "seed": 42,
            "step": 10, "checkpoint": "final", "analyses": analyses}  # fmt: skip


def test_analyses_have_a_column_a_network_and_the_published_number_of_its_pair() -> None:
    tables = analysis_tables([opened("^|", "familiar"), opened("&L", "familiar"), opened("^|", "opaque")])
    by_title = {table.title.partition(",")[0]: table for table in tables}
    corrupted = by_title["An input replaced: how often a named operator changes"]
    assert corrupted.columns == ["corrupted", "^|", "&L", "^| opaque"]
    assert corrupted.rows[0] == ["a → op1 changed", "25.0 [73.0]", "25.0 [68.0]", "25.0"]
    attention = by_title["Cross-attention of the first decoder layer"]
    assert attention.rows[2] == ["f: attention to u", "10.0 [24.8]", "10.0 [34.9]", "10.0"]
    lens = by_title["Logit lens on held-out examples"]
    assert lens.rows[1] == ["after dec-0", "op2", "100.0 [97.5]", "100.0 [87.2]", "100.0"]
    probes = by_title["Linear probes of the last encoder layer"]
    assert probes.rows[1][:2] == ["&L", "25.0 [49.2]"]
    heads = next(table for table in tables if table.title.startswith("A head silenced"))
    assert heads.rows[1] == ["dec_cross_0_head_0", "30.0 / 5.0 [22.0 / 1.7]", "30.0 / 5.0", "30.0 / 5.0"]
    swaps = [table for table in tables if table.title.startswith("Inputs swapped")]
    assert ["published" in table.title for table in swaps] == [True, False, False]
    assert swaps[0].rows[1] == ["a, b", "L", 0, "–", "–"]


def test_a_page_shows_one_networks_substitutions_the_lens_on_seen_examples_and_no_heads() -> None:
    tables = analysis_tables([opened("^|", "familiar"), opened("&L", "familiar")], on_page=True)
    starts = ["The networks", "Inputs swapped", "Linear probes", "Cross-attention", "An input", "Logit lens on seen"]
    assert all(table.title.startswith(start) for table, start in zip(tables, starts, strict=True))
    assert analysis_tables([], on_page=True) == []


def test_a_page_leaves_out_baselines_that_are_no_test(covered: Path) -> None:
    shown = sections(read_measured(covered / "results"))["baseline-verdicts"]
    assert "| ^\\| | KRR | 13.8 | 20.0 |" in shown
    assert "| ^\\| | KNN |" not in shown  # 0 % is certain, the held-out pair being no class
    assert "no test" not in shown


def test_every_analysis_is_drawn() -> None:
    run = opened("^|", "familiar")
    drawn = {name: as_svg(figure) for name, figure in analysis_figures(run).items()}
    assert drawn.keys() == run["analyses"].keys()
    assert "1 ^ 2 = 3" in drawn["substitution"]
    assert "dec_cross_0_head_0" in drawn["heads"]


# The document


def test_the_pages_figures_are_drawn_from_the_results_alone(covered: Path) -> None:
    measured = read_measured(covered / "results")
    measured.analyses["runs"].append(opened("^|", "familiar"))
    shown = [f"figures/symbolic-{name}.svg" for name in ("table", "coverage", "substitution")]
    page, text = covered / "page.md", "".join(f"![]({path})" for path in shown)
    text += "\n<!-- measured: table -->\n<!-- end -->\n"
    assert write_page(page, text, Content(sections(measured), figures(measured))) == [
        page,
        *(covered / path for path in shown),
    ]
    assert "1 ^ 2 = 3" in (covered / shown[2]).read_text()
    assert len(list((covered / "figures").iterdir())) == 3  # nothing that the page does not show


def test_blocks_are_filled_and_the_rest_is_left_alone(covered: Path) -> None:
    found = sections(read_measured(covered / "results"))
    text = "# Title\n<!-- measured: table -->\nold\n<!-- end -->\nbetween\n<!-- measured: analyses --><!-- end -->\n"
    text = text.replace("analyses --><!--", "analyses -->\n<!--")
    filled = fill(text, found)
    assert "| ^\\| | 70.0 ± 10.0 (2 of 6 seeds) [73.2 ± 2.0] | – [73.0 ± 5.1] | – [29.1 ± 0.8] |" in filled
    assert "\nold\n" not in filled
    assert "Not measured yet." in filled
    assert "between" in filled
    assert fill(filled, found) == filled
    assert markdown([]) == "\nNot measured yet.\n\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("nothing to fill", "there is no mark"), ("<!-- measured: nonsense -->\n<!-- end -->", "no block 'nonsense'")],
)
def test_a_document_without_known_marks_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        fill(text, {"table": ""})
