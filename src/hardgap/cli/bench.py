"""`hardgap bench`"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.output import TABLES, Show, err
from hardgap.core.errors import BadInput
from hardgap.core.table import Table

Measured = tuple[Any, list[Table]]
"""The data, and the tables that show it."""


def bench(
    what: Annotated[
        Literal["all", "training", "rollout", "symbolic", "run", "scale", "gpu"],
        Parameter(help="Which of them; all: the first three."),
    ] = "all",
    /,
    *,
    updates: Annotated[int, Parameter(help="Training steps a round.")] = 6,
    examples: Annotated[int, Parameter(help="Derivations decoded a round.")] = 2_048,
    rounds: Annotated[int, Parameter(help="Interleaved rounds; ratios are medians over them.")] = 3,
    stacks: Annotated[str, Parameter(help="gpu: sizes of the stacks.")] = "1,2,4,8,16,32",
    device: Annotated[Literal["cuda", "mps", "cpu"], Parameter(help="gpu: where to measure.")] = "cuda",
    runs: Annotated[int, Parameter(help="Trivial runs of each sweep that `scale` times.")] = 100,
    output: Show = TABLES,
) -> None:
    """Speed as ratios against what you would otherwise use, measured side by side in one run.

    training: the native engine, the eager one and a plain PyTorch script, on one core and on the whole machine.
    rollout: CellPyLib and CAX against the bit-sliced stepper (needs `pip install hardgap[bench]`).
    symbolic: training and decoding of Experiment 2, the same contenders (the plain script is an nn.Transformer).
    run: where the processor time of a whole run goes, at desk scale: steps, evaluations, data, what is kept.
    gpu: runs one at a time against stacks of them (`--stack`), at both shapes.
    scale: what a sweep costs besides training, local and on Ray (needs `pip install hardgap[ray]`; docs/scale.md).

    Examples: `hardgap bench training --rounds 5`, `hardgap bench gpu --stacks 1,8,64 --json`
    """
    if min(updates, examples, rounds, runs - 1) < 1:
        raise BadInput("--updates, --examples and --rounds must be at least 1, --runs at least 2")
    if what == "gpu":
        data, shown = _gpu(_sizes(stacks), device, updates, rounds)
        output.show(data, shown)
        return
    parts: dict[str, Callable[[], Measured]] = {
        "training": lambda: _training(updates, rounds),
        "rollout": lambda: _rollout(rounds),
        "symbolic": lambda: _symbolic(updates, examples, rounds),
    }
    alone: dict[str, Callable[[], Measured]] = {"run": _whole_run, "scale": lambda: _scale(runs)}
    if what in alone:
        parts = alone
    found = {name: measure() for name, measure in parts.items() if what in ("all", name)}
    tables = [table for _, several in found.values() for table in several]
    output.show({name: data for name, (data, _) in found.items()}, tables)


def _training(updates: int, rounds: int) -> Measured:
    from hardgap.bench.step import measure_step
    from hardgap.bench.training import GEOMETRIES, measure

    found: dict[str, Any] = {}
    tables = []
    for shape, (width, batch, _) in GEOMETRIES.items():
        one_core = measure_step(shape, updates, rounds, err().print)
        whole = measure(shape, updates, rounds, err().print)
        found[shape] = {"one_core": one_core, "whole_machine": whole}
        numbers = ["CPU ms", "of the limit", "times eager", "times plain"]
        title = f"A training step at the {shape}'s shape (width {width}, batch {batch}), one core"
        tables.append(Table(title, ["by", *numbers], [_step(row) for row in one_core], right=numbers))
        rows = [
            ["plain script, default threads, steps/s", f"{whole['plain']:.2f}"],
            ["hardgap eager, steps/s", f"{whole['eager']:.2f}"],
            ["hardgap, steps/s", f"{whole['ours']:.2f}"],
            ["times the plain script (median)", f"{whole['ratio']:.2f}  {list(whole['ratios'])}"],
            ["times eager (median)", f"{whole['to_eager']:.2f}"],
            ["a step's cost, relative to one process alone", f"{whole['flat']:.2f}"],
            ["share of the matrix-multiplication limit", f"{100 * whole['share_of_matmul']:.0f} %"],
            ["that limit, GFLOP/s", f"{whole['matmul_gflops']:.0f}"],
        ]
        title = f"The same on the whole machine: {whole['processes']} processes, {whole['engine']}"
        tables.append(Table(title, ["field", "value"], rows))
    return found, tables


def _whole_run() -> Measured:
    from hardgap.bench.whole_run import PARTS, RUNS, measure_run

    found = {name: measure_run(run, err().print) for name, run in RUNS.items()}
    each = list(found.values())
    rows = [[part, *(f"{100 * one['shares'][part]:.1f} %" for one in each)] for part in PARTS]
    rows.append(["processor seconds", *(f"{sum(one['cpu_seconds'].values()):.1f}" for one in each)])
    rows += [[count, *(str(one[count]) for one in each)] for count in ("steps", "evaluated")]
    title = f"Where a whole run's processor time goes, {each[0]['engine']}"
    return found, [Table(title, ["part", *found], rows, right=list(found))]


def _step(row: dict[str, Any]) -> list[str]:
    name, cpu_ms, *ratios = _times(row)
    return [name, cpu_ms, f"{100 * row['share']:.0f} %", *ratios]


def _times(row: dict[str, Any]) -> list[str]:
    ratios = (f"{row[f'times {other}']:.2f}" if f"times {other}" in row else "" for other in ("eager", "plain"))
    return [row["name"], f"{row['cpu_ms']:.1f}", *ratios]


def _sizes(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",") if part.strip().isdecimal() and int(part)]
    if len(sizes) != len(text.split(",")):
        raise BadInput(f"--stacks {text}: write sizes such as 1,2,4,8")
    return sizes


def _gpu(sizes: list[int], device: str, updates: int, rounds: int) -> Measured:
    from hardgap.bench.gpu import machine, measure_stacks
    from hardgap.bench.training import GEOMETRIES

    found: dict[str, Any] = {"device": device}
    tables = []
    for shape, (width, batch, repeats) in reversed(GEOMETRIES.items()):
        try:
            rows = measure_stacks(shape, device, sizes, updates * repeats, rounds, err().print)
        except BadInput as error:
            raise BadInput(
                f"there is no {device} device here; `hardgap bench gpu --device cpu` measures the same on the CPU"
            ) from error
        found[shape], found["machine"] = rows, machine(device)
        numbers = ["ms a step", "run-steps/s", "times single"]
        figures = ("ms_a_step", 1), ("run_steps_a_second", 1), ("times_single", 2)
        title = f"Stacks at the {shape}'s shape (width {width}, batch {batch}), {machine(device)}"
        bits = {True: "as alone", False: "others", None: ""}
        shown = [
            [row["name"], *(f"{row[name]:.{digits}f}" for name, digits in figures), bits[row["same_bits_as_alone"]]]
            for row in rows
        ]
        tables.append(Table(title, ["trained", *numbers, "bits"], shown, right=numbers))
    return found, tables


def _rollout(rounds: int) -> Measured:
    from hardgap.bench.rollout import measure

    found = measure(repeats=rounds, say=err().print)
    title = "Rollouts: 10,000 rows × width 101 × 100 steps, medians; ours is the bit-sliced final state"
    figures = ["seconds", "cpu s", "times ours", "by cpu"]
    rows = [[row["name"], row["version"], row["output"], *_figures(row), row["note"]] for row in found]
    return found, [Table(title, ["stepper", "version", "output", *figures, "note"], rows, figures)]


def _symbolic(updates: int, examples: int, rounds: int) -> Measured:
    from hardgap.bench.symbolic import measure
    from hardgap.bench.symbolic_step import measure_one_core

    one_core = measure_one_core(updates, rounds, say=err().print)
    titles = {"training": "a training step of 512 examples", "decoding": "greedy answers to 512 inputs"}
    numbers = ["CPU ms", "times eager", "times plain"]
    tables = [
        Table(f"Experiment 2, {title}, one core", ["by", *numbers], [_times(row) for row in one_core[what]], numbers)
        for what, title in titles.items()
    ]
    found = measure(updates, examples, rounds, say=err().print)
    units = {"training": "examples/s in batches of 512", "decoding": "derivations/s of 15 tokens"}
    figures = ["per second", "hardgap is times as fast"]
    return found | {"one_core": one_core}, tables + [
        Table(
            f"Experiment 2, {what} on {found['processes']} cores: {unit}, medians of {rounds}",
            ["script", *figures, "in each round"],
            [[row["name"], f"{row['per_second']:,.0f}", f"{row['ratio']:.2f}", row["ratios"]] for row in found[what]],
            figures,
        )
        for what, unit in units.items()
    ]


def _scale(runs: int) -> Measured:
    from hardgap.bench.scale import measure

    found = measure(runs, err().print)
    rates = [[one["on"], one["workers"], f"{one['runs_per_second']:.1f}", f"{one['overhead_ms']:.0f}",
              f"{one['driver_ms']:.1f}"] for one in found["rates"]]  # fmt: skip
    sizes = [[one["runs"], one["on"], f"{one['driver_mb']:.0f}", f"{one['database_mb']:.1f}",
              f"{one['files_per_run']:.0f}", f"{one['files_kb_per_run']:.0f}"] for one in found["sizes"]]  # fmt: skip
    title = f"Trivial runs ({found['bare_ms']:.1f} ms of training each), {runs} a sweep"
    numbers, more = (
        ["workers", "runs/s", "overhead ms", "driver CPU ms"],
        ["driver MB", "database MB", "files a run", "KB a run"],
    )
    return found, [
        Table(title, ["on", *numbers], rates, numbers),
        Table("Large sweeps", ["runs", "on", *more], sizes, ["runs", *more]),
    ]


def _figures(row: dict[str, Any]) -> list[str | None]:
    if row["seconds"] is None:
        return [None] * 4
    times = [f"{row['seconds']:.4f}", f"{row['cpu_seconds']:.4f}"]
    return [*times, f"{row['times_ours']:,.1f}", f"{row['times_ours_cpu']:,.1f}"]
