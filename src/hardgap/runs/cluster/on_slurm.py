"""Batch jobs on SLURM through submitit: each element of an array is a shard; the driver collects what they write.

`slurm:name=value,…` passes settings to submitit (`timeout_min`, `cpus_per_task`, `slurm_partition` and so on). Ours are
`folder`, which the nodes must see, and `cluster`, submitit's name for where jobs go: `slurm`, or `local` to try it out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
import uuid
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import submitit

import hardgap
from hardgap.core.errors import BadInput
from hardgap.core.plugins import first_line, travelling, trusted
from hardgap.nn.native import engine
from hardgap.runs.cluster.mirror import Record, failing_alone
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
        self._cpus, self._checkpoint_seconds = _cpus(SETTINGS | chosen), checkpoint_seconds
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
                with suppress(FileNotFoundError):  # what could not be submitted may have no folder
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
                if job.beat is None:  # nobody has begun, and so nobody has died
                    for record in job.records.values():
                        record.release()
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
        begun = list(map(self._begin, shards))
        self._jobs += begun  # before they are written and submitted: if that fails, `end` gives their runs back
        try:
            made = [job for job in begun if self._write(job)]
            jobs = self._executor.submit_array([Shard(str(job.folder)) for job in made]) if made else []
        except (OSError, RuntimeError) as error:  # what sbatch says, for example
            raise BadInput(f"on slurm: the jobs cannot be submitted: {first_line(error)}", of="on") from error
        for job, submitted in zip(made, jobs, strict=True):
            job.job = submitted
            self._sign(job, {"id": submitted.job_id, "cluster": self._cluster})

    def _sign(self, job: Job, about: dict[str, Any]) -> None:
        write_text(job.folder / "job.json", json.dumps(about | {"driver": self._owner}))

    def _records(self, ids: list[str]) -> dict[str, Record]:
        records = {}
        for run_id in ids:
            with failing_alone(self._store, run_id, self._owner):
                records[run_id] = Record(self._store, self._store.get(run_id).config, self._owner)
        return records

    def _begin(self, ids: list[str]) -> Job:
        return Job(self._folder / uuid.uuid4().hex[:12], self._records(ids), None)

    def _write(self, job: Job) -> bool:
        """A shard's folder; False if none of its runs can be trained."""
        folder, runs = job.folder, []
        for run_id, record in job.records.items():
            with failing_alone(self._store, run_id, self._owner):
                order, files = record.order()
                for name, data in files.items():
                    _put(folder / "in" / name, data)
                runs.append(order | {"run": run_id, "files": sorted(files)})
        job.records = {one["run"]: job.records[one["run"]] for one in runs}
        if not runs:
            self._lose(job)
            return False
        for path in trusted():
            for name, data in travelling(path).items():
                _put(folder / "code" / name, data)
        asked = engine.asked()
        chosen = {"engine": engine.ANY if asked == "auto" else asked, "checkpoint_seconds": self._checkpoint_seconds}
        about = {"version": hardgap.__version__, "trusted": trusted(), "workers": self._cpus}
        write_text(folder / "order.json", json.dumps(chosen | about | {"runs": runs}))
        return True

    def _adopt_all(self) -> None:
        """Take over the jobs of a driver that has died."""
        for path in sorted(self._folder.glob("*/job.json")):
            try:
                about, order = (json.loads((path.parent / name).read_text()) for name in ("job.json", "order.json"))
                changed = path.stat().st_mtime
            except FileNotFoundError:  # its driver lives, and is done with it
                continue
            if is_alive(about["driver"], changed, LEASE):
                continue
            for run_id in (ids := list(self._store.progress(one["run"] for one in order["runs"]))):
                self._store.hand_over(run_id, about["driver"], self._owner)
            job: Any = submitit.SlurmJob(self._folder, about["id"]) if about["cluster"] == "slurm" else None
            self._jobs.append(adopted := Job(path.parent, self._records(ids), job))
            self._sign(adopted, about)

    # Taking in

    def _collect(self, job: Job) -> None:
        with suppress(FileNotFoundError):
            os.utime(job.folder / "job.json")  # whoever cannot see this process sees by it that the job has a driver
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
            if job.job is not None:
                job.job.cancel(check=False)  # it may hang, and has no folder from now on
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
        (job.folder / "job.json").unlink(missing_ok=True)  # first: a folder with it is a whole one
        shutil.rmtree(job.folder, ignore_errors=True)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _settings(text: str) -> dict[str, int | float | str]:
    """What stands after `slurm:`.

    >>> _settings("timeout_min=30,mem_gb=1.5,slurm_partition=short,name=2024")
    {'timeout_min': 30, 'mem_gb': 1.5, 'slurm_partition': 'short', 'name': '2024'}
    """
    found: dict[str, int | float | str] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise BadInput(f"on slurm:{text}: write settings as name=value, with commas between them", of="on")
        found[name] = value if name == "name" else _number(value)
    return found


def _number(text: str) -> int | float | str:
    """Text that is no number stays as it is."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is None:
        return text
    return float(text) if "." in text else int(text)


def _cpus(settings: dict[str, Any]) -> int:
    """How many runs a job trains at a time."""
    cpus = settings.get("slurm_cpus_per_task", settings["cpus_per_task"])
    if not isinstance(cpus, int) or cpus < 1:
        raise BadInput(f"on slurm: cpus_per_task={cpus}: a job needs at least one", of="on")
    return cpus


def _executor(folder: Path, cluster: str, settings: dict[str, Any]) -> Any:
    if cluster == "slurm" and shutil.which("sbatch") is None:
        raise BadInput("on slurm: there is no sbatch here; start the sweep where jobs can be submitted", of="on")
    try:
        made = submitit.AutoExecutor(folder, cluster=cluster, slurm_max_num_timeout=MOST_TIMEOUTS)
        made.update_parameters(**settings)
    except (AssertionError, NameError, TypeError, ValueError, RuntimeError) as error:
        raise BadInput(f"on slurm: submitit refuses these settings: {first_line(error)}", of="on") from error
    return made
