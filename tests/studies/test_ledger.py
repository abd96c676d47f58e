"""The report: from results alone, self-contained, every claim with its verdict; and the committed one is up to date."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest

from hardgap.core.run import Run, only
from hardgap.report.verdicts import WORDS
from hardgap.studies.ledger import as_dict, beside, counts, ledger_table, read_claims, summary
from hardgap.studies.measure import StudyResult
from hardgap.studies.report_page import TITLES, report_page
from hardgap.studies.study import STUDIES, choose
from hardgap.studies.symbolic.document import read_measured
from hardgap.suites.references import read_cards
from hardgap.worlds.chains.run import SymbolicRun

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "report.html"
ROW = re.compile(r'<tr data-claim="([^"]+)" data-verdict="([^"]+)">')


@pytest.fixture(scope="module")
def main_alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a folder that holds two runs of Rule D."""
    results = tmp_path_factory.mktemp("results")
    (results / "main").mkdir()
    for run in STUDIES["main/rule-d-soft"].runs("desk")[:2]:
        (results / "main" / f"{run.id}.json").write_bytes((ROOT / "results" / "main" / f"{run.id}.json").read_bytes())
    return report_page(read_claims(results, choose(["main", "k-sweep"])))


def test_what_nobody_has_run_says_so(main_alone: str) -> None:
    verdicts = dict(ROW.findall(main_alone))
    assert verdicts["main/rule-d-soft"] == "inconclusive so far at desk scale"
    others = {name: said for name, said in verdicts.items() if name not in ("main/rule-d-soft", "main/constant-guess")}
    assert set(others.values()) == {"not run"}  # soft seeds alone are no pairs
    assert verdicts["main/constant-guess"] == "no test"  # true by the draw of the hidden set
    assert set(verdicts) == {one.name for one in choose(["main", "k-sweep"])}


def test_a_verdict_never_stands_as_a_colour_alone(main_alone: str) -> None:
    badges = re.findall(r'<span class="badge \w+"><span aria-hidden="true">(.)</span> ([^<]+)</span>', main_alone)
    assert badges
    for mark, said in badges:
        assert mark in "✓≠✗?○–"
        assert said.split(" (")[0].split(" so far")[0].split(" at ")[0] in WORDS


def test_the_command_that_reruns_a_claim_stands_with_it(main_alone: str) -> None:
    assert "<code>hardgap reproduce main/rule-150-long</code>" in main_alone
    assert "paper (Table 2): 47/60, mean 71.5 %" in main_alone


def test_what_is_inconclusive_says_in_the_matrix_what_would_settle_it(main_alone: str) -> None:
    row = re.search(r'<tr data-claim="main/rule-d-soft".*?</tr>', main_alone, re.DOTALL)
    assert row is not None
    assert "about 10 runs would settle it" in row[0]


def test_every_group_of_studies_has_a_title() -> None:
    assert {name.partition("/")[0] for name in STUDIES} <= set(TITLES)


def put_run(results: Path, place: str, run: Run) -> None:
    (results / place).mkdir(parents=True, exist_ok=True)
    file = next((ROOT / "results").rglob(f"{run.id}.json"))
    (results / place / file.name).write_bytes(file.read_bytes())


def test_a_page_and_the_report_count_the_same_runs_wherever_their_files_stand(tmp_path: Path) -> None:
    """A run counts for the studies that declare it: a calibrating one for the coverage, too."""
    pair = [run for run in only(SymbolicRun, STUDIES["symbolic/coverage"].runs("desk")) if run.holdout == "^r"]
    for place, run in zip(("symbolic/runs", "calibration", "calibration"), pair, strict=True):
        put_run(tmp_path, place, run)
    (claim,) = read_claims(tmp_path, [STUDIES["symbolic/coverage"]])
    page = read_measured(tmp_path).coverage
    assert claim.ran == page.ran == 3
    assert claim.as_dict() == page.as_dict()


def test_a_gap_that_is_run_again_because_it_failed_counts_in_no_forecast() -> None:
    again = [run for arm in STUDIES["atlas/missed"].arms("desk") for run in arm.runs]
    asked = {run.id for run in STUDIES["tempered/forecast"].runs("desk")}
    assert {run.seed for run in again if run.id in asked} == {0}  # the run that failed is the forecast's own


def test_the_committed_page_tells_what_the_other_pages_tell() -> None:
    told = " ".join(COMMITTED.read_text(encoding="utf-8").split())
    ledger = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    for name in ("main-words", "symbolic-words", "tempered-words"):
        (words,) = re.findall(rf"<!-- measured: {name} -->(.*?)<!-- end -->", ledger, re.DOTALL)
        assert escape(" ".join(words.split())) in told, name


def test_the_committed_page_needs_nothing_else_and_is_small() -> None:
    text = COMMITTED.read_text(encoding="utf-8")
    assert len(text.encode()) < 5_000_000
    assert not re.search(r'(src|href)="(?!#|data:)', re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))
    assert "<script" not in text
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_the_committed_page_has_every_claim_and_the_ledger_the_same_verdicts() -> None:
    verdicts = dict(ROW.findall(COMMITTED.read_text(encoding="utf-8")))
    assert set(STUDIES) <= set(verdicts)
    block = (ROOT / "docs" / "ledger.md").read_text().split("<!-- measured: ledger -->")[1].split("<!-- end -->")[0]
    assert len(re.findall(r"^\| ([a-z ]+) \| *\d", block, re.MULTILINE)) > 5
    for word, names in re.findall(r"^\| ([a-z ]+) \| *\d+ \| (.+) \|$", block, re.MULTILINE):
        at = "@paper" if word.endswith("at paper scale") else ""  # a claim has a row for each scale
        for name in (f"{one}{at}" for one in re.findall(r"`([^`]+)`", names)):
            assert verdicts[name].startswith(word.partition(" at ")[0]), name
            assert verdicts[name].endswith("at desk scale") == word.endswith("at desk scale"), name


def _without_figures(text: str) -> str:
    return re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def claims() -> list[StudyResult]:
    return read_claims(ROOT / "results")


@pytest.mark.slow
def test_every_claim_of_the_paper_stands_beside_what_was_found_and_none_is_left_open_without_a_way_out(
    claims: list[StudyResult],
) -> None:
    for one in (one for one in claims if not one.study.ours):
        assert one.comparison.word == "not run" or all(beside(one)), one.name
        for found in (one.comparison, *(arm.comparison for arm in one.arms)):
            assert found.word != "inconclusive" or found.settles, one.name


@pytest.mark.slow
def test_the_committed_page_is_what_the_command_writes(claims: list[StudyResult]) -> None:
    """But for the figures, whose text depends on the fonts of a machine."""
    cards = read_cards(ROOT / "results" / "suite")
    pages = report_page(claims, cards=cards), COMMITTED.read_text(encoding="utf-8")
    fresh, kept = map(_without_figures, pages)
    assert fresh == kept, "`hardgap report --out docs/report.html` writes it anew"
    assert sum(counts(claims).values()) == sum(not one.ours for one in STUDIES.values())
    assert len(as_dict(claims)["claims"]) >= len(STUDIES)
    assert str(sum(counts(claims).values())) in summary(claims)
    assert len(ledger_table(claims).rows) == len(claims)
