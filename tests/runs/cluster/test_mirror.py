"""One run in two stores: what goes over, and what one side's death leaves behind. No cluster is needed for this."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.core.plugins import travelling, trust
from hardgap.core.run import Run, named
from hardgap.runs import execute
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.cluster.mirror import Files, News, Record, news_of, take_order
from hardgap.runs.execute import Execution, build_trainer
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.runs.train import execute_claimed, train_here
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def run(tiny: Tiny) -> AutomatonRun:
    return tiny(budget={"steps": 12, "evaluate_every": 3})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "driver")


def recorded(store: Store, run: Run) -> Record:
    store.add([run])
    assert store.claim([run.id], me()) == run.id
    return Record(store, run, me())


def train_there(record: Record, folder: Path, until: int | None = None, **chosen: Any) -> tuple[News, Files]:
    """Train at another place, to the end or until a step; the news of it, as they come over."""
    there = Store(folder)
    order, files = json.loads(json.dumps(record.order()[0])), record.order()[1]
    run_id, steps = take_order(there, order, files), [0]
    there.claim([run_id], me())
    watcher = Observer(on_step=steps.append, should_stop=lambda: until is not None and steps[-1] >= until)
    execute_claimed(there, there.get(run_id).config, me(), watcher, **chosen)
    news, sent = news_of(there, run_id, record.known())
    return json.loads(json.dumps(news)) | {"began": steps[1] - 1}, sent


def assert_as_at_home(store: Store, run: Run, tmp_path: Path) -> None:
    home = Store(tmp_path / "home")
    train_here(home, run)
    assert store.points(run.id) == home.points(run.id)
    kept = [(Checkpoints(one.folder, run.id)) for one in (store, home)]
    assert kept[0].names() == kept[1].names()
    for name in kept[0].names():
        assert (kept[0].folder / name).read_bytes() == (kept[1].folder / name).read_bytes()
    assert store.get(run.id).versions == home.get(run.id).versions


def test_what_is_trained_elsewhere_is_stored_as_if_it_had_been_trained_here(
    store: Store, run: AutomatonRun, tmp_path: Path
) -> None:
    record = recorded(store, run)
    assert record.take(*train_there(record, tmp_path / "there"))
    assert store.get(run.id).status == "done"
    assert_as_at_home(store, run, tmp_path)


def test_a_run_goes_on_at_a_second_place_from_the_state_of_the_first(
    store: Store, run: AutomatonRun, tmp_path: Path
) -> None:
    record = recorded(store, run)
    news, files = train_there(record, tmp_path / "first", until=5)
    assert not record.take(news | {"status": "running"}, files)
    assert [point["step"] for point in store.curve(run.id)] == [0, 3]
    assert store.get(run.id).step == 5
    assert not record.take(news | {"status": "running", "points": []}, {})  # told again, nothing changes
    record.lost()
    assert store.get(run.id).status == "queued"
    again = recorded(store, run)
    news, files = train_there(again, tmp_path / "second")
    assert news["began"] == 5
    assert again.take(news, files)
    assert store.get(run.id).seconds == pytest.approx(news["seconds"])
    assert_as_at_home(store, run, tmp_path)


def test_what_was_stopped_there_is_queued_here_with_its_state(store: Store, run: AutomatonRun, tmp_path: Path) -> None:
    record = recorded(store, run)
    assert record.take(*train_there(record, tmp_path / "there", until=5))
    assert store.get(run.id).status == "queued"
    assert Checkpoints(store.folder, run.id).latest(run.budget) is not None


def test_a_shorter_run_that_is_here_is_gone_on_from_there(store: Store, tiny: Tiny, tmp_path: Path) -> None:
    short, long = (tiny(budget={"steps": steps, "evaluate_every": 3}) for steps in (6, 12))
    train_here(store, short)
    record = recorded(store, long)
    news, files = train_there(record, tmp_path / "there")
    assert news["began"] == 6
    assert record.take(news, files)
    assert store.get(long.id).status == "done"


def test_a_run_finished_twice_is_stored_once_and_says_so(
    store: Store, run: AutomatonRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = recorded(store, run)
    news, files = train_there(record, tmp_path / "there")
    assert record.take(news, files)
    first = store.get(run.id)
    assert capsys.readouterr().err == ""
    assert Record(store, run, me()).take(news, files)  # to another driver, of whom this is the first that it hears
    assert capsys.readouterr().err == ""
    again = {"versions": {"torch": "another"}, "seconds": news["seconds"] + 1}
    assert record.take(news | again, files)
    assert store.get(run.id) == first
    assert f"run {run.id} was finished twice; the first result is kept" in capsys.readouterr().err


def test_a_failure_there_is_a_failure_here(store: Store, tiny: Tiny, tmp_path: Path) -> None:
    trust(["no_such_module:net"])
    broken = tiny(model={"kind": "plugin", "factory": "no_such_module:net"})
    record = recorded(store, broken)
    with pytest.raises(BadInput):
        train_there(record, tmp_path / "there")
    news = {"status": "failed", "error": "it is broken", "step": 0, "points": [], "seconds": 0.0}
    assert record.take(news, {})
    assert (store.get(broken.id).status, store.get(broken.id).error) == ("failed", "it is broken")


def test_a_result_that_cannot_be_one_is_refused(store: Store, run: AutomatonRun, tmp_path: Path) -> None:
    record = recorded(store, run)
    news, files = train_there(record, tmp_path / "there")
    news["points"][1]["holdout"] = 7.0
    assert record.take(news, files)
    assert store.get(run.id).status == "failed"
    assert "what came back is no result of it: curve.1" in str(store.get(run.id).error)


@pytest.mark.parametrize(
    "name", ["../state-1.safetensors", "state-1.pickle", "/etc/step-1.safetensors", "state.safetensors"]
)
def test_a_file_with_a_strange_name_is_not_written(store: Store, run: AutomatonRun, name: str) -> None:
    with pytest.raises(BadInput, match="no name of a run's file"):
        Checkpoints(store.folder, run.id).take_file(name, b"")


def test_another_engine_or_machine_goes_on_and_stands_in_the_record(
    store: Store, run: AutomatonRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = recorded(store, run)
    monkeypatch.setattr(execute, "machine", lambda: "another processor, AVX3")
    news, files = train_there(record, tmp_path / "first", until=5, engine="eager")
    record.take(news | {"status": "running"}, files)
    monkeypatch.undo()
    # The engine that began it is nowhere: at home that is refused, on a cluster it goes on and is noted.
    monkeypatch.setattr(execute, "_engines", lambda meta: ["native avx1024, kernel 9, g++ 99"])
    with pytest.raises(BadInput, match="cannot go on as it began"):
        Execution(store, run, me(), engine="auto")()
    news, files = train_there(record, tmp_path / "second", engine="any")
    assert record.take(news, files)
    made_with = store.get(run.id).versions
    assert made_with["engine"].startswith("native avx1024, kernel 9, g++ 99, then ")
    assert made_with["machines"].startswith("another processor, AVX3, then ")


def test_the_code_that_counts_as_a_plugins_source_travels(
    tmp_path: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hg_pack").mkdir()
    for name, text in {"__init__": "", "net": "from . import part\nimport torch", "part": "", "other": ""}.items():
        (tmp_path / "hg_pack" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    sent = travelling("hg_pack.net:make")
    assert sorted(sent) == ["hg_pack/__init__.py", "hg_pack/net.py", "hg_pack/part.py"]
    assert sent["hg_pack/net.py"] == b"from . import part\nimport torch"
    assert travelling("sklearn.svm:SVC") == {}  # installed: it has to be there, and its source is compared
    assert named(tiny(model={"kind": "plugin", "factory": "hg_pack.net:make"})).plugins()


def test_the_reference_is_what_one_process_makes(store: Store, run: AutomatonRun, tmp_path: Path) -> None:
    trainer = build_trainer(run)
    trainer.run()
    record = recorded(store, run)
    record.take(*train_there(record, tmp_path / "there"))
    assert store.curve(run.id) == [point.as_dict() for point in trainer.curve]
