"""States and snapshots that are intact as files but another run's, or edited: refused by name, never gone on from."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from hardgap.core.checkpoint import CorruptFile, load_tensors, save_tensors
from hardgap.core.loop import Observer, Trainer
from hardgap.runs.checkpoints import Checkpoints
from hardgap.runs.execute import Execution, build_trainer, load_model
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

Tiny = Callable[..., AutomatonRun]
Meta = dict[str, Any]
pytestmark = pytest.mark.usefixtures("one_thread")
RESTARTED = {"steps": 9, "evaluate_every": 3, "restart_at": 3}
STOP = 8
"""Between two evaluations, one of them since the restart: every field of the metadata means something there."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def trained(store: Store, run: AutomatonRun, steps: int = 10**9) -> list[int]:
    """One turn of at most so many steps; the steps that were made."""
    made: list[int] = []
    store.add([run])
    assert store.claim([run.id], me()) == run.id
    Execution(store, run, me(), Observer(on_step=made.append, should_stop=lambda: len(made) >= steps))()
    return made


def assert_right(store: Store, run: AutomatonRun) -> None:
    """The result is what one undisturbed process makes of the run."""
    fresh = undisturbed(run)
    assert store.curve(run.id) == [point.as_dict() for point in fresh.curve]
    weights = load_model(store, run.id)[0].state_dict()
    assert all(torch.equal(weights[name], tensor) for name, tensor in fresh.weights().items())


@cache
def undisturbed(run: AutomatonRun) -> Trainer:
    trainer = build_trainer(run)
    trainer.run()
    return trainer


def state_file(store: Store, run: AutomatonRun) -> Path:
    (path,) = Checkpoints(store.folder, run.id).folder.glob("state-*.safetensors")
    return path


def rewrite(path: Path, change: Callable[[Meta], object]) -> None:
    """Edit the metadata of a file and make its checksum again."""
    tensors, meta = load_tensors(path)
    changed = change(meta)
    save_tensors(path, tensors, meta if changed is None else changed)  # type: ignore[arg-type]


def test_exchanged_folders_are_noticed_and_both_runs_start_again(
    store: Store, tiny: Tiny, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [tiny(seed=seed) for seed in (0, 1)]
    for run in runs:
        trained(store, run, 4)
    first, second = (Checkpoints(store.folder, run.id).folder for run in runs)
    first.rename(first.with_name("between"))
    second.rename(first)
    first.with_name("between").rename(second)
    for run, other in (runs, runs[::-1]):
        path = state_file(store, run)
        assert trained(store, run) == list(range(1, 8))
        said = capsys.readouterr().err
        assert said == f"hardgap: {path} is the state of another run, '{other.id}'; set aside, the run starts again\n"
        assert path.with_name(path.name + ".damaged").exists()
        assert_right(store, run)


EDITS: dict[str, Callable[[Meta], object]] = {
    "no metadata": lambda meta: {},
    "a list": lambda meta: [meta],
    "a number": lambda meta: 5,
    "null": lambda meta: "null",
    "another name": lambda meta: meta.update(more=1),
    "kind: of a snapshot": lambda meta: meta.update(kind="snapshot"),
    "kind: a number": lambda meta: meta.update(kind=3),
    "run: another": lambda meta: meta.update(run="0" * 12),
    "run: a number": lambda meta: meta.update(run=12),
    "run: half a character": lambda meta: meta.update(run="\ud800"),
    "run: missing": lambda meta: meta.pop("run"),
    "step: one more": lambda meta: meta.update(step=meta["step"] + 1),
    "step: text": lambda meta: meta.update(step=str(meta["step"])),
    "step: a fraction": lambda meta: meta.update(step=float(meta["step"])),
    "step: negative": lambda meta: meta.update(step=-1),
    "step: endless": lambda meta: meta.update(step=10**4000),
    "step: true": lambda meta: meta.update(step=True),
    "step: missing": lambda meta: meta.pop("step"),
    "curve: missing": lambda meta: meta.pop("curve"),
    "curve: empty": lambda meta: meta.update(curve=[]),
    "curve: text": lambda meta: meta.update(curve="curve"),
    "curve: an empty point": lambda meta: meta.update(curve=[{}]),
    "curve: the first is missing": lambda meta: meta["curve"].pop(0),
    "curve: the last is missing": lambda meta: meta["curve"].pop(),
    "curve: backwards": lambda meta: meta["curve"].reverse(),
    "curve: one twice": lambda meta: meta["curve"].append(meta["curve"][-1]),
    "curve: one from later": lambda meta: meta["curve"].append(meta["curve"][-1] | {"step": 9}),
    "curve: step moved": lambda meta: meta["curve"][1].update(step=2),
    "curve: step text": lambda meta: meta["curve"][1].update(step="3"),
    "curve: accuracy changed": lambda meta: meta["curve"][1].update(visible=0.987654),
    "curve: accuracy above 1": lambda meta: meta["curve"][1].update(visible=1.5),
    "curve: accuracy is NaN": lambda meta: meta["curve"][1].update(holdout=math.nan),
    "curve: accuracy is text": lambda meta: meta["curve"][1].update(holdout="0.5"),
    "curve: loss is text": lambda meta: meta["curve"][1].update(loss="0.5"),
    "curve: loss is infinite": lambda meta: meta["curve"][1].update(loss=math.inf),
    "curve: loss changed": lambda meta: meta["curve"][1].update(loss=0.25),
    "curve: loss gone": lambda meta: meta["curve"][1].update(loss=None),
    "curve: detail changed": lambda meta: meta["curve"][1]["detail"].update(patterns=[]),
    "curve: detail empty": lambda meta: meta["curve"][1].update(detail={}),
    "curve: detail is a list": lambda meta: meta["curve"][1].update(detail=[]),
    "curve: another attempt": lambda meta: meta["curve"][0]["detail"].update(attempt=1),
    "loss: missing": lambda meta: meta.pop("loss"),
    "loss: a number": lambda meta: meta.update(loss=3),
    "loss: text": lambda meta: meta["loss"].__setitem__(0, "0.5"),
    "loss: count of others": lambda meta: meta["loss"].__setitem__(1, 1),
    "loss: three": lambda meta: meta["loss"].append(0),
    "attempt: missing": lambda meta: meta.pop("attempt"),
    "attempt: none": lambda meta: meta.update(attempt=[0, 0]),
    "attempt: another": lambda meta: meta.update(attempt=[2, 3]),
    "attempt: began elsewhere": lambda meta: meta.update(attempt=[1, 2]),
    "attempt: text": lambda meta: meta.update(attempt="10"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_metadata_is_refused_by_name_and_the_run_ends_right(
    store: Store, tiny: Tiny, capsys: pytest.CaptureFixture[str], edit: str
) -> None:
    run = tiny(budget=RESTARTED)
    trained(store, run, STOP)
    path = state_file(store, run)
    assert load_tensors(path)[1]["attempt"] == [1, 3]
    rewrite(path, EDITS[edit])
    assert trained(store, run) == list(range(1, 10))
    said = capsys.readouterr().err
    assert said.startswith((f"hardgap: {path}", f"hardgap: the state in {path.parent}"))
    assert said.endswith("; set aside, the run starts again\n")
    assert len(said.splitlines()) == 1
    assert_right(store, run)


def test_a_state_under_another_name_is_refused(store: Store, tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    run = tiny()
    trained(store, run, 4)
    path = state_file(store, run)
    renamed = path.with_name("state-00000003.safetensors")
    save_tensors(renamed, *load_tensors(path))
    path.unlink()
    assert trained(store, run) == list(range(1, 8))
    assert f"{renamed} holds another step than its name says" in capsys.readouterr().err
    assert_right(store, run)


@pytest.mark.parametrize("names", [["kind"], ["kind", "attempt"]])
def test_states_of_earlier_versions_are_gone_on_from(store: Store, tiny: Tiny, names: list[str]) -> None:
    run = tiny()
    trained(store, run, 4)
    rewrite(state_file(store, run), lambda meta: {name: meta[name] for name in meta if name not in names})
    assert trained(store, run) == [5, 6, 7]
    assert_right(store, run)


def test_a_run_that_is_about_to_diverge_goes_on(store: Store, tiny: Tiny) -> None:
    """Its loss is not finite, and neither is the sum that a state holds."""
    run = tiny()
    trained(store, run, 4)
    rewrite(state_file(store, run), lambda meta: meta["loss"].__setitem__(0, math.nan))
    assert trained(store, run) == [5, 6]
    assert store.get(run.id).stopped == "diverged"


# Snapshots, and what a longer run takes over


@pytest.fixture
def shorter_and_longer(store: Store, tiny: Tiny) -> tuple[AutomatonRun, AutomatonRun]:
    short, long = (tiny(budget={"steps": n, "evaluate_every": 3}) for n in (6, 11))
    trained(store, short)
    return short, long


def test_what_a_longer_run_takes_over_carries_its_own_name(
    store: Store, shorter_and_longer: tuple[AutomatonRun, AutomatonRun]
) -> None:
    long = shorter_and_longer[1]
    assert trained(store, long, 1) == [7]
    kept = Checkpoints(store.folder, long.id)
    for path in [*kept.snapshots().values(), state_file(store, long)]:
        assert load_tensors(path)[1]["run"] == long.id
    assert list(kept.snapshots()) == [0, 3, 6]
    assert trained(store, long) == [8, 9, 10, 11]
    assert_right(store, long)


@pytest.mark.parametrize("damage", [lambda data: data[:-1] + b"?", lambda data: data[: len(data) // 2]])
def test_a_damaged_snapshot_of_a_shorter_run_gets_no_fresh_checksum(
    store: Store,
    shorter_and_longer: tuple[AutomatonRun, AutomatonRun],
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytes], bytes],
) -> None:
    short, long = shorter_and_longer
    path = Checkpoints(store.folder, short.id).snapshots()[3]
    path.write_bytes(damage(path.read_bytes()))
    trained(store, long)
    assert capsys.readouterr().err == f"hardgap: {path} does not match its checksum: the file is damaged; passed over\n"
    assert list(Checkpoints(store.folder, long.id).snapshots()) == [0, 6, 9, 11]
    assert_right(store, long)


def test_a_shorter_run_with_anothers_state_is_passed_over(
    store: Store, tiny: Tiny, shorter_and_longer: tuple[AutomatonRun, AutomatonRun], capsys: pytest.CaptureFixture[str]
) -> None:
    short, long = shorter_and_longer
    rewrite(state_file(store, short), lambda meta: meta.update(run="0" * 12))
    assert trained(store, long) == list(range(1, 12))
    assert "is the state of another run, '000000000000'; passed over" in capsys.readouterr().err
    assert_right(store, long)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda meta: {}, "has metadata that cannot be used: run is missing"),
        (lambda meta: meta.update(kind="state"), "has metadata that cannot be used: kind: "),
        (lambda meta: meta.update(step="3"), "has metadata that cannot be used: step: "),
        (lambda meta: meta.update(step=4), "holds another step than its name says"),
        (lambda meta: meta.update(run="0" * 12), "is a snapshot of another run, '000000000000'"),
        (lambda meta: meta.update(config={}), "holds a config that cannot be read"),
        (lambda meta: meta.update(config=3), "has metadata that cannot be used: config has parts of its own"),
        (lambda meta: meta["config"].update(seed=5), "is a snapshot of another run"),
        (lambda meta: meta.update(config=meta["config"] | {"seed": 5}, run="0" * 12), "is a snapshot of another run"),
    ],
)
def test_a_snapshot_with_edited_metadata_is_refused_by_name(
    store: Store, tiny: Tiny, edit: Callable[[Meta], object], words: str
) -> None:
    run = tiny()
    trained(store, run)
    path = Checkpoints(store.folder, run.id).snapshots()[3]
    rewrite(path, edit)
    with pytest.raises(CorruptFile, match=f"{path} {words}"):
        load_model(store, run.id, 3)


def test_a_snapshot_of_another_run_is_refused(store: Store, tiny: Tiny) -> None:
    runs = [tiny(seed=seed) for seed in (0, 1)]
    for run in runs:
        trained(store, run)
    ours, theirs = (Checkpoints(store.folder, run.id).snapshots()[3] for run in runs)
    save_tensors(ours, *load_tensors(theirs))
    with pytest.raises(CorruptFile, match=f"{ours} is a snapshot of another run, '{runs[1].id}'"):
        load_model(store, runs[0].id, 3)


def test_snapshots_as_earlier_versions_wrote_and_copied_them_still_open(
    store: Store, shorter_and_longer: tuple[AutomatonRun, AutomatonRun]
) -> None:
    """They said no kind, and a copy kept the name of the shorter run."""
    short, long = shorter_and_longer
    trained(store, long)
    theirs, ours = (Checkpoints(store.folder, run.id).snapshots()[3] for run in (short, long))
    tensors, meta = load_tensors(theirs)
    meta.pop("kind")
    save_tensors(ours, tensors, meta)
    weights = load_model(store, long.id, 3)[0].state_dict()
    assert all(torch.equal(weights[name], tensor) for name, tensor in tensors.items())
