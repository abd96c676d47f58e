"""`hardgap bench`"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.output import Json, err, show_json, show_table


def bench(
    what: Annotated[Literal["all", "training", "rollout", "symbolic"], Parameter(help="Which of the three.")] = "all",
    /,
    *,
    updates: Annotated[int, Parameter(help="Training steps a round.")] = 6,
    examples: Annotated[int, Parameter(help="Derivations decoded a round.")] = 2_048,
    rounds: Annotated[int, Parameter(help="Interleaved rounds; ratios are medians over them.")] = 3,
    json: Json = False,
) -> None:
    """Speed as ratios against what you would otherwise use, measured side by side in one run.

    training: the native engine, the eager one and a plain PyTorch script, on one core and on the whole machine.
    rollout: CellPyLib and CAX against the bit-sliced stepper (needs `pip install hardgap[bench]`).
    symbolic: training and decoding of Experiment 2, a plain nn.Transformer script against this package.

    Example: `hardgap bench training --rounds 5`
    """
    from hardgap.core.errors import BadInput

    if min(updates, examples, rounds) < 1:
        raise BadInput("--updates, --examples and --rounds must be at least 1")
    found: dict[str, object] = {}
    if what in ("all", "training"):
        found["training"] = _training(updates, rounds, quiet=json)
    if what in ("all", "rollout"):
        found["rollout"] = _rollout(rounds, quiet=json)
    if what in ("all", "symbolic"):
        found["symbolic"] = _symbolic(updates, examples, rounds, quiet=json)
    if json:
        show_json(found)


def _training(updates: int, rounds: int, *, quiet: bool) -> dict[str, object]:
    from hardgap.bench.geometry import GEOMETRIES
    from hardgap.bench.step import measure_step
    from hardgap.bench.training import measure

    def say(line: str) -> None:
        err().print(line)

    found: dict[str, object] = {}
    for shape, (width, batch, _) in GEOMETRIES.items():
        one_core, whole = measure_step(shape, updates, rounds, say), measure(shape, updates, rounds, say)
        found[shape] = {"one_core": one_core, "whole_machine": whole.as_dict()}
        if quiet:
            continue
        numbers = ["CPU ms", "of the limit", "times eager", "times plain"]
        show_table(
            f"A training step at the {shape}'s shape (width {width}, batch {batch}), one core",
            ["", *numbers],
            [_step(row) for row in one_core],
            right=numbers,
        )
        show_table(
            f"The same on the whole machine: {whole.processes} processes, {whole.engine}",
            ["", "value"],
            [
                ["plain script, default threads, steps/s", f"{whole.plain:.2f}"],
                ["hardgap eager, steps/s", f"{whole.eager:.2f}"],
                ["hardgap, steps/s", f"{whole.ours:.2f}"],
                ["times the plain script (median)", f"{whole.ratio:.2f}  {list(whole.ratios)}"],
                ["times eager (median)", f"{whole.to_eager:.2f}"],
                ["a step's cost, relative to one process alone", f"{whole.flat:.2f}"],
                ["share of the matrix-multiplication limit", f"{100 * whole.share_of_matmul:.0f} %"],
                ["that limit, GFLOP/s", f"{whole.matmul_gflops:.0f}"],
            ],
        )
    return found


def _step(row: dict[str, Any]) -> list[str]:
    ratios = (f"{row[f'times {other}']:.2f}" if f"times {other}" in row else "" for other in ("eager", "plain"))
    return [row["name"], f"{row['cpu_ms']:.1f}", f"{100 * row['share']:.0f} %", *ratios]


def _rollout(rounds: int, *, quiet: bool) -> list[dict[str, object]]:
    from hardgap.bench.rollout import measure

    found = measure(repeats=rounds, say=lambda line: err().print(line))
    if not quiet:
        figures = ["seconds", "cpu s", "times ours", "by cpu"]
        show_table(
            "Rollouts: 10,000 rows × width 101 × 100 steps, medians; ours is the bit-sliced final state",
            ["", "version", "output", *figures, "note"],
            [[row["name"], row["version"], row["output"], *_figures(row), row["note"]] for row in found],
            right=figures,
        )
    return found


def _symbolic(updates: int, examples: int, rounds: int, *, quiet: bool) -> dict[str, object]:
    from hardgap.bench.symbolic import measure

    found = measure(updates, examples, rounds, say=lambda line: err().print(line))
    units = {"training": "examples/s in batches of 512", "decoding": "derivations/s of 15 tokens"}
    for what, unit in {} if quiet else units.items():
        show_table(
            f"Experiment 2, {what} on {found['processes']} cores: {unit}, medians of {rounds}",
            ["", "per second", "hardgap is times as fast", "in each round"],
            [[row["name"], f"{row['per_second']:,.0f}", f"{row['ratio']:.2f}", row["ratios"]] for row in found[what]],
            right=["per second", "hardgap is times as fast"],
        )
    return found


def _figures(row: dict[str, Any]) -> list[str | None]:
    if row["seconds"] is None:
        return [None] * 4
    times = [f"{row['seconds']:.4f}", f"{row['cpu_seconds']:.4f}"]
    return [*times, f"{row['times_ours']:,.1f}", f"{row['times_ours_cpu']:,.1f}"]
