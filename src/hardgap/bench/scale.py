"""What a sweep costs besides training: time a run, runs a second, the driver's memory, the size of its store.

Runs are trivial, two updates of a tiny network, so that nearly all of their time is overhead. Every sweep is driven by
a process of its own. Rates are taken between the first and the last finish, so that starting does not count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from hardgap.bench import Say, silent
from hardgap.runs.driver import run_sweep
from hardgap.runs.store import Store
from hardgap.worlds.automaton.run import AutomatonRun

LEFT = 4
"""So many runs of a large sweep are trained; the others are in the store already."""
SIZES = (100, 1_000, 10_000)


def trivial(seed: int) -> AutomatonRun:
    data = {
        "rule": "30", "hide": [3], "width": 7, "train_rows": 16, "test_rows": 16, "seed": seed,
        "optimiser": {"batch": 6}, "budget": {"steps": 2, "evaluate_every": 1},
        "model": {"kind": "encoder", "dim": 8, "heads": 2, "layers": 1, "ffn": 16},
    }  # fmt: skip
    return AutomatonRun.model_validate(data)


def measure(runs: int, say: Say = silent) -> dict[str, Any]:
    """Rates at 1, 2 and 4 workers at both places, then what large sweeps take of memory and disk."""
    with tempfile.TemporaryDirectory(prefix="hardgap-bench-") as place:
        bare = _bare(50)
        rates = [_rate(Path(place), on, workers, runs, bare, say) for on in ("local", "ray") for workers in (1, 2, 4)]
        sizes = [_size(Path(place), on, size, say) for size in SIZES for on in ("local", "ray")]
    return {"bare_ms": 1e3 * bare, "rates": rates, "sizes": sizes}


def _bare(times: int) -> float:
    """Seconds that a trivial run takes where nothing is kept of it."""
    from hardgap.runs.execute import build_trainer, single_thread

    single_thread()
    build_trainer(trivial(0)).run()
    began = perf_counter()
    for seed in range(times):
        build_trainer(trivial(seed)).run()
    return (perf_counter() - began) / times


def _rate(place: Path, on: str, workers: int, runs: int, bare: float, say: Say) -> dict[str, Any]:
    store = Store(place / f"{on}-{workers}")
    driven = _drive(store, on, workers, runs)
    times = sorted(time for (time,) in store.query("SELECT finished FROM runs WHERE status = 'done'"))
    assert len(times) == runs
    seconds = (times[-1] - times[0]) / (runs - 1)
    say(f"{on}, {workers} workers: {1 / seconds:.1f} trivial runs a second")
    costs = {"overhead_ms": 1e3 * (workers * seconds - bare), "driver_ms": driven["cpu_ms_a_run"]}
    return {"on": on, "workers": workers, "runs_per_second": 1 / seconds, **costs}


def _size(place: Path, on: str, size: int, say: Say) -> dict[str, Any]:
    store = Store(place / f"{on}-of-{size}")
    one = Store(place / "local-1")
    curve, row = one.curve(trivial(0).id), one.get(trivial(0).id)
    store.put_all_done((trivial(seed), curve, "budget", row.versions, 0.1) for seed in range(size - LEFT))
    memory = _drive(store, on, 2, size)["memory_mb"]
    store.query("PRAGMA wal_checkpoint(TRUNCATE)")  # the log is as long as the largest transaction, not as the store
    database = store.path.stat().st_size / 1e6
    kept = [path.stat().st_size for path in (store.folder / "checkpoints").rglob("*") if path.is_file()]
    say(f"{size} runs, {on}: driver {memory:.0f} MB, database {database:.1f} MB")
    files = {"files_per_run": len(kept) / LEFT, "files_kb_per_run": sum(kept) / LEFT / 1e3}
    return {"runs": size, "on": on, "driver_mb": memory, "database_mb": database, **files}


def _drive(store: Store, on: str, workers: int, runs: int) -> dict[str, Any]:
    arguments = [str(store.folder), on, str(workers), str(runs)]
    done = subprocess.run([sys.executable, "-m", "hardgap.bench.scale", *arguments], stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """One sweep, in a process whose memory and processor time are the driver's."""
    folder, on, workers, runs = sys.argv[1:]
    asked = [trivial(seed) for seed in range(int(runs))]
    seen: list[tuple[int, float]] = []  # how many were done, after how much processor time
    run_sweep(
        Store(Path(folder)), asked, on=on, workers=int(workers),
        on_progress=lambda now: seen.append((now.done, process_time())) if now.done else None,
    )  # fmt: skip
    (first, began), (last, ended) = seen[0], seen[-1]
    print(json.dumps({"memory_mb": _most_memory(), "cpu_ms_a_run": 1e3 * (ended - began) / max(1, last - first)}))


def _most_memory() -> float:
    """The most that this process has had, in MB; `getrusage` would count what its parent had when it was forked."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
