"""Where a whole run's time goes: every second belongs to one part, and the run is the one that a sweep would train."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hardgap.bench import whole_run
from hardgap.bench.whole_run import EVALUATIONS, KEPT, PARTS, STEPS, measure_run
from hardgap.cli import main
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_shares_of_the_parts_add_up_to_the_run(tiny: Tiny) -> None:
    found = measure_run(tiny())
    assert (found["steps"], found["evaluated"], found["ended"]) == (7, 4, "budget")  # at 0, 3, 6 and 7
    assert tuple(found["shares"]) == tuple(found["cpu_seconds"]) == PARTS
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert min(found["shares"].values()) > 0


def test_what_is_slow_is_seen_where_it_belongs(tiny: Tiny) -> None:
    often, seldom = (
        measure_run(tiny(train_rows=64, budget={"steps": 40, "evaluate_every": every})) for every in (1, 40)
    )
    assert often["cpu_seconds"][EVALUATIONS] > 3 * seldom["cpu_seconds"][EVALUATIONS]
    assert often["cpu_seconds"][KEPT] > seldom["cpu_seconds"][KEPT]
    assert often["shares"][STEPS] < seldom["shares"][STEPS]


def test_the_command_tells_every_run(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whole_run, "RUNS", {"one": tiny(), "another": tiny(seed=1)})
    with pytest.raises(SystemExit) as ended:
        main(["bench", "run", "--json"])
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out)["run"].keys() == {"one", "another"}
