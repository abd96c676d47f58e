"""Batch jobs on SLURM through submitit: each element of an array is a shard; the driver collects what they write.

`slurm:name=value,…` passes settings to submitit (`timeout_min`, `cpus_per_task`, `slurm_partition` and so on). Ours are
`folder`, which the nodes must see, and `cluster`, submitit's name for where jobs go: `slurm`, or `local` to try it out.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import submitit

import hardgap
from hardgap.core.errors import BadInput
from hardgap.core.plugins import first_line, travelling, trusted
from hardgap.nn.native import engine
from hardgap.runs.cluster.mirror import Record
from hardgap.runs.cluster.shard import Shard, read_beat, read_file, read_news
from hardgap.runs.local import GRACE_SECONDS, MOST_GIVEN_UP, POLL_SECONDS
from hardgap.runs.owner import is_alive, me
from hardgap.runs.results import write_text
from hardgap.runs.store import LEASE, Store

JOBS = 16
"""So many jobs at a time, if nobody says how many."""
MOST_RUNS = 25
"""So many runs a job and processor: what is handed out is bounded, and a lost job is no great loss."""
ASK_SECONDS = 60.0
"""SLURM is asked about a job that tells nothing once in so many seconds."""
SETTINGS: dict[str, Any] = {"timeout_min": 60, "cpus_per_task": 1, "name": "hardgap"}
MOST_TIMEOUTS = 1000


@dataclass(eq=False)
class Job:
    """A shard as the driver sees it."""

    folder: Path
    records: dict[str, Record]
    job: Any  # submitit's; None for one of an earlier driver where submitit cannot tell
    beat: object = None
    changed: float = field(default_factory=time.monotonic)
    asked: float = field(default_factory=time.monotonic)


class SlurmPool:
    """At most so many jobs at a time."""

    def __init__(
        self, store: Store, ids: list[str], size: int | None, checkpoint_seconds: float, settings: str = ""
    ) -> None:
        chosen = _settings(settings)
        self._cluster = str(chosen.pop("cluster", "slurm"))
        self._folder = Path(str(chosen.pop("folder", store.folder / "slurm"))).resolve()
        self._executor = _executor(self._folder, self._cluster, SETTINGS | chosen)
        self._store, self._size, self._owner = store, size or JOBS, me()
        self._cpus, self._checkpoint_seconds = int((SETTINGS | chosen)["cpus_per_task"]), checkpoint_seconds
        self._jobs: list[Job] = []
        self._gave_up = 0
        self._open = ExitStack()
        self._wanted = self._open.enter_context(store.wanted((run_id, 0) for run_id in ids))
        self._adopt_all()

    def tend(self, runs_left: int) -> None:
        """Take in what jobs have written, and submit more while there are runs and places."""
        for job in list(self._jobs):
            self._collect(job)
        self._submit()
        time.sleep(POLL_SECONDS)

    def end(self) -> None:
        """Have every job save and leave; cancel what does not, or has not begun."""
        give_up = time.monotonic() + GRACE_SECONDS
        try:
            for job in self._jobs:
                (job.folder / "stop").touch()
            while any(job.beat is not None for job in self._jobs) and time.monotonic() < give_up:
                time.sleep(POLL_SECONDS)
                for job in list(self._jobs):
                    self._collect(job)
        except KeyboardInterrupt:
            pass
        finally:
            for job in list(self._jobs):
                if job.job is not None:
                    job.job.cancel(check=False)
                self._lose(job)
            self._open.close()

    # Handing out

    def _submit(self) -> None:
        places = self._size - len(self._jobs)
        if places < 1:
            return
        claimed: list[str] = []
        while len(claimed) < places * MOST_RUNS * self._cpus:
            if (run_id := self._store.claim_from(self._wanted, self._owner)) is None:
                break
            claimed.append(run_id)
        # The first of every shard before the second of any: the order of the sweep, as far as it goes.
        shards = [part for part in (claimed[place::places] for place in range(places)) if part]
        if shards:
            made = [self._write(ids) for ids in shards]
            jobs = self._executor.submit_array([Shard(str(job.folder)) for job in made])
            for job, submitted in zip(made, jobs, strict=True):
                job.job = submitted
                self._keep(job, {"id": submitted.job_id, "cluster": self._cluster})

    def _keep(self, job: Job, about: dict[str, Any]) -> None:
        write_text(job.folder / "job.json", json.dumps(about | {"driver": self._owner}))
        self._jobs.append(job)

    def _records(self, ids: list[str]) -> dict[str, Record]:
        return {run_id: Record(self._store, self._store.get(run_id).config, self._owner) for run_id in ids}

    def _write(self, ids: list[str]) -> Job:
        """A shard's folder."""
        folder, runs, records = self._folder / uuid.uuid4().hex[:12], [], self._records(ids)
        for run_id, record in records.items():
            order, files = record.order()
            for name, data in files.items():
                _put(folder / "in" / name, data)
            runs.append(order | {"run": run_id, "files": sorted(files)})
        for path in trusted():
            for name, data in travelling(path).items():
                _put(folder / "code" / name, data)
        asked = engine.asked()
        chosen = {"engine": engine.ANY if asked == "auto" else asked, "checkpoint_seconds": self._checkpoint_seconds}
        about = {"version": hardgap.__version__, "trusted": trusted(), "workers": self._cpus}
        write_text(folder / "order.json", json.dumps(chosen | about | {"runs": runs}))
        return Job(folder, records, None)

    def _adopt_all(self) -> None:
        """Take over the jobs of a driver that has died."""
        for path in sorted(self._folder.glob("*/job.json")):
            about, order = json.loads(path.read_text()), json.loads((path.parent / "order.json").read_text())
            if is_alive(about["driver"], time.time(), LEASE):
                continue
            for run_id in (ids := list(self._store.progress(one["run"] for one in order["runs"]))):
                self._store.claim([run_id], self._owner)
            job: Any = submitit.SlurmJob(self._folder, about["id"]) if about["cluster"] == "slurm" else None
            self._keep(Job(path.parent, self._records(ids), job), about)

    # Taking in

    def _collect(self, job: Job) -> None:
        over = self._is_over(job)  # asked first: what is written after that is read below
        for run_id, record in list(job.records.items()):
            news = read_news(job.folder, run_id)
            if news is not None and self._take(job, record, news):
                del job.records[run_id]
        if over:
            self._lose(job)

    def _take(self, job: Job, record: Record, news: dict[str, Any]) -> bool:
        known = record.known()
        names = (path.name for path in (job.folder / "out" / "checkpoints" / record.run.id).glob("*.safetensors"))
        files = {}
        for name in names:
            if name not in known["files"]:
                try:
                    files[name] = read_file(job.folder, record.run.id, name)
                except FileNotFoundError:  # a newer one has just replaced it
                    continue
        new = [point for point in news["points"] if point["step"] > known["point"]]
        return record.take(news | {"points": new}, files)

    def _is_over(self, job: Job) -> bool:
        """Whether a job has ended, died, or never will begin."""
        beat = read_beat(job.folder)
        if beat != job.beat:
            job.beat, job.changed = beat, time.monotonic()
        life = beat["life"] if beat is not None else "queued"
        if life == "ended":
            self._gave_up = 0
            return True
        if life == "running" and time.monotonic() - job.changed > LEASE:
            return True
        if job.job is not None and job.job.paths.result_pickle.exists():
            self._has_failed(job)
            return True
        if life == "running" or job.job is None or time.monotonic() - job.asked < ASK_SECONDS:
            return False
        job.asked = time.monotonic()
        return bool(job.job.done())  # cancelled in the queue, for example

    def _has_failed(self, job: Job) -> None:
        """A job that ends without saying so has failed; so will the next, if it is not by chance."""
        self._gave_up += 1
        why = str(job.job.exception() or "it is gone").strip().rpartition("\n")[2]
        print(f"hardgap: job {job.job.job_id} cannot go on: {why}", file=sys.stderr)
        if self._gave_up >= MOST_GIVEN_UP:
            raise BadInput(f"the jobs cannot start or go on; what they said is above and in {self._folder}")

    def _lose(self, job: Job) -> None:
        """Whatever it has not told is for another one to do."""
        self._jobs.remove(job)
        for record in job.records.values():
            record.lost()
        shutil.rmtree(job.folder, ignore_errors=True)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _settings(text: str) -> dict[str, int | str]:
    """What stands after `slurm:`.

    >>> _settings("timeout_min=30,slurm_partition=short")
    {'timeout_min': 30, 'slurm_partition': 'short'}
    """
    found: dict[str, int | str] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise BadInput(f"on slurm:{text}: write settings as name=value, with commas between them", of="on")
        found[name] = int(value) if value.isdigit() else value
    return found


def _executor(folder: Path, cluster: str, settings: dict[str, Any]) -> Any:
    if cluster == "slurm" and shutil.which("sbatch") is None:
        raise BadInput("on slurm: there is no sbatch here; start the sweep where jobs can be submitted", of="on")
    try:
        made = submitit.AutoExecutor(folder, cluster=cluster, slurm_max_num_timeout=MOST_TIMEOUTS)
        made.update_parameters(**settings)
    except (NameError, TypeError, ValueError, RuntimeError) as error:
        raise BadInput(f"on slurm: submitit refuses these settings: {first_line(error)}", of="on") from error
    return made
