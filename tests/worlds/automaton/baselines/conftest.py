"""A tiny world for baselines: an untrained network, rows to learn from and rows to judge on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hardgap.nn.build import build_model
from hardgap.nn.spec import ConvSpec, EncoderSpec
from hardgap.runs.execute import Execution
from hardgap.runs.owner import me
from hardgap.runs.store import Store
from hardgap.worlds.automaton.baselines.questions import Exam, prepare_exam
from hardgap.worlds.automaton.gap import Gap, Trajectory
from hardgap.worlds.automaton.run import AutomatonRun

WIDTH = 7


def make_trajectories(gap: Gap) -> tuple[Trajectory, Trajectory]:
    rows = np.random.default_rng(0).integers(0, 2, (60, WIDTH), dtype=np.uint8)
    return gap.trajectory(rows[:40], 4), gap.trajectory(rows[40:], 4)


def make_exam(
    gap: Gap,
    spec: EncoderSpec | ConvSpec | None = None,
    change: Callable[[Trajectory], Trajectory] = lambda truth: truth,
    size: int = 60,
) -> Exam:
    spec = spec or EncoderSpec(dim=8, heads=2, layers=1, ffn=8)
    learn, judge = (change(truth) for truth in make_trajectories(gap))
    model = build_model(spec, width=WIDTH, seed=3)
    return prepare_exam(model, gap, learn, judge, size=size, most_asked=30)


@pytest.fixture(scope="session")
def trajectories() -> Callable[[Gap], tuple[Trajectory, Trajectory]]:
    """40 rows of width 7 to learn from and 20 to judge on, four steps each."""
    return make_trajectories


@pytest.fixture(scope="session")
def exam() -> Callable[..., Exam]:
    """A factory of exams about those rows and an untrained network of 8 dimensions."""
    return make_exam


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, tiny: Callable[..., AutomatonRun]) -> tuple[Store, str]:
    """A store with one run of Rule 30, trained for seven steps."""
    store, run = Store(tmp_path_factory.mktemp("store")), tiny()
    store.add([run])
    assert store.claim([run.id], me()) == run.id
    Execution(store, run, me())()
    return store, run.id
