"""One worker's turn at one run: going on, starting again after damage, losing the claim, looking back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hardgap.core.checkpoint import CorruptFile, load_tensors, save_tensors, sidecar
from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer, under
from hardgap.core.plugins import trust
from hardgap.runs import execute
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution, build_trainer, load_model, load_trained
from hardgap.runs.owner import me
from hardgap.runs.results import export_runs, import_runs
from hardgap.runs.retrain import retrain_run
from hardgap.runs.store import Store
from hardgap.runs.worker import execute_safely
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def trained(store: Store, run: AutomatonRun, watcher: Observer | None = None) -> Any:
    """One turn, with a checkpoint after every step."""
    store.add([run])
    assert store.claim([run.id], me()) == run.id
    return Execution(store, run, me(), watcher or Observer(), checkpoint_seconds=0.0)()


def stop_after(steps: int) -> Observer:
    seen: list[int] = []
    return Observer(on_step=seen.append, should_stop=lambda: len(seen) >= steps)


def final(store: Store, run: AutomatonRun) -> tuple[list[dict[str, Any]], dict[str, Tensor]]:
    """The curve and the last weights that the store holds."""
    found = Checkpoints(store.folder, run.id).latest()
    assert found is not None
    return store.curve(run.id), under("model.", found[0])


def assert_as_if_never_stopped(store: Store, run: AutomatonRun) -> None:
    fresh = build_trainer(run)
    fresh.run()
    curve, weights = final(store, run)
    assert curve == [point.as_dict() for point in fresh.curve]
    assert all(torch.equal(weights[name], tensor) for name, tensor in fresh.weights().items())
    assert store.get(run.id).status == "done"


def state_file(store: Store, run: AutomatonRun) -> Path:
    (path,) = (store.folder / "checkpoints" / run.id).glob("state-*.safetensors")
    return path


# Going on


@pytest.mark.parametrize("steps", [1, 3, 4, 6])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_an_interrupted_run_is_released_and_goes_on(store: Store, tiny: Tiny, steps: int, dropout: float) -> None:
    run, told = tiny(model={"kind": "encoder", "dim": 8, "heads": 2, "layers": 1, "ffn": 16, "dropout": dropout}), []
    assert trained(store, run, stop_after(steps)) == "interrupted"
    assert store.get(run.id).status == "queued"
    assert trained(store, run, Observer(on_step=told.append)) == "budget"
    assert told == list(range(steps + 1, 8))
    assert_as_if_never_stopped(store, run)


def test_the_seconds_of_a_run_are_a_processors_over_all_its_turns(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wall's clock runs a day a look, as on a machine that was suspended; a processor's half a second."""
    days, halves = count(step=86_400), count(step=0.5)
    clocks = SimpleNamespace(monotonic=lambda: float(next(days)), process_time=lambda: next(halves))
    monkeypatch.setattr(execute, "time", clocks)
    run = tiny()
    trained(store, run, stop_after(3))
    first = store.get(run.id).seconds
    trained(store, run)
    row = store.get(run.id)
    assert 0 < first < row.seconds < 60
    assert row.seconds % 0.5 == 0
    assert row.versions["clock"] == "processor"


def test_a_worker_that_dies_costs_what_it_did_since_its_checkpoint(store: Store, tiny: Tiny) -> None:
    class Killed(BaseException):
        pass

    def die(step: int) -> None:
        if step == 6:  # An evaluation is due here; the checkpoint of this step is already on disk.
            raise Killed

    run, told = tiny(), []
    with pytest.raises(Killed):
        trained(store, run, Observer(on_step=die))
    store.release(run.id, me())
    trained(store, run, Observer(on_step=told.append))
    assert told == [7]
    assert_as_if_never_stopped(store, run)


def test_a_longer_run_goes_on_from_a_shorter_one_of_its_family(
    store: Store, tiny: Tiny, regime: dict[str, Any]
) -> None:
    short, long = (tiny(unrolling=regime, budget={"steps": n, "evaluate_every": 3}) for n in (6, 11))
    told: list[int] = []
    trained(store, short)
    trained(store, long, Observer(on_step=told.append))
    assert told == list(range(7, 12))
    assert_as_if_never_stopped(store, long)
    assert_as_if_never_stopped(store, short)
    assert list(Checkpoints(store.folder, long.id).snapshots()) == [0, 3, 6, 9, 11]
    for step, path in Checkpoints(store.folder, long.id).snapshots().items():
        assert load_tensors(path)[1]["step"] == step


def test_what_a_shorter_run_gave_is_kept_at_once(store: Store, tiny: Tiny) -> None:
    """Killed before its first own checkpoint, a run counts the shorter one's time once."""
    short, long = (tiny(budget={"steps": n, "evaluate_every": 3}) for n in (6, 11))
    trained(store, short)
    store.add([long])
    for _ in range(3):
        assert store.claim([long.id], me()) == long.id
        assert Execution(store, long, me(), Observer(), checkpoint_seconds=1e9).state() is not None
        found = Checkpoints(store.folder, long.id).latest()
        assert found is not None
        assert found[1]["step"] == 6
        assert store.get(long.id).seconds == store.get(short.id).seconds
        store.release(long.id, me())


@pytest.mark.parametrize(("short", "schedule"), [(7, "constant"), (6, "linear")])
def test_a_shorter_run_that_would_change_the_curve_is_not_gone_on_from(
    store: Store, tiny: Tiny, short: int, schedule: str
) -> None:
    runs = [
        tiny(budget={"steps": n, "evaluate_every": 3}, optimiser={"batch": 6, "schedule": schedule})
        for n in (short, 11)
    ]
    told: list[int] = []
    trained(store, runs[0])
    trained(store, runs[1], Observer(on_step=told.append))
    assert told == list(range(1, 12))
    assert_as_if_never_stopped(store, runs[1])


# Damage


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def test_a_damaged_state_is_set_aside_and_the_run_starts_again(
    store: Store, tiny: Tiny, capsys: pytest.CaptureFixture[str]
) -> None:
    run, told = tiny(), []
    trained(store, run, stop_after(4))
    path = state_file(store, run)
    damage(path)
    content = path.read_bytes()
    trained(store, run, Observer(on_step=told.append))
    assert told == list(range(1, 8))
    said = capsys.readouterr().err
    assert (
        said == f"hardgap: {path} does not match its checksum: the file is damaged; set aside, the run starts again\n"
    )
    assert path.with_name(path.name + ".damaged").read_bytes() == content
    assert_as_if_never_stopped(store, run)


def test_an_interrupted_write_is_passed_over(store: Store, tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    run = tiny()
    trained(store, run, stop_after(4))
    half = state_file(store, run).with_name("state-00000005.safetensors")
    half.write_bytes(b"half of it")
    trained(store, run)
    assert capsys.readouterr().err == ""
    assert not half.exists()
    assert_as_if_never_stopped(store, run)


def rewritten(path: Path, change: Callable[[dict[str, Tensor], dict[str, Any]], object]) -> None:
    """A state that is intact as a file but not the state of this run."""
    tensors, meta = load_tensors(path)
    change(tensors, meta)
    save_tensors(path, tensors, meta)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, meta: tensors.update({"model.positions": torch.zeros(3, 3)}),
        lambda tensors, meta: tensors.pop("model.readout.bias"),
        lambda tensors, meta: tensors.update({"model.extra": torch.zeros(1)}),
        lambda tensors, meta: tensors.update({"adam.positions.exp_avg": torch.zeros(3, 3)}),
        lambda tensors, meta: tensors.pop("adam.positions.exp_avg_sq"),
    ],
    ids=["shape", "missing", "extra", "moment shape", "moment missing"],
)
def test_a_state_of_another_network_is_refused_by_name(
    store: Store, tiny: Tiny, change: Callable[[dict[str, Tensor], dict[str, Any]], object]
) -> None:
    run = tiny()
    trained(store, run, stop_after(4))
    rewritten(state_file(store, run), change)
    with pytest.raises(CorruptFile, match=f"the state in .*{run.id} does not fit this run's network"):
        trained(store, run)
    assert state_file(store, run).exists()


# Claims and failures


def test_who_loses_the_claim_stops_and_writes_nothing(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "HEARTBEAT_SECONDS", 0.0)
    run, told = tiny(), []

    def steal(step: int) -> None:
        told.append(step)
        if step == 2:
            Store(store.folder)._db.execute("UPDATE runs SET owner = 'another-host:1:1'")

    assert trained(store, run, Observer(on_step=steal)) is None
    assert told == [1, 2, 3]
    assert store.get(run.id).status == "running"
    assert store.get(run.id).stopped is None


def test_a_finish_that_comes_too_late_is_not_kept(store: Store, tiny: Tiny) -> None:
    run = tiny()

    def steal(step: int) -> None:
        Store(store.folder)._db.execute("UPDATE runs SET owner = 'another-host:1:1'")

    assert trained(store, run, Observer(on_step=steal)) is None
    assert store.get(run.id).status == "running"


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), AssertionError("no"), OSError(5, "no"), SystemExit(0), KeyboardInterrupt(), BaseException()],
)
def test_a_network_that_raises_fails_its_run_with_the_reason(
    store: Store, tiny: Tiny, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    class Late(nn.Linear):
        calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            if self.calls > 20:  # Well behind `check_model`.
                raise error
            return super().forward(x)

    module = type(torch)("late_nets")
    module.make = lambda width: Late(width, width)
    monkeypatch.setitem(__import__("sys").modules, "late_nets", module)
    trust(["late_nets:make"])
    run = tiny(model={"kind": "plugin", "factory": "late_nets:make"})
    store.add([run])
    store.claim([run.id], me())
    execute_safely(store, run.id, me(), threading.Event(), 15.0)
    row = store.get(run.id)
    assert row.status == "failed"
    assert row.error is not None
    assert row.error.startswith(type(error).__name__)


# Looking back


def test_snapshots_are_spread_over_the_run_and_load_as_they_were(store: Store, tiny: Tiny) -> None:
    run = tiny(budget={"steps": 60, "evaluate_every": 2}, train_rows=4)
    weights: dict[int, dict[str, Tensor]] = {}
    fresh = build_trainer(run)
    fresh.run(execute.Observer(on_point=lambda point: weights.update({point.step: fresh.weights()})))
    trained(store, run)
    kept = Checkpoints(store.folder, run.id).snapshots()
    assert {0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60} <= kept.keys()
    assert list(kept) == sorted(kept)
    for step in (0, 30, 60):
        model, config = load_model(store, run.id, step)
        assert config == run
        assert not model.training
        assert all(torch.equal(tensor, weights[step][name]) for name, tensor in model.state_dict().items())
    assert all(
        torch.equal(a, b) for a, b in zip(load_model(store, run.id)[0].parameters(), model.parameters(), strict=True)
    )
    with pytest.raises(BadInput, match=f"run {run.id} has no snapshot at step 31; it has 0, "):
        load_model(store, run.id, 31)


def test_a_damaged_or_foreign_snapshot_is_refused_by_name(store: Store, tiny: Tiny) -> None:
    run = tiny()
    trained(store, run)
    path = Checkpoints(store.folder, run.id).snapshots()[7]
    damage(path)
    with pytest.raises(CorruptFile, match=f"{path} does not match its checksum"):
        load_model(store, run.id, 7)
    damage(path)
    rewritten(path, lambda tensors, meta: tensors.update(extra=torch.zeros(1)))
    with pytest.raises(CorruptFile, match="does not fit this network: it disagrees about"):
        load_model(store, run.id, 7)
    sidecar(path).unlink()
    with pytest.raises(BadInput, match="has no snapshot at step 7"):
        load_model(store, run.id, 7)


def test_an_imported_run_has_no_weights_until_it_is_retrained(store: Store, tiny: Tiny, tmp_path: Path) -> None:
    run = tiny()
    trained(store, run)
    export_runs(store, store.rows(), tmp_path / "results")
    other = Store(tmp_path / "other")
    import_runs(other, tmp_path / "results")
    with pytest.raises(BadInput, match=f"run {run.id} has no weights .*`hardgap runs retrain {run.id}`"):
        load_model(other, run.id)
    assert retrain_run(other, other.get(run.id), Observer()).same
    assert_as_if_never_stopped(other, run)
    assert retrain_run(other, other.get(run.id), Observer()).same
    assert_as_if_never_stopped(other, run)


def test_retraining_killed_after_the_move_starts_again(store: Store, tiny: Tiny) -> None:
    run = tiny()
    trained(store, run)
    beside = Store(store.folder / "retraining")
    beside.add([run])
    beside.claim([run.id], me())
    beside.finish(run.id, me(), store.curve(run.id), "budget", {}, 0)  # done, but its checkpoints are gone
    assert retrain_run(store, store.get(run.id), Observer()).same
    assert_as_if_never_stopped(store, run)


def with_another_curve(store: Store, run: AutomatonRun) -> None:
    """The result of a machine that computes otherwise."""
    row, curve = store.get(run.id), store.curve(run.id)
    store.remove(run.id)
    store.put_all_done(
        [(run, [point | {"visible": point["visible"] / 2} for point in curve], "budget", row.versions, 1.0)]
    )


def test_retraining_tells_when_the_curve_differs(store: Store, tiny: Tiny) -> None:
    run = tiny()
    trained(store, run)
    with_another_curve(store, run)
    kept = Checkpoints(store.folder, run.id).folder
    before = {path: path.stat().st_ino for path in kept.iterdir()}
    assert not retrain_run(store, store.get(run.id), Observer()).same
    assert {path: path.stat().st_ino for path in kept.iterdir()} == before  # what was here stays
    assert [path.name for path in (store.folder / "retraining").rglob(f"{run.id}*")] == []


def test_a_state_on_the_way_gives_way_to_what_was_retrained(store: Store, tiny: Tiny, tmp_path: Path) -> None:
    """A result imported over a half-trained run of which this machine makes another curve."""
    run = tiny()
    other = Store(tmp_path / "other")
    trained(other, run, stop_after(2))
    trained(store, run)
    other._db.execute("UPDATE runs SET status = 'queued'")
    export_runs(store, store.rows(), tmp_path / "results")
    import_runs(other, tmp_path / "results")
    with_another_curve(other, run)
    with pytest.raises(BadInput, match="has no weights"):
        load_model(other, run.id)
    assert not retrain_run(other, other.get(run.id), Observer()).same
    load_model(other, run.id)


def test_only_a_finished_run_is_retrained(store: Store, tiny: Tiny) -> None:
    run = tiny()
    store.add([run])
    with pytest.raises(BadInput, match=f"run {run.id} is queued"):
        retrain_run(store, store.get(run.id), Observer())


def test_the_task_at_a_step_has_the_temperature_of_its_attempt(store: Store, tiny: Tiny) -> None:
    """What was kept at the step of the restart was kept before it."""
    warm = {"steps": 2, "temperature": {"start": 8.0, "end": 8.0}}
    run = tiny(unrolling=warm, budget={"steps": 6, "evaluate_every": 3, "restart_at": 3})
    trained(store, run)
    assert store.curve(run.id)[-1]["detail"]["attempt"] == 1
    opened = [load_trained(store, run.id, step) for step in (0, 3, 6, None)]
    temperatures = [one.task.unrolling.temperature.start for one in opened]  # type: ignore[attr-defined]
    assert temperatures == [8, 8, 4, 4]
    assert [one.step for one in opened] == [0, 3, 3, 3]
