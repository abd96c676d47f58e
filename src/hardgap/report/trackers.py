"""Finished runs, handed to experiment trackers: TensorBoard, MLflow, Weights & Biases (offline), Trackio.

Each is the tracker's own package, which is an extra. It writes into a folder of this machine: telemetry and error
reports are switched off before it is imported, and nothing is uploaded. A run keeps our id, its group is the study, its
config is flat with dotted names. Runs that the folder already has are left alone, so exporting again adds what is new.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress
from hardgap.core.wording import as_text
from hardgap.runs.tidy import POINT

To = Literal["tensorboard", "mlflow", "wandb-offline", "trackio"]
PROJECT = "hardgap"
METRICS = POINT[2:]
NEEDS: dict[To, tuple[str, ...]] = {
    "tensorboard": ("tensorboard",),
    "mlflow": ("mlflow", "sqlalchemy", "alembic"),
    "wandb-offline": ("wandb",),
    "trackio": ("trackio",),
}
OFFLINE = {
    "DO_NOT_TRACK": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "WANDB_MODE": "offline",
    "WANDB_ERROR_REPORTING": "false",
    "WANDB_SILENT": "true",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
PLACES = {"WANDB_CACHE_DIR": "wandb", "WANDB_CONFIG_DIR": "wandb", "WANDB_DATA_DIR": "wandb", "TRACKIO_DIR": ""}
"""What a tracker would otherwise write at home, below the folder."""
MLFLOW_AT_ONCE = 1000
"""Metrics that MLflow takes in one batch."""


@dataclass(frozen=True)
class Tracked:
    """One finished run, as trackers take it."""

    id: str
    group: str
    about: str
    config: dict[str, Any]
    summary: dict[str, Any]
    curve: list[dict[str, Any]]
    finished: float

    def metrics(self) -> Iterator[tuple[int, dict[str, float]]]:
        """Each evaluation; before the first step there is no loss."""
        for point in self.curve:
            yield point["step"], {name: point[name] for name in METRICS if point[name] is not None}

    def numbers(self) -> dict[str, float]:
        """What of the summary is one number."""
        return {name: value for name, value in self.summary.items() if isinstance(value, int | float)}


def load_tracker(to: To, folder: Path) -> None:
    """Import a tracker such that it stays on this machine and in this folder, or say how to install it."""
    os.environ.update(OFFLINE | {name: str(folder.resolve() / place) for name, place in PLACES.items()})
    for module in NEEDS[to]:
        try:
            import_module(module)
        except ImportError:
            extra = to.partition("-")[0]
            raise BadInput(f"{to} needs {module}: pip install 'hardgap[{extra}]'") from None


def export_to(to: To, runs: Sequence[Tracked], folder: Path, told: Progress) -> int:
    """Write runs for a tracker that is loaded; how many were new."""
    with redirect_stdout(io.StringIO()):  # what it says of itself is no data
        return ADAPTERS[to](runs, folder.resolve(), told)


def _to_tensorboard(runs: Sequence[Tracked], folder: Path, told: Progress) -> int:
    """FOLDER/STUDY/RUN with one event file each; configs and final numbers stand under HPARAMS."""
    from torch.utils.tensorboard import SummaryWriter
    from torch.utils.tensorboard.summary import hparams

    new = [run for run in runs if not (folder / run.group / run.id).exists()]
    for place, run in enumerate(new):
        told(run.id, place, len(new))
        unfinished = folder / run.group / f".{run.id}.part"
        shutil.rmtree(unfinished, ignore_errors=True)
        writer: Any = SummaryWriter(unfinished)
        for step, metrics in run.metrics():
            for name, value in metrics.items():
                writer.add_scalar(name, value, step, walltime=run.finished)
        for part in hparams(_plain(run.config), run.numbers()):  # type: ignore[no-untyped-call]
            writer.file_writer.add_summary(part, walltime=run.finished)
        for name, value in run.numbers().items():
            writer.add_scalar(name, value, run.summary["steps"], walltime=run.finished)
        writer.close()
        (written,) = unfinished.iterdir()
        written.rename(unfinished / f"events.out.tfevents.{run.finished:.0f}.{PROJECT}")  # it named this machine
        unfinished.rename(folder / run.group / run.id)
    return len(new)


def _to_mlflow(runs: Sequence[Tracked], folder: Path, told: Progress) -> int:
    """FOLDER/mlflow.db, an experiment a study. MLflow draws its own ids: ours is the run's name and a tag."""
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    kept, new = (folder / "artifacts").as_uri(), 0
    for place, run in enumerate(runs):
        told(run.id, place, len(runs))
        found = client.get_experiment_by_name(run.group)
        experiment = found.experiment_id if found else client.create_experiment(run.group, artifact_location=kept)
        mine = f"tags.`{PROJECT}.run` = '{run.id}'"
        there = client.search_runs([experiment], mine)
        if any(one.info.status == "FINISHED" for one in there):
            continue
        for one in there:  # an export that was stopped in the middle of it
            client.delete_run(one.info.run_id)
        at = int(1000 * run.finished)
        tags = {f"{PROJECT}.run": run.id, "mlflow.note.content": run.about}
        made = client.create_run(experiment, start_time=at, tags=tags, run_name=run.id).info.run_id
        metrics = [Metric(name, value, at, step) for step, point in run.metrics() for name, value in point.items()]
        metrics += [Metric(name, value, at, run.summary["steps"]) for name, value in run.numbers().items()]
        client.log_batch(made, params=[Param(name, as_text(value)) for name, value in run.config.items()])
        for start in range(0, len(metrics), MLFLOW_AT_ONCE):
            client.log_batch(made, metrics=metrics[start : start + MLFLOW_AT_ONCE])
        client.set_terminated(made, end_time=at)
        new += 1
    return new


def _to_wandb(runs: Sequence[Tracked], folder: Path, told: Progress) -> int:
    """FOLDER/wandb/offline-run-…-RUN, which `wandb sync` uploads, if and when somebody wants that."""
    import wandb

    settings = wandb.Settings(
        mode="offline", silent=True, console="off", disable_git=True, disable_code=True, save_code=False,
        x_disable_meta=True, x_disable_stats=True, x_disable_machine_info=True,
    )  # fmt: skip
    new = [run for run in runs if not list(folder.glob(f"wandb/offline-run-*-{run.id}"))]
    for place, run in enumerate(new):
        told(run.id, place, len(new))
        made = wandb.init(
            project=PROJECT, id=run.id, name=run.id, group=run.group, notes=run.about, config=run.config, dir=folder,
            settings=settings,
        )  # fmt: skip
        try:
            for step, metrics in run.metrics():
                made.log(metrics, step=step)
            made.summary.update(run.summary)
            made.finish()
        except BaseException:  # half a run would pass for a whole one
            shutil.rmtree(Path(made.dir).parent, ignore_errors=True)
            raise
    return len(new)


def _to_trackio(runs: Sequence[Tracked], folder: Path, told: Progress) -> int:
    """FOLDER/hardgap.db; `TRACKIO_DIR=FOLDER trackio show` opens it."""
    import trackio

    known = {one.name for one in trackio.Api().runs(PROJECT)} if (folder / f"{PROJECT}.db").exists() else set()
    new = [run for run in runs if run.id not in known]
    for place, run in enumerate(new):
        told(run.id, place, len(new))
        trackio.init(
            project=PROJECT, name=run.id, group=run.group, config=run.config, embed=False, auto_log_gpu=False,
            auto_log_cpu=False,
        )  # fmt: skip
        for step, metrics in run.metrics():
            trackio.log(metrics, step=step)
        trackio.finish()
    return len(new)


def _plain(config: dict[str, Any]) -> dict[str, bool | int | float | str]:
    """The config for a tracker that holds no lists and nothing that is None."""
    return {name: one if isinstance(one, bool | int | float | str) else as_text(one) for name, one in config.items()}


ADAPTERS: dict[To, Callable[[Sequence[Tracked], Path, Progress], int]] = dict(
    zip(get_args(To), (_to_tensorboard, _to_mlflow, _to_wandb, _to_trackio), strict=True)
)
