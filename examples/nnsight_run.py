"""Open a run of the store in nnsight, and find there what `hardgap circuits` finds.

    pip install nnsight            (made with nnsight 0.8.1, torch 2.13.0)
    hardgap train 150 --hide 2
    python examples/nnsight_run.py RUN

Every intermediate value of the encoder passes through a module of its own (`activation_names(model)` lists
them), so in nnsight it is `net.<name>.output`. The run is a plain `torch.nn.Module`: nothing is converted.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import torch
from nnsight import NNsight

from hardgap.nn.encoder import Encoder, activation_names
from hardgap.nn.hooks import as_cells, record
from hardgap.runs.execute import load_model
from hardgap.runs.store import Store
from hardgap.worlds.automaton.circuits.ablation import ablate_heads
from hardgap.worlds.automaton.circuits.cells import accuracy, truth_of
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.automaton.task import split_rows

LAYER, HEAD = 0, 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="id of a run, or its first digits; `hardgap runs list` shows them")
    parser.add_argument("--store", type=Path, default=Path("hardgap-runs"))
    asked = parser.parse_args()
    model, run = load_model(Store(asked.store, create=False), asked.run)
    assert isinstance(model, Encoder)
    assert isinstance(run, AutomatonRun)
    rows = split_rows(run.width, run.train_rows, run.test_rows, run.seed)[1]
    cells, truth = as_cells(model, rows), truth_of(run.gap, rows)
    print(f"{run.describe()}: {len(activation_names(model))} named activations")
    # nnsight warns that the attention's last linear map, `output`, is reached as `E_output` in it.
    warnings.filterwarnings("ignore", message=".*has a submodule named 'output'.*")
    net = NNsight(model)

    # Reading: the same values as hardgap's own hooks see.
    with torch.no_grad(), net.trace(cells):
        pattern = net.layers[LAYER].attention.pattern.output.save()  # values are asked for in the order they arise
        stream = net.layers[LAYER].normed2.output.save()
    own = record(model, cells, [f"layers.{LAYER}.normed2"])[f"layers.{LAYER}.normed2"]
    print(f"stream after layer {LAYER}: {tuple(stream.shape)}, differs by {float((stream - own).abs().max()):.0e}")
    left = pattern.mean(0).diagonal(offset=-1, dim1=1, dim2=2).mean(-1)
    print(f"attention one cell to the left, by head: {[round(float(weight), 2) for weight in left]}")

    # Replacing: the head ablation of `hardgap circuits --only heads`.
    with torch.no_grad(), net.trace(cells):
        net.layers[LAYER].attention.mixed.output[:, HEAD] = 0
        logits = net.logits.output.save()
    there = accuracy((logits > 0).numpy(), truth)
    results = ablate_heads(model, run.gap, rows).results
    here = next(r.accuracy for r in results if (r.title, r.kind) == (f"layer {LAYER} head {HEAD}", "zero"))
    print(
        f"without head {HEAD} of layer {LAYER}: {100 * there.overall:.2f} % in nnsight, {100 * here.overall:.2f} % here"
    )

    # Patching: clean values of one activation put into a run on corrupted rows.
    clean = record_clean(net, cells)
    corrupted = cells.clone()
    corrupted[:, 0] = 1 - corrupted[:, 0]
    with torch.no_grad(), net.trace(corrupted):
        net.layers[LAYER].attention.mixed.output[:] = clean
        patched = net.logits.output.save()
    same = ((patched > 0) == (model(cells) > 0)).float().mean(0)
    print(f"cell 0 flipped, clean heads put back: cell 1 answers as before in {100 * float(same[1]):.1f} % of rows")


@torch.no_grad()
def record_clean(net: NNsight, cells: torch.Tensor) -> torch.Tensor:
    """What the heads of the layer mix on clean rows."""
    with net.trace(cells):
        mixed = net.layers[LAYER].attention.mixed.output.save()
    value: torch.Tensor = mixed
    return value


if __name__ == "__main__":
    main()
