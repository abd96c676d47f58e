"""The seven rows of the paper's main table, as declared."""

from pathlib import Path

import pytest

import hardgap.studies  # noqa: F401  (declares them)
from hardgap.core.errors import BadInput
from hardgap.core.run import Run
from hardgap.core.specs import SCALES
from hardgap.runs.store import Store
from hardgap.studies.main_table import rate_tables
from hardgap.studies.measure import measure
from hardgap.studies.published import Rate
from hardgap.studies.study import STUDIES, choose, most_informative_first
from hardgap.worlds.automaton.rule import parse_rule
from hardgap.worlds.automaton.run import AutomatonRun

ROWS = {
    "main/rule-d-soft": (10, (10, 10, 96.7)),
    "main/rule-g-soft": (10, (10, 10, 99.5)),
    "main/rule-d-hard": (10, (1, 10, 65.5)),
    "main/rule-150-long": (60, (47, 60, 71.5)),
    "main/rule-150-short": (80, (8, 80, 10.6)),
    "main/rule-d-none": (10, (0, 10, 63.1)),
    "main/rule-d-leaky": (10, (10, 10, 99.3)),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_as_many_runs_as_the_paper_and_its_numbers(name: str) -> None:
    study, (runs, published) = STUDIES[name], ROWS[name]
    (arm,) = study.arms("desk")
    paper = arm.published
    assert isinstance(paper, Rate)
    assert (paper.successes, paper.n, paper.mean) == published
    assert study.claim.endswith(".")
    for scale in SCALES:
        assert len({run.id for run in study.runs(scale)}) == runs == paper.n


def test_paper_scale_is_the_papers_own() -> None:
    for study in choose(["main"]):
        for run in study.runs("paper"):
            assert isinstance(run, AutomatonRun)
            assert (run.width, run.train_rows, run.test_rows, run.optimiser.batch) == (101, 20_000, 2_000, 128)
            assert (run.optimiser.learning_rate, run.optimiser.clip, run.optimiser.schedule) == (1e-3, None, "constant")
            assert run.budget.stop_after_solved == 5  # the one difference, said in docs/fidelity.md
            assert run.budget.steps == (34_540 if study.name == "main/rule-150-long" else 7_850)
            assert run.unrolling.steps == (1 if run.unrolling.feedback == "none" else 4)


def test_the_hidden_sets_of_d_and_g_split_five_to_three() -> None:
    for name in ("main/rule-d-soft", "main/rule-g-soft"):
        run = STUDIES[name].runs("paper")[0]
        assert isinstance(run, AutomatonRun)
        assert sorted(parse_rule(run.rule).table[list(run.hide)]) == [0] * 5 + [1] * 3


def test_one_seed_of_everything_comes_first_and_short_before_long() -> None:
    runs = most_informative_first(choose(["main"]), "desk")
    assert [run.seed for run in runs] == sorted(run.seed for run in runs)
    first = [run for run in runs if run.seed == 0]
    assert len(first) == 5 + 6 + 8
    assert [run.budget.steps for run in first] == sorted(run.budget.steps for run in first)


def test_an_unknown_study_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"no study 'mian' \(did you mean main\?\)"):
        choose(["mian"])


def test_the_published_mean_waits_until_every_pattern_of_it_is_measured(tmp_path: Path) -> None:
    """The paper's mean is over eight patterns: it is not beside a mean over one of them."""
    study, store = STUDIES["main/rule-150-short"], Store(tmp_path)

    def published_mean() -> object:
        (table,) = rate_tables([measure(study, "desk", store)])
        return table.rows[0][table.columns.index("published mean %")]

    assert published_mean() == "10.6 [4.1 to 17.1]"
    runs = [run for run in study.runs("desk") if run.seed == 0]
    store.put_all_done([_finished(runs[2])])
    assert published_mean() == ""
    store.put_all_done([_finished(run) for run in runs if run != runs[2]])
    assert published_mean() == "10.6 [4.1 to 17.1]"


def _finished(run: Run) -> tuple[Run, list[dict[str, object]], str, dict[str, str], float]:
    return run, [{"step": 50, "loss": 0.1, "visible": 1.0, "holdout": 1.0, "detail": {}}], "budget", {}, 1.0
