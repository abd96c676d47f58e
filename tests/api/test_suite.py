"""`hg.suite`: a class of one's own, judged from Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import hardgap as hg

NET = """
from torch import nn
class MyNet(nn.Linear):
    def __init__(self, width):
        super().__init__(width, width)
"""


@pytest.mark.slow
def test_a_class_is_judged_and_its_card_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "judgednets.py").write_text(NET)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "judgednets", raising=False)
    from judgednets import MyNet  # type: ignore[import-not-found]

    asked = {"quick": True, "seeds": 1, "scale": "smoke", "store": tmp_path / "runs", "workers": 1, "watch": False}
    card = hg.suite("v1").run(MyNet, **asked)
    assert (card.network, len(card.runs), card.planned) == ("judgednets:MyNet", 23, 69)
    assert card.certificate is not None
    assert card.certificate.passed
    assert "| public | 18 |" in str(card.table())
    assert card == hg.suite("v1").run(MyNet, **asked)  # nothing is trained again


def test_a_reference_that_is_computed_has_its_card_at_once() -> None:
    card = hg.suite("v1").run("solver", quick=True)
    assert (card.network, len(card.runs), {run.recovered for run in card.runs}) == ("solver", 23, {True})


def test_a_suite_after_its_package_was_imported_is_still_a_call() -> None:
    """A package of that name would hide it."""
    import hardgap.suites.gaps  # noqa: F401

    assert len(hg.suite("v1").gaps) == 90
