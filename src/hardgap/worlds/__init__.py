"""The worlds, a folder each."""

from __future__ import annotations

from hardgap.core.errors import BadInput
from hardgap.core.run import Run, validated
from hardgap.worlds.automaton.run import AutomatonRun
from hardgap.worlds.chains.run import SymbolicRun

EXPERIMENTS: dict[str, type[Run]] = {"automaton": AutomatonRun, "symbolic": SymbolicRun}


def parse_run(data: object) -> Run:
    """A config from plain values (a store row, a results file, a sweep file)."""
    if not isinstance(data, dict):
        raise BadInput(f"a config is a table of names and values, not {data!r:.40}")
    kind = data.get("experiment", "automaton")
    if not isinstance(kind, str) or kind not in EXPERIMENTS:
        raise BadInput(f"experiment {kind!r} is not known; there is {', '.join(EXPERIMENTS)}")
    return validated(EXPERIMENTS[kind], data)
